"""One server for the tests that leave it alive; those that kill it start their own."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.system.processes import Agent, Server, running


@pytest.fixture(scope="session")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """Shared by all tests of a worker; limits on failed attempts are lifted, since the attacks come from one address."""
    with running(
        tmp_path_factory.mktemp("server"), join_burst="100000", login_burst="100000", join_rate="100000", login_rate="100000"
    ) as found:
        yield found


@pytest.fixture
def agents() -> Iterator[list[Agent]]:
    """Agents that a test starts; none outlives it."""
    started: list[Agent] = []
    yield started
    for agent in started:
        agent.kill()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path

"""Agents that a test starts, and its folder; the server is the one that all tests of a worker share."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.system.processes import Agent


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

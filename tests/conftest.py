"""What all tests share: which of them are measured, and a study server for those that leave it alive."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.system.processes import Server


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Slow tests run unmeasured: they repeat what quick ones do, thousands of times or in processes of their own, and measuring which lines
    run takes as long as running them."""
    for item in items:
        if item.get_closest_marker("slow"):
            item.add_marker("no_cover")


@pytest.fixture(scope="session")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A study server in a process of its own, shared by all tests of a worker; those that kill it, or count on its limits, start another.

    Limits on failed attempts are lifted, since the attacks of all tests come from one address.
    """
    from tests.system.processes import running  # noqa: PLC0415  needs the service's packages, which most tests do not

    limits = dict.fromkeys(("join_burst", "login_burst", "join_rate", "login_rate"), "100000")
    with running(tmp_path_factory.mktemp("server"), **limits) as found:
        yield found

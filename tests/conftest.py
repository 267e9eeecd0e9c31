"""What all tests share: their order, which of them are measured, and a study server for those that leave it alive."""

from __future__ import annotations

import signal
import sys
import threading
from collections.abc import Iterator
from itertools import groupby
from typing import TYPE_CHECKING

import pytest

from tests.dealing import dealt

if TYPE_CHECKING:
    from tests.system.processes import Server

LONGEST = (
    "tests/system/test_nvflare.py",
    "tests/web/test_end_to_end.py",
    "tests/system/test_kills.py",
    "tests/iod/test_heart.py",
    "tests/system/test_memory.py",
    "tests/system/test_many_studies.py",
    "tests/system/test_equality.py",
    "tests/system/test_out_of_core.py",
    "tests/system/test_tutorial.py",
    "tests/test_package.py",
    "tests/cli/test_simulate.py",
    "tests/iod/test_headline_real.py",
    "tests/web/test_repairs.py",
    "tests/web/test_keyboard.py",
    "tests/web/test_schemes.py",
    "tests/iod/test_lung.py",
    "tests/web/test_site_study.py",
)
"""Files with a test that takes ten seconds or more, the longest first."""


def pytest_configure() -> None:
    """A shell that starts tests in the background lets them ignore Ctrl-C, and whatever they start: tests of Ctrl-C would fail, or wait."""
    if threading.current_thread() is threading.main_thread() and signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.hookimpl(trylast=True)  # after tests are ordered by the fixtures they share
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Files with long tests come first, then those with any that is slow: whoever of several processes is done takes over what the others
    have at the end of their lists, and what is left for the last minute should be short. Files stay whole as far as that goes, and all
    processes agree.
    """
    root = config.rootpath
    names = {item.path: item.path.relative_to(root).as_posix() if item.path.is_relative_to(root) else "" for item in items}
    slow = {item.path for item in items if item.get_closest_marker("slow")}
    place = {name: k for k, name in enumerate(LONGEST)}
    items.sort(key=lambda item: (place.get(names[item.path], len(LONGEST)), item.path not in slow))
    items[:] = dealt([list(found) for _, found in groupby(items, lambda item: item.path)], _processes(config))


def _processes(config: pytest.Config) -> int:
    """How many processes of xdist run these tests; one without it."""
    return int(getattr(config, "workerinput", {}).get("workercount", 1))


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Iterator[None]:
    """Slow tests run unmeasured: they repeat what quick ones do, thousands of times or in processes of their own, and measuring which lines
    run takes several times as long as running them.

    Not by the mark ``no_cover`` of pytest-cov: in a process of xdist it measures twice, and the mark stops one of the two.
    """
    if not item.get_closest_marker("slow"):
        return (yield)
    here, in_threads = sys.gettrace(), threading.gettrace()
    sys.settrace(None)
    threading.settrace(None)  # type: ignore[arg-type]
    try:
        return (yield)
    finally:
        threading.settrace(in_threads)  # type: ignore[arg-type]
        sys.settrace(here)


@pytest.fixture(scope="session")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A study server in a process of its own, shared by all tests of a worker; those that kill it, or count on its limits, start another.

    Limits on failed attempts are lifted, since the attacks of all tests come from one address.
    """
    from tests.system.processes import running  # noqa: PLC0415  needs the service's packages, which most tests do not

    limits = dict.fromkeys(("join_burst", "login_burst", "join_rate", "login_rate"), "100000")
    with running(tmp_path_factory.mktemp("server"), loading=True, **limits) as found:
        yield found

"""Many who follow a study take little of the server while it runs; `benchmarks/listeners.py` has two thousand of them."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.system.listeners import run
from tests.system.processes import Server

LISTENERS = 150
EACH = 0.012
"""Seconds of the server's processor for one listener in a whole study. Each who looked for itself took several times as much."""


@pytest.mark.slow
def test_listeners_take_little_of_a_study(server: Server, folder: Path) -> None:
    alone = run(server, folder / "alone", 0)
    followed = run(server, folder / "followed", LISTENERS)
    assert followed.heard == LISTENERS
    assert followed.cpu - alone.cpu < LISTENERS * EACH

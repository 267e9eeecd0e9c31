"""Many studies at the same time on one server: all right, and memory that stays. ``benchmarks/service_load.py`` does it with fifty."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.system.crowd import wave
from tests.system.processes import Server
from tests.system.test_equality import frames_of, in_process

pytestmark = pytest.mark.slow


def test_studies_at_the_same_time_do_not_touch_each_other(server: Server, folder: Path) -> None:
    studies = [frames_of(3, rows=60, seed=seed) for seed in range(6)]
    wanted = [in_process(frames)[0] for frames in studies]
    first = wave(server, folder / "first", studies, wanted)
    second = wave(server, folder / "second", studies, wanted)
    assert first.right == second.right == 6
    assert second.after - first.after < 16 << 20

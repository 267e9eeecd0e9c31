"""How long tests take that were asked for together: said when it is known, and never before."""

from __future__ import annotations

import pytest

from consilience.service.server.pace import LEAST_SECONDS, LEAST_TESTS, Pace


def test_a_pace_is_told_once_it_is_more_than_a_guess() -> None:
    pace = Pace.after(None, 0, 100, now=50.0)
    assert pace.left(now=50.0) is None
    pace = Pace.after(pace, LEAST_TESTS - 1, 100, now=60.0)
    assert pace.left(now=60.0) is None, "too few tests"
    quick = Pace.after(Pace.after(None, 0, 100, now=50.0), 50, 100, now=50.0 + 0.9 * LEAST_SECONDS)
    assert quick.left(now=53.0) is None, "too little time"
    pace = Pace.after(pace, 20, 100, now=60.0)
    assert pace.left(now=60.0) == pytest.approx(40.0)
    assert pace.left(now=75.0) == pytest.approx(25.0), "it goes down while nothing is heard"
    assert pace.left(now=500.0) == 0.0


def test_what_a_journal_gives_again_is_no_pace() -> None:
    pace = Pace.after(Pace.after(None, 60, 100, now=0.0), 80, 100, now=20.0)
    assert pace.left(now=20.0) == pytest.approx(20.0)


@pytest.mark.parametrize(("done", "total"), [(3, 40), (0, 100)])
def test_other_tests_begin_a_new_pace(done: int, total: int) -> None:
    before = Pace(90, 100, 0, since=0.0, now=90.0)
    assert Pace.after(before, done, total, now=91.0) == Pace(done, total, done, since=91.0, now=91.0)

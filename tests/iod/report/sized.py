"""A discovery whose tests say how strong: three hospitals' numbers, made by hand."""

from __future__ import annotations

from consilience.citest.result import CIResult, Direction
from consilience.citest.size import Size
from consilience.graph import PAG
from consilience.iod import Discovery
from tests.iod.report.helpers import found_of

__all__ = ["sized"]


def _test(x: str, y: str, given: str, p: float, size: Size | None, sign: str | None, statistic: float) -> CIResult:
    sizes = () if size is None else (size,)
    told = Direction(y, x, statistic, 1, p, -900.0, -880.0, sizes=sizes, sign=sign)
    return CIResult(x, y, tuple(given.split()), p, 1000, 2, 3, directions=(told,))


def sized() -> Discovery:
    """Age and pressure are joined, with two tests; smoking and pressure are not, given age; of the third pair one site alone knows."""
    tests = [
        _test("age", "pressure", "", 1e-30, Size("slope", 0.41, 0.03, 0.35, 0.47, "pressure", "age"), "+", 180.0),
        _test("age", "pressure", "smoker", 1e-20, Size("slope", 0.31, 0.03, 0.25, 0.37, "pressure", "age"), "+", 100.0),
        _test(
            "pressure", "smoker", "", 0.001, Size("odds ratio", 1.5, 0.1, 1.23, 1.82, "smoker", "pressure", "", "", "yes", "no"), "+", 10.0
        ),
        _test(
            "pressure", "smoker", "age", 0.6, Size("odds ratio", 0.98, 0.1, 0.8, 1.2, "smoker", "pressure", "", "", "yes", "no"), "−", 0.3
        ),
        _test("age", "smoker", "", 1e-9, None, None, 40.0),
    ]
    return found_of([PAG.parse("age o-> pressure, age o-o smoker")], [["age", "pressure", "smoker"]], tests)

"""What the study must show, computed from its numbers. Thresholds are stated in advance and not fitted to results."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from consilience.reproduction.experiment import Results
from consilience.reproduction.sizes import SIZES, Size
from consilience.reproduction.summary import Cell, Which, cells_of, estimated_hours
from consilience.simulate.methods import ComparedMethod

__all__ = ["Check", "check_results"]

SHD_DIFFERENCE = 0.01
MEDIAN = 0.01
SPREAD_RATIO = 0.1
MANY_PARTITIONS = 8
ALIGNED = 0.005
HOURS = 3.0


@dataclass(frozen=True, slots=True)
class Check:
    """A claim, whether the numbers bear it out, and the numbers that decide."""

    claim: str
    holds: bool
    detail: str


def check_results(results: Results) -> list[Check]:
    """All checks, in the order of the scenarios."""
    cells = cells_of(results)
    if not cells:
        return [Check("The study has results", False, "no run is there")]
    many = [cell for cell in cells if cell.sites >= MANY_PARTITIONS]
    federated = [method for method in ComparedMethod if method.federated]
    return [
        _aligned(cells, federated),
        _each(
            "Accuracy over all tests: Fisher below pooled in every cell",
            cells,
            lambda c: c.accuracy(ComparedMethod.POOLED) - c.accuracy(ComparedMethod.FISHER),
            lambda gap: gap > 0.0,
            "pooled − Fisher",
        ),
        _each(
            "Accuracy over dependent variables: Fisher below pooled in every cell",
            cells,
            lambda c: c.accuracy(ComparedMethod.POOLED, Which.DEPENDENT) - c.accuracy(ComparedMethod.FISHER, Which.DEPENDENT),
            lambda gap: gap > 0.0,
            "pooled − Fisher",
        ),
        _grows(cells),
        _degrades(cells),
        _each(
            f"Log-ratios of fedCI (each variant) centred at zero: |median| ≤ {MEDIAN:g} in every cell",
            cells,
            lambda c: max(abs(float(np.median(c.log_ratios(m)))) for m in federated),
            lambda value: value <= MEDIAN,
            "|median|",
        ),
        _each(
            f"Interquartile range of fedCI's log-ratios (each variant) below {SPREAD_RATIO:g} of Fisher's in every cell",
            cells,
            lambda c: max(_spread(c, m) for m in federated) / _spread(c, ComparedMethod.FISHER),
            lambda value: value < SPREAD_RATIO,
            "ratio of ranges",
        ),
        _each(
            f"Best normalised SHD of fedCI (each variant) within {SHD_DIFFERENCE:g} of pooled in every cell",
            cells,
            lambda c: max(abs(c.mean_shd(m) - c.mean_shd(ComparedMethod.POOLED)) for m in federated),
            lambda value: value <= SHD_DIFFERENCE,
            "|difference|",
        ),
        _each(
            f"Best normalised SHD: Fisher above pooled in every cell with {MANY_PARTITIONS} or more partitions",
            many,
            lambda c: c.mean_shd(ComparedMethod.FISHER) - c.mean_shd(ComparedMethod.POOLED),
            lambda value: value > 0.0,
            "Fisher − pooled",
        ),
        _each(
            f"The same over all runs in which the method itself found a PAG: Fisher above pooled with {MANY_PARTITIONS} or more partitions",
            many,
            lambda c: c.own_mean_shd(ComparedMethod.FISHER) - c.own_mean_shd(ComparedMethod.POOLED),
            lambda value: value > 0.0,
            "Fisher − pooled",
        ),
        _hours(results),
        _variants(results),
    ]


def _each(claim: str, cells: Sequence[Cell], value: Callable[[Cell], float], holds: Callable[[float], bool], what: str) -> Check:
    """A claim about every cell; the detail names the range of values, and the cells in which it fails."""
    values = {(cell.n, cell.sites): value(cell) for cell in cells}
    failing = [cell for cell, number in values.items() if not holds(number)]
    if not values:
        return Check(claim, False, "no such cell was run")
    known = [number for number in values.values() if not math.isnan(number)] or [math.nan]
    detail = f"{what} from {_number(min(known))} to {_number(max(known))}"
    if failing:
        named = ", ".join(f"n = {n} with {k} partitions ({_number(values[n, k])})" for n, k in failing)
        detail += f"; fails in {len(failing)} of {len(values)} cells: {named}"
    return Check(claim, not failing, detail)


def _number(value: float) -> str:
    if math.isnan(value):
        return "no run to tell from"
    return f"{value:.3f}" if abs(value) >= 0.0005 or value == 0.0 else f"{value:.0e}"


def _spread(cell: Cell, method: ComparedMethod) -> float:
    low, high = np.percentile(cell.log_ratios(method), [25, 75])
    return float(high - low)


def _aligned(cells: Sequence[Cell], federated: Iterable[ComparedMethod]) -> Check:
    methods = list(federated)
    return _each(
        f"Accuracy: every variant of fedCI within {ALIGNED:g} of pooled in every cell, over all, dependent and independent variables",
        cells,
        lambda c: max(abs(c.accuracy(m, which) - c.accuracy(ComparedMethod.POOLED, which)) for m in methods for which in Which),
        lambda value: value <= ALIGNED,
        "|difference|",
    )


def _grows(cells: Sequence[Cell]) -> Check:
    """Accuracy over all tests rises with the sample size, for every method and number of partitions."""
    steps = []
    for sites in sorted({cell.sites for cell in cells}):
        row = sorted((cell for cell in cells if cell.sites == sites), key=lambda cell: cell.n)
        for method in ComparedMethod:
            steps += [b.accuracy(method) - a.accuracy(method) for a, b in pairwise(row)]
    claim = "Accuracy over all tests rises with the sample size, for every method and number of partitions"
    if not steps:
        return Check(claim, False, "one sample size only")
    return Check(
        claim, min(steps) > 0.0, f"smallest step {min(steps):+.3f}, {sum(step <= 0.0 for step in steps)} of {len(steps)} not upwards"
    )


def _degrades(cells: Sequence[Cell]) -> Check:
    """What Fisher's method loses to the pooled test is more with the most partitions than with the fewest."""
    claim = "Fisher's loss of accuracy to pooled is larger with the most partitions than with the fewest, at every sample size"
    least, most = min(cell.sites for cell in cells), max(cell.sites for cell in cells)
    gap = {(cell.n, cell.sites): cell.accuracy(ComparedMethod.POOLED) - cell.accuracy(ComparedMethod.FISHER) for cell in cells}
    samples = sorted({n for n, k in gap if k == least and (n, most) in gap})
    if least == most or not samples:
        return Check(claim, False, "one number of partitions only")
    shown = ", ".join(f"n = {n}: {gap[n, least]:.3f} and {gap[n, most]:.3f}" for n in samples)
    return Check(claim, all(gap[n, most] > gap[n, least] for n in samples), f"{least} and {most} partitions: {shown}")


def _hours(results: Results) -> Check:
    hours = estimated_hours(results, SIZES[Size.PAPER])
    runs = len(SIZES[Size.PAPER].runs())
    return Check(
        f"The full size of {runs:,} runs is estimated to take less than {HOURS:g} hours on 2 cores",
        hours < HOURS,
        f"{hours:.2f} hours, from the processor time of {len(results.records):,} runs",
    )


def _variants(results: Results) -> Check:
    wrong = sum(not case.agree for case in results.cases)
    more = sum(not case.candidates["triples"] <= case.candidates["colliders"] <= case.candidates["original"] for case in results.cases)
    return Check(
        "The three variants of IOD give the same list, with the true PAG in it, and more local marks never mean more candidates",
        bool(results.cases) and not wrong and not more,
        f"{len(results.cases)} cases; lists differ or lack the truth in {wrong}, more candidates in {more}",
    )

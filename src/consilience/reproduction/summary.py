"""From records to numbers: accuracy, log-ratios, distances, effect sizes, times.

A *cell* is one sample size with one number of partitions: one entry of the paper's tables.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from consilience.reproduction.design import ALPHA, study_graphs
from consilience.reproduction.experiment import Results
from consilience.reproduction.runs import Record
from consilience.reproduction.sizes import Plan
from consilience.simulate.methods import ComparedMethod

__all__ = ["Cell", "Which", "cells_of", "changed", "cohens_d", "estimated_hours", "reductions"]

Floats = NDArray[np.float64]


class Which(StrEnum):
    """The tests over which accuracy is measured: all, those of truly dependent and those of truly independent variables."""

    ALL = "all"
    DEPENDENT = "dependent"
    INDEPENDENT = "independent"


@dataclass(frozen=True, eq=False)
class Cell:
    """All runs with one sample size and one number of partitions."""

    n: int
    sites: int
    records: tuple[Record, ...]

    @cached_property
    def truth(self) -> NDArray[np.bool_]:
        """Runs × questions: is it an independence?"""
        graphs = study_graphs(1 + max(record.graph for record in self.records))
        known = {number: graphs[number].truth() for number in {record.graph for record in self.records}}
        return np.array([known[record.graph] for record in self.records])

    @cached_property
    def log_p(self) -> dict[ComparedMethod, Floats]:
        """Runs × questions, per method; NaN where a test could not be done."""
        return {m: np.array([r.found[m].log_p for r in self.records], dtype=np.float64) for m in self.records[0].found}

    @cached_property
    def shd(self) -> dict[ComparedMethod, Floats]:
        """Best normalised distance per run and method; NaN where no PAG was found."""
        return {m: np.array([r.found[m].shd for r in self.records], dtype=np.float64) for m in self.records[0].found}

    @cached_property
    def common(self) -> NDArray[np.bool_]:
        """The runs in which every method found a PAG: distances are compared over these."""
        found: NDArray[np.bool_] = np.all([~np.isnan(values) for values in self.shd.values()], axis=0)
        return found

    def accuracy(self, method: ComparedMethod, which: Which = Which.ALL) -> float:
        """The share of decisions that are right. A test that could not be done has not rejected."""
        kept = ~(self.log_p[method] <= math.log(ALPHA))
        right = kept == self.truth
        if which is Which.ALL:
            return float(right.mean())
        return float(right[self.truth == (which is Which.INDEPENDENT)].mean())

    def log_ratios(self, method: ComparedMethod) -> Floats:
        """log(p / p of the pooled test), over all tests that both could do."""
        ratios = (self.log_p[method] - self.log_p[ComparedMethod.POOLED]).ravel()
        return ratios[~np.isnan(ratios)]

    def mean_shd(self, method: ComparedMethod) -> float:
        """Mean best normalised distance over the common runs; NaN if there are none."""
        return _mean(self.shd[method][self.common])

    def own_mean_shd(self, method: ComparedMethod) -> float:
        """The same over all runs in which this method found a PAG."""
        values = self.shd[method]
        return _mean(values[~np.isnan(values)])

    def differences(self, method: ComparedMethod) -> Floats:
        """Distance minus that of the pooled test, run by run, over the common runs."""
        return (self.shd[method] - self.shd[ComparedMethod.POOLED])[self.common]

    def without_pag(self, method: ComparedMethod) -> float:
        """The share of runs in which no PAG agrees with all decisions."""
        return float(np.isnan(self.shd[method]).mean())


def _mean(values: Floats) -> float:
    return float(values.mean()) if len(values) else math.nan


def cells_of(results: Results) -> list[Cell]:
    """The cells that have runs, by partitions, then sample size."""
    cells = []
    for sites in results.plan.partitions:
        for n in results.plan.samples:
            records = tuple(r for r in results.records if (r.n, r.sites) == (n, sites))
            if records:
                cells.append(Cell(n, sites, records))
    return cells


def cohens_d(differences: Floats) -> float:
    """Mean over standard deviation of paired differences; 0 if all of them are 0, NaN if there are none or they do not vary.

    >>> round(cohens_d(np.array([0.1, 0.2, 0.3])), 12)
    2.0
    """
    if len(differences) and not np.any(differences):
        return 0.0
    spread = float(np.std(differences, ddof=1)) if len(differences) > 1 else 0.0
    return float(np.mean(differences)) / spread if spread > 1e-12 else math.nan


def estimated_hours(results: Results, plan: Plan, cores: int = 2) -> float:
    """Hours that ``plan`` takes on so many cores, from the processor time of the runs that were done, cell by cell."""
    per_cell: dict[tuple[int, int], float] = {}
    for cell in cells_of(results):
        per_cell[cell.n, cell.sites] = float(np.mean([record.seconds for record in cell.records]))
    overall = float(np.mean(list(per_cell.values())))
    each = plan.graphs * plan.replications
    return sum(each * per_cell.get((n, k), overall) for n in plan.samples for k in plan.partitions) / cores / 3600.0


def reductions(results: Results, smaller: str, larger: str) -> list[int]:
    """By how many candidates one variant of IOD has fewer than another, case by case."""
    return [case.candidates[larger] - case.candidates[smaller] for case in results.cases]


def changed(values: Sequence[int]) -> tuple[int, int, int]:
    """How many reductions are 0, and the least and the greatest of the others.

    >>> changed([0, 12, 0, 3])
    (2, 3, 12)
    """
    others = [value for value in values if value] or [0]
    return sum(value == 0 for value in values), min(others), max(others)

"""Sentences about a run's numbers, computed from them: what agrees with the paper, what differs, and why."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from consilience.reproduction.design import BIDIRECTED, DIRECTED, study_graphs
from consilience.reproduction.experiment import Results
from consilience.reproduction.paper import Paper
from consilience.reproduction.sizes import SIZES, Size
from consilience.reproduction.summary import Cell, cohens_d, estimated_hours
from consilience.simulate.methods import ComparedMethod

__all__ = [
    "Pair",
    "about_accuracy",
    "about_differences",
    "about_effects",
    "about_empty_lists",
    "about_own_runs",
    "about_ratios",
    "about_shd",
    "about_time",
    "effect_of",
    "pairs_of",
]

Value = Callable[[Cell, ComparedMethod], float]
PRINTED = (ComparedMethod.POOLED, ComparedMethod.FISHER, ComparedMethod.JOINT, ComparedMethod.COORDINATE)
"""Methods that the paper has numbers for."""

CLOSE = 0.05


@dataclass(frozen=True, slots=True)
class Pair:
    """One cell of a table: our number and the paper's."""

    method: ComparedMethod
    ours: float
    theirs: float

    @property
    def gap(self) -> float:
        """Ours minus theirs."""
        return self.ours - self.theirs


def pairs_of(cells: Sequence[Cell], printed: Paper, table: str, value: Value) -> list[Pair]:
    """All cells for which there are two numbers."""
    found = []
    for method in PRINTED:
        for cell in cells:
            theirs, ours = printed.cell(table, method, cell.n, cell.sites), value(cell, method)
            if theirs is not None and not math.isnan(ours):
                found.append(Pair(method, ours, theirs))
    return found


def about_accuracy(cells: Sequence[Cell]) -> str:
    """How close fedCI is to pooled, and how far Fisher."""
    gaps = {(c.n, c.sites): c.accuracy(ComparedMethod.POOLED) - c.accuracy(ComparedMethod.FISHER) for c in cells}
    federated = max(abs(c.accuracy(m) - c.accuracy(ComparedMethod.POOLED)) for c in cells for m in ComparedMethod if m.federated)
    n, sites = max(gaps, key=lambda place: gaps[place])
    return (
        f"Every variant of fedCI decides like the pooled test: accuracies differ by {_tiny(federated)} at most. Fisher's method is "
        f"right less often by {min(gaps.values()):.3f} to {max(gaps.values()):.3f}; most is lost at {n:,} rows over {sites} sites."
    )


def about_ratios(cells: Sequence[Cell]) -> str:
    """How large log-ratios are."""
    federated = np.abs(np.concatenate([cell.log_ratios(m) for cell in cells for m in ComparedMethod if m.federated]))
    fisher = np.concatenate([cell.log_ratios(ComparedMethod.FISHER) for cell in cells])
    return (
        f"fedCI's p-value is the pooled one: over {len(federated):,} tests, 99% of |log(p / p pooled)| are below "
        f"{np.quantile(federated, 0.99):.0e}, and {int((federated > 0.01).sum()):,} are above 0.01 (the largest is "
        f"{federated.max():.2g}). Fisher's method has a larger p-value than pooled in {(fisher > 0.0).mean():.0%} of tests. Boxes show "
        "quartiles, whiskers the 5th and 95th percentile. Logarithms are computed as such, so that no p-value is too small to be "
        "compared."
    )


def about_shd(pairs: Sequence[Pair], cells: Sequence[Cell]) -> str:
    """How our distances compare with the paper's."""
    if not pairs:
        return "No cell of this run has a counterpart in the paper."
    gaps, ours, theirs = (np.array([getattr(pair, name) for pair in pairs]) for name in ("gap", "ours", "theirs"))
    above = [c.mean_shd(ComparedMethod.FISHER) > c.mean_shd(ComparedMethod.POOLED) for c in cells if c.common.any()]
    mean = float(gaps.mean())
    size = "as large" if abs(mean) < 0.005 else "smaller" if mean < 0.0 else "larger"
    related = f", and the two tables correlate with {np.corrcoef(ours, theirs)[0, 1]:.2f}" if len(ours) > 2 and np.ptp(ours) > 0.0 else ""
    return (
        f"Of {len(pairs)} cells that the paper has a number for, {int((np.abs(gaps) <= CLOSE).sum())} are within {CLOSE:g} of it; ours "
        f"are {size} on average ({mean:+.3f}, from {gaps.min():+.3f} to {gaps.max():+.3f}){related}. Fisher is above pooled in "
        f"{sum(above)} of {len(above)} cells, in the paper in all 12."
    )


def about_effects(pairs: Sequence[Pair]) -> str:
    """How effect sizes compare."""
    fisher = [pair for pair in pairs if pair.method is ComparedMethod.FISHER]
    others = [pair for pair in pairs if pair.method is not ComparedMethod.FISHER]
    if not fisher or not others:
        return ""
    return (
        "Cohen's d is mean over standard deviation of the differences to pooled, run by run, over the same runs as the distances. For "
        f"Fisher it lies between {_span(fisher, 'ours')} (paper: {_span(fisher, 'theirs')}), for the paper's variants of fedCI between "
        f"{_span(others, 'ours')} (paper: {_span(others, 'theirs')}). A d of 0.000 means that no run differs."
    )


def _span(pairs: Sequence[Pair], whose: str) -> str:
    values = [getattr(pair, whose) for pair in pairs]
    return f"{min(values):.3f} and {max(values):.3f}"


def about_empty_lists(cells: Sequence[Cell]) -> str:
    """How often decisions contradict each other, and what is done about it."""
    fisher, pooled = ([cell.without_pag(m) for cell in cells] for m in (ComparedMethod.FISHER, ComparedMethod.POOLED))
    more = sum(f > p for f, p in zip(fisher, pooled, strict=True))
    return (
        f"Decisions may contradict each other, and then no PAG agrees with all of them: in {min(pooled):.0%} to {max(pooled):.0%} of "
        f"runs with the pooled test, in {min(fisher):.0%} to {max(fisher):.0%} with Fisher's method, which is the worse one in {more} "
        f"of {len(cells)} cells. A distance from an empty list does not exist, and the paper does not say what it does then. The "
        "tables above are over the runs in which every method found a PAG, so that all are compared on the same data."
    )


def about_own_runs(common: Sequence[Pair], own: Sequence[Pair], cells: Sequence[Cell]) -> str:
    """The other way to leave out runs without a PAG."""
    above = sum(cell.own_mean_shd(ComparedMethod.FISHER) > cell.own_mean_shd(ComparedMethod.POOLED) for cell in cells)
    words = f"Over all runs in which the method itself found a PAG, Fisher is above pooled in {above} of {len(cells)} cells."
    if common and own:
        over = [np.mean([abs(pair.gap) for pair in pairs]) for pairs in (common, own)]
        words += (
            f" The mean absolute difference from the paper's numbers is {over[1]:.3f} when runs are chosen in this way, and "
            f"{over[0]:.3f} over the common runs."
        )
    return words


def about_differences(shd: Sequence[Pair], effect: Sequence[Pair], cells: Sequence[Cell]) -> str:
    """What differs from the paper, as a list."""
    items = [_about_level(shd, cells), DATA, EMPTY, _about_agreement(effect), ORDINAL, _about_failures(cells)]
    return "\n".join(f"- {item}" for item in items if item)


DATA = (
    "**Data.** The paper names the R package simMixedDAG, but states models (normal with variance 1, inverse links) that the package "
    "as published does not have: it scales noise to the signal and cuts a normal variable into levels. We simulate what the paper "
    "states. It gives no thresholds for ordinal variables (ours: equal shares at η = 0), no shares of kinds (ours: all equally "
    "probable, given two continuous ones) and no sizes of sites (ours: as equal as possible, as in its example)."
)
EMPTY = "**Empty lists** are not mentioned in the paper; see above for what is done here."
ORDINAL = "**Ordinal responses** have proportional odds here, as the data have; the paper speaks of generalized ordered logit models."


def _about_level(shd: Sequence[Pair], cells: Sequence[Cell]) -> str:
    levels = [
        f"{method.label} {np.mean([pair.gap for pair in shd if pair.method is method]):+.3f}"
        for method in PRINTED
        if any(pair.method is method for pair in shd)
    ]
    graphs = study_graphs(1 + max(record.graph for cell in cells for record in cell.records))
    edges, independences = [len(graph.pag.edges) for graph in graphs], [sum(graph.truth()) for graph in graphs]
    return (
        f"**Level of the distances** (ours minus the paper's, mean over cells: {', '.join(levels) or 'none'}). The paper's graphs are "
        f"not published. Ours are random MAGs (a directed edge with probability {DIRECTED:g}, a bidirected one with {BIDIRECTED:g} "
        f"where neither end causes the other) that meet its criteria; they have {_range(edges)} edges and {_range(independences)} "
        "independences among the 42 questions. How hard a graph is depends on this more than on the test."
    )


def _about_agreement(effect: Sequence[Pair]) -> str:
    pairs = [pair for pair in effect if pair.method in (ComparedMethod.JOINT, ComparedMethod.COORDINATE)]
    if not pairs:
        return ""
    return (
        "**fedCI against pooled.** In the paper the variants of fedCI differ from pooled by up to |d| = "
        f"{max(abs(p.theirs) for p in pairs):.3f}, here by up to {max(abs(p.ours) for p in pairs):.3f}. The paper explains its "
        "outliers by numerical instability of the pooled test; here both maximise the same likelihood to the same precision and take "
        "degrees of freedom from the rank of the design."
    )


def _about_failures(cells: Sequence[Cell]) -> str:
    found = [outcome for cell in cells for record in cell.records for outcome in record.found.values()]
    unanswered = sum(p is None for outcome in found for p in outcome.log_p)
    failed = sum(outcome.not_converged for outcome in found)
    asked = sum(len(outcome.log_p) for outcome in found)
    return f"**Tests that could not be done**: {unanswered:,} of {asked:,}; tests that did not converge: {failed:,}."


def about_time(results: Results) -> str:
    """How long it took, and how long the full size would take."""
    seconds, full = sum(record.seconds for record in results.records), SIZES[Size.PAPER]
    return (
        f"These runs took {seconds / 60:.0f} minutes of processor time, which is {seconds / 120:.0f} minutes on 2 cores. The full "
        f"{len(full.runs()):,} runs are estimated, cell by cell, to take {estimated_hours(results, full):.2f} hours on 2 cores. "
        "Processor seconds per run, where discovery counts once for methods that decide alike:"
    )


def effect_of(cell: Cell, method: ComparedMethod) -> float:
    """Cohen's d of a method's distances against pooled."""
    return cohens_d(cell.differences(method))


def _tiny(value: float) -> str:
    return "0" if value == 0.0 else f"{value:.4f}" if value >= 0.00005 else f"{value:.0e}"


def _range(values: Sequence[int]) -> str:
    return f"{min(values)} to {max(values)}" if min(values) != max(values) else f"{values[0]}"

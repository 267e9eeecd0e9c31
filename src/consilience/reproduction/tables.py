"""The study's tables: once as numbers, then as text, Markdown and CSV."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from consilience.reproduction.experiment import Results
from consilience.reproduction.summary import Cell, Which, cells_of, changed, cohens_d, reductions
from consilience.sheets import guarded, to_csv
from consilience.simulate.methods import ComparedMethod

__all__ = ["COMPARISONS", "StudyTable", "grid", "tables_of"]

METHODS = (ComparedMethod.POOLED, ComparedMethod.FISHER, ComparedMethod.FEDCI, ComparedMethod.JOINT, ComparedMethod.COORDINATE)
COMPARISONS = (
    ("colliders", "original", "CWO vs. original"),
    ("triples", "original", "TWO vs. original"),
    ("triples", "colliders", "TWO vs. CWO"),
)
"""Variants of IOD that are compared: the one with fewer candidates, the one with more, and the paper's title."""


@dataclass(frozen=True, slots=True)
class StudyTable:
    """A table: a name for files, a title, headings, and rows of text. The first ``left`` columns are words.

    >>> table = StudyTable("d", "Effect", ("method", "500"), (("Fisher", "0.159"),))
    >>> print(table.to_text())
    Effect
    method    500
    Fisher  0.159
    >>> print(table.to_markdown())
    | method | 500 |
    |---|---:|
    | Fisher | 0.159 |
    """

    name: str
    title: str
    head: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    left: int = 1

    def to_text(self) -> str:
        """Columns lined up."""
        widths = [max(len(row[i]) for row in (self.head, *self.rows)) for i in range(len(self.head))]
        lines = [self.title]
        for row in (self.head, *self.rows):
            cells = [text.ljust(w) if i < self.left else text.rjust(w) for i, (text, w) in enumerate(zip(row, widths, strict=True))]
            lines.append("  ".join(cells).rstrip())
        return "\n".join(lines)

    def to_markdown(self) -> str:
        """A table in Markdown, without the title."""
        rule = "".join("---|" if i < self.left else "---:|" for i in range(len(self.head)))
        head, *rows = (" | ".join(cell.replace("|", r"\|") for cell in row) for row in (self.head, *self.rows))
        return "\n".join([f"| {head} |", f"|{rule}", *(f"| {row} |" for row in rows)])

    def to_csv(self) -> str:
        """Comma-separated, with a heading."""
        return to_csv([[guarded(cell) for cell in row] for row in (self.head, *self.rows)])


def tables_of(results: Results) -> list[StudyTable]:
    """All tables, in the order of the scenarios."""
    cells = cells_of(results)
    fedci_only = [m for m in METHODS if m is not ComparedMethod.POOLED]
    tables = [grid(f"accuracy-{which}", f"Accuracy of CI decisions, {_over(which)}", cells, METHODS, _accuracy(which)) for which in Which]
    tables += [
        grid("log-ratio-median", "Median of log(p / p pooled)", cells, fedci_only, lambda c, m: _small(float(np.median(c.log_ratios(m))))),
        grid("log-ratio-iqr", "Interquartile range of log(p / p pooled)", cells, fedci_only, lambda c, m: _small(_iqr(c, m))),
        grid(
            "shd",
            "Best normalised SHD, mean over runs in which every method found a PAG",
            cells,
            METHODS,
            lambda c, m: _three(c.mean_shd(m)),
        ),
        grid("cohens-d", "Cohen's d of the differences in best normalised SHD to pooled", cells, fedci_only, _effect),
        grid("no-pag", "Share of runs in which no PAG agrees with all decisions", cells, METHODS, lambda c, m: _three(c.without_pag(m))),
        grid(
            "shd-own",
            "Best normalised SHD, mean over runs in which the method itself found a PAG",
            cells,
            METHODS,
            lambda c, m: _three(c.own_mean_shd(m)),
        ),
        _candidates(results),
        _times(cells),
    ]
    return tables


def grid(
    name: str, title: str, cells: Sequence[Cell], methods: Sequence[ComparedMethod], entry: Callable[[Cell, ComparedMethod], str]
) -> StudyTable:
    """A table as the paper has them: methods and partitions down, sample sizes across."""
    samples = sorted({cell.n for cell in cells})
    partitions = sorted({cell.sites for cell in cells})
    by_place = {(cell.n, cell.sites): cell for cell in cells}
    rows = [
        (method.label, str(k), *(entry(by_place[n, k], method) if (n, k) in by_place else "" for n in samples))
        for method in methods
        for k in partitions
    ]
    return StudyTable(name, title, ("algorithm", "partitions", *(f"{n:,}" for n in samples)), tuple(rows))


def _over(which: Which) -> str:
    return "all tests" if which is Which.ALL else f"tests of {which} variables"


def _accuracy(which: Which) -> Callable[[Cell, ComparedMethod], str]:
    return lambda cell, method: _three(cell.accuracy(method, which))


def _effect(cell: Cell, method: ComparedMethod) -> str:
    return _three(cohens_d(cell.differences(method)))


def _three(value: float) -> str:
    return "–" if math.isnan(value) else f"{value:.3f}"


def _small(value: float) -> str:
    """Three decimals, or the order of magnitude of what these cannot show."""
    return f"{value:.3f}" if abs(value) >= 0.0005 or value == 0.0 else f"{value:.0e}"


def _iqr(cell: Cell, method: ComparedMethod) -> float:
    low, high = np.percentile(cell.log_ratios(method), [25, 75])
    return float(high - low)


def _candidates(results: Results) -> StudyTable:
    rows = []
    for smaller, larger, title in COMPARISONS:
        values = reductions(results, smaller, larger)
        unchanged, least, greatest = changed(values) if values else (0, 0, 0)
        rows.append((title, f"{len(values)}", f"{unchanged}", f"{least:,}", f"{greatest:,}"))
    head = ("comparison", "cases", "unchanged", "least reduction of the others", "greatest")
    return StudyTable("candidates", "Candidates before validation: reductions between variants of IOD", head, tuple(rows))


def _times(cells: Sequence[Cell]) -> StudyTable:
    def mean(values: Sequence[float]) -> str:
        return f"{sum(values) / len(values):.3f}"

    rows = [
        (
            f"{cell.sites}",
            f"{cell.n:,}",
            *(mean([record.found[method].seconds for record in cell.records]) for method in METHODS),
            mean([record.seconds for record in cell.records]),
        )
        for cell in cells
    ]
    head = ("partitions", "samples", *(method.label for method in METHODS), "whole run")
    return StudyTable("seconds", "Processor seconds per run: 42 tests and discovery", head, tuple(rows), left=0)

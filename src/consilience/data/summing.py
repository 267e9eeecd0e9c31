"""Cross-products and residual sums of many variable sets in one pass over the rows, block by block.

What :mod:`consilience.data.design` computes for one set at a time, over tables that have many rows: sets that are complete on the same rows
are parts of the same cross-products, which are made once. Means come first, in a pass of their own, for the reason that stands there.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import NDArray

from consilience.data.averages import Averages
from consilience.data.blocks import over_blocks
from consilience.data.counts import saturated
from consilience.data.design import Coding, CrossProducts, ModelSpec, coded_columns, column_names, cross_products, null_loglik
from consilience.data.kinds import Kind
from consilience.data.table import Table

__all__ = ["Line", "cross_products_of", "residual_sums_of"]

Floats = NDArray[np.float64]
Variables = tuple[str, ...]
Line = tuple[ModelSpec, tuple[int, ...], Floats]
"""A Gaussian model, the columns of it that are kept, and their slopes."""
_Names = list[tuple[str, int]]
"""The variable and the level behind every column."""
_Look = tuple[Variables, _Names, Floats, dict[str, float]]
"""What is made of a block: for which variables, with the means of which columns, and of counts."""
_Parts = tuple[Floats, Floats, list[float]]
"""Of one block: sums of columns, their cross-products, and log-likelihoods of counts."""


def cross_products_of(averages: Averages, sets: Sequence[Variables], coding: Coding) -> list[CrossProducts]:
    """:func:`~consilience.data.design.cross_products` of many sets of one table's variables.

    >>> import polars as pl
    >>> from consilience.data.schema import Schema
    >>> schema = Schema({"A": "continuous", "B": "continuous", "C": "binary"})
    >>> table = Table(pl.DataFrame({"A": [1.0, 3.0], "B": [0.5, 0.0], "C": [0, 1]}), schema, "muenster")
    >>> [found.gram.tolist() for found in cross_products_of(Averages(table), [("A", "C"), ("A",)], Coding({}))]
    [[[2.0, 1.0], [1.0, 0.5]], [[2.0]]]
    """
    table = averages.table
    if not table.many:
        return [cross_products(table, variables, coding) for variables in sets]
    mixed = [variables for variables in sets if any(name not in table.codes for name in variables)]
    averages.find(mixed)
    groups = _summed(averages, _groups(table, mixed), coding)
    found = list[CrossProducts]()
    for variables in sets:
        if any(name not in table.codes for name in variables):
            found.append(groups[table.complete(variables).key].part(averages, variables))
        else:  # its rows are counted
            found.append(cross_products(table, variables, coding))
    return found


@dataclass(slots=True, eq=False)
class _Group:
    """Sums over the rows that are complete on some variables."""

    variables: Variables
    names: _Names
    n: int
    sums: Floats
    gram: Floats
    counted: dict[str, float]
    degrees: int

    def part(self, averages: Averages, variables: Variables) -> CrossProducts:
        """Those of some of the variables."""
        schema, place = averages.table.schema, {name: j for j, name in enumerate(self.names)}
        at = [place[name] for name in column_names(schema, variables)]
        counts = [averages.levels(self.variables, name) for name in variables if name in averages.table.codes]
        levels = np.concatenate(counts or [np.empty(0, dtype=np.intp)]).astype(np.float64)
        counted = [number for name in variables if schema[name].kind is Kind.COUNT for number in self._counted(averages, name)]
        nulls = np.array([null_loglik(each) for each in counts])
        return CrossProducts(self.n, levels, nulls, np.array(counted), self.sums[at], self.gram[np.ix_(at, at)])

    def _counted(self, averages: Averages, name: str) -> tuple[float, float]:
        """As :func:`~consilience.data.counts.count_sums`: a site where nothing was counted says nothing on how counts scatter."""
        if self.degrees and averages.total(self.variables, name) == 0.0:
            return 0.0, 0.0
        return self.counted[name], float(self.n - self.degrees)


def _groups(table: Table, sets: Iterable[Variables]) -> dict[frozenset[str], Variables]:
    """The variables of all sets that are complete on the same rows."""
    found: dict[frozenset[str], set[str]] = {}
    for variables in sets:
        found.setdefault(table.complete(variables).key, set()).update(variables)
    return {key: tuple(sorted(names)) for key, names in found.items()}


def _summed(averages: Averages, groups: dict[frozenset[str], Variables], coding: Coding) -> dict[frozenset[str], _Group]:
    table, schema, own = averages.table, averages.table.schema, coding.centre_at_site
    if not groups:
        return {}
    found: dict[frozenset[str], _Group] = {}
    means: dict[frozenset[str], tuple[Floats, dict[str, float]]] = {}
    for key, variables in groups.items():
        names, n = column_names(schema, variables), table.complete(variables).n
        counts = [name for name in variables if schema[name].kind is Kind.COUNT]
        about = {name: averages.total(variables, name) / max(n, 1) if own else coding.about(name) or 1.0 for name in counts}
        means[key] = averages.columns(variables, names, coding), about
        width = len(names)
        found[key] = _Group(variables, names, n, np.zeros(width), np.zeros((width, width)), dict.fromkeys(counts, 0.0), int(own))
    look = partial(_of_block, [(group.variables, group.names, *means[key]) for key, group in found.items()], coding)
    for parts in over_blocks(table, {name for variables in groups.values() for name in variables}, look, portable=True):
        for group, (sums, gram, counted) in zip(found.values(), parts, strict=True):
            group.sums += sums
            group.gram += gram
            for name, likelihood in zip(group.counted, counted, strict=True):
                group.counted[name] += likelihood
    for group in found.values():
        if own and group.n:  # what rounding left of the means: second order, so the digits are still there
            group.gram -= np.outer(group.sums, group.sums) / group.n
    return found


def _of_block(groups: Sequence[_Look], coding: Coding, block: Table) -> list[_Parts]:
    return [_group_of_block(block, *group, coding) for group in groups]


def _group_of_block(block: Table, variables: Variables, names: _Names, means: Floats, about: dict[str, float], coding: Coding) -> _Parts:
    rows = block.complete(variables)
    columns = coded_columns(block, names, rows, coding)
    columns -= means
    counted = list[float]()
    for name, mean in about.items():
        values = block.numbers[name] if rows.index is None else block.numbers[name][rows.index]
        ratio = np.divide(mean, values, out=np.ones_like(values), where=(values > 0) & (mean > 0))
        counted.append(float((values * np.log(ratio) + saturated(values)).sum()))
    return columns.sum(axis=0), np.dot(columns.T, columns), counted


def residual_sums_of(averages: Averages, lines: Sequence[Line], coding: Coding) -> list[Floats]:
    """:func:`~consilience.data.design.residual_sums` of many models of a table with many rows."""
    table = averages.table
    averages.find(model.sample for model, _, _ in lines)
    names = [_columns(table, model, keep) for model, keep, _ in lines]
    means = [averages.columns(model.sample, each, coding) for (model, _, _), each in zip(lines, names, strict=True)]
    sums = [np.zeros(2 + 2 * len(keep)) for _, keep, _ in lines]
    asked = [(model, each, mean, slopes) for (model, _, slopes), each, mean in zip(lines, names, means, strict=True)]
    look = partial(_residuals_of_block, asked, coding)
    for parts in over_blocks(table, {name for model, _, _ in lines for name in model.sample}, look, portable=True):
        sums = [one + part for one, part in zip(sums, parts, strict=True)]
    return [
        _about_mean(one, table.complete(model.sample).n) if coding.centre_at_site else one
        for one, (model, _, _) in zip(sums, lines, strict=True)
    ]


def _columns(table: Table, model: ModelSpec, keep: Sequence[int]) -> _Names:
    """The columns of a model, and its response at the end."""
    names = column_names(table.schema, model.predictors)
    return [*(names[j] for j in keep), (model.response, 0)]


def _residuals_of_block(lines: Sequence[tuple[ModelSpec, _Names, Floats, Floats]], coding: Coding, block: Table) -> list[Floats]:
    return [_residuals(block, *line, coding) for line in lines]


def _residuals(block: Table, model: ModelSpec, names: _Names, means: Floats, slopes: Floats, coding: Coding) -> Floats:
    columns = coded_columns(block, names, block.complete(model.sample), coding)
    columns -= means
    X = columns[:, :-1]
    residual = columns[:, -1] - np.dot(X, slopes)
    return np.concatenate([[np.dot(residual, residual), residual.sum()], np.dot(residual, X), X.sum(axis=0)])


def _about_mean(sums: Floats, n: int) -> Floats:
    """The same sums with residuals about their mean: what rounding left of the means."""
    if n == 0:
        return sums
    p, mean = (len(sums) - 2) // 2, sums[1] / n
    products, columns = sums[2 : 2 + p] - mean * sums[2 + p :], sums[2 + p :]
    return np.concatenate([[sums[0] - n * mean * mean, 0.0], products, columns])

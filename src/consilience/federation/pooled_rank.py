"""Degrees of freedom on pooled rows, from the rows themselves: the yardstick for those that are read off an information matrix.

Per site: which levels the response has there, and what they say. Columns are centred within the site, so that its intercepts need no
columns but where thresholds have common gaps.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from consilience.data.design import ModelSpec, column_names
from consilience.data.kinds import Kind
from consilience.data.table import Table
from consilience.glm.kernel import Floats
from consilience.glm.layout import Family, Ordinal, family_of

__all__ = ["pooled_rank"]

SMALL = 1e-10
"""Singular values below this share of the largest, of columns brought to unit length, are rounding."""
Codes = NDArray[np.int64]


def pooled_rank(table: Table, site: str, model: ModelSpec, predictor: str, levels: tuple[int, ...], ordinal: Ordinal) -> int:
    """The rank that ``predictor`` adds to what the rows say on the slopes of ``model``, whose other predictors are nuisances.

    ``site`` names the column that says where a row is from; ``levels`` are the observed levels of the response.
    """
    rows = table.complete(model.sample)
    index = np.arange(rows.n) if rows.index is None else rows.index
    names = [(name, level) for name, level in column_names(table.schema, model.predictors) if name != site]
    X = np.column_stack([_column(table, name, level, index) for name, level in names])
    where, kind = table.codes[site][index], table.schema[model.response].kind
    if kind is Kind.COUNT:
        design, blocks = _counted(X, table.numbers[model.response][index], where), 1
    else:
        y = np.searchsorted(np.array(levels), table.codes[model.response][index]).astype(np.int64)
        family = family_of(kind, len(levels), ordinal)
        parts = [(_centred(X[where == k]), y[where == k]) for k in np.unique(where)]
        design, blocks = _proportional(parts, len(levels)) if family is Family.PROPORTIONAL else _contrasts(parts, family, len(levels))
    own = np.tile([name == predictor for name, _ in names], blocks)
    own = np.concatenate([own, np.zeros(design.shape[1] - len(own), dtype=bool)])
    return _rank(design) - _rank(design[:, ~own])


def _column(table: Table, name: str, level: int, index: NDArray[np.intp]) -> Floats:
    if name in table.codes:
        indicator: Floats = (table.codes[name][index] == level).astype(np.float64)
        return indicator
    values = table.numbers[name][index]
    spread = float(np.ptp(values))
    return values / spread if spread > 0 else values


def _centred(X: Floats) -> Floats:
    centred: Floats = X - X.mean(axis=0)
    centred[:, X.min(axis=0) == X.max(axis=0)] = 0.0
    return centred


def _counted(X: Floats, y: Floats, where: NDArray[np.int32]) -> Floats:
    """The rows of sites that counted anything: the others are fitted perfectly by a mean of zero, whatever the slopes."""
    return np.concatenate([X[:0], *(_centred(X[where == k]) for k in np.unique(where) if y[where == k].any())])


def _contrasts(parts: list[tuple[Floats, Codes]], family: Family, n_levels: int) -> tuple[Floats, int]:
    """Rows that speak on contrasts of levels (or on thresholds), each with slopes of its own."""
    blocks = n_levels - 1
    rows = [np.zeros((1, blocks * parts[0][0].shape[1]))]
    for X, y in parts:
        present = np.unique(y)
        factor = np.linalg.qr(X, mode="r") if len(X) > X.shape[1] else X
        if family is Family.GENERALIZED:  # the thresholds between the site's lowest and highest level
            contrasts = np.eye(blocks)[present[0] : present[-1]]
        else:  # log-odds of every level present against the first one; the slopes of level 0 are zero
            unit = np.vstack([np.zeros(blocks), np.eye(blocks)])
            contrasts = unit[present[1:]] - unit[present[0]]
        if len(contrasts):
            rows.append(np.kron(contrasts, factor))
    return np.concatenate(rows), blocks


def _proportional(parts: list[tuple[Floats, Codes]], n_levels: int) -> tuple[Floats, int]:
    """Every row speaks on the thresholds beside its level: θ + α - xβ. Gaps and intercepts are columns after the slopes."""
    sites, p = len(parts), parts[0][0].shape[1]
    spanned = {j for _, y in parts for j in range(y.min() + 1, y.max())}  # levels with rows of one site on both sides: finite gaps
    rows = [np.zeros((1, p + n_levels - 2 + sites))]
    for k, (X, y) in enumerate(parts):
        if y.min() == y.max() and int(y[0]) not in spanned:
            continue
        for threshold in range(n_levels - 1):
            near = X[(y == threshold) | (y == threshold + 1)]
            part = np.zeros((len(near), rows[0].shape[1]))
            part[:, :p] = -near
            part[:, p : p + threshold] = 1.0
            part[:, p + n_levels - 2 + k] = 1.0
            rows.append(part)
    return np.concatenate(rows), 1


def _rank(design: Floats) -> int:
    length = np.linalg.norm(design, axis=0)
    kept = design[:, length > 0] / length[length > 0]
    if kept.shape[1] == 0:
        return 0
    values = np.linalg.svd(kept, compute_uv=False) if len(kept) <= 4 * kept.shape[1] else _singular(kept)
    return int((values > SMALL * values[0]).sum())


def _singular(matrix: Floats) -> Floats:
    values: Floats = np.linalg.svd(np.linalg.qr(matrix, mode="r"), compute_uv=False)
    return values

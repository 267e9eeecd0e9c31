"""What a site takes out of its columns by itself: its intercept, and slopes of its own.

With an intercept a_k and slopes b_k of the columns L for every site, the least-squares fit of y on common columns B is that of y on B after
each site has regressed both on (1, L) over its own rows (Frisch, Waugh and Lovell). So cross-products of what is left are all that has
to be summed, and nobody learns a_k or b_k.

Only the cross-products of L with itself and with the others are factored, never the rows: one pass over them, in pieces of any length.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from consilience.glm.kernel import Floats

__all__ = ["Swept", "sweep"]

COLLINEAR = 1e-10
"""Directions of own columns, brought to unit variance, with less variance than this are none: rounding leaves some 1e-14."""
NEARLY = 1e-9
"""A column whose mean is its first value up to this share may be constant: of a constant one rounding leaves less."""


@dataclass(frozen=True, slots=True, eq=False)
class Swept:
    """Means of all columns, the map that predicts them from the own ones, and cross-products of what is left.

    ``own`` counts the own columns, the first ones; ``rank`` the local parameters, the intercept included.
    """

    n: int
    own: int
    rank: int
    means: Floats
    maps: Floats
    inverse: Floats
    gram: Floats

    def leverage(self, columns: Floats) -> Floats:
        """The leverage of rows in the local fit; ``columns`` are the own ones, about their means."""
        inside = np.einsum("ij,ij->i", columns @ self.inverse, columns) if self.own else 0.0
        return np.full(len(columns), 1.0 / max(self.n, 1)) + inside


def sweep(pieces: Callable[[], Iterable[Floats | Sequence[Floats]]], width: int, own: int, *, full: bool = True) -> Swept:
    """Regress ``width`` columns on an intercept and on the first ``own`` of them.

    ``pieces`` makes the rows anew, some at a time, in one block or in several side by side. Without ``full`` only cross-products with own
    columns are made: enough for the maps.

    >>> X = np.array([[0.0, 1.0], [1.0, 3.0], [2.0, 5.0], [3.0, 8.0]])
    >>> swept = sweep(lambda: [X], 2, 1)
    >>> swept.rank, swept.maps.round(3), swept.gram.round(3)
    (2, array([[1. , 2.3]]), array([[0. , 0. ],
           [0. , 0.3]]))
    >>> bool((sweep(lambda: [(X[:, :1], X[:, 1:])], 2, 1).gram == swept.gram).all())
    True
    """
    n, sums, shift = 0, np.zeros(width), None
    gram = np.zeros((width if full else own, width))
    for piece in pieces():
        moved = np.concatenate([piece] if isinstance(piece, np.ndarray) else piece, axis=1)
        if not len(moved):
            continue
        if shift is None:  # about the mean of the first rows: a column far from zero must not be squared as it is
            shift = _means(moved)
        moved -= shift
        gram += (moved if full else moved[:, :own]).T @ moved
        sums += moved.sum(axis=0)
        n += len(moved)
    if shift is None:
        return Swept(0, own, 0, np.zeros(width), np.zeros((own, width)), np.zeros((own, own)), gram)
    gram -= np.outer(sums[: len(gram)], sums) / n
    means = shift + sums / n
    inverse, found = _inverse(gram[:own, :own])
    maps = inverse @ gram[:own]
    if full and own:
        gram = gram - maps.T @ gram[:own]
        gram[:own, :] = gram[:, :own] = 0.0  # what rounding leaves of them would count as columns
        gram = 0.5 * (gram + gram.T)
    return Swept(n, own, 1 + found, means, maps, inverse, gram)


def _means(columns: Floats) -> Floats:
    """Means; of a constant column its value itself."""
    means: Floats = columns.mean(axis=0)
    first = columns[0]
    near = np.flatnonzero(np.abs(means - first) <= NEARLY * np.abs(first))  # few columns are looked at row by row
    constant = near[(first[near] == columns[:, near]).all(axis=0)]
    means[constant] = first[constant]
    return means


def _inverse(gram: Floats) -> tuple[Floats, int]:
    """The pseudo-inverse of cross-products, and their rank."""
    if not len(gram):
        return gram, 0
    scale = np.sqrt(np.maximum(np.diag(gram), 0.0))
    unit = np.divide(1.0, scale, out=np.zeros_like(scale), where=scale > 0)
    values, vectors = np.linalg.eigh(gram * np.outer(unit, unit))
    kept = values > COLLINEAR
    half = (unit[:, None] * vectors[:, kept]) / np.sqrt(values[kept])
    return half @ half.T, int(kept.sum())

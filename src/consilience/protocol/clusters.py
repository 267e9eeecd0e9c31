"""Which rows of a site belong together, where it must not tell of few: small clusters are one where there are few of them.

Products of residuals are added up within clusters, then squared and added again. Of two clusters the sum and the sum of squares are two
equations in two unknowns, so that a ward with one patient beside another ward would be that patient. So at a site with fewer than
``min_cell`` clusters, those with fewer rows than that are merged. Larger clusters are as good for a test as smaller ones: what is
independent between them stays so.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from consilience.data.table import Rows
from consilience.protocol.desk import Desk

__all__ = ["clusters_of", "merged"]

Codes = NDArray[np.intp]


def merged(codes: Codes, least: int) -> Codes:
    """The clusters of some rows, merged where they are few, until each has at least ``least`` rows or one is left.

    >>> merged(np.array([0] * 6 + [1] * 2 + [2]), 5), merged(np.array([0, 1, 2, 3, 4]), 5)
    (array([0, 0, 0, 0, 0, 0, 0, 0, 0]), array([0, 1, 2, 3, 4]))
    """
    counts = np.bincount(codes)
    there = np.flatnonzero(counts)
    if len(there) >= least:
        return codes
    stands_for = np.arange(len(counts))
    while len(there) > 1 and counts[there].min() < least:
        small, next_one = there[np.argsort(counts[there], kind="stable")[:2]]
        stands_for[stands_for == small] = next_one
        counts[next_one] += counts[small]
        there = there[there != small]
    return stands_for[codes]


@dataclass(slots=True)
class _Merged:
    """Clusters by selection of rows, found once."""

    found: dict[frozenset[str], Codes] = field(default_factory=dict)


def clusters_of(desk: Desk, rows: Rows, index: NDArray[np.intp] | None) -> Codes | None:
    """The clusters of the rows ``index``, some or all of ``rows``; None where rows are independent."""
    cluster = desk.table.cluster
    if cluster is None or desk.fewest <= 1:
        return cluster if cluster is None or index is None else cluster[index]
    kept = desk.keep(_Merged).found
    if rows.key not in kept:
        whole, here = cluster.copy(), slice(None) if rows.index is None else rows.index
        whole[here] = merged(cluster[here], desk.fewest)
        kept[rows.key] = whole
    return kept[rows.key] if index is None else kept[rows.key][index]

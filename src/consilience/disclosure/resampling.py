"""Which rows of a site stand in a resampled copy of its table, and how often: drawn by the site, from a secret that only it has.

*Poisson weights.* Each row stands in a copy as often as an independent draw from the Poisson law with mean 1 says: the bootstrap in the
form that needs no agreement between sites on how many rows there are in all (J. A. Hanley and B. MacGibbon 2006; it is the multinomial
bootstrap but for the total). Weights are whole numbers, so that a fit with weights is the fit on repeated rows, for every method there is.
Where rows come in clusters, whole clusters are drawn.

*Secret and repeatable.* A draw is a function of the site's secret for the study, of its number, and of the rows themselves: ChaCha20 gives
the bits, and they are dealt out in an order that does not depend on how the table is sorted. A site that starts again draws the same.

*What copies could tell, and why they do not.* Sums over a copy are sums over few rows where the copy has few rows of a level; and two
copies whose weights differ in a single row of a level differ by that row. Where a study has rules on disclosure, a site therefore

1. redraws a copy in which a group of rows or a level has fewer rows than the rules ask for, or a variable does not vary any more;
2. does not draw rows of levels or groups with fewer than :data:`LEAST` of them: they stand once in every copy. Of n rows two copies
   differ in exactly one with probability 0.69 n 0.3085ⁿ⁻¹: for n = 10 and a hundred copies (4950 pairs) that is more likely than not, for
   n = 30 it is below 10⁻⁷ even among a million pairs;
3. makes at most half as many different copies as the smallest level or group that is drawn has rows, and deals them out again in another
   order when there are no more. Sums over m copies are m combinations of n unknown rows with unknown small whole numbers as weights, a
   *hidden subset sum* (P. Nguyen and J. Stern 1999): lattice reduction finds rows and weights where m is well above n, and there is
   nothing to reduce where m is below n, since the weights of the copies then satisfy no linear relation.

What all copies together say is their average, which comes near the sum over the site's rows: that sum is told anyway.
"""

from __future__ import annotations

from functools import cached_property
from typing import Final, NamedTuple

import numpy as np
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms
from numpy.typing import NDArray

from consilience.data.table import Table
from consilience.disclosure.fold import Limits
from consilience.disclosure.patterns import columns_of, patterns_of
from consilience.secagg.context import pack, sha256

__all__ = ["LEAST", "Draws"]

LEAST = 30
"""Rows (or clusters) of a level or a group below which none of them is drawn, where there are rules on disclosure."""
MOST_ATTEMPTS = 10_000
"""Draws of one copy. With :data:`LEAST` rows in each level the first is nearly always good; with a least level count of a hundred rows in
several levels of not many more it takes dozens."""
_LABEL: Final = b"consilience/draw/1"
_POISSON: Final = np.cumsum(np.exp(-1.0 - np.cumsum(np.log(np.maximum(np.arange(20), 1)))))
"""The law with mean 1: how likely so many or fewer are. Beyond the last, 10⁻¹⁹ is left, which no 53 bits have."""

Times = NDArray[np.intp]
Codes = NDArray[np.intp]


class _Set(NamedTuple):
    """Rows that sums are told of, and how many of them there must be."""

    rows: Codes
    least: int


class Draws:
    """The draws of one site in one study. ``limits`` are those of its rules on disclosure, None where there are none.

    ``fixed``: no row is drawn, and all copies are the same. So it is where a site tells of no small cells of several levels together
    (:mod:`consilience.disclosure.cells`): the bounds on copies here are on levels of one variable, and cells have fewer rows.

    >>> import polars as pl
    >>> from consilience.data.schema import Schema
    >>> table = Table(pl.DataFrame({"A": [float(i) for i in range(8)]}), Schema({"A": "continuous"}), "muenster")
    >>> draws = Draws(table, b"secret")
    >>> draws.times(1), draws.times(2)
    (array([2, 1, 0, 2, 1, 0, 0, 0]), array([1, 0, 2, 0, 0, 0, 1, 0]))
    """

    def __init__(self, table: Table, secret: bytes, limits: Limits | None = None, *, fixed: bool = False) -> None:
        self.table, self.limits, self.fixed, self._secret = table, limits, fixed, secret

    @cached_property
    def _units(self) -> Codes:
        """What is drawn together: a number for each row, in an order that does not depend on the order of the rows."""
        table = self.table
        columns = [table.codes[n].astype(np.float64) if n in table.codes else table.numbers[n] for n in columns_of(table)]
        place = np.empty(table.n_rows, dtype=np.intp)
        place[np.lexsort(columns[::-1]) if columns else np.arange(table.n_rows)] = np.arange(table.n_rows)
        if table.cluster is None or not table.n_rows:
            return place
        first = np.full(int(table.cluster.max()) + 1, table.n_rows, dtype=np.intp)
        np.minimum.at(first, table.cluster, place)
        return np.unique(first[table.cluster], return_inverse=True)[1].astype(np.intp)

    @cached_property
    def _sets(self) -> list[_Set]:
        """The rows of every group, and of every level in it, with how many of each the rules ask for."""
        limits = Limits(1, 1) if self.limits is None else self.limits
        patterns, found = patterns_of(self.table), list[_Set]()
        for group in range(len(patterns.has)):
            rows = np.flatnonzero(patterns.of_row == group)
            found.append(_Set(rows, limits.rows))
            for codes in self.table.codes.values():
                own = codes[rows]
                found += [_Set(rows[own == level], limits.cell) for level in np.unique(own[own >= 0])]
        return [one for one in found if len(one.rows)]

    @cached_property
    def drawn(self) -> NDArray[np.bool_]:
        """Which rows are drawn at all; the others stand once in every copy.

        >>> import polars as pl
        >>> from consilience.data.schema import Schema
        >>> table = Table(pl.DataFrame({"E": ["p"] * 50 + ["q"] * 8}), Schema({"E": ("multinomial", "pq")}), "muenster")
        >>> int(Draws(table, b"", Limits(10, 5)).drawn.sum())
        50
        """
        drawn = np.ones(self.table.n_rows, dtype=np.bool_)
        if self.fixed:
            return ~drawn
        if self.limits is None:
            return drawn
        units, n = self._units, self.table.n_rows
        changed = True
        while changed:  # rows that are not drawn may leave too few of another level
            changed = False
            for rows, _ in self._sets:
                free = rows[drawn[rows]]
                if len(free) and len(np.unique(units[free])) < LEAST:
                    held = np.zeros(n, dtype=np.bool_)
                    held[units[free]] = True
                    drawn &= ~held[units]  # with all that belongs to the same clusters
                    changed = True
        return drawn

    @cached_property
    def distinct(self) -> int | None:
        """How many different copies are made; None for as many as are asked for.

        >>> import polars as pl
        >>> from consilience.data.schema import Schema
        >>> table = Table(pl.DataFrame({"E": ["p"] * 50 + ["q"] * 80}), Schema({"E": ("multinomial", "pq")}), "muenster")
        >>> Draws(table, b"", Limits(10, 5)).distinct
        25
        """
        if self.limits is None:
            return None
        drawn, units = self.drawn, self._units
        sizes = [len(np.unique(units[rows[drawn[rows]]])) for rows, _ in self._sets]
        return min((size for size in sizes if size), default=2) // 2

    def times(self, draw: int) -> Times:
        """How often each row stands in a copy; copies are numbered from 1."""
        slot = self._slot(draw)
        if not self.drawn.any():
            return np.ones(self.table.n_rows, dtype=np.intp)
        for attempt in range(MOST_ATTEMPTS):
            uniform = self._uniform(b"times", slot, attempt, int(self._units.max()) + 1)
            times = np.where(self.drawn, np.searchsorted(_POISSON, uniform, side="right")[self._units], 1).astype(np.intp)
            if self._is_enough(times):
                return times
        return np.ones(self.table.n_rows, dtype=np.intp)  # the rows as they are tell nothing new

    def _slot(self, draw: int) -> int:
        """Which of the different copies one of this number is: all of them in turn, in an order of the site's own every time."""
        if self.distinct is None:
            return draw
        turn, place = divmod(draw - 1, self.distinct)
        return int(np.argsort(self._uniform(b"order", turn, 0, self.distinct))[place]) + 1

    def _uniform(self, purpose: bytes, number: int, attempt: int, n: int) -> NDArray[np.float64]:
        """Numbers from 0 to 1 that only the holder of the secret can tell."""
        key = sha256(pack(_LABEL, self._secret, purpose, number.to_bytes(8, "big"), attempt.to_bytes(8, "big")))
        bits = Cipher(algorithms.ChaCha20(key, bytes(16)), mode=None).encryptor().update(bytes(8 * n))
        found: NDArray[np.float64] = (np.frombuffer(bits, dtype="<u8") >> np.uint64(11)).astype(np.float64) * 2.0**-53
        return found

    def _is_enough(self, times: Times) -> bool:
        """Whether a copy keeps the rules on groups and levels, and varies where the table does."""
        if self.limits is None:
            return bool(times.any())
        if any(times[rows].sum() < min(least, len(rows)) for rows, least in self._sets):
            return False
        stays = times > 0
        return all(_varies(column[stays]) or not _varies(column) for column in self.table.numbers.values())


def _varies(values: NDArray[np.float64]) -> bool:
    known = values[~np.isnan(values)]
    return len(known) > 0 and bool(known.min() < known.max())

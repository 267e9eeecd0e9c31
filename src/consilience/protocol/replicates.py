"""Replicates: the same study over resampled rows, or over the rows of all sites but one.

What a site answers in a replicate is what it would answer if its table were that copy of it. So a copy has a desk of its own, with what
requests keep from one round to the next; and rules that are held against what was announced and answered in this replicate, and no other.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable

import msgspec
import numpy as np

from consilience.data.table import Table
from consilience.disclosure.resampling import Draws
from consilience.protocol.desk import CACHE_BYTES, Desk

__all__ = ["Copies", "Replicate"]

SHARED_BYTES = 4 * CACHE_BYTES
"""Room for the kernels of all copies together: for fifty copies of a thousand rows, most of them."""
ROOM = 32 << 20
"""Values that the copies of a site hold at a time: 256 megabytes. The one that was not asked for longest goes first, and is made anew."""


class Replicate(msgspec.Struct, frozen=True, array_like=True, forbid_unknown_fields=True):
    """Which rows: copy number ``draw`` of each site's (0: the rows as they are), of all sites but the one with this fingerprint.

    >>> Replicate(3), Replicate(without=b"1")
    (Replicate(draw=3, without=b''), Replicate(draw=0, without=b'1'))
    """

    draw: int = 0
    without: bytes = b""


class Copies:
    """A site's copies of its table and the desks over them. ``desk_over`` makes a desk, with room for so many bytes and a least crowd.

    ``own`` is the site's fingerprint: of a replicate without it, its table is empty.
    """

    def __init__(self, draws: Draws, own: bytes, desk_over: Callable[[Table, int, int], Desk]) -> None:
        self.draws, self.own, self._desk_over = draws, own, desk_over
        self._kept: OrderedDict[Replicate, Desk] = OrderedDict()
        self.expected = 1

    def expect(self, copies: int) -> None:
        """So many are asked for at a time: what a site has room for is divided among them."""
        self.expected = max(self.expected, copies)

    def desk(self, replicate: Replicate) -> Desk:
        """The desk over a copy."""
        found = self._kept.get(replicate)
        if found is None:
            found = self._kept[replicate] = self._made(replicate)
            while len(self._kept) > 1 and sum(_values(desk.table) for desk in self._kept.values()) > ROOM:
                self._kept.popitem(last=False)
        self._kept.move_to_end(replicate)
        return found

    def _made(self, replicate: Replicate) -> Desk:
        table, most = self.draws.table, 1
        if replicate.without == self.own:
            table = table.subset(np.zeros(0, dtype=np.intp))
        elif replicate.draw:
            times = self.draws.times(replicate.draw)
            # what is about five rows must be about five different ones: a row counts as often as it stands there
            table, most = table.repeated(times), max(int(times.max(initial=1)), 1)
        return self._desk_over(table, SHARED_BYTES // self.expected, most)


def _values(table: Table) -> int:
    return table.n_rows * max(len(table.names), 1)

"""Memory that two processes share, for a part of a table at a time. It has no name and no file: it is gone when both processes are."""

from __future__ import annotations

import mmap
import os
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["Place", "Slot"]

ALIGNED = 64
"""Columns begin at multiples of so many bytes, as arrays do that numpy makes."""
Place = tuple[str, str, int, int]
"""A column's name and type, where it begins, and how many values it has."""


class Slot:
    """Room for columns: who :meth:`put` them says where they are to who :meth:`get` them. ``fd`` is that of the other, if it is there.

    >>> one = Slot()
    >>> placed = one.put({"A": np.array([1.0, 2.0]), "E": np.array([0, 2, 1], dtype=np.int32)})
    >>> Slot(one.fd).get(placed)
    {'A': array([1., 2.]), 'E': array([0, 2, 1], dtype=int32)}
    >>> one.close()
    """

    def __init__(self, fd: int | None = None) -> None:
        self.fd = os.memfd_create("consilience") if fd is None else fd
        self._size = 0
        self._memory: mmap.mmap | None = None

    def put(self, columns: Mapping[str, NDArray[Any]]) -> list[Place]:
        """Copy columns there, in place of what was there."""
        placed, end = list[Place](), 0
        for name, column in columns.items():
            placed.append((name, column.dtype.str, end, len(column)))
            end += -(-column.nbytes // ALIGNED) * ALIGNED
        memory = self._mapped(end)
        for (_, kind, start, n), column in zip(placed, columns.values(), strict=True):
            np.frombuffer(memory, kind, n, start)[:] = column
        return placed

    def get(self, placed: Sequence[Place]) -> dict[str, NDArray[Any]]:
        """The columns, not copied: they are others when something else is put there."""
        ends = [start + n * np.dtype(kind).itemsize for _, kind, start, n in placed]
        memory = self._mapped(max(ends, default=0))
        return {name: np.frombuffer(memory, kind, n, start) for name, kind, start, n in placed}

    def _mapped(self, size: int) -> mmap.mmap:
        if self._memory is None or size > self._size:
            # the one before is given back when no array looks at it any more
            self._size = max(size, mmap.PAGESIZE, os.fstat(self.fd).st_size)
            os.ftruncate(self.fd, self._size)
            self._memory = mmap.mmap(self.fd, self._size)
        return self._memory

    def close(self) -> None:
        """Give it back, as far as nobody looks at it."""
        self._memory = None
        os.close(self.fd)

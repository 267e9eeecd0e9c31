"""Endpoint marks: what stands at each end of an edge.

===========  ======  ============================================================================
mark         symbol  the node at this end, seen from the other end, is …
===========  ======  ============================================================================
``CIRCLE``   ``o``   an ancestor in some graphs of the equivalence class and none in others
``ARROW``    ``>``   not an ancestor
``TAIL``     ``-``   an ancestor (of the other end or of a selection variable)
===========  ======  ============================================================================

A graph is one matrix of marks, in pcalg's coding of PAGs: ``m[i][j]`` is the mark *at j* on the edge i–j, 0 if there is no edge.
So ``m[i][j] = 2, m[j][i] = 3`` is i --> j.
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import IntEnum
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from consilience.graph.errors import HalfEdgeError, MarkError, SelfLoopError

__all__ = ["ARROW", "CIRCLE", "NONE", "TAIL", "Mark", "MarkMatrix", "check_marks"]

MarkMatrix: TypeAlias = NDArray[np.int8]


class Mark(IntEnum):
    """What stands at one end of an edge.

    >>> Mark(2)
    <Mark.ARROW: 2>
    """

    NONE = 0
    CIRCLE = 1
    ARROW = 2
    TAIL = 3


NONE, CIRCLE, ARROW, TAIL = (int(mark) for mark in Mark)


def check_marks(matrix: ArrayLike, names: Sequence[str] = ()) -> MarkMatrix:
    """A matrix of marks as a read-only array of its own, or an error that says which entry is wrong.

    ``names`` are what the message calls the nodes; their numbers if left out.

    >>> check_marks([[0, 2], [3, 0]])
    array([[0, 2],
           [3, 0]], dtype=int8)
    """
    try:
        given = np.asarray(matrix)
    except ValueError:
        raise MarkError("A mark matrix needs rows of one length; got rows of several.") from None
    if given.size == 0 and given.ndim <= 2:
        given = np.zeros((0, 0), dtype=np.int8)
    if given.ndim != 2 or given.shape[0] != given.shape[1]:
        raise MarkError(f"A mark matrix has one row and one column for every node; got shape {given.shape}.")
    called = list(names) if len(names) == len(given) else [str(i) for i in range(len(given))]
    if given.dtype.kind not in "iuf":
        raise MarkError(f"A mark matrix holds the numbers 0 to 3; got entries of type {given.dtype}.")
    if not _are_marks(given):
        _complain(given, called)
    marks = given.astype(np.int8)
    marks.setflags(write=False)
    return marks


def _are_marks(given: NDArray[Any]) -> bool:
    """What :func:`_complain` looks for, of marks as graphs keep them, in few calls: a list may have ten thousand graphs to check."""
    if given.dtype != np.int8:
        return False
    absent = given == 0
    return not ((given & ~3).any() or (absent != absent.T).any()) and bool(absent.diagonal().all())


def _complain(given: NDArray[Any], called: list[str]) -> None:
    """Raise for the first entry that is wrong, if there is one."""
    for i, j in np.argwhere(~np.isin(given, (0, 1, 2, 3))):
        raise MarkError(
            f"A mark is 0 (no edge), 1 (circle), 2 (arrowhead) or 3 (tail); got {given[i, j]} at ({called[i]}, {called[j]}). "
            f"A matrix in another coding must be translated first."
        )
    for i in np.flatnonzero(np.diagonal(given)):
        raise SelfLoopError(
            f"A node has no edge to itself; got mark {int(given[i, i])} at ({called[i]}, {called[i]}). Set the diagonal to 0."
        )
    for i, j in np.argwhere((given == 0) & (given.T != 0)):
        raise HalfEdgeError(
            f"An edge has a mark at both ends; {called[i]}–{called[j]} has one at {called[i]} only. "
            f"Entry ({called[i]}, {called[j]}) is the mark at {called[j]}, entry ({called[j]}, {called[i]}) the one at {called[i]}: "
            f"set both, or both to 0."
        )

"""A member of a class about which more is known than its PAG shows.

Knowledge rules out some MAGs of a class and leaves a PAG with marks that all the others share: more than those of the class. Zhang's tail
augmentation (:func:`~consilience.graph.equivalence.pag_to_mag_marks`) finds a member of a class, and most often one of such a part of it.
Where it does not, marks are tried at the circles that are left, the rules tell what follows from each, and what turns out to be no MAG of
the class is taken back.
"""

from __future__ import annotations

from collections.abc import Iterator

from consilience.graph.ancestral import is_mag_marks
from consilience.graph.equivalence import mag_to_pag_marks, pag_to_mag_marks
from consilience.graph.errors import InvalidPAGError
from consilience.graph.marks import ARROW, TAIL
from consilience.graph.marksets import MarkSets, bits
from consilience.graph.rules import orient

__all__ = ["member_marks"]

MOST_TRIED = 10_000
"""Marks that are tried before a graph is taken to be none: those of a part of a class take about as many tries as there are circles."""


def member_marks(pag: MarkSets) -> MarkSets:
    """A MAG with all marks of ``pag``. Raises ``InvalidPAGError`` if none is found.

    It is one of the class if the marks are those of a class or of a part of one. Marks written down by hand may lack some that the class
    shares: then it is one of a class that has them.

    >>> known = MarkSets.from_matrix([[0, 1, 0], [2, 0, 1], [0, 1, 0]])  # 0 <-o 1 o-o 2: of 0 o-o 1 o-o 2 it is known that 0 is no cause
    >>> member_marks(known).to_matrix().tolist()
    [[0, 3, 0], [2, 0, 2], [0, 3, 0]]
    """
    try:
        mag = pag_to_mag_marks(pag)
    except InvalidPAGError:  # its circles are not those of a class
        mag = pag
    found = mag if is_mag_marks(mag) else _search(pag, pag.copy(), iter(range(MOST_TRIED)))
    if found is None:
        raise InvalidPAGError("These marks are those of no Markov equivalence class, nor of a part of one. Ask is_valid_pag(pag) first.")
    return found


def _search(pag: MarkSets, marks: MarkSets, tries: Iterator[int]) -> MarkSets | None:
    """Depth first; R4 is left out, as what β is on a new discriminating path is not known before the end."""
    selection = any(pag.tail[v] & ~pag.far_arrow[v] for v in range(pag.n))
    orient(marks, selection_bias=selection)
    if marks.contradicted or next(tries, None) is None:
        return None
    place = next(((u, v) for v in range(marks.n) for u in bits(marks.circle[v])), None)
    if place is None:
        return marks if _is_member(marks, pag) else None
    u, v = place
    for mark in (TAIL, ARROW):
        tried = marks.copy()
        tried.resolve(u, v, mark)
        if mark == TAIL and not selection:  # of two ends one at least has an arrowhead
            tried.resolve(v, u, ARROW)
        found = _search(pag, tried, tries)
        if found is not None:
            return found
    return None


def _is_member(mag: MarkSets, pag: MarkSets) -> bool:
    """True if these marks, which extend those of ``pag``, are a MAG's, and what its class shares is there already."""
    if not is_mag_marks(mag):
        return False
    shared = mag_to_pag_marks(mag)
    return not any(shared.arrow[v] & ~pag.arrow[v] | shared.tail[v] & ~pag.tail[v] for v in range(pag.n))

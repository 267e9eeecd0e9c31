"""Is a candidate a solution? The three conditions of the published algorithm."""

from __future__ import annotations

from collections.abc import Sequence

from consilience.graph.ancestral import is_mag_marks
from consilience.graph.equivalence import mag_to_pag_marks, pag_to_mag_marks
from consilience.graph.errors import InvalidPAGError
from consilience.graph.marksets import MarkSets
from consilience.graph.separation import Separation
from consilience.iod.local import Local

__all__ = ["is_solution"]


def is_solution(pag: MarkSets, locals_: Sequence[Local], everything: int) -> bool:
    """True if ``pag`` is a valid PAG in which every recorded separation holds and no inseparable pair can be separated.

    A pair is inseparable within V_i iff there is an inducing path between the two relative to the variables outside V_i. The cheap
    conditions are asked first, of a member MAG.
    """
    try:
        mag = pag_to_mag_marks(pag)
    except InvalidPAGError:
        return False
    separation = Separation(mag)  # of one member: all of a class separate the same, and if it is none, the last line says so
    for local in locals_:
        if not all(separation.separated(x, y, given) for (x, y), given in local.sepsets.items()):
            return False
        outside = everything & ~local.variables
        if not all(separation.inducing(x, y, outside) for x, y in local.inseparable):
            return False
    return is_mag_marks(mag) and mag_to_pag_marks(mag).same_marks(pag)

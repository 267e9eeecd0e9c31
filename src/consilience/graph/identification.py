"""What a graph says about the effect of one variable on another: how it is identified, or why it is not, in a type and in words.

The words are for people who know no graph theory, and stand here once. Names are others' text; whoever puts them on a page escapes them
there.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from consilience.graph.marks import Mark
from consilience.graph.mixed import Edge

__all__ = ["Adjustment", "Identification"]


class Identification(StrEnum):
    """Whether an effect is identified, and by what; or what stands in the way.

    Attributes
    ----------
    ADJUSTED
        By adjusting for a set of variables.
    ZERO
        As zero: x is a cause of y in no graph of the class.
    HIDDEN_CAUSE
        Not: an edge out of x, on a way to y, may be due to a common cause that nobody measured, or lead to x.
    OPEN_PATH
        Not: no set of the graph's variables blocks a path by which x and y go together without x being the cause.
    NOT_TOGETHER
        Not from these data: sets would do, but no data set has one of them with x and y.
    SELECTION
        Not: the graph has edges that only selection explains.

    Examples
    --------
    >>> Identification("zero").identified, Identification.OPEN_PATH.identified
    (True, False)
    """

    ADJUSTED = "adjusted"
    ZERO = "zero"
    HIDDEN_CAUSE = "hidden cause"
    OPEN_PATH = "open path"
    NOT_TOGETHER = "not together"
    SELECTION = "selection"

    @property
    def identified(self) -> bool:
        """True if the effect can be told: it is zero, or some set adjusts for all else."""
        return self in (Identification.ADJUSTED, Identification.ZERO)


@dataclass(frozen=True)
class Adjustment:
    """The answer for one graph and the effect of x on y: which sets to adjust for, or why there is none.

    Attributes
    ----------
    x, y : str
        The cause and the outcome asked about.
    identification : Identification
        How the effect is identified, or why not.
    sets : tuple of tuple of str
        Sets to adjust for, the smallest first; each sorted. Empty unless ``identification`` is ``ADJUSTED``.
    complete : bool
        False if there are more sets than were asked for.
    canonical : tuple of str or None
        The largest set worth adjusting for: possible ancestors of x or y that are not forbidden, whoever measures them. None unless
        some set of the graph's variables would do.
    forbidden : tuple of str
        Variables that x may act on, on the way to y or after: to adjust for one takes a part of the effect away, or adds what is none.
    wanted : tuple of tuple of str
        Where no data set has x, y and a set together: minimal sets that would do.
    edge : Edge or None
        The edge that stands in the way of ``HIDDEN_CAUSE`` and ``SELECTION``.
    path : str
        The path that stands in the way of ``HIDDEN_CAUSE`` and ``OPEN_PATH``, as text.

    Examples
    --------
    >>> print(Adjustment("dose", "cure", Identification.ADJUSTED, sets=(("age", "sex"),)).in_words())
    The effect of dose on cure can be estimated by adjusting for age and sex.
    """

    x: str
    y: str
    identification: Identification
    sets: tuple[tuple[str, ...], ...] = ()
    complete: bool = True
    canonical: tuple[str, ...] | None = None
    forbidden: tuple[str, ...] = ()
    wanted: tuple[tuple[str, ...], ...] = ()
    edge: Edge | None = None
    path: str = ""

    @property
    def identified(self) -> bool:
        """True if the effect can be told: it is zero, or some set adjusts for all else."""
        return self.identification.identified

    def in_words(self) -> str:
        """The answer as a sentence.

        Returns
        -------
        str

        Examples
        --------
        >>> print(Adjustment("dose", "cure", Identification.ZERO).in_words())
        dose is no possible cause of cure: the effect is zero.
        """
        x, y, effect = self.x, self.y, f"The effect of {self.x} on {self.y}"
        if self.identification is Identification.ADJUSTED:
            return f"{effect} can be estimated {_by_adjusting(self.sets)}."
        if self.identification is Identification.ZERO:
            return f"{x} is no possible cause of {y}: the effect is zero."
        return f"{effect} is not identifiable by adjustment: {self._obstacle()}."

    def _obstacle(self) -> str:
        if self.identification is Identification.HIDDEN_CAUSE:
            assert self.edge is not None
            way = "" if self.path == str(self.edge) else f", with which the way {self.path} begins"
            return f"{_doubt(self.edge)}{way}"
        if self.identification is Identification.OPEN_PATH:
            return f"no set of variables blocks the path {self.path}, by which the two go together without {self.x} being the cause"
        if self.identification is Identification.NOT_TOGETHER:
            besides = f" with {_either('with', self.wanted[:2])}, for which to adjust" if self.wanted else ""
            return f"no data set measures {self.x} and {self.y} together{besides}"
        return f"the edge {self.edge} says that who is in the data depends on what is measured (selection), and no set adjusts for that"


def _doubt(edge: Edge) -> str:
    """What an edge out of x leaves open, if it is not known that x alone explains it."""
    x, c = edge.a, edge.b
    if edge.at_a == Mark.TAIL:
        return f"the edge {edge} might hide a common cause of {x} and {c} that nobody measured"
    reverse = "" if edge.at_b == Mark.ARROW else f", or {c} a cause of {x}"
    return f"the edge {edge} leaves open whether {x} is a cause of {c} at all{reverse}, or a common cause that nobody measured explains it"


def _by_adjusting(sets: Sequence[Sequence[str]]) -> str:
    if not sets[0]:
        return "without adjusting for anything"
    more = f" ({len(sets)} sets would do)" if len(sets) > 2 else ""
    return f"by adjusting for {_either('for', sets[:2])}{more}"


def _either(word: str, sets: Sequence[Sequence[str]]) -> str:
    """Sets to choose from.

    >>> _either("for", [["age"], ["sex", "weight"]])
    'age, or for sex and weight'
    """
    return f", or {word} ".join(_listed(names) for names in sets)


def _listed(names: Sequence[str]) -> str:
    """Names in a row.

    >>> _listed(["a"]), _listed(["a", "b"]), _listed(["a", "b", "c"])
    ('a', 'a and b', 'a, b and c')
    """
    return " and ".join(part for part in (", ".join(names[:-1]), names[-1]) if part)

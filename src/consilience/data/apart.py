"""Variables that a table does not show together, though it holds each of them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

__all__ = ["Apart"]


@dataclass(frozen=True, slots=True)
class Apart:
    """Sets of discrete variables that are not looked at together, nor any set that has one of them in it.

    ``most`` bounds how many of the ``discrete`` variables are looked at together at all; 0 is no bound.

    >>> apart = Apart(frozenset({frozenset({"C", "D"})}), frozenset("CDEF"), most=2)
    >>> apart.parts(["C", "D", "A"]), apart.parts(["C", "E", "A"]), apart.parts(["C", "E", "F"])
    (True, False, True)
    """

    sets: frozenset[frozenset[str]]
    discrete: frozenset[str]
    most: int = 0
    _known: dict[frozenset[str], bool] = field(default_factory=dict, compare=False, repr=False)
    _by_first: dict[str, list[frozenset[str]]] = field(default_factory=dict, compare=False, repr=False)

    def __post_init__(self) -> None:
        for one in self.sets:  # by one of its variables: without it a set is in nothing, and others may state thousands of them
            self._by_first.setdefault(min(one), []).append(one)

    def parts(self, variables: Iterable[str]) -> bool:
        """True if these variables are not looked at together."""
        wanted = self.discrete.intersection(variables)
        found = self._known.get(wanted)
        if found is None:  # each is asked for with every request
            found = bool(self.most and len(wanted) > self.most) or any(
                one <= wanted for first in wanted for one in self._by_first.get(first, ())
            )
            self._known[wanted] = found
        return found

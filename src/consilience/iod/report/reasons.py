"""Why a mark is certain, where a test and a triple of variables say it.

Two patterns are told, with u–v–w a path of edges that every graph has, and no edge u–w in any:

- u and w are independent given a set without v: then v is a collider, and both edges have arrowheads at v;
- there is an arrowhead at v on u–v, and u and w are independent given a set with v in it: then v is none, so the edge v–w leaves v with
  a tail, and has an arrowhead at w (rule R1 of FCI).

What neither tells follows from the decisions taken together, and that is what is said. A test that was overruled explains nothing.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from consilience.citest.size import Size
from consilience.iod.report.sentences import isolated
from consilience.iod.summary import ALL, NO
from consilience.iod.wording import format_p

if TYPE_CHECKING:  # a Discovery writes itself with these modules
    from consilience.iod.discovery import Discovery

__all__ = ["Asked", "Reasons"]


class Asked(NamedTuple):
    """A test of a pair, with what was decided.

    >>> Asked(("C",), 0.31, "independent", 300, 2).words
    'p = 0.310, n = 300'
    """

    given: tuple[str, ...]
    p_value: float | None
    decision: str
    n: int
    sites: int
    note: str = ""
    sign: str | None = None
    strength: float | None = None
    size: Size | None = None
    levels: str = ""

    @property
    def words(self) -> str:
        """Its p-value and rows; an oracle has no rows."""
        shown = "no p-value" if self.p_value is None else format_p(self.p_value)
        p = shown if self.p_value is None else f"p {shown}" if shown[0] in "<>" else f"p = {shown}"
        return f"{p}, n = {self.n:,}" if self.n else p

    @property
    def condition(self) -> str:
        """What was given, to be put behind "independent"."""
        return f" given {', '.join(map(isolated, self.given))}" if self.given else ""


class Reasons:
    """Reasons for the marks that all graphs share."""

    def __init__(
        self, found: Discovery, rows: Mapping[tuple[str, str], Mapping[str, Any]], tests: Mapping[frozenset[str], Sequence[Asked]]
    ) -> None:
        gone = {(frozenset((one.x, one.y)), frozenset(one.given)) for one in found.overruled}
        self._separations = {
            pair: [one for one in asked if one.decision == "independent" and (pair, frozenset(one.given)) not in gone]
            for pair, asked in tests.items()
        }
        self._rows, self._labels = rows, found.summary.labels
        # what was not considered may contradict a graph, and a graph may not be there because of what is known: neither is a reason
        self._trusted = not found.resolution.undecided and not found.missing.height
        self._known = found.knowledge is not None

    def why(self, here: str, there: str, mark: str) -> str:
        """Why the edge here–there, which all graphs have, has this mark at ``here`` in all of them."""
        if self._trusted:
            for third in self._labels:
                if third not in (here, there) and (told := self._by(here, there, third, mark)):
                    return f"Why: {told}."
        known = " and with what was known before" if self._known else ""
        return f"Why: it follows from the decisions taken together{known}; every graph has it."

    def _by(self, here: str, there: str, third: str, mark: str) -> str:
        """The reason that a third variable gives, if it does."""
        if mark == "arrow" and self._all(there, here) and self._all(third, here) and self._apart(there, third):
            for test in self._separations.get(frozenset((there, third)), ()):
                if here not in test.given and self._mark(third, here) == "arrow":
                    a, b, at = map(isolated, (there, third, here))
                    return f"{a} and {b} are independent{test.condition} ({test.words}), and both are joined to {at}"
        # R1: third *-> v --> w, where this end is v (a tail) or w (an arrowhead)
        v, w = (here, there) if mark == "tail" else (there, here)
        if self._all(third, v) and self._apart(third, w) and self._mark(third, v) == "arrow":
            for test in self._separations.get(frozenset((third, w)), ()):
                if v in test.given:
                    a, b, c = map(isolated, (third, v, w))
                    apart = f"{a} and {c} are independent{test.condition} ({test.words})"
                    return f"{b} is not a cause of {a}, and {apart}; so what comes to {b} from {a} goes on to {c}"
        return ""

    def _row(self, a: str, b: str) -> Mapping[str, Any]:
        return self._rows[(a, b) if a < b else (b, a)]

    def _all(self, a: str, b: str) -> bool:
        return bool(self._row(a, b)["edge"] == ALL)

    def _apart(self, a: str, b: str) -> bool:
        return bool(self._row(a, b)["edge"] == NO)

    def _mark(self, a: str, b: str) -> str:
        """The mark at b on a–b that all graphs share."""
        return str(self._row(a, b)["mark_at_y" if a < b else "mark_at_x"])

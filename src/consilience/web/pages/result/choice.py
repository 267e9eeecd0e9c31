"""Which graph an address asks for: ``show=summary``, ``show=3``, ``show=set-2``; ``with=1`` beside it asks for the difference of two."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING

from starlette.exceptions import HTTPException

from consilience.graph.graphs import PAG

if TYPE_CHECKING:
    from consilience.iod.discovery import Discovery

__all__ = ["Choice", "Kind", "Ref", "choose"]


class Kind(Enum):
    """What can be drawn."""

    SUMMARY = "summary"
    GRAPH = "graph"
    LOCAL = "local"


@dataclass(frozen=True, slots=True)
class Ref:
    """One drawing: the summary, a graph of the list or that of a data set, both counted from 1.

    >>> Ref(Kind.LOCAL, 2).text, Ref(Kind.LOCAL, 2).name
    ('set-2', 'Data set 2 alone')
    """

    kind: Kind
    number: int = 0

    @property
    def text(self) -> str:
        """As it stands in an address."""
        return {Kind.SUMMARY: "summary", Kind.GRAPH: f"{self.number}", Kind.LOCAL: f"set-{self.number}"}[self.kind]

    @property
    def name(self) -> str:
        """What people call it."""
        names = {Kind.SUMMARY: "Summary", Kind.GRAPH: f"Graph {self.number:,}", Kind.LOCAL: f"Data set {self.number} alone"}
        return names[self.kind]

    def graph(self, found: Discovery) -> PAG:
        """The graph that it names; there is none of a summary."""
        return (found.pags if self.kind is Kind.GRAPH else found.local_pags)[self.number - 1]


@dataclass(frozen=True, slots=True)
class Choice:
    """What is shown: one drawing, or the difference of two."""

    first: Ref
    second: Ref | None = None

    @property
    def query(self) -> dict[str, str]:
        """As it stands in an address."""
        return {"show": self.first.text} | ({} if self.second is None else {"with": self.second.text})

    @property
    def file(self) -> str:
        """In the name of a file."""
        return "-".join(one.text if one.kind is not Kind.GRAPH else f"graph-{one.text}" for one in (self.first, self.second) if one)


def choose(query: Mapping[str, str], found: Discovery) -> Choice:
    """What an address asks for, by default the summary, or the first graph if that says it all or the summary nothing; else 404."""
    asked, other = query.get("show", ""), query.get("with", "")
    statuses = set(found.summary.frame["edge"])
    alone = bool(found.pags) and ((len(found.pags) == 1 and found.complete) or statuses == {"unknown"})
    first = _ref(asked, found) if asked else Ref(Kind.GRAPH, 1) if alone else Ref(Kind.SUMMARY)
    if not other:
        return Choice(first)
    second = _ref(other, found)
    if Kind.SUMMARY in (first.kind, second.kind):
        raise HTTPException(404, "Two graphs can be compared; a summary is none.")
    return Choice(first) if second == first else Choice(first, second)


def _ref(text: str, found: Discovery) -> Ref:
    if text == "summary":
        return Ref(Kind.SUMMARY)
    match = re.fullmatch(r"(set-)?([1-9][0-9]{0,6})", text, flags=re.ASCII)
    if match:
        kind, graphs = (Kind.LOCAL, found.local_pags) if match[1] else (Kind.GRAPH, found.pags)
        if int(match[2]) <= len(graphs):
            return Ref(kind, int(match[2]))
    raise HTTPException(404, "This result has no such graph.")

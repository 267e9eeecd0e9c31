"""The difference of two graphs, drawn as one: which edges both have, which only one has, and where their marks differ."""

from __future__ import annotations

from functools import cached_property
from itertools import combinations

from consilience.graph.drawing.shapes import DASHED, DOTTED, OPEN, SOLID, Line
from consilience.graph.graphs import PAG
from consilience.graph.marks import NONE, TAIL, Mark
from consilience.graph.mixed import Edge
from consilience.graph.text import edge_symbol
from consilience.iod.report.sentences import isolated
from consilience.iod.wording import counted
from consilience.web.pages.result.choice import Kind, Ref

__all__ = ["Difference"]

SAME, MARKS, FIRST, SECOND = "same", "marks", "first", "second"


class Difference:
    """Two graphs over the variables that both have.

    >>> told = Difference(Ref(Kind.GRAPH, 1), PAG.parse("A --> B, B o-o C"), Ref(Kind.GRAPH, 2), PAG.parse("A <-> B, C"))
    >>> [(line.words, told.status(line)) for line in told.lines]
    [('A --> B; A <-> B', 'marks'), ('B o-o C; no edge', 'first')]
    """

    def __init__(self, first: Ref, one: PAG, second: Ref, other: PAG) -> None:
        self.refs = first, second
        self.labels = tuple(sorted(set(one.labels) & set(other.labels)))
        self._graphs = one, other
        self._edges = tuple({frozenset((edge.a, edge.b)): edge for edge in graph.edges} for graph in (one, other))

    @property
    def title(self) -> str:
        """What the drawing is called."""
        return f"{self.refs[0].name} and {self._short(1, lower=True)} compared"

    @cached_property
    def lines(self) -> list[Line]:
        """Every edge that one of them has; an end at which the marks differ is open, and the line of an edge of one alone is broken."""
        return [line for x, y in combinations(self.labels, 2) if (line := self._line(x, y)) is not None]

    def _line(self, x: str, y: str) -> Line | None:
        one, other = (edges.get(frozenset((x, y))) for edges in self._edges)
        edge = one or other
        if edge is None:
            return None
        words = f"{one or 'no edge'}; {other or 'no edge'}"
        if one is None or other is None:
            pattern, note = (DASHED, f"only in {self.refs[0].text}") if other is None else (DOTTED, f"only in {self.refs[1].text}")
            return Line(edge.a, edge.b, edge.at_a, edge.at_b, words, pattern, note)
        a, b = one.a, one.b
        marks = [_common(*(graph.mark(p, q) for graph in self._graphs)) for p, q in ((b, a), (a, b))]
        return Line(a, b, marks[0], marks[1], words if OPEN in marks else str(one), SOLID, "marks differ" if OPEN in marks else "")

    def status(self, line: Line) -> str:
        """Whether both have an edge ("same", or "marks" where these differ), or the first or the second alone."""
        if line.pattern != SOLID:
            return FIRST if line.pattern == DASHED else SECOND
        return MARKS if OPEN in (line.at_a, line.at_b) else SAME

    @property
    def legend(self) -> list[Line | str]:
        """What the lines say, for those that occur."""
        if not self.lines:
            return ["Neither has an edge."]
        kinds = {self.status(line) for line in self.lines}
        said = {
            SAME: Line("", "", TAIL, TAIL, "in both, with the same marks"),
            MARKS: Line("", "", TAIL, OPEN, "in both, with another mark at this end"),
            FIRST: Line("", "", TAIL, TAIL, f"only in {self._short(0, lower=True)}", DASHED),
            SECOND: Line("", "", TAIL, TAIL, f"only in {self._short(1, lower=True)}", DOTTED),
        }
        return [entry for kind, entry in said.items() if kind in kinds]

    def words(self, x: str, y: str) -> str:
        """What both say of a pair."""
        edges = [edges.get(frozenset((x, y))) for edges in self._edges]
        if edges[0] is None and edges[1] is None:
            return "Neither has an edge."
        if edges[0] == edges[1]:
            return f"Both have {_text(edges[0])}."
        return "; ".join(f"{self._short(k, lower=k == 1)}: {_text(edge)}" for k, edge in enumerate(edges)) + "."

    @property
    def summary(self) -> str:
        """How much they differ, in a sentence or two."""
        kinds = [self.status(line) for line in self.lines]
        only = {kind: f"only in {self._short(k, lower=True)}" for k, kind in enumerate((FIRST, SECOND))}
        words = {MARKS: "in both with other marks"} | only
        parts = [f"{counted(kinds.count(SAME), 'edge')} with the same marks in both"]
        parts += [f"{kinds.count(kind):,} {where}" for kind, where in words.items() if kinds.count(kind)]
        said = f"{'; '.join(parts)}." if kinds else "Neither has an edge."
        if {ref.kind for ref in self.refs} != {Kind.GRAPH}:
            said += " Only variables that both have are compared. A data set alone knows nothing of the others: edges may differ for that."
        return said

    def _short(self, k: int, *, lower: bool = False) -> str:
        name = self.refs[k].name
        return name[0].lower() + name[1:] if lower else name


def _common(one: Mark, other: Mark) -> int:
    return one if one == other and one != NONE else OPEN


def _text(edge: Edge | None) -> str:
    """An edge in a sentence; its sign stays on one line."""
    if edge is None:
        return "no edge"
    sign = "\u2060".join(edge_symbol(edge.at_a, edge.at_b))
    return f"{isolated(edge.a)} {sign} {isolated(edge.b)}"

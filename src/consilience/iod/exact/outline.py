"""What holds in all, some or no PAG, asked of the solver instead of counted over a list.

What all members of all classes share takes one question, and what some member has another. Between the two a mark of a MAG may be a mark of
its PAG or a circle there; that is decided by classes that show it: those listed already, then others sought on purpose.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import combinations, permutations

from consilience.graph.marksets import MarkSets
from consilience.iod.clock import Clock, TimeIsUp
from consilience.iod.search_problem import SearchProblem
from consilience.iod.solver.listing import graph_of
from consilience.iod.solver.program import Program
from consilience.iod.summary import MARKS

__all__ = ["outline"]

TRIES = 2000
"""Classes to look at for one mark before it is called unknown: at about a millisecond a class, two seconds for a mark."""

_NAMES = {mark: name for name, mark in MARKS.items()}
Pair = tuple[int, int]
End = tuple[int, int, str]


def outline(problem: SearchProblem, program: Program, graphs: Iterable[MarkSets], clock: Clock) -> tuple[dict[Pair, str], dict[End, str]]:
    """What holds in "all", "some" or "none" of the PAGs, or is "unknown": of edges (x, y), x < y, and of marks (x, y, mark) at y.

    ``graphs`` are PAGs listed already.
    """
    clock.words = "summarising"
    try:
        clock.tick()
        asked = _Asked(problem, program, graphs, clock)
    except TimeIsUp:
        return dict.fromkeys(_pairs(program.n), "unknown"), {(*end, m): "unknown" for end in _ends(program.n) for m in MARKS}
    edges = {pair: _status(here=asked.edge(*pair), elsewhere=asked.gap(*pair)) for pair in _pairs(program.n)}
    marks: dict[End, str] = {}
    time_is_up = False
    for x, y in _ends(program.n):
        there: dict[str, bool | None] = dict.fromkeys(MARKS)
        for mark in MARKS if not time_is_up else ():
            try:
                there[mark] = asked.mark(x, y, mark)
            except TimeIsUp:  # what is left stays open
                time_is_up = True
                break
        for mark in MARKS:
            others = [there[other] for other in MARKS if other != mark] + [asked.gap(min(x, y), max(x, y))]
            elsewhere = True if True in others else None if None in others else False
            marks[x, y, mark] = _status(here=there[mark], elsewhere=elsewhere)
    return edges, marks


def _pairs(n: int) -> Iterable[Pair]:
    return combinations(range(n), 2)


def _ends(n: int) -> Iterable[Pair]:
    return permutations(range(n), 2)


def _status(*, here: bool | None, elsewhere: bool | None) -> str:
    """From whether some graph has it, and some has not."""
    if here is False:
        return "none"
    if here is None or elsewhere is None:
        return "unknown"
    return "some" if elsewhere else "all"


class _Asked:
    """Whether some PAG has an edge or a mark: True, False, or None where that stayed open."""

    def __init__(self, problem: SearchProblem, program: Program, graphs: Iterable[MarkSets], clock: Clock) -> None:
        self._problem, self._program, self._clock = problem, program, clock
        # Two questions answer most of it; to ask for each mark by itself would be six for every pair.
        self._shared, self._possible = program.shared(clock), program.possible(clock)
        self._seen: set[End] = set()
        for graph in graphs:
            self._see(graph)

    def _see(self, graph: MarkSets) -> None:
        matrix = graph.to_matrix()
        for x, y in zip(*matrix.nonzero(), strict=True):
            self._seen.add((int(x), int(y), _NAMES[int(matrix[x, y])]))

    def edge(self, x: int, y: int) -> bool:
        return (x, y) in self._possible.edges

    def gap(self, x: int, y: int) -> bool:
        return (x, y) not in self._shared.edges

    def mark(self, x: int, y: int, mark: str) -> bool | None:
        if (x, y, mark) in self._seen:
            return True
        arrow, tail = (x, y) in self._possible.arrows, (x, y) in self._possible.tails
        if not {"arrow": arrow, "tail": tail, "circle": arrow and tail}[mark]:
            return False
        if mark != "circle" and (x, y) in (self._shared.arrows if mark == "arrow" else self._shared.tails):
            return True
        return self._sought(x, y, mark)

    def _sought(self, x: int, y: int, mark: str) -> bool | None:
        """Look at classes with a member that has the mark (a circle stands for both marks, so either will do)."""
        literal = self._program.tail(x, y) if mark == "tail" else self._program.head(x, y)
        assert literal is not None, "the mark is possible"
        mags = []
        for mag in self._program.classes(self._clock, [literal]):
            mags.append(mag)
            if not self._problem.rules:  # else the solver is asked about each class, which it can be only between searches
                self._see(graph_of(mag, self._problem, self._program, self._clock))
            if (x, y, mark) in self._seen:
                return True
            if len(mags) == TRIES:
                break
        if self._problem.rules:
            for mag in mags:
                self._see(graph_of(mag, self._problem, self._program, self._clock))
                if (x, y, mark) in self._seen:
                    return True
        return None if len(mags) == TRIES else False

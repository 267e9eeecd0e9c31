"""m-separation as a CI test: what an infinite amount of data would say."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from consilience.citest.interface import CITest, Progress
from consilience.citest.question import Question
from consilience.citest.result import CIResult
from consilience.graph.equivalence import pag_to_mag
from consilience.graph.errors import UnknownNodeError
from consilience.graph.graphs import PAG
from consilience.graph.marksets import mask_of
from consilience.graph.mixed import MixedGraph
from consilience.graph.separation import separation_of

__all__ = ["Oracle"]


class Oracle(CITest):
    """m-separation in a graph as a CI test: what infinitely many rows would say.

    p is 1 where the graph separates and 0 where it connects. A question whose variables no data set holds together is not informative.

    Parameters
    ----------
    graph : PAG, MAG or DAG
        The truth. Of a PAG, a member of its class is asked: all say the same.
    datasets : iterable of iterable of str, optional
        The variables that each data set holds, as text where names are single letters: ``["ABC", "BCD"]``. One that holds all, by default.

    Attributes
    ----------
    graph : MAG or DAG
        The graph that is asked.
    datasets : tuple of frozenset of str
        What the data sets hold, each set once.
    variables : tuple of str
        All that some data set holds, sorted.

    Raises
    ------
    UnknownNodeError
        If a data set holds what is no node of the graph.
    InvalidPAGError
        If the PAG has no member.
    CircleMarkError
        If another graph has circles.

    Examples
    --------
    >>> oracle = Oracle(PAG.parse("A o-> C, B o-> C, C --> D"), datasets=[["A", "B", "C"], ["B", "C", "D"]])
    >>> oracle.test("A", "B").p_value, oracle.test("A", "B", ["C"]).p_value, oracle.test("A", "D").informative
    (1.0, 0.0, False)
    >>> oracle
    Oracle(MAG.parse('A --> C, B --> C, C --> D'), datasets=[['A', 'B', 'C'], ['B', 'C', 'D']])
    """

    def __init__(self, graph: MixedGraph, datasets: Iterable[Iterable[str]] | None = None) -> None:
        self.graph = pag_to_mag(graph) if isinstance(graph, PAG) else graph
        held = [frozenset(graph.labels)] if datasets is None else [frozenset(d) for d in datasets]
        for names in held:
            strange = names - set(graph.labels)
            if strange:
                raise UnknownNodeError(f"A data set may hold nodes of the graph, {', '.join(graph.labels)}; got {min(strange)!r}.")
        self.datasets = tuple(dict.fromkeys(held))
        self._held = held
        self._separation = separation_of(self.graph)
        self._place = {label: i for i, label in enumerate(self.graph.labels)}
        self._masks = [mask_of(self._place[name] for name in names) for names in held]
        self.variables = tuple(sorted(frozenset().union(*held)))

    def __repr__(self) -> str:
        """What it takes to make it again."""
        return f"Oracle({self.graph!r}, datasets={[sorted(names) for names in self._held]!r})"

    def answer(self, questions: Sequence[Question], progress: Progress | None = None) -> list[CIResult]:
        """Answer checked questions.

        Parameters
        ----------
        questions : sequence of Question
        progress : callable, optional
            Told (done, all) once.

        Returns
        -------
        list of CIResult
            In the order of the questions; p is 1 for separation and 0 for connection.
        """
        results = [self._answer(question) for question in questions]
        if progress is not None:
            progress(len(results), len(results))
        return results

    def _answer(self, question: Question) -> CIResult:
        x, y, given = question.x, question.y, question.given
        place = self._place
        i, j = place[x], place[y]
        mask = 0  # written out, as this is asked a hundred thousand times
        for z in given:
            mask |= 1 << place[z]
        asked = mask | 1 << i | 1 << j
        sites = sum([asked & ~held == 0 for held in self._masks])
        reason = "" if sites else f"no data set holds {', '.join(question.variables)} together"
        # what nobody can test has p = 1, as everywhere, and no weight: who decides looks at ``informative`` first
        p = float(self._separation.separated(i, j, mask)) if sites else 1.0
        return CIResult(x, y, given, p, 0, sites, 0, informative=not reason, reason=reason, converged=True, directions=())

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
    """Answers from a graph: a PAG, a MAG or a DAG. ``datasets`` are the variables that each data set holds (all of them, if left out).

    A question whose variables no data set holds together is not informative.

    >>> oracle = Oracle(PAG.parse("A o-> C, B o-> C, C --> D"), datasets=[["A", "B", "C"], ["B", "C", "D"]])
    >>> oracle.test("A", "B").p_value, oracle.test("A", "B", ["C"]).p_value, oracle.test("A", "D").informative
    (1.0, 0.0, False)
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
        self.variables = tuple(sorted(frozenset().union(*held)))

    def answer(self, questions: Sequence[Question], progress: Progress | None = None) -> list[CIResult]:
        """Answer checked questions: p is 1 for separation and 0 for connection."""
        results = [self._answer(question) for question in questions]
        if progress is not None:
            progress(len(results), len(results))
        return results

    def _answer(self, question: Question) -> CIResult:
        x, y, given = question.x, question.y, question.given
        place = self._place
        sites = sum(names.issuperset(question.variables) for names in self._held)
        reason = "" if sites else f"no data set holds {', '.join(question.variables)} together"
        p = float(self._separation.separated(place[x], place[y], mask_of(place[z] for z in given))) if sites else 1.0
        return CIResult(x, y, given, p, 0, sites, 0, informative=not reason, reason=reason, converged=True, directions=())

"""What a worker does: graphs from the tests of a study and its documents, or a result at another level."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace

from consilience.citest.effect import Estimate
from consilience.citest.interface import CITest, Progress
from consilience.citest.question import Question
from consilience.citest.result import CIResult
from consilience.frames import pl
from consilience.iod.discover import TESTING, discover, discover_arguments
from consilience.iod.discovery import Discovery, question_schema
from consilience.iod.estimating import estimate_effects, pairs_of, wanted_estimates
from consilience.iod.redecide import NOT_ASKED
from consilience.iod.solver.patience import under_way
from consilience.iod.stability import KeptReplicates
from consilience.service.contract import Contract, decode_contract
from consilience.service.result_files import documents_of, result_json
from consilience.service.tests_done import TestsDone
from consilience.service.worker.messages import Complete, Found, Order, Redecide, Redecided, Search, Wanted
from consilience.settings import DEFAULTS, Part, names_of
from consilience.typed import msgpack_decoder

__all__ = ["MissingTests", "RecordedEstimates", "RecordedTests", "work"]

_result = msgpack_decoder(CIResult)


class MissingTests(Exception):  # noqa: N818  not an error: whoever has sites asks them
    """Tests that the search needs and nobody has made."""

    def __init__(self, questions: Sequence[Question]) -> None:
        super().__init__(f"{len(questions)} tests are missing")
        self.questions = tuple(questions)


class RecordedTests(CITest):
    """A CI test that answers with results that are there.

    What is not there raises :class:`MissingTests` if somebody can be asked; else it is unknown, and noted in ``missing``.

    >>> known = CIResult("A", "B", (), 0.25)
    >>> test = RecordedTests([known], ["A", "B", "C"], [frozenset("ABC")], asking=False)
    >>> [result.informative for result in test.test_many([("A", "B"), ("A", "C")])], list(test.missing)
    ([True, False], [Question(x='A', y='C', given=())])
    """

    def __init__(
        self,
        results: Iterable[CIResult],
        variables: Iterable[str],
        datasets: Iterable[frozenset[str]],
        done: TestsDone | None = None,
        *,
        asking: bool,
    ) -> None:
        self.variables, self.datasets = tuple(variables), tuple(dict.fromkeys(datasets))
        self.missing: dict[Question, None] = {}
        self._known = {Question(one.x, one.y, one.given): one for one in results}
        self._done, self._asking = done, asking
        kept = () if done is None else done.replicates
        self.replicated = KeptReplicates(kept, 0 if done is None else done.replicate_rounds) if kept else None

    def answer(self, questions: Sequence[Question], progress: Progress | None = None) -> list[CIResult]:
        """What is known, in order."""
        del progress
        absent = [question for question in questions if question not in self._known]
        if absent and self._asking:
            raise MissingTests(absent)
        self.missing |= dict.fromkeys(absent)
        return [self._known.get(q) or q.result(1.0, contributors=0, reason=NOT_ASKED) for q in questions]

    def disclosed(self) -> pl.DataFrame | None:
        """What had left each site when the tests were made."""
        return None if self._done is None else self._done.left()

    def withheld(self) -> tuple[str, ...]:
        """What the study's rules kept out of its sums."""
        return () if self._done is None else self._done.withheld


class RecordedEstimates:
    """Estimates that are there; of others it is said that nobody has asked for them.

    >>> RecordedEstimates([]).effects([Question("A", "B")])[0].reason
    'nobody has asked this'
    """

    def __init__(self, estimates: Iterable[Estimate]) -> None:
        self.estimates = {Question(one.x, one.y, one.given): one for one in estimates}

    def effects(self, questions: Sequence[Question]) -> list[Estimate]:
        """What is known, in order."""
        return [self.estimates.get(q) or Estimate(q.x, q.y, q.given, 0, 0, reason=NOT_ASKED) for q in questions]


def work(order: Order, say: Callable[[str], None]) -> Found | Redecided | Wanted:
    """Do what an order asks for; ``say`` is told, in words, what is being done."""
    if isinstance(order, Redecide):
        return _redecided(order)
    return _completed(order, say) if isinstance(order, Complete) else _searched(order, say)


def _searched(order: Search, say: Callable[[str], None]) -> Found | Wanted:
    contract, done = decode_contract(order.contract), order.done
    sets = map(frozenset, contract.datasets)
    test = RecordedTests(map(_result.decode, order.results), contract.schema, sets, done, asking=order.asking)

    def told(words: str) -> None:
        if not words.startswith(TESTING):  # the tests are there, whatever the search says of them
            say(words)

    arguments = discover_arguments(contract.settings)
    if test.replicated is None:  # decided again from the tests of another study: its replicates are other searches
        arguments |= {name: getattr(DEFAULTS, name) for name in names_of(Part.STABILITY)}
    try:
        # effects come later, of the graphs that are found: who needs estimates for them does not look for the graphs again
        found = discover(test, **arguments | {"effects": ()}, progress=told)
    except MissingTests as wanted:
        return Wanted([(q.x, q.y, q.given) for q in wanted.questions], under_way())
    found = replace(found, timings={**found.timings, "tests": done.seconds})
    if test.missing:
        rows = [{"x": q.x, "y": q.y, "given": list(q.given)} for q in test.missing]
        found = replace(found, missing=pl.DataFrame(rows, schema=question_schema()))
    return _finished(found, contract, order, say)


def _completed(order: Complete, say: Callable[[str], None]) -> Found | Wanted:
    return _finished(Discovery.from_dict(json.loads(order.result)), decode_contract(order.contract), order, say)


def _finished(found: Discovery, contract: Contract, order: Search | Complete, say: Callable[[str], None]) -> Found | Wanted:
    """The documents of a result, with the effects that the study asks for; or which estimates these take, where somebody can be asked."""
    done, settings = order.done, contract.settings
    pairs = pairs_of(settings.effects, tuple(contract.schema))
    if pairs:
        known = RecordedEstimates(done.estimates)
        absent = [question for question in wanted_estimates(found, pairs, settings.max_given) if question not in known.estimates]
        if absent and order.asking:
            return Wanted([(q.x, q.y, q.given) for q in absent], under_way(), result_json(found))
        found = replace(found, effects=estimate_effects(found, pairs, known, settings.max_given))
    say("writing the report")
    documents = documents_of(found, contract, done.sites, done.rounds, done.bytes, origin=done.origin)
    return Found(documents, len(found.pags), found.tests.height, found.headline, under_way())


def _redecided(order: Redecide) -> Redecided:
    found = Discovery.from_dict(json.loads(order.result)).redecide(alpha=order.alpha, time_limit=order.seconds)
    return Redecided(result_json(found), under_way())

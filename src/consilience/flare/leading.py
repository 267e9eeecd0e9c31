"""A study on the server, whoever carries its messages: its tests, its replicates, its graphs, its effects, and the documents."""

from __future__ import annotations

import time
from collections.abc import Callable

import msgspec

from consilience.citest.effect import Estimate
from consilience.citest.question import Question
from consilience.citest.result import CIResult
from consilience.citest.rounding import PUBLISHED_DIGITS
from consilience.federation.federated import FederatedTest
from consilience.federation.transport import Journalled
from consilience.iod.discover import ask_tests
from consilience.service.contract import Contract
from consilience.service.replicating import replicated
from consilience.service.stored_test import StoredTest
from consilience.service.tests_done import TestsDone
from consilience.service.worker.messages import Complete, Found, Search, Wanted
from consilience.service.worker.working import work
from consilience.settings import Batching

__all__ = ["Leading"]


class Leading:
    """The study of a ``contract`` over a ``transport`` with a journal; ``say`` is told in words what is done.

    It asks what a study server asks, in the same order, and makes the same documents of it. Nothing is kept between two attempts but the
    journal: what follows from sums is computed again, to the same bits.
    """

    def __init__(self, contract: Contract, transport: Journalled, say: Callable[[str], None]) -> None:
        settings = contract.settings
        self._contract, self._transport, self._say = contract, transport, say
        self._begun = time.monotonic()
        self._results: list[CIResult] = []
        self._federated = FederatedTest(contract.schema, contract.terms, map(frozenset, contract.datasets), transport)
        self._test = StoredTest(
            self._federated,
            self._results.extend,
            lambda _done, _total: None,
            ahead=settings.batching is Batching.ALL,
            max_given=settings.max_given,
        )
        self._estimates: tuple[Estimate, ...] = ()
        self._replicates: tuple[bytes, ...] = ()
        self._replicate_rounds = 0

    def find(self) -> Found:
        """Ask, search, and ask again for what the search needs, until there are documents."""
        settings = self._contract.settings
        answers, _ = ask_tests(self._test, settings.alpha, settings.max_given, self._say)
        if settings.bootstrap or settings.leave_one_out:
            self._replicates, self._replicate_rounds = replicated(self._contract, self._federated, answers, self._say)
        result = b""
        while True:
            told = work(self._order(result), self._say)
            if isinstance(told, Found):
                return told
            assert isinstance(told, Wanted), "nothing else comes of a search"
            result = told.result
            self._ask([Question(x, y, tuple(given)) for x, y, given in told.questions], effects=bool(result))

    def _order(self, result: bytes) -> Search | Complete:
        """What is to be found: graphs, or what a ``result`` with graphs still lacks."""
        contract = self._contract.encoded()
        if result:
            return Complete(contract, result, self._done(), asking=True)
        return Search(contract, [msgspec.msgpack.encode(one) for one in self._results], self._done(), asking=True)

    def _ask(self, questions: list[Question], *, effects: bool) -> None:
        """Tests that the search needs, or estimates of the effects that the study asks for."""
        if not effects:
            self._test.answer(questions)
            return
        self._say("estimating effects")
        self._estimates += tuple(one.rounded(PUBLISHED_DIGITS) for one in self._federated.effects(questions, lambda _done, _total: None))

    def _done(self) -> TestsDone:
        """How the tests were made, for the result."""
        return TestsDone(
            sites=self._federated.participants,
            rounds=self._federated.rounds,
            bytes=self._federated.bytes,
            messages=self._transport.sums,
            numbers=self._transport.numbers,
            withheld=self._test.withheld(),
            seconds=time.monotonic() - self._begun,
            replicates=self._replicates,
            replicate_rounds=self._replicate_rounds,
            estimates=self._estimates,
        )

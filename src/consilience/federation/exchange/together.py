"""Many searches in the same rounds: each asks questions of its own replicate, and what all of them ask next is one request.

A search is a generator that yields questions and is sent their results; an exchange turns questions into requests and sums
(:mod:`~consilience.federation.exchange.batch`). Here both run for many replicates at once. No replicate waits for another, only for the
round: where one fit takes more steps, the others are at their next questions meanwhile. So there are as many rounds as the longest of them
needs, however many they are.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping, Sequence
from typing import Generic, TypeVar

from consilience.citest.question import Question
from consilience.citest.result import CIResult
from consilience.disclosure.census import Census
from consilience.federation.exchange.batch import Exchange
from consilience.federation.exchange.sums import Sums
from consilience.glm.kernel import Floats
from consilience.protocol.replicates import Replicate
from consilience.protocol.request import Announced
from consilience.protocol.resampled import Part, Resampled
from consilience.protocol.single import SingleRequest

__all__ = ["Asking", "Together", "announced"]

T = TypeVar("T")
Asking = Generator[Sequence[Question], list[CIResult], T]
"""A search: yields questions, is sent their results in order, and returns what it found."""
MOST_NUMBERS = 1 << 21
"""Numbers in the answer to one bundle: 32 megabytes as they travel. A hundred replicates of six variables have a tenth of that."""
Start = Callable[[Sequence[Question], Sums], Exchange]
"""How a method answers questions."""


def announced(request: SingleRequest, sums: Sums) -> tuple[Announced, ...]:
    """The counts of every variable set that a request sums over, which sites hold against the study's limits."""
    samples = [variables for variables in dict.fromkeys(request.samples()) if not sums.withheld(variables)]
    return tuple(Announced(variables, *sums.counts[variables]) for variables in samples)


class _Lane(Generic[T]):
    """One replicate: its search, what it has learnt, the questions under way and the request that waits for its sum."""

    def __init__(self, replicate: Replicate, asking: Asking[T], sums: Sums, start: Start) -> None:
        self.replicate, self.sums = replicate, sums
        self._asking, self._start = asking, start
        self._questions: Sequence[Question] = ()
        self._exchange: Exchange | None = None
        self.request: SingleRequest | None = None
        self.found: list[T] = []
        self._next_questions(None)

    def tell(self, total: Floats) -> None:
        """Take the sum that was waited for, and go on to the next request."""
        assert self._exchange is not None
        try:
            self.request = self._exchange.send(total)
        except StopIteration as stop:
            self._next_questions(stop.value)

    def restart(self, sums: Sums) -> None:
        """Ask what is under way once more, over other sites."""
        self.sums = sums
        if self._exchange is not None:
            self._exchange.close()
            results = self._begin()
            if self._exchange is None:
                self._next_questions(results)

    def _next_questions(self, results: list[CIResult] | None) -> None:
        self._exchange = self.request = None
        while self._exchange is None:
            try:
                self._questions = next(self._asking) if results is None else self._asking.send(results)
            except StopIteration as stop:
                self.found.append(stop.value)
                return
            results = self._begin()

    def _begin(self) -> list[CIResult]:
        """Start with some questions; their results, if nothing need be asked for them."""
        self._exchange = self._start(self._questions, self.sums)
        try:
            self.request = next(self._exchange)
        except StopIteration as stop:
            self._exchange = None
            results: list[CIResult] = stop.value
            return results
        return []


def _of(census: Census | None, replicate: Replicate) -> Census | None:
    return census if census is None or not replicate.without else census.without(replicate.without)


class Together(Generic[T]):
    """Searches by replicate, driven in lockstep: :meth:`request` is what all of them ask next, :meth:`tell` takes its sum."""

    def __init__(
        self, askings: Mapping[Replicate, Asking[T]], sums: Callable[[Census | None], Sums], start: Start, census: Census | None
    ) -> None:
        self._asked: list[_Lane[T]] = []
        self._lanes = [_Lane(one, asking, sums(_of(census, one)), start) for one, asking in askings.items()]

    @property
    def found(self) -> dict[Replicate, T]:
        """What the searches that are at their end have found."""
        return {lane.replicate: lane.found[0] for lane in self._lanes if lane.found}

    def request(self) -> Resampled | None:
        """What is asked next; None if nothing is left to ask. Who would make it too long waits for the next round."""
        parts, numbers, self._asked = list[Part](), 0, []
        for lane in self._lanes:
            if lane.request is None:
                continue
            numbers += lane.request.length(lane.sums.schema)
            if parts and numbers > MOST_NUMBERS:
                break
            parts.append(Part(lane.replicate, lane.request, announced(lane.request, lane.sums)))
            self._asked.append(lane)
        return Resampled(tuple(parts)) if parts else None

    def tell(self, request: Resampled, total: Floats) -> None:
        """Hand the parts of a sum to the searches that wait for them."""
        lanes = self._asked
        for lane, own in zip(lanes, request.split(total, lanes[0].sums.schema), strict=True):
            lane.tell(own)

    def restart(self, census: Census | None) -> None:
        """One site is gone: what is under way is asked once more of the others, of whom ``census`` tells."""
        for lane in self._lanes:
            if not lane.found:
                sums = lane.sums.without_a_site()
                sums.census = _of(census, lane.replicate)
                lane.restart(sums)

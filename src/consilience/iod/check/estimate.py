"""How many tests a discovery asks for, in how many rounds, and how long they take: bounds for the tests, a measurement for the time.

Which tests come up depends on their answers. Every pair that can be tested is, at least once; at most every pair is tested given every set
of the others. The time of one test is measured on these very data, with a few pairs that have none and one variable given.
"""

from __future__ import annotations

import math
import time
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

from consilience.errors import ConsilienceError, DoubtfulDataWarning
from consilience.federation import Client, Server
from consilience.wording import counted

__all__ = ["Estimate", "estimate_of", "most_tests"]

SAMPLE = 5
"""Pairs that are timed, at most."""
PATIENCE = 1.0
"""Seconds after which no further pair is timed."""
LEVELS = 3
"""Sizes of conditioning sets that most searches come to; beyond, few pairs are left."""
Questions = Sequence[tuple[str, str, Sequence[str]]]


@dataclass(frozen=True, slots=True)
class Estimate:
    """What a discovery will take.

    Attributes
    ----------
    least_tests, most_tests : int
        Every testable pair once; every pair given every set of the variables that some site holds with it.
    rounds : int
        Of one batch of tests, measured; a discovery asks for a batch for each size of conditioning sets.
    seconds : float
        Of one test, measured on these data in this process; without a network between.
    timed : int
        Tests that were timed; 0 if none could be, and then ``rounds`` and ``seconds`` are 0.
    """

    least_tests: int
    most_tests: int
    rounds: int = 0
    seconds: float = 0.0
    timed: int = 0

    def __str__(self) -> str:
        """In words.

        >>> print(Estimate(66, 67584, 9, 0.002, 10))
        66 tests at least and 67,584 at most. One took 2 ms here (measured with 10 tests): 0.1 seconds at least and 2.3 minutes at most, \
besides the search for graphs. A batch took 9 rounds, and each size of conditioning sets is a batch: 9 to 36 rounds are usual.
        """
        tests = f"{counted_in_full(self.least_tests)} at least and {self.most_tests:,} at most."
        if self.least_tests == self.most_tests:
            tests = f"{counted_in_full(self.least_tests)}."
        if not self.timed:
            return f"{tests} How long one takes could not be measured."
        span = f"{_duration(self.least_tests * self.seconds)} at least and {_duration(self.most_tests * self.seconds)} at most"
        return (
            f"{tests} One took {1000 * self.seconds:.2g} ms here (measured with {counted(self.timed, 'test')}): {span}, besides the search "
            f"for graphs. A batch took {counted(self.rounds, 'round')}, and each size of conditioning sets is a batch: {self.rounds} to "
            f"{(LEVELS + 1) * self.rounds} rounds are usual."
        )

    def to_dict(self) -> dict[str, Any]:
        """For JSON, with the words."""
        fields = {name: getattr(self, name) for name in ("least_tests", "most_tests", "rounds", "seconds", "timed")}
        return fields | {"words": str(self)}


def counted_in_full(count: int) -> str:
    """A number of tests."""
    return "1 test" if count == 1 else f"{count:,} tests"


def _duration(seconds: float) -> str:
    if seconds < 100:
        return f"{seconds:.1f} seconds"
    for unit, length in (("minutes", 60.0), ("hours", 3600.0), ("days", 86400.0), ("years", 31_557_600.0)):
        if seconds < 100 * length or unit == "years":
            return f"{seconds / length:,.1f} {unit}"
    raise AssertionError("there are years")


def most_tests(held: Sequence[frozenset[str]], max_given: int | None = None) -> int:
    """Every pair given every set of the others, in every different set of variables that a site holds.

    >>> most_tests([frozenset("ABC"), frozenset("ABC")]), most_tests([frozenset("ABCD")], max_given=1)
    (6, 18)
    """
    sizes = [len(names) for names in set(held) if not any(names < others for others in held)]
    return sum(
        math.comb(n, 2) * sum(math.comb(n - 2, k) for k in range(min(n - 2, n if max_given is None else max_given) + 1))
        for n in sizes
        if n >= 2
    )


def estimate_of(clients: Sequence[Client], max_given: int | None = None, clock: Callable[[], float] = time.perf_counter) -> Estimate | None:
    """Bounds on the tests, and the time of one, measured; None if nothing can be tested.

    Parameters
    ----------
    clients : sequence of Client
    max_given : int, optional
        The largest conditioning set, as for :func:`consilience.discover`.
    clock : callable
        Seconds.

    Returns
    -------
    Estimate or None
    """
    try:
        server = Server(clients, min_contributors=min(2, len(clients)))
    except ConsilienceError:
        return None
    held = [client.held(server.schema) for client in clients]
    pairs = sorted({pair for names in held for pair in combinations(sorted(names), 2)})
    if not pairs:
        return None
    bounds = Estimate(len(pairs), max(len(pairs), most_tests(held, max_given)))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DoubtfulDataWarning)  # the check says it
        return _timed(server, held, pairs, bounds, clock)


def _timed(
    server: Server, held: Sequence[frozenset[str]], pairs: Sequence[tuple[str, str]], bounds: Estimate, clock: Callable[[], float]
) -> Estimate:
    """With a few pairs from all over the list: first one alone, which also prepares what later tests share."""
    chosen = pairs[:: max(1, len(pairs) // SAMPLE)][:SAMPLE]
    alone = _seconds(server, [(*chosen[0], ())], clock)
    questions: list[tuple[str, str, Sequence[str]]] = [(x, y, ()) for x, y in chosen] if alone < PATIENCE else []
    questions += [(x, y, (z,)) for x, y in chosen[: len(questions)] if (z := _third(x, y, held))]
    if not questions:
        return Estimate(bounds.least_tests, bounds.most_tests, server.rounds, alone, 1)
    before = server.rounds
    taken = _seconds(server, questions, clock)
    return Estimate(bounds.least_tests, bounds.most_tests, server.rounds - before, taken / len(questions), len(questions))


def _seconds(server: Server, questions: Questions, clock: Callable[[], float]) -> float:
    start = clock()
    server.test_many(questions)
    return clock() - start


def _third(x: str, y: str, held: Sequence[frozenset[str]]) -> str:
    return next((z for names in held if {x, y} <= names for z in sorted(names) if z not in (x, y)), "")

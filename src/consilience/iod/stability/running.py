"""Replicates of a discovery, run in the same rounds: what each of them asks, and what all of them say."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import numpy as np

from consilience.errors import OptionError
from consilience.federation import FederatedTest
from consilience.graph.graphs import PAG
from consilience.iod.answers import Answers
from consilience.iod.stability.counting import consensus, edge_frame, mean_shares, test_frame
from consilience.iod.stability.replicate import Asked, Graphs, Lists, Plan, ask_replicate, first_questions
from consilience.iod.stability.result import Stability
from consilience.protocol.replicates import Replicate

__all__ = ["Plan", "assess", "resampling_test"]

FEWEST_AT_ONCE = 50
"""Replicates that share rounds, at the least: all of them are at most two such waves, so that rounds do not grow with their number. Of two
waves the first is finished if somebody stops the second."""


class _Stopped(Exception):  # noqa: N818  not an error: what is finished is kept
    """Somebody wants what there is."""


def resampling_test(test: object) -> FederatedTest:
    """``test`` if its sites can resample their rows; ``OptionError`` else."""
    if isinstance(test, FederatedTest):
        return test
    raise OptionError(
        f"bootstrap resamples rows at the sites, which a {type(test).__name__} does not have: it needs a Server(clients), or "
        f"fisher(clients). One table is Server([Client(name, table)])."
    )


def assess(
    test: FederatedTest,
    plan: Plan,
    plain: Answers,
    pags: Sequence[PAG],
    bootstrap: int,
    say: Callable[[str], None],
    stop: Callable[[], bool] | None = None,
) -> Stability:
    """Search ``bootstrap`` resampled copies of the data as the data were searched; ``plain`` and ``pags`` are what was found in these."""
    before = test.rounds
    first, lists = first_questions(plan, plain.results), Lists(plan)
    answered, graphs = list[Answers](), list[Graphs]()
    at_once = max(FEWEST_AT_ONCE, -(-bootstrap // 2))
    stops = stop or (lambda: False)

    def heed(done: int, of: int) -> None:
        if stops():
            raise _Stopped
        say(f"resampling: tests of {of} copies of the data ({len(graphs) + done} of {bootstrap} copies done)")

    try:
        for start in range(1, bootstrap + 1, at_once):
            draws = range(start, min(start + at_once, bootstrap + 1))
            askings = {Replicate(draw): ask_replicate(plan, first) for draw in draws}
            for asked in _solved(test.answer_together(askings, heed), stops):
                say(f"resampling: graphs of copy {len(graphs) + 1} of {bootstrap}")
                graphs.append(lists.of(asked))
                answered.append(asked.every)
    except _Stopped:
        pass
    shares = mean_shares(graphs, len(plan.names))
    return Stability(
        asked=bootstrap,
        done=len(graphs),
        edges=edge_frame(shares, _plain_shares(pags, len(plan.names)), plan.names),
        tests=test_frame(plain, answered),
        consensus=consensus(shares, plan.names),
        empty=sum(one.count == 0 for one in graphs),
        cut=sum(not one.complete for one in graphs),
        rounds=test.rounds - before,
        alpha=plan.alpha,
    )


def _solved(found: Iterator[tuple[Replicate, Asked]], stops: Callable[[], bool]) -> Iterator[Asked]:
    """What was asked of each replicate, as long as nobody stops it."""
    for _, asked in found:
        if stops():
            raise _Stopped
        yield asked


def _plain_shares(pags: Sequence[PAG], n: int) -> np.ndarray[tuple[int, int, int], np.dtype[np.float64]]:
    marks = np.zeros((n, n, 4))
    here = np.arange(n)
    for pag in pags:
        marks[here[:, None], here[None, :], pag.to_matrix()] += 1
    return marks / max(len(pags), 1)

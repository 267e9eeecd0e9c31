"""Replicates that are asked of the sites of a study, many at a time."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Protocol

from consilience.errors import OptionError
from consilience.federation import FederatedTest
from consilience.iod.answers import Key
from consilience.iod.stability.kept import Name
from consilience.iod.stability.replicate import Asked, Plan, ask_replicate
from consilience.protocol.replicates import Replicate

__all__ = ["AskedSites", "Source", "source_of"]


class Source(Protocol):
    """Where replicates come from: sites that are asked, or answers that were kept. ``rounds`` counts what sites were asked so far."""

    @property
    def rounds(self) -> int:
        """Rounds so far."""

    def replicates(
        self, plan: Plan, first: Sequence[Key], bootstrap: int, told: Callable[[str], None], *, leave_one_out: bool
    ) -> Iterator[tuple[Name, Asked]]:
        """Without each of the sites, if that is wanted; then so many resampled copies. ``told`` hears what is done, and may raise."""


class AskedSites:
    """The sites of a federated test, who are asked now."""

    def __init__(self, test: FederatedTest) -> None:
        self._test = test

    @property
    def rounds(self) -> int:
        """Rounds so far."""
        return self._test.rounds

    def replicates(
        self, plan: Plan, first: Sequence[Key], bootstrap: int, told: Callable[[str], None], *, leave_one_out: bool
    ) -> Iterator[tuple[Name, Asked]]:
        """All replicates, as they are finished."""
        if leave_one_out:
            sites = {Replicate(without=own): name for name, own in self._test.fingerprints.items()}
            words = f"leaving out each of {len(sites)} sites: tests"
            for replicate, asked in self._asked(plan, first, list(sites), lambda _: told(words)):
                yield sites[replicate], asked
        # all of them at once: rounds are then those of the longest search, and do not grow with their number
        draws = [Replicate(draw) for draw in range(1, bootstrap + 1)]
        for replicate, asked in self._asked(
            plan, first, draws, lambda done: told(f"resampling: tests of {bootstrap} copies ({done} done)")
        ):
            yield replicate.draw, asked

    def _asked(
        self, plan: Plan, first: Sequence[Key], replicates: Sequence[Replicate], told: Callable[[int], None]
    ) -> Iterator[tuple[Replicate, Asked]]:
        askings = {one: ask_replicate(plan, first) for one in replicates}
        return self._test.answer_together(askings, lambda done, _: told(done))


def source_of(test: object) -> Source:
    """Where the replicates of a test come from; ``OptionError`` if it has none."""
    if isinstance(test, FederatedTest):
        return AskedSites(test)
    kept: Source | None = getattr(test, "replicated", None)
    if kept is not None:
        return kept
    raise OptionError(
        f"bootstrap and leave_one_out ask the sites of a study, which a {type(test).__name__} does not have: they need a Server(clients) "
        f"or fisher(clients). One table is Server([Client(name, table)])."
    )

"""A ledger in a few lines: what left a site in all, in each run, and what it refused."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from consilience.federation.site.ledger import LedgerLine

__all__ = ["LedgerSummary", "RunTotals", "summarised"]


@dataclass(frozen=True, slots=True)
class RunTotals:
    """What left a site in one run, between two times. What was sent before any run has no run's name."""

    run: str
    first: str
    last: str
    messages: int
    numbers: int
    bytes: int
    refused: int


@dataclass(frozen=True, slots=True)
class LedgerSummary:
    """Totals first, then each run, then the reasons of refusals with how often each was given."""

    total: RunTotals
    runs: tuple[RunTotals, ...]
    refusals: dict[str, int]


def summarised(entries: Sequence[LedgerLine]) -> LedgerSummary:
    """The summary of a ledger's lines.

    >>> from consilience.federation.site.ledger import Ledger
    >>> ledger = Ledger()
    >>> ledger.add("s", "aa", 0, "counts", 6, 96, masked_with=2)
    >>> ledger.add("s", "bb", 0, "counts", 0, 0, masked_with=2, refused="DisclosureError: too few sites")
    >>> found = summarised(ledger.entries)
    >>> found.total.numbers, [run.run for run in found.runs], found.refusals
    (6, ['aa', 'bb'], {'DisclosureError: too few sites': 1})
    """
    runs: dict[str, list[LedgerLine]] = {}
    for entry in entries:
        runs.setdefault(entry.run, []).append(entry)
    refusals = Counter(entry.refused for entry in entries if entry.refused)
    return LedgerSummary(_totals("", entries), tuple(_totals(run, lines) for run, lines in runs.items()), dict(refusals.most_common()))


def _totals(run: str, entries: Sequence[LedgerLine]) -> RunTotals:
    sent = [entry for entry in entries if not entry.refused]
    first, last = (entries[0].time, entries[-1].time) if entries else ("", "")
    numbers, size = sum(entry.numbers for entry in sent), sum(entry.bytes for entry in sent)
    return RunTotals(run, first, last, len(sent), numbers, size, len(entries) - len(sent))

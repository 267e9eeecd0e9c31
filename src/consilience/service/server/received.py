"""What came from each site of a study in all, by the server's own record."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from consilience.federation.transport.remote import Heard
from consilience.secagg.ring import WORD_BYTES

__all__ = ["SiteTotals", "totals_of"]


@dataclass(frozen=True, slots=True)
class SiteTotals:
    """Answers of one site, with the masked numbers and bytes in them; requests that it refused; in how many runs."""

    site: str
    answers: int
    numbers: int
    bytes: int
    refused: int
    runs: int


def totals_of(sites: Iterable[str], heard: Sequence[Heard]) -> list[SiteTotals]:
    """Totals of every site, also of those that nothing came from.

    >>> totals_of(["a", "b"], [Heard("a", "r", 0, 96, b"1"), Heard("a", "r", 1, 0, b"", "DisclosureError")])[0]
    SiteTotals(site='a', answers=1, numbers=6, bytes=96, refused=1, runs=1)
    """
    found = []
    for site in sites:
        own = [one for one in heard if one.site == site]
        answers = [one for one in own if not one.refused]
        size = sum(one.size for one in answers)
        found.append(SiteTotals(site, len(answers), size // WORD_BYTES, size, len(own) - len(answers), len({one.run for one in own})))
    return found

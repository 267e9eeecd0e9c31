"""Which pairs of variables a study can test: who measures both, and what the settings make of that."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import combinations

from consilience.settings import Settings, SingleSite

__all__ = ["Fate", "Overlap", "PairFate", "overlap_of"]


class Fate(StrEnum):
    """What becomes of a pair of variables: tested together, by one site alone, by nobody although measured, or never measured together."""

    TOGETHER = "together"
    ALONE = "alone"
    TOO_FEW = "too few"
    NEVER = "never"


@dataclass(frozen=True, slots=True)
class PairFate:
    """A pair, how many sites (or declared variable sets) hold both, and what becomes of it."""

    x: str
    y: str
    count: int
    fate: Fate


@dataclass(frozen=True, slots=True)
class Overlap:
    """All pairs of a study's variables. ``by_site``: counts are of sites; else of declared sets, and who measures which is not known."""

    names: tuple[str, ...]
    pairs: tuple[PairFate, ...]
    by_site: bool

    def of(self, fate: Fate) -> list[PairFate]:
        """The pairs with one fate."""
        return [pair for pair in self.pairs if pair.fate is fate]


def overlap_of(names: Sequence[str], held: Sequence[Collection[str]], settings: Settings, *, by_site: bool) -> Overlap:
    """The pairs of ``names``, given what each site or each declared set holds.

    A declared set may be measured by any number of sites, so a pair in one of them counts as tested together.

    >>> from consilience.settings import NetworkSettings
    >>> found = overlap_of("ABC", [{"A", "B"}, {"A", "B"}, {"B", "C"}], NetworkSettings(), by_site=True)
    >>> [(pair.x, pair.y, pair.count, pair.fate.value) for pair in found.pairs]
    [('A', 'B', 2, 'together'), ('A', 'C', 0, 'never'), ('B', 'C', 1, 'alone')]
    """
    pairs = []
    for x, y in combinations(names, 2):
        count = sum(x in names and y in names for names in held)
        pairs.append(PairFate(x, y, count, _fate(count, settings) if by_site or not count else Fate.TOGETHER))
    return Overlap(tuple(names), tuple(pairs), by_site)


def _fate(count: int, settings: Settings) -> Fate:
    if count == 0:
        return Fate.NEVER
    if count >= settings.min_contributors:
        return Fate.TOGETHER
    return Fate.ALONE if count == 1 and settings.single_site is SingleSite.LOCAL else Fate.TOO_FEW

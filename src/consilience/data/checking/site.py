"""What is compared: the facts of one site's columns, and what they are taken for."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field

from consilience.data.facts import ColumnFacts
from consilience.data.kinds import Kind
from consilience.data.schema import Declaration

__all__ = ["SiteFacts", "holders", "quoted"]

MOST_NAMED = 6
"""Names in one sentence; what has more says how many more."""


@dataclass(frozen=True, slots=True)
class SiteFacts:
    """One site: the facts of its columns, and what those in use are taken for.

    Attributes
    ----------
    name : str
    facts : mapping of str to ColumnFacts
    declarations : mapping of str to Declaration
        Of the columns that are variables.
    min_cell : int
        Levels with fewer rows are rare.
    """

    name: str
    facts: Mapping[str, ColumnFacts]
    declarations: Mapping[str, Declaration] = field(default_factory=dict)
    min_cell: int = 5

    def kind(self, name: str) -> Kind:
        """What a variable is taken for."""
        return self.declarations[name].variable.kind

    def levels(self, name: str) -> tuple[str, ...]:
        """Those of a discrete variable that occur here."""
        seen = self.facts[name].counts
        return tuple(level for level in self.declarations[name].variable.levels if level in seen)


def holders(sites: Iterable[SiteFacts], among: Collection[str] | None = None) -> dict[str, list[SiteFacts]]:
    """Which sites have which variable, in the order in which variables come up; only those ``among``, if these are given."""
    found: dict[str, list[SiteFacts]] = {}
    for site in sites:
        for name in site.declarations:
            if among is None or name in among:
                found.setdefault(name, []).append(site)
    return found


def quoted(names: Iterable[str], most: int = MOST_NAMED) -> str:
    """Names for a sentence.

    >>> quoted(["a", "b"]), quoted("abcdefgh", most=2)
    ("'a' and 'b'", "'a', 'b' and 6 more")
    """
    known = list(names)
    shown = [repr(name) for name in known[:most]]
    if len(known) > most:
        return f"{', '.join(shown)} and {len(known) - most} more"
    return " and ".join(filter(None, (", ".join(shown[:-1]), *shown[-1:])))

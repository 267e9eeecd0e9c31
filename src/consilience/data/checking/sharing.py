"""Variables and tables that sites share, or do not: variables of one site, the same table twice."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations

from consilience.data.checking.site import SiteFacts, holders, quoted
from consilience.data.finding import Finding, Grade

__all__ = ["same_facts", "twice", "unshared"]

LEAST_VALUES = 10
"""Different numbers that a column must have for its statistics to tell two tables apart."""


def unshared(sites: Sequence[SiteFacts]) -> list[Finding]:
    """The variables that one site alone has, as one notice for each site.

    Parameters
    ----------
    sites : sequence of SiteFacts

    Returns
    -------
    list of Finding
    """
    held, found = holders(sites), []
    for site in sites:
        own = [name for name in site.declarations if len(held[name]) == 1]
        if own and len(sites) > 1:
            them = "it" if len(own) == 1 else "one of them"
            words = f"Only {site.name!r} has {quoted(own)}: every test with {them} rests on that site alone."
            found.append(Finding("unshared", Grade.NOTICE, words, tuple(own), (site.name,)))
    return found


def same_facts(sites: Sequence[SiteFacts]) -> list[tuple[SiteFacts, SiteFacts]]:
    """Pairs of sites whose tables have the same statistics in every column that both have, numbers with fractions among them.

    Equal means of numbers with fractions do not happen to two tables of different people. Where all columns are levels or whole numbers
    they do, in small tables, and only the rows can tell.

    Parameters
    ----------
    sites : sequence of SiteFacts

    Returns
    -------
    list of pairs of SiteFacts
    """
    return [(a, b) for a, b in combinations(sites, 2) if _alike(a, b)]


def _alike(a: SiteFacts, b: SiteFacts) -> bool:
    shared = [name for name in a.facts if name in b.facts]
    measured = [name for name in shared if a.facts[name].mean is not None and a.facts[name].distinct >= LEAST_VALUES]
    return bool(measured) and all(a.facts[name] == b.facts[name] for name in shared)


def twice(one: str, other: str, rows: int, of: int) -> Finding:
    """What is said where one table has rows of another.

    >>> twice("a", "b", 300, 300).words[:50]
    "'a' and 'b' have the same 300 rows in the columns "
    """
    much = f"the same {rows:,} rows" if rows == of else f"{rows:,} of {of:,} rows in common, value for value,"
    words = f"{one!r} and {other!r} have {much} in the columns that both have. Are they one table under two names? "
    words += "Patients who are counted twice make every p-value too small. Leave one of the two out, or the rows that both have."
    return Finding("same-rows", Grade.DOUBTFUL, words, (), (one, other))

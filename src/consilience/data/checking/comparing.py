"""Everything that is compared between sites, in one call."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from consilience.data.checking.levels import lonely_levels, rare_levels
from consilience.data.checking.names import near_names
from consilience.data.checking.scales import constant_here, other_units
from consilience.data.checking.sharing import same_facts, twice, unshared
from consilience.data.checking.site import SiteFacts
from consilience.data.finding import Finding, Grade

__all__ = ["by_gravity", "compare"]

_ORDER = (Grade.REFUSED, Grade.DOUBTFUL, Grade.NOTICE)


def compare(sites: Sequence[SiteFacts], variables: Collection[str] | None = None) -> list[Finding]:
    """What looks wrong between sites, the gravest first; by facts alone, so it takes no time.

    Parameters
    ----------
    sites : sequence of SiteFacts
    variables : collection of str, optional
        The variables in use: findings about others are left out. By default all.

    Returns
    -------
    list of Finding

    Examples
    --------
    >>> compare([])
    []
    """
    found = [
        *other_units(sites, variables),
        *constant_here(sites, variables),
        *(f for f in near_names(sites) if variables is None or set(f.columns) & set(variables)),
        *(twice(a.name, b.name, a_rows, a_rows) for a, b in same_facts(sites) for a_rows in (_rows(a),)),
        *lonely_levels(sites, variables),
        *rare_levels(sites, variables),
        *(f for f in unshared(sites) if variables is None or set(f.columns) & set(variables)),
    ]
    return by_gravity(found)


def _rows(site: SiteFacts) -> int:
    return max((facts.rows for facts in site.facts.values()), default=0)


def by_gravity(found: Sequence[Finding]) -> list[Finding]:
    """Findings, those that stop first, then the doubtful ones; among equals as they were.

    >>> by_gravity([Finding("a", Grade.NOTICE, ""), Finding("b", Grade.REFUSED, "")])[0].code
    'b'
    """
    return sorted(found, key=lambda finding: _ORDER.index(finding.grade))

"""Levels of one variable at several sites: known to one site only, or too rare to be used."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence

from consilience.data.checking.site import SiteFacts, holders, quoted
from consilience.data.checking.spelling import same_meaning
from consilience.data.finding import Finding, Grade

__all__ = ["lonely_levels", "rare_levels"]


def lonely_levels(sites: Sequence[SiteFacts], among: Collection[str] | None = None) -> list[Finding]:
    """Levels that one site alone has, of variables that several have: a notice for each variable.

    Levels that only *look* alone because they are written in two ways are a conflict, and none of it.

    Parameters
    ----------
    sites : sequence of SiteFacts
    among : collection of str, optional
        The variables to look at.

    Returns
    -------
    list of Finding
    """
    found = []
    for name, held in holders(sites, among).items():
        discrete = [site for site in held if site.facts[name].listed and site.declarations[name].variable.levels]
        times = Counter(level for site in discrete for level in site.levels(name))
        for site in discrete:
            own = [level for level in site.levels(name) if times[level] == 1]
            if own and len(discrete) > 1 and not _respelled(name, site, discrete):
                them = "it" if len(own) == 1 else "them"
                words = f"Only {site.name!r} has {quoted(own)} as levels of {name!r}: what is said about {them} rests on one site."
                found.append(Finding("lonely-level", Grade.NOTICE, words, (name,), (site.name,)))
    return found


def _respelled(name: str, site: SiteFacts, held: Sequence[SiteFacts]) -> bool:
    return any(same_meaning(site.levels(name), other.levels(name)) for other in held if other is not site)


def rare_levels(sites: Sequence[SiteFacts], among: Collection[str] | None = None) -> list[Finding]:
    """Levels with fewer rows over all sites than one site asks for (``min_cell``): a model can say nothing about them.

    Parameters
    ----------
    sites : sequence of SiteFacts
    among : collection of str, optional
        The variables to look at.

    Returns
    -------
    list of Finding
        Notices, one for each variable.
    """
    found = []
    for name, held in holders(sites, among).items():
        counts, least = Counter[str](), max(site.min_cell for site in held)
        for site in held:
            levels = site.levels(name)
            counts.update({level: site.facts[name].counts[level] for level in levels})
        rare = [level for level, rows in sorted(counts.items()) if rows < least]
        if rare:
            words = f"{name!r} has fewer than {least} rows over all sites with {quoted(rare)}: too few to say anything about. "
            words += "Merge them with another level, or expect tests with many levels and little power."
            found.append(Finding("rare-level", Grade.NOTICE, words, (name,), tuple(site.name for site in held)))
    return found

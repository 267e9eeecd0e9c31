"""Levels of one variable at several sites: written in two ways, known to one site only, or too rare to be used."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence

from consilience.data.checking.site import SiteFacts, holders, quoted
from consilience.data.checking.spelling import same_meaning
from consilience.data.finding import Finding, Grade, recoding

__all__ = ["lonely_levels", "rare_levels", "two_spellings"]


def two_spellings(sites: Sequence[SiteFacts], among: Collection[str] | None = None) -> list[Finding]:
    """Levels that mean the same and are written in two ways, at sites whose owners have not declared them.

    Parameters
    ----------
    sites : sequence of SiteFacts
    among : collection of str, optional
        The variables to look at.

    Returns
    -------
    list of Finding
        Refused: as they stand they are different levels, and every test with the variable gives another p-value. One for each variable
        and each site that writes otherwise than the site that most others agree with.
    """
    found = []
    for name, held in holders(sites, among).items():
        discrete = [site for site in held if site.facts[name].listed and site.declarations[name].variable.levels]
        if len(discrete) < 2 or _agreed(name, discrete):
            continue
        usual = max(discrete, key=lambda site: sum(site.levels(name) == other.levels(name) for other in discrete))
        for site in discrete:
            same = same_meaning(site.levels(name), usual.levels(name)) if site is not usual else None
            if same is not None:
                found.append(_spelling(name, site, usual, same))
    return found


def _agreed(name: str, held: Sequence[SiteFacts]) -> bool:
    """Whether all sites declare the same levels: then somebody has thought of how they are written."""
    declared = [site.declarations[name] for site in held]
    return all(d.declared_levels for d in declared) and len({d.variable.levels for d in declared}) == 1


def _spelling(name: str, site: SiteFacts, usual: SiteFacts, same: Mapping[str, str]) -> Finding:
    listed = ", ".join(f"{old!r} is {new!r}" for old, new in same.items())
    words = (
        f"{site.name!r} writes levels of {name!r} otherwise than {usual.name!r}: {listed}. As they stand they would be different levels."
    )
    return Finding("spelling", Grade.REFUSED, words, (name,), (site.name, usual.name), (recoding(name, same),))


def lonely_levels(sites: Sequence[SiteFacts], among: Collection[str] | None = None) -> list[Finding]:
    """Levels that one site alone has, of variables that several have: a notice for each variable.

    Levels that only *look* alone because they are written in two ways are left to :func:`two_spellings`.

    Parameters
    ----------
    sites : sequence of SiteFacts
    among : collection of str, optional
        The variables to look at.

    Returns
    -------
    list of Finding
    """
    respelled = {(site, name) for f in two_spellings(sites, among) for name in f.columns for site in f.sites}
    found = []
    for name, held in holders(sites, among).items():
        discrete = [site for site in held if site.facts[name].listed and site.declarations[name].variable.levels]
        times = Counter(level for site in discrete for level in site.levels(name))
        for site in discrete:
            own = [level for level in site.levels(name) if times[level] == 1]
            if own and len(discrete) > 1 and (site.name, name) not in respelled:
                them = "it" if len(own) == 1 else "them"
                words = f"Only {site.name!r} has {quoted(own)} as levels of {name!r}: what is said about {them} rests on one site."
                found.append(Finding("lonely-level", Grade.NOTICE, words, (name,), (site.name,)))
    return found


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

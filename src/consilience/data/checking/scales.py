"""Numbers at different sites that look like one measurement in two units, or like none at all.

Two sites have different patients, but not by a factor of 38.67. Where the quartiles of one site become those of another by a known factor
between units, or by a power of ten, that is said; so is a site that has one value throughout where the others vary.
"""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Sequence
from itertools import permutations

from consilience.data.checking.site import SiteFacts, holders, quoted
from consilience.data.facts import ColumnFacts
from consilience.data.facts.patterns import CODES
from consilience.data.finding import Finding, Grade, Remedy, Step
from consilience.data.harmonise.analytes import find_analyte
from consilience.data.harmonise.units import KnownFactor, unit_between

__all__ = ["constant_here", "other_units"]

FIT = 1.4
"""How far quartiles may be apart after the conversion, as a ratio: patients differ, and so do devices."""
SPREAD = 1.7
"""How far the widths of the middle halves may be apart after it."""
OVERLAP = 5.0
"""Below this factor the middle halves of both sites must not overlap, and the units must be those of the name: a site with sicker patients
may have twice the median."""
_BODY = re.compile(r"weight|gewicht|poids|peso|height|gr(ö|oe)(ß|ss)e|length|taille|altezza|waist|temp", re.IGNORECASE)
"""What is measured in kilograms, pounds, centimetres, inches or degrees."""
LEAST_VALUES = 8
"""Different values that quartiles must rest on."""


def other_units(sites: Sequence[SiteFacts], among: Collection[str] | None = None) -> list[Finding]:
    """Variables whose numbers differ between sites by what looks like a unit.

    Parameters
    ----------
    sites : sequence of SiteFacts
    among : collection of str, optional
        The variables to look at.

    Returns
    -------
    list of Finding
        One for each variable and each site that differs from the site that most others agree with.
    """
    found = []
    for name, held in holders(sites, among).items():
        numbers = [site for site in held if not site.kind(name).is_discrete and _varies(site.facts[name])]
        differing = {(a.name, b.name): known for a, b in permutations(numbers, 2) if (known := _unit(a.facts[name], b.facts[name], name))}
        if not differing:
            continue
        usual = min(numbers, key=lambda site: sum((site.name, other.name) in differing for other in numbers))
        found += [
            _unit_finding(name, site, usual, differing[usual.name, site.name]) for site in numbers if (usual.name, site.name) in differing
        ]
    return found


def _varies(facts: ColumnFacts) -> bool:
    return facts.median is not None and facts.distinct >= LEAST_VALUES and facts.lower != facts.upper


def _unit(a: ColumnFacts, b: ColumnFacts, name: str) -> KnownFactor | None:
    """The units that explain the difference, those of the name first; else a power of ten."""
    here, there = _quartiles(a)[1], _quartiles(b)[1]
    own = "" if (substance := find_analyte(name)) is None else substance.name
    low, high = (a, b) if abs(here) <= abs(there) else (b, a)
    for known in (*unit_between(here, there, name), *_tens(here, there)):
        sure = known.factor >= OVERLAP or (not _overlap(a, b) and _named(known, own, name))
        if sure and _becomes(low, high, known):
            return known
    return None


def _named(known: KnownFactor, own: str, name: str) -> bool:
    """Whether the units are those of what the variable is called."""
    return known.analyte == own if own else not known.analyte and bool(_BODY.search(name))


def _tens(one: float, other: float) -> tuple[KnownFactor, ...]:
    if one * other <= 0:
        return ()
    power = round(abs(math.log10(one / other)))
    near = abs(abs(math.log10(one / other)) - power) <= math.log10(1.25)
    return (KnownFactor(10.0**power, 0.0, "", "", "", ""),) if power and near else ()


def _becomes(low: ColumnFacts, high: ColumnFacts, known: KnownFactor) -> bool:
    """Whether each quartile of the one is that of the other after the conversion; where it is 0, only 0 is near it."""
    few, many = _quartiles(low), _quartiles(high)
    for small, large in zip(few, many, strict=True):
        turned = small * known.factor + known.offset
        if turned * large <= 0:
            if not turned == large == 0:
                return False
        elif abs(math.log(turned / large)) > math.log(FIT):
            return False
    spreads = (many[2] - many[0]) / ((few[2] - few[0]) * known.factor)
    return abs(math.log(spreads)) <= math.log(SPREAD)


def _overlap(a: ColumnFacts, b: ColumnFacts) -> bool:
    one, other = _quartiles(a), _quartiles(b)
    return one[0] <= other[2] and other[0] <= one[2]


def _quartiles(facts: ColumnFacts) -> tuple[float, float, float]:
    assert facts.lower is not None
    assert facts.median is not None
    assert facts.upper is not None
    return facts.lower, facts.median, facts.upper


def _unit_finding(name: str, site: SiteFacts, usual: SiteFacts, known: KnownFactor) -> Finding:
    here, there = _quartiles(site.facts[name])[1], _quartiles(usual.facts[name])[1]
    like = f"That is the difference between {known.words}." if known.words else f"That is a factor of {known.factor:g}."
    words = f"{name!r} has a median of {here:.4g} at {site.name!r} and of {there:.4g} at {usual.name!r}. {like}"
    remedy = _remedy(name, known, shrinks=here > there)
    return Finding("units", Grade.DOUBTFUL, words, (name,), (site.name, usual.name), (remedy,))


def _remedy(name: str, known: KnownFactor, *, shrinks: bool) -> Remedy:
    """A conversion by units where the column's name tells of what; else by the number itself."""
    substance = find_analyte(name)
    if known.words and (not known.analyte or substance is not None):
        return Remedy(Step.UNIT, name, f"{known.one} -> {known.other}" if shrinks else f"{known.other} -> {known.one}")
    return Remedy(Step.FACTOR, name, f"{1 / known.factor if shrinks else known.factor:.6g}")


def constant_here(sites: Sequence[SiteFacts], among: Collection[str] | None = None) -> list[Finding]:
    """Variables that have one value throughout at a site and vary at others.

    Parameters
    ----------
    sites : sequence of SiteFacts
    among : collection of str, optional
        The variables to look at.

    Returns
    -------
    list of Finding
        Doubtful where the value is a number that stands for "missing" in some code book (0, -9, 99, …) and the others' bulk is elsewhere;
        else a notice: such a site adds nothing to a test with the variable.
    """
    found = []
    for name, held in holders(sites, among).items():
        vary = [site for site in held if site.facts[name].distinct > 1]
        found += [_constant(name, site, vary) for site in held if vary and site.facts[name].distinct == 1]
    return found


def _constant(name: str, site: SiteFacts, vary: Sequence[SiteFacts]) -> Finding:
    (value, _), *_ = site.facts[name].top
    others = quoted(sorted(s.name for s in vary))
    if site.facts[name].holds.is_number and float(value) in CODES and _mostly_beyond(float(value), name, vary):
        words = f"{name!r} is {value} in every row of {site.name!r}, and varies elsewhere ({others}): it looks like a code for missing."
        remedies = (Remedy(Step.MISSING, "", value), Remedy(Step.DROP, name))
        return Finding("constant-code", Grade.DOUBTFUL, words, (name,), (site.name,), remedies)
    words = f"{name!r} is {value!r} in every row of {site.name!r}, and varies elsewhere ({others}): tests with it gain nothing there."
    return Finding("constant-here", Grade.NOTICE, words, (name,), (site.name,))


def _mostly_beyond(value: float, name: str, vary: Sequence[SiteFacts]) -> bool:
    """Whether most of the others have it out of the bulk; not all, since some may use the same code here and there."""
    return 2 * sum(_beyond(value, site.facts[name]) for site in vary) > len(vary)


def _beyond(value: float, facts: ColumnFacts) -> bool:
    """Whether a value lies outside the middle half of the numbers that vary, and these are no levels."""
    if facts.lower is None or facts.upper is None or facts.distinct < LEAST_VALUES:
        return False
    return not facts.lower <= value <= facts.upper

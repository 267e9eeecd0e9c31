"""How much hangs on one site: what changes where it is left out, against what leaving out so many rows changes by chance.

*Sizes.* Of two estimates of the same size b, from all rows and from those of all sites but k, the second rests on part of the rows of the
first. If sites are alike, the variance of their difference is the difference of their variances (J. Hausman 1978), so that

    d = (b₋ₖ - b) / √(se₋ₖ² - se²)

is standard normal: large where site k says something else than the others do, and not where it only has many rows.

*Evidence.* Where a test tells no size (Fisher's method, a site that answers alone), z is the normal quantile of its p-value. Over n rows,
of which n₋ₖ are not of site k, z/√n is a size, with standard error 1/√n, and d follows as above. It has no sign: it sees associations that
vanish, not those that turn round.

*Influence* of a site is the mean of d² over the tests of the study that can be compared: about 1 where sites are alike. Tests share rows
and variables, so it varies more than a mean of so many independent ones would; a site is *suspect* where its influence is at least
:data:`SUSPECT` and stands out from all others. Leaving out a good site lets a bad one weigh more, so that others rise as well, but less.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from consilience.citest.result import CIResult
from consilience.citest.size import Measure, Size
from consilience.frames import pl
from consilience.iod.answers import Answers

__all__ = ["SUSPECT", "compared", "influence", "site_schema", "suspect", "without_schema"]

SUSPECT = 4.0
"""From this influence on a site is named, if it also has :data:`STANDS_OUT` times that of any other. Of simulated studies whose sites are
alike, few name one (benchmarks/corrupted_site.py)."""
STANDS_OUT = 1.5
NO_CHANGE = 1e-6
"""Where leaving out a site raises the variance by less than this share, it has no say in the size."""
SMALLEST_P = 1e-300


def site_schema() -> dict[str, Any]:
    """The columns of the table of sites.

    >>> list(site_schema())
    ['site', 'influence', 'compared', 'decisions', 'lost', 'gained', 'graphs']
    """
    counts = dict.fromkeys(("decisions", "lost", "gained", "graphs"), pl.Int64)
    return {"site": pl.String, "influence": pl.Float64, "compared": pl.Int64, **counts}


def without_schema() -> dict[str, Any]:
    """The columns of the table of tests without a site.

    >>> list(without_schema())
    ['site', 'x', 'y', 'given', 'p_value', 'plain', 'change', 'changed']
    """
    names = {"site": pl.String, "x": pl.String, "y": pl.String, "given": pl.List(pl.String)}
    return {**names, "p_value": pl.Float64, "plain": pl.Float64, "change": pl.Float64, "changed": pl.Boolean}


def compared(site: str, plain: Answers, without: Answers) -> list[dict[str, Any]]:
    """A row for each test of the study: its p-value with and without a site, the change d, and whether the decision is another."""
    rows = []
    for key, result in plain.results.items():
        other = without.results.get(key)
        if other is None:  # it was asked for after the replicates
            continue
        told, left = not plain.unknown(key), not without.unknown(key)
        p, change = (other.p_value, influence(result, other)) if left else (None, None)
        changed = told != left or (told and plain.independent(key) != without.independent(key))
        row = {"site": site, "x": result.x, "y": result.y, "given": list(result.given), "p_value": p}
        rows.append(row | {"plain": result.p_value if told else None, "change": change if told else None, "changed": changed})
    return rows


def influence(plain: CIResult, without: CIResult) -> float | None:
    """D of a test, over several sizes the root of the mean of d²; None where the site has no say in it, or nothing can be compared.

    >>> from consilience.citest.result import Direction
    >>> sizes = Size("slope", 0.30, 0.030, 0.24, 0.36, "Y", "X"), Size("slope", 0.36, 0.036, 0.29, 0.43, "Y", "X")
    >>> both = [Direction("Y", "X", 90.0, 1, 1e-20, -9.0, -5.0, sizes=(size,)) for size in sizes]
    >>> plain, without = (CIResult("X", "Y", (), 1e-20, n, 3, directions=(d,)) for n, d in zip((900, 600), both, strict=True))
    >>> round(influence(plain, without), 2)
    3.02
    """
    if plain.leading is None or without.leading is None or not plain.leading.sizes:
        return _by_evidence(plain, without)
    known = {_about(size): size for direction in without.directions for size in direction.sizes}
    changes = [_change(size, known[_about(size)]) for size in plain.leading.sizes if _about(size) in known]
    found = [change for change in changes if change is not None]
    if not found:
        return _by_evidence(plain, without) if not changes else None
    if len(found) == 1:
        return found[0]
    return math.sqrt(sum(change * change for change in found) / len(found))


def _about(size: Size) -> tuple[str, ...]:
    return size.measure, size.response, size.predictor, size.level, size.reference, size.outcome, size.against


def _change(plain: Size, without: Size) -> float | None:
    if plain.se is None or without.se is None:
        return None
    variance = without.se**2 - plain.se**2
    if variance <= NO_CHANGE * plain.se**2:
        return None
    return (_linear(without) - _linear(plain)) / math.sqrt(variance)


def _linear(size: Size) -> float:
    """A size on the scale of its standard error."""
    if Measure(size.measure).ratio:
        return math.log(size.estimate)
    return math.atanh(min(max(size.estimate, -1 + 1e-12), 1 - 1e-12)) if size.measure == Measure.CORRELATION else size.estimate


def _by_evidence(plain: CIResult, without: CIResult) -> float | None:
    from scipy import special  # noqa: PLC0415

    n, rest = plain.n, without.n
    if not 0 < rest < n:
        return None
    z, left = (float(-special.ndtri(0.5 * max(result.p_value, SMALLEST_P))) for result in (plain, without))
    return (left / math.sqrt(rest) - z / math.sqrt(n)) / math.sqrt(1.0 / rest - 1.0 / n)


def suspect(sites: Mapping[str, float]) -> str | None:
    """The site that stands out by its influence, or None.

    >>> suspect({"muenster": 1.1, "marburg": 9.3, "mainz": 2.0}), suspect({"muenster": 1.1, "marburg": 1.3})
    ('marburg', None)
    """
    if not sites:
        return None
    ordered = sorted(sites.items(), key=lambda one: -one[1])
    (name, most), others = ordered[0], ordered[1:]
    return name if most >= SUSPECT and all(most >= STANDS_OUT * other for _, other in others) else None

"""What the server of a study has learnt for tests of residuals: knots, smooth means, products. And what follows from them for a test."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from typing import NamedTuple

import numpy as np

from consilience.citest.combine import cauchy, chi2_sf, sign_flip_sf
from consilience.citest.question import Question
from consilience.citest.result import CIResult, Direction, silent
from consilience.citest.size import MINUS, NO_SIGN, PLUS, correlation_size
from consilience.data.basis import Expansion
from consilience.data.spline import NESTED, Knots
from consilience.federation.exchange.residual_plan import Columns, Part
from consilience.glm.kernel import Floats
from consilience.glm.smooth import Axes, Smooth
from consilience.protocol.grid import Cells
from consilience.protocol.mean_products import MeanTotal
from consilience.protocol.place import Placed
from consilience.protocol.residual_products import AloneResidual

__all__ = [
    "Basis",
    "Mean",
    "Plan",
    "Products",
    "ResidualSums",
    "expansions_for",
    "part_of",
    "result_of",
    "root_of_inverse",
    "silent_result",
]

SINGULAR = 1e-10
"""A direction of the products, brought to unit variance, with less variance than this is none."""
FEWEST_CLUSTERS = 8
"""Clusters that a test needs besides one for each site: with fewer it could hardly ever reject."""
UNITS_PER_PRODUCT = 2.0
"""Units, of those that the law counts, that a test needs for each product."""


class Basis(NamedTuple):
    """Columns over the rows of a sample, as a key: two tests with the same one share everything but their responses."""

    sample: tuple[str, ...]
    expansion: Expansion


class Mean(NamedTuple):
    """A variable's mean on such columns, as a key."""

    response: str
    basis: Basis


class Plan(NamedTuple):
    """What a test multiplies, in which parts it is tested, and whether the variance of the products is known from the means."""

    x: Columns
    y: Columns
    parts: tuple[Part, ...]
    known: bool


@dataclass(slots=True, eq=False)
class Products:
    """A test's sums: independent units, S, V; a root of the inverse for each part, and its fourth moment once it is known."""

    plan: Plan
    units: float
    sums: Floats
    halves: tuple[Floats, ...]
    fourths: list[float] | None
    rounds: int


@dataclass(slots=True, eq=False)
class ResidualSums:
    """What has been learnt: knots and scores once for a study, and what is decided on the way to them; cross-products, fits, products."""

    knots: dict[str, Knots] = field(default_factory=dict)
    scores: dict[str, tuple[float, ...]] = field(default_factory=dict)
    placed: dict[str, Placed] = field(default_factory=dict)
    cells: dict[str, Cells] = field(default_factory=dict)
    totals: dict[Mean, MeanTotal] = field(default_factory=dict)
    axes: dict[Basis, tuple[Axes, ...]] = field(default_factory=dict)
    fits: dict[Mean, Smooth] = field(default_factory=dict)
    products: dict[Question, Products] = field(default_factory=dict)
    alone: dict[Question, tuple[AloneResidual, int]] = field(default_factory=dict)

    def without_a_site(self) -> ResidualSums:
        """Knots and scores stay: they only say which columns there are, and sites count between the same values once."""
        return ResidualSums(self.knots, self.scores, self.placed, self.cells)


def expansions_for(given: tuple[str, ...], rows: int, *, curved: bool, nested: bool = False) -> tuple[Expansion, ...]:
    """How conditioning variables are expanded in a model of so many rows, richest first: the first with few enough columns is taken.

    Pieces grow with the rows, and the penalty keeps them from mattering too early. ``nested``: only as many as have their knots among those
    of any larger number, where sites do not tell of few rows.

    >>> [(e.pieces, e.short) for e in expansions_for(("A", "B"), 2000, curved=True)]
    [(26, 4), (26, 0), (26, -1), (0, -1)]
    >>> [(e.pieces, e.short) for e in expansions_for(("A", "B"), 2000, curved=True, nested=True)]
    [(24, 3), (24, 0), (24, -1), (0, -1)]
    """
    root = math.cbrt(rows)
    pieces = 1 + min(40, max(3, round(2.0 * root))) if curved else 0
    short = 1 + (min(5, round(0.25 * root)) if len(given) == 2 else 0) if curved else 0
    if nested:
        pieces, short = (max(n for n in NESTED if n <= wanted) for wanted in (pieces, short))
    found = [Expansion(given, pieces, short), Expansion(given, pieces, 0), Expansion(given, pieces, -1), Expansion(given, 0, -1)]
    return tuple(dict.fromkeys(found))


def root_of_inverse(squares: Floats) -> Floats:
    """H with H Hᵀ = V⁻¹ on the directions that V has: as many columns as it has ranks."""
    spread = np.sqrt(np.maximum(np.diag(squares), 0.0))
    unit = np.divide(1.0, spread, out=np.zeros_like(spread), where=spread > 0)
    values, vectors = np.linalg.eigh(squares * np.outer(unit, unit))
    kept = values > SINGULAR
    half: Floats = (unit[:, None] * vectors[:, kept]) / np.sqrt(values[kept])
    return half


def part_of(squares: Floats, part: Part) -> Floats:
    """The root of the inverse of a part's variance, as a matrix with a row for every product of the test."""
    inside = root_of_inverse(squares[np.ix_(part.products, part.products)])
    half = np.zeros((len(squares), inside.shape[1]))
    half[list(part.products)] = inside
    return half


def silent_result(question: Question, reason: str, n: int, contributors: int, rounds: int) -> CIResult:
    """A test that cannot speak."""
    x, y, given = question.x, question.y, question.given
    only = silent(y, x, reason, symmetric=True)
    return CIResult(x, y, given, 1.0, n, contributors, rounds, informative=False, reason=reason, directions=(only,))


def residual_sized(direction: Direction, found: Products, half: Floats) -> Direction:
    """With the correlation of what is left of the two variables; where either is a vector, their canonical correlation and no sign.

    Fisher's z with a standard error from the products: √(Σ(w p)² - (Σp)²/n), by what it would be of normal residuals so correlated.
    """
    x, y = found.plan.x, found.plan.y
    sums = found.sums.reshape(-1, y.combine.shape[1])[: x.plain, : y.plain]
    roots = root_of_inverse(x.squares), root_of_inverse(y.squares)
    canonical = roots[0].T @ sums @ roots[1]
    if not canonical.size:
        return direction
    sign = x.sign * y.sign
    if canonical.size > 1 or sign == 0.0 or sums.size > 1:
        size = min(1.0, math.sqrt(float((canonical**2).sum()) / min(canonical.shape)))
        return replace(direction, sizes=(correlation_size(size, None, direction.response, direction.predictor),), sign=NO_SIGN)
    correlation = max(-1.0, min(1.0, sign * float(canonical[0, 0])))
    spread, scale = 1.0 / float(np.abs(half).max()) ** 2, float(x.squares[0, 0] * y.squares[0, 0])
    if found.plan.known:
        variance = spread / scale
    else:
        variance = max(0.0, spread - float(sums[0, 0]) ** 2 / found.units) / (scale * (1.0 + correlation**2))
    about = (direction.response, direction.predictor, *x.levels, *y.levels)
    size_of = correlation_size(correlation, math.sqrt(variance), *about)
    return replace(direction, sizes=(size_of,), sign=PLUS if correlation > 0 else MINUS if correlation < 0 else NO_SIGN)


def result_of(question: Question, found: Products, n: int, contributors: int, *, clustered: bool) -> CIResult:
    """Compare T = SᵀV⁻¹S of every part with its law, and combine the parts that can speak."""
    if clustered and found.units - contributors < FEWEST_CLUSTERS:
        reason = f"{found.units:.0f} clusters at {contributors} sites are too few: there should be {FEWEST_CLUSTERS} more than sites"
        return silent_result(question, reason, n, contributors, found.rounds)
    directions, weights, reason = list[Direction](), list[float](), "the products of residuals do not vary"
    fourths = found.fourths or [0.0] * len(found.halves)
    for part, half, fourth in zip(found.plan.parts, found.halves, fourths, strict=True):
        df = half.shape[1]
        if df == 0 or (fourth <= 0.0 and not found.plan.known):
            continue
        statistic = float(((found.sums @ half) ** 2).sum())
        if found.plan.known:
            p = chi2_sf(statistic, df)
        else:
            units = df * (df + 2) / fourth - 2.0
            if units < UNITS_PER_PRODUCT * df:
                of = "clusters" if clustered else "rows"
                reason = f"{df} products of residuals rest on too few {of}: these count as {max(units, 0.0):.1f}"
                continue
            p = sign_flip_sf(statistic, df, units)
        told = Direction(question.y, question.x, statistic, df, p, math.nan, math.nan, symmetric=True)
        directions.append(residual_sized(told, found, half) if part is found.plan.parts[0] else told)
        weights.append(part.weight)
    if not directions:
        return silent_result(question, reason, n, contributors, found.rounds)
    p = cauchy([d.p_value for d in directions], weights)
    return CIResult(question.x, question.y, question.given, p, n, contributors, found.rounds, directions=tuple(directions))

"""What the server of a study has learnt for tests of residuals: knots, smooth means, products. And what follows from them for a test."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from consilience.citest.combine import sign_flip_sf
from consilience.citest.question import Question
from consilience.citest.result import CIResult, Direction, silent
from consilience.data.basis import Expansion
from consilience.data.spline import Knots
from consilience.glm.kernel import Floats
from consilience.glm.smooth import Axes, Smooth
from consilience.protocol.mean_products import MeanTotal
from consilience.protocol.residual_products import AloneResidual, ProductTotal

__all__ = ["Basis", "Mean", "Products", "ResidualSums", "pieces_for", "result_of", "root_of_inverse", "silent_result"]

SINGULAR = 1e-10
"""A direction of the products, brought to unit variance, with less variance than this is none."""


class Basis(NamedTuple):
    """Columns over the rows of a sample, as a key: two tests with the same one share everything but their responses."""

    sample: tuple[str, ...]
    expansion: Expansion


class Mean(NamedTuple):
    """A variable's mean on such columns, as a key."""

    response: str
    basis: Basis


@dataclass(slots=True, eq=False)
class Products:
    """A test's sums; ``fourth`` is Σ |V^-1/2 r|⁴, known at once where there is one product."""

    total: ProductTotal
    half: Floats
    fourth: float | None
    rounds: int


@dataclass(slots=True, eq=False)
class ResidualSums:
    """What has been learnt: knots and scores once for a study; cross-products, fits and products of tests."""

    knots: dict[str, Knots] = field(default_factory=dict)
    scores: dict[str, tuple[float, ...]] = field(default_factory=dict)
    totals: dict[Basis, MeanTotal] = field(default_factory=dict)
    axes: dict[Basis, tuple[Axes, ...]] = field(default_factory=dict)
    fits: dict[Mean, Smooth] = field(default_factory=dict)
    products: dict[Question, Products] = field(default_factory=dict)
    alone: dict[Question, tuple[AloneResidual, int]] = field(default_factory=dict)

    def without_a_site(self) -> ResidualSums:
        """Knots and scores stay: they only say which columns there are."""
        return ResidualSums(self.knots, self.scores)


def pieces_for(rows: int) -> int:
    """Pieces of the curves of a model of so many rows: they grow with the rows, and the penalty keeps them from mattering too early.

    >>> [pieces_for(n) for n in (60, 400, 2000, 10**6)]
    [9, 16, 26, 41]
    """
    return 1 + min(40, max(3, round(2.0 * math.cbrt(rows))))


def root_of_inverse(squares: Floats) -> Floats:
    """H with H Hᵀ = V⁻¹ on the directions that V has: as many columns as it has ranks."""
    spread = np.sqrt(np.maximum(np.diag(squares), 0.0))
    unit = np.divide(1.0, spread, out=np.zeros_like(spread), where=spread > 0)
    values, vectors = np.linalg.eigh(squares * np.outer(unit, unit))
    kept = values > SINGULAR
    half: Floats = (unit[:, None] * vectors[:, kept]) / np.sqrt(values[kept])
    return half


def silent_result(question: Question, reason: str, n: int, contributors: int, rounds: int) -> CIResult:
    """A test that cannot speak."""
    x, y, given = question.x, question.y, question.given
    return CIResult(
        x, y, given, 1.0, n, contributors, rounds, informative=False, reason=reason, directions=(silent(y, x, reason, symmetric=True),)
    )


def result_of(question: Question, found: Products, n: int, contributors: int) -> CIResult:
    """Compare T = SᵀV⁻¹S with its law under flips of signs."""
    df = found.half.shape[1]
    if df == 0:
        return silent_result(question, "the products of residuals do not vary", n, contributors, found.rounds)
    assert found.fourth is not None
    statistic = float(((found.total.sums @ found.half) ** 2).sum())
    units = df * (df + 2) / found.fourth - 2.0
    if units <= df:
        of = "clusters" if found.total.units < n else "rows"
        reason = f"the {df} products of residuals rest on too few {of}: they count as {max(units, 0.0):.1f}"
        return silent_result(question, reason, n, contributors, found.rounds)
    p = sign_flip_sf(statistic, df, units)
    only = Direction(question.y, question.x, statistic, df, p, np.nan, np.nan, symmetric=True)
    return CIResult(question.x, question.y, question.given, p, n, contributors, found.rounds, directions=(only,))

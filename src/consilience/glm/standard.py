"""What one site says on outcomes under an intervention: its rows as they would be predicted if all of them had one value of x.

A model of y with columns for x and for others is fitted; at its parameters every row is predicted anew with the columns of x set to those
of a value a, and the rest of the row left as it is (standardisation, the g-formula). The means of these predictions over the rows of all
sites are what is told of do(x = a). With h the predictions of one row, for E outcomes and values together, a site's sums are::

    infeasible | Σ h (E) | gradients of Σ h (E × P) | spread (E(E+1)/2) | score (P) | information (P(P+1)/2)

P are the parameters that the server knows. Where the site's intercepts α are its own, they follow the others along the maximum, so that
gradients are ∂Σh/∂β + (dα/dβ)ᵀ ∂Σh/∂α, and what the site's rows leave open of α itself adds to the spread::

    spread = Σ h hᵀ + φ (∂Σh/∂α) H_αα⁻¹ (∂Σh/∂α)ᵀ

(the inverse of the whole information is that of the profiled one, and H_αα⁻¹ for every site beside it). Score and information are those of
the profile likelihood. Every number may be added over sites. docs/effects.md has the variance that follows.

An outcome of a nominal response is one of its levels, of an ordinal one "this level or a higher one", both but for the first level; of a
count it is its mean.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from consilience.data.design import Design
from consilience.glm.crowd import Crowd, Weights, step_weights
from consilience.glm.generalized import Generalized
from consilience.glm.kernel import Floats, Kernel
from consilience.glm.layout import SILENCE, Family, Shape, SiteEffects, Total, upper
from consilience.glm.logit import Logit, sigmoid
from consilience.glm.misfit import BARRIER, in_range
from consilience.glm.multinomial import Multinomial
from consilience.glm.poisson import MOST_LINEAR, Poisson
from consilience.glm.proportional import Proportional
from consilience.glm.site_effects import answer, make_kernel

__all__ = ["Intervention", "Robust", "Standard", "n_outcomes", "robust_of_numbers", "robust_size", "standard_of", "standard_size"]

Predicted = tuple[Floats, Floats]
"""Predictions (outcomes × rows), and the gradient of their sums (outcomes × parameters of the kernel)."""


def n_outcomes(shape: Shape) -> int:
    """Numbers that are predicted of a row at one value.

    >>> n_outcomes(Shape(Family.PROPORTIONAL, 2, 4)), n_outcomes(Shape(Family.POISSON, 2, 0))
    (3, 1)
    """
    return 1 if shape.dispersed else shape.n_levels - 1


def standard_size(outcomes: int, parameters: int) -> int:
    """Length of the answer for so many outcomes (of all values together) and parameters.

    >>> standard_size(2, 3)
    21
    """
    return 1 + outcomes + outcomes * parameters + _triangle(outcomes) + parameters + _triangle(parameters)


def _triangle(n: int) -> int:
    return n * (n + 1) // 2


@dataclass(frozen=True, slots=True, eq=False)
class Standard:
    """A sum of answers, unpacked."""

    infeasible: bool
    sums: Floats
    gradients: Floats
    spread: Floats
    score: Floats
    info: Floats

    @staticmethod
    def read(vector: Floats, outcomes: int, parameters: int) -> Standard:
        """The parts of an answer, or of a sum of answers."""
        e, p = outcomes, parameters
        ends = np.cumsum([1, e, e * p, _triangle(e), p]).tolist()
        head, sums, gradients, spread, score, info = np.split(vector, ends)
        return Standard(head[0] > 0.5, sums, gradients.reshape(e, p), _square(spread, e), score, _square(info, p))


def _square(triangle: Floats, n: int) -> Floats:
    full = np.zeros((n, n))
    rows, columns = upper(n)
    full[rows, columns] = full[columns, rows] = triangle
    return full


@dataclass(frozen=True, slots=True)
class Intervention:
    """The columns of x among those of a design, and what stands in them at each of the values that all rows are set to."""

    places: Sequence[int]
    values: Sequence[Sequence[float]]

    def designs(self, columns: Floats) -> Iterator[Floats]:
        """The columns with each of the values in turn."""
        moved = columns.copy()
        for value in self.values:
            moved[:, list(self.places)] = value
            yield moved


def standard_of(
    design: Design, shape: Shape, point: Floats, does: Intervention, *, common: bool, dispersion: float = 1.0, crowd: Crowd | None = None
) -> Floats:
    """A site's answer at a fitted point. ``common``: all sites have one intercept, which stands in it.

    With a ``crowd`` it is silent where a prediction would be about too few rows.
    """
    outcomes, parameters = n_outcomes(shape) * len(does.values), len(point)
    effects = SiteEffects.NONE if common else SiteEffects.PROFILED
    kernel = make_kernel(design, shape, effects, BARRIER if shape.family is Family.GENERALIZED else 0.0, crowd)
    ones = np.ones(len(design.response)) if design.weights is None else design.weights
    if kernel is None:
        return _certain(design, shape, len(does.values), ones, parameters)
    total, intercepts, follow = _settled(kernel, shape, effects, point)
    if total.infeasible or total.withheld:
        return _nothing(outcomes, parameters, withheld=total.withheld)
    shared = point[: kernel.n_shared]
    made = [_predicted(kernel, X, ones, shared, intercepts) for X in does.designs(design.columns)]
    chances = np.concatenate([found for found, _ in made])
    if not np.isfinite(chances).all():
        return _nothing(outcomes, parameters, withheld=False)
    if crowd is not None and not crowd.is_enough(_weights([found for found, _ in made], shape)):  # in the order of the design, as these are
        return _nothing(outcomes, parameters, withheld=True)
    gradient = np.concatenate([slope for _, slope in made])
    spread = (chances * ones) @ chances.T
    if not common:
        terms = kernel.rows(kernel.linear(shared), shared, intercepts)
        own, (_, info) = gradient[:, kernel.n_shared :], kernel.intercept_terms(terms)
        spread += dispersion * own @ np.linalg.lstsq(info, own.T, rcond=None)[0]
        gradient = gradient[:, : kernel.n_shared] + own @ follow
    # symmetric up to rounding, and only one triangle travels
    spread = 0.5 * (spread + spread.T)
    parts = [np.zeros(1), chances @ ones, gradient.ravel(), spread[upper(outcomes)], total.score, total.info[upper(parameters)]]
    return in_range(np.concatenate(parts))


def _settled(kernel: Kernel, shape: Shape, effects: SiteEffects, point: Floats) -> tuple[Total, Floats, Floats]:
    """What the model says at the point, the intercepts there, and how they follow the other parameters."""
    total, end = answer(kernel, shape, effects, point, 0, 1, None)
    if effects is SiteEffects.NONE:
        return total, point[kernel.n_shared + kernel.places], np.zeros((kernel.n_intercepts, len(point)))
    for _ in range(2):  # a search ends a little before its end; from there, what is left is of second order
        if end is not None:
            total, end = answer(kernel, shape, effects, point, 0, 1, end)
    if end is None or total.infeasible or total.withheld:
        return total, np.zeros(kernel.n_intercepts), np.zeros((kernel.n_intercepts, len(point)))
    return total, end.intercepts, end.slope


def _nothing(outcomes: int, parameters: int, *, withheld: bool) -> Floats:
    size = standard_size(outcomes, parameters)
    return np.concatenate([np.ones(1), np.full(size - 1, SILENCE if withheld else 0.0)])


def _certain(design: Design, shape: Shape, values: int, ones: Floats, parameters: int) -> Floats:
    """A site whose intercepts are at infinity: it has one level (or counts nothing), and would whatever x were."""
    rows, outcomes = float(ones.sum()), n_outcomes(shape)
    one = np.zeros(outcomes)
    if rows and not shape.dispersed:
        level, levels = int(design.response[0]), np.arange(1, shape.n_levels)
        one = (levels == level if shape.family is Family.MULTINOMIAL else levels <= level).astype(np.float64)
    chances = np.tile(one, values)
    parts = [np.zeros(1), rows * chances, np.zeros(len(chances) * parameters), rows * np.outer(chances, chances)[upper(len(chances))]]
    return np.concatenate([*parts, np.zeros(parameters + _triangle(parameters))])


def _weights(chances: list[Floats], shape: Shape) -> Iterator[Weights]:
    """With which weights rows count in what is told: predictions, their gradients, and how they differ between values.

    A prediction that is a step is about the rows beside it, and the difference of two steps about the rows between them.
    """
    for found in chances:
        if shape.dispersed:
            yield Weights(found, by_level=True).scaled()
            continue
        spread = found * (1.0 - found)
        yield Weights(spread, 0.25, by_level=True)
        yield from step_weights(found, spread, found)
    for other in chances[1:]:
        yield Weights(np.abs(other - chances[0]), by_level=True).scaled()


def _predicted(kernel: Kernel, X: Floats, ones: Floats, shared: Floats, intercepts: Floats) -> Predicted:
    if isinstance(kernel, Logit):
        chance, _ = sigmoid(X @ shared + intercepts[0])
        return chance[None], _straight(X, ones * chance * (1.0 - chance))
    if isinstance(kernel, Poisson):
        linear = X @ shared + intercepts[0] + kernel.centre
        mean = np.exp(np.where(linear <= MOST_LINEAR, linear, np.inf))
        return mean[None], _straight(X, ones * mean)
    if isinstance(kernel, Multinomial):
        return _multinomial(kernel, X, ones, shared, intercepts)
    if isinstance(kernel, Proportional):
        return _proportional(kernel, X, ones, shared, intercepts)
    assert isinstance(kernel, Generalized)
    return _generalized(kernel, X, ones, shared, intercepts)


def _straight(X: Floats, weight: Floats) -> Floats:
    return np.append(weight @ X, weight.sum())[None]


def _multinomial(kernel: Multinomial, X: Floats, ones: Floats, shared: Floats, intercepts: Floats) -> Predicted:
    p, levels = X.shape[1], kernel.n_levels
    slopes, shift = np.zeros((levels, p)), np.zeros((len(kernel.present), 1))
    slopes[1:], shift[kernel.free, 0] = shared.reshape(levels - 1, p), intercepts
    z = slopes[kernel.present] @ X.T + shift
    z = np.exp(z - z.max(axis=0))
    z /= z.sum(axis=0)
    with_ones = np.column_stack([X, np.ones(len(X))])
    chances, gradient = np.zeros((levels - 1, len(X))), np.zeros((levels - 1, kernel.n_shared + kernel.n_intercepts))
    for place, level in enumerate(kernel.present.tolist()):
        if level == 0:
            continue
        chances[level - 1] = z[place]
        weight = ones * z[place]
        by_level = -(weight * z) @ with_ones  # dπ_k/dη_l = π_k (δ_kl - π_l)
        by_level[place] += weight @ with_ones
        gradient[level - 1] = kernel.placed(by_level)
    return chances, gradient


def _proportional(kernel: Proportional, X: Floats, ones: Floats, shared: Floats, intercepts: Floats) -> Predicted:
    thresholds = kernel.to_thresholds @ np.concatenate([shared[kernel.p :], intercepts])
    chances, _ = sigmoid((X @ shared[: kernel.p])[None] - thresholds[:, None])
    weight = ones * chances * (1.0 - chances)
    return chances, np.concatenate([weight @ X, -weight.sum(axis=1)[:, None] * kernel.to_thresholds], axis=1)


def _generalized(kernel: Generalized, X: Floats, ones: Floats, shared: Floats, intercepts: Floats) -> Predicted:
    p = X.shape[1]
    thresholds = kernel.n_shared // p
    slopes = shared[kernel.first * p : kernel.last * p].reshape(kernel.last - kernel.first, p)
    inner, _ = sigmoid(slopes @ X.T - intercepts[:, None])
    chances, gradient = np.zeros((thresholds, len(X))), np.zeros((thresholds, kernel.n_shared + kernel.n_intercepts))
    chances[: kernel.first] = 1.0  # a site without the lowest levels is above them for certain
    chances[kernel.first : kernel.last] = inner
    weight = ones * inner * (1.0 - inner)
    for j in range(kernel.last - kernel.first):
        level = kernel.first + j
        gradient[level, level * p : (level + 1) * p] = weight[j] @ X
        gradient[level, kernel.n_shared + j] = -weight[j].sum()
    return chances, gradient


@dataclass(frozen=True, slots=True, eq=False)
class Robust:
    """Of a continuous response, summed over sites: products of columns, each row weighed with its squared residual."""

    infeasible: bool
    products: Floats

    @staticmethod
    def read(vector: Floats, columns: int) -> Robust:
        """The parts of an answer, or of a sum of answers."""
        return Robust(vector[0] > 0.5, _square(vector[1:], columns))


def robust_size(columns: int) -> int:
    """Length of the answer for a continuous response.

    >>> robust_size(2)
    4
    """
    return 1 + _triangle(columns)


def robust_of_numbers(columns: Floats, response: Floats, slopes: Floats, crowd: Crowd | None = None) -> Floats:
    """A site's Σ r² x xᵀ at fitted slopes, columns and residuals r about its own means (White 1980).

    >>> robust_of_numbers(np.array([[1.0], [0.0], [-1.0]]), np.array([2.0, 0.0, -2.0]), np.array([1.0]))
    array([0., 2.])
    """
    residuals = response - columns @ slopes
    residuals = residuals - (residuals.mean() if len(residuals) else 0.0)
    squares = residuals * residuals
    if crowd is not None and not crowd.is_enough([Weights(squares[None], by_level=True).scaled()]):
        return np.concatenate([np.ones(1), np.full(robust_size(columns.shape[1]) - 1, SILENCE)])
    products = (columns * squares[:, None]).T @ columns
    return in_range(np.concatenate([np.zeros(1), products[upper(columns.shape[1])]]))

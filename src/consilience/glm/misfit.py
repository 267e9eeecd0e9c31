"""What one site says on whether a model holds: sums at the fitted slopes, over its columns and over features that straight lines lack.

A model with p columns is looked at with f features beside them (:mod:`consilience.data.features`), at slopes (β̂, 0). The site's intercepts
are at their maximum, as in ``profiled``. Its answer for one model has, with P parameters of the wide model and B of the narrow one::

    infeasible | sites | score (P) | information (P(P+1)/2)              curvature: do the features add anything?
    q | rank | sites | rows | score (B) | information (B(B+1)/2)         slopes: would the site's own ones fit better?
    moments (6) | columns times squares (P)                              variance; Gaussian responses and counts
    squares of the last (P(P+1)/2)                                       counts only

``q`` is s'I⁻s, twice the gain in log-likelihood that slopes of the site's own promise, and ``rank`` how many of them it can tell; ``score``
and ``information`` in that line are those of sites that take part there. Every number may be added over sites.
"""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from consilience.data.design import Design
from consilience.glm.crowd import Crowd
from consilience.glm.kernel import Floats, Kernel
from consilience.glm.layout import SILENCE, Family, Shape, SiteEffects, Total, is_silent, upper
from consilience.glm.poisson import Poisson
from consilience.glm.site_effects import Ask, Steps, WarmStart, at_once, make_kernel, steps

__all__ = [
    "MOMENTS",
    "Misfit",
    "Widened",
    "answer_of_counts",
    "answer_of_numbers",
    "barrier_of",
    "count_steps",
    "in_range",
    "misfit_of_counts",
    "misfit_of_levels",
    "misfit_of_numbers",
    "misfit_size",
    "misfit_steps",
    "pseudo_inverse",
    "sums_of_counts",
    "sums_of_numbers",
]

MOMENTS = 6
"""Numbers on the squares of residuals: see :func:`misfit_of_numbers` and :func:`misfit_of_counts`."""
COLLINEAR = 1e-8
"""Directions of an information, brought to unit diagonal, with less than this are none."""
REGULAR = 1e-2
"""Where every pivot of a matrix of unit diagonal, or of what is left of one, is above this, no eigenvalue is near the bound above."""
ROWS_PER_SLOPE = 10
"""Rows that a site needs for each parameter to have a say on slopes of its own: with fewer, s'I⁻s of a discrete response is no χ²."""
LARGEST = 2.0**50
"""The most that a number may be: sums of such numbers over four thousand sites fit the ring (2⁶²). A value a million standard deviations
from the others can make more, and a number that does not fit would close the study for the site."""
BARRIER = 1e-6
"""The weight of the barrier that keeps thresholds of generalized ordinal models in order while intercepts are searched for."""


@dataclass(frozen=True, slots=True)
class Widened:
    """A model's shape without and with features. A Gaussian response has no levels, and any family but that of counts will do.

    >>> Widened(Shape(Family.MULTINOMIAL, 1, 3), 2).narrow
    [0, 3]
    """

    shape: Shape
    features: int

    @property
    def wide(self) -> Shape:
        """The shape with features."""
        return Shape(self.shape.family, self.shape.n_columns + self.features, self.shape.n_levels)

    @property
    def narrow(self) -> list[int]:
        """Where the parameters of the model itself stand among those with features."""
        return _narrow(self)

    def place(self, shared: Floats) -> Floats:
        """Parameters of the model, with zeros for the features."""
        found = np.zeros(self.wide.n_shared)
        found[self.narrow] = shared
        return found


@lru_cache(maxsize=256)  # a batch has few different sizes, and asks for each hundreds of times
def _narrow(of: Widened) -> list[int]:
    p, slots, width = of.shape.n_columns, of.shape.slopes_per_column, of.wide.n_columns
    slopes = [slot * width + j for slot in range(slots) for j in range(p)]
    return slopes + list(range(slots * width, of.wide.n_shared))


@lru_cache(maxsize=256)
def _narrow_square(of: Widened) -> tuple[NDArray[np.intp], ...]:
    return np.ix_(_narrow(of), _narrow(of))


def misfit_size(widened: Widened, *, squares: bool, robust: bool) -> int:
    """Length of the answer for one model. ``squares``: it has a variance; ``robust``: which grows with the mean (counts).

    >>> misfit_size(Widened(Shape(Family.LOGIT, 1, 2), 1), squares=False, robust=False)
    13
    """
    wide, narrow = widened.wide.n_shared, widened.shape.n_shared
    size = 2 + _packed(wide) + 4 + _packed(narrow)
    if squares:
        size += MOMENTS + wide + (wide * (wide + 1) // 2 if robust else 0)
    return size


def _packed(n: int) -> int:
    return n + n * (n + 1) // 2


@dataclass(frozen=True, slots=True, eq=False)
class Misfit:
    """A sum of answers for one model, unpacked; ``own`` is (q, rank, sites, rows) of sites with a say on slopes."""

    infeasible: bool
    sites: int
    score: Floats
    info: Floats
    own: Floats
    own_score: Floats
    own_info: Floats
    moments: Floats
    lean: Floats
    spread: Floats

    @staticmethod
    def read(vector: Floats, widened: Widened) -> Misfit:
        """The parts of an answer, or of a sum of answers."""
        wide, narrow = widened.wide.n_shared, widened.shape.n_shared
        score, info = _unpack(vector[2:], wide)
        at = 2 + _packed(wide)
        own = vector[at : at + 4]
        own_score, own_info = _unpack(vector[at + 4 :], narrow)
        at += 4 + _packed(narrow)
        moments, lean, rest = vector[at : at + MOMENTS], vector[at + MOMENTS : at + MOMENTS + wide], vector[at + MOMENTS + wide :]
        spread = _square(rest, wide) if len(rest) else np.zeros((0, 0))
        return Misfit(vector[0] > 0.5, round(float(vector[1])), score, info, own, own_score, own_info, moments, lean, spread)


def _unpack(vector: Floats, n: int) -> tuple[Floats, Floats]:
    return vector[:n], _square(vector[n:], n)


def _square(vector: Floats, n: int) -> Floats:
    full = np.zeros((n, n))
    rows, columns = upper(n)
    full[rows, columns] = full[columns, rows] = vector[: n * (n + 1) // 2]
    return full


def pseudo_inverse(matrix: Floats, scale: Floats | None = None) -> tuple[Floats, int]:
    """The pseudo-inverse of a symmetric matrix and its rank. ``scale``: the diagonal of what it was before something was taken out of it.

    >>> pseudo_inverse(np.array([[4.0, 4.0], [4.0, 4.0]]))
    (array([[0.0625, 0.0625],
           [0.0625, 0.0625]]), 1)
    """
    diagonal = np.maximum(np.diag(matrix) if scale is None else scale, 0.0)
    unit = np.divide(1.0, np.sqrt(diagonal), out=np.zeros_like(diagonal), where=diagonal > 0)
    matrix = matrix * unit[:, None] * unit[None, :]
    if unit.all():  # mostly: a factor is five times as fast as eigenvalues
        with contextlib.suppress(np.linalg.LinAlgError):
            factor = np.linalg.cholesky(matrix)
            if float(np.diag(factor).min(initial=1.0)) > REGULAR:
                inverse = np.linalg.inv(matrix).astype(np.float64, copy=False) * unit[:, None] * unit[None, :]
                return 0.5 * (inverse + inverse.T), len(matrix)
    values, vectors = np.linalg.eigh(matrix)
    kept = values > COLLINEAR
    half = (unit[:, None] * vectors[:, kept]) / np.sqrt(values[kept])
    return half @ half.T, int(kept.sum())


def _quadratic(matrix: Floats, vector: Floats) -> tuple[float, int]:
    """v'M⁻v with the pseudo-inverse of a symmetric matrix, and its rank."""
    diagonal = np.diag(matrix)
    if (diagonal > 0).all():  # mostly: half of what an inverse takes
        unit = 1.0 / np.sqrt(diagonal)
        with contextlib.suppress(np.linalg.LinAlgError):
            scaled, scores = matrix * unit[:, None] * unit[None, :], vector * unit
            if float(np.diag(np.linalg.cholesky(scaled)).min(initial=1.0)) > REGULAR:
                return float(np.dot(scores, np.linalg.solve(scaled, scores))), len(matrix)
    inverse, rank = pseudo_inverse(matrix)
    return float(vector @ inverse @ vector), rank


def _answer(widened: Widened, score: Floats, info: Floats, rows: float, tail: tuple[Floats, ...] = (), *, say: bool = True) -> Floats:
    """The flat vector. ``say``: the site has rows enough to say something on slopes of its own."""
    at, wide = widened.narrow, widened.wide.n_shared
    own_score, own_info = score[at], info[_narrow_square(widened)]
    own = np.zeros(4)
    if say:
        own = np.array([*_quadratic(own_info, own_score), 1.0, rows])
    else:
        own_score, own_info = np.zeros_like(own_score), np.zeros_like(own_info)
    parts = [np.array([0.0, 1.0]), score, info[upper(wide)], own, own_score, own_info[upper(len(at))]]
    return np.concatenate([*parts, *tail])


def in_range(vector: Floats) -> Floats:
    """An answer whose numbers may be summed; where one is out of all range, it says only that.

    >>> in_range(np.array([0.0, 1.0, 1e16])), in_range(np.array([0.0, 1.0, 1e9]))
    (array([1., 0., 0.]), array([0.e+00, 1.e+00, 1.e+09]))
    """
    if (np.abs(vector) <= LARGEST).all() or is_silent(vector).any():
        return vector
    return np.concatenate([np.ones(1), np.zeros(len(vector) - 1)])


def misfit_of_numbers(columns: Floats, response: Floats, slopes: Floats, widened: Widened, unit: float = 1.0) -> Floats:
    """A site's answer for a Gaussian response: residuals at the common slopes, about their mean at the site, in a common unit."""
    residuals = response - np.dot(columns, widened.place(slopes))
    if len(residuals):
        residuals -= residuals.mean()
    residuals /= unit
    return answer_of_numbers(sums_of_numbers(columns, residuals), widened)


def sums_of_numbers(columns: Floats, residuals: Floats) -> list[Any]:
    """What is summed over rows with such residuals, in a unit in which fourth powers of them fit a sum; parts of the rows may be added."""
    squares = residuals * residuals
    return [
        len(residuals),
        float(squares.sum()),
        float(np.dot(squares, squares)),
        np.dot(residuals, columns),
        np.dot(columns.T, columns),
        np.dot(squares, columns),
    ]


def answer_of_numbers(sums: Sequence[Any], widened: Widened) -> Floats:
    """The answer made of :func:`sums_of_numbers`."""
    n, squares, fourth, score, info, lean = sums
    if n < 2:
        return np.zeros(misfit_size(widened, squares=True, robust=False))
    # the site's intercept takes up a row: residuals of a small site are shorter, and that is no sign of a smaller variance
    longer = n / (n - 1.0)
    total, moments = squares * longer, np.zeros(MOMENTS)
    moments[:] = n, squares, total, fourth * longer * longer, total * total / n, 1.0
    return _answer(widened, score, info, n, (moments, lean * longer))


def misfit_of_levels(
    design: Design, shared: Floats, widened: Widened, intercepts: Floats | None = None, crowd: Crowd | None = None
) -> Floats:
    """A site's answer for a discrete response; ``design`` has the features among its columns, ``intercepts`` are where to begin.

    With a ``crowd`` it is silent where it would be about too few rows.
    """
    kernel = make_kernel(design, widened.wide, SiteEffects.PROFILED, barrier_of(widened), crowd)
    rows = float(len(design.response) if design.weights is None else design.weights.sum())
    return at_once(misfit_steps(kernel, shared, widened, rows, intercepts))


def barrier_of(widened: Widened) -> float:
    """The barrier of a model's kernel."""
    return BARRIER if widened.shape.family is Family.GENERALIZED else 0.0


def misfit_steps(kernel: Kernel | None, shared: Floats, widened: Widened, rows: float, intercepts: Floats | None = None) -> Steps[Floats]:
    """A site's answer for a discrete response with so many rows, without a look at them: what is to be found of them is asked for."""
    size = misfit_size(widened, squares=False, robust=False)
    if kernel is None:
        return np.zeros(size)
    wide, point = widened.wide, widened.place(shared)
    warm = yield from _polished(kernel, point, intercepts)
    total, end = yield from steps(kernel, wide, SiteEffects.PROFILED, point, 0, 1, warm)
    if intercepts is None and end is not None:  # a search ends a little before its end, and the information with it
        warm = yield from _polished(kernel, point, end.intercepts)
        total, _ = yield from steps(kernel, wide, SiteEffects.PROFILED, point, 0, 1, warm)
    if total.infeasible or total.withheld:
        return _nothing(size, total)
    return _answer(widened, total.score, total.info, rows, say=_enough(rows, widened))


def _nothing(size: int, total: Total) -> Floats:
    """The answer of a site at whose point nothing is, or may be, told."""
    return np.concatenate([np.ones(1), np.full(size - 1, SILENCE if total.withheld else 0.0)])


def _polished(kernel: Kernel, point: Floats, intercepts: Floats | None) -> Steps[WarmStart | None]:
    """A step from where the intercepts are expected: what is left is of second order, and the information as good as exact."""
    if intercepts is None or len(intercepts) != kernel.n_intercepts:
        return None
    terms = yield Ask(kernel, point, intercepts, whole=False)
    if terms.feasible:
        gradient, info = kernel.intercept_terms(terms)
        with contextlib.suppress(np.linalg.LinAlgError):
            intercepts = intercepts + np.linalg.solve(info, gradient)
    return WarmStart(point, intercepts, np.zeros((len(intercepts), len(point))))


def _enough(rows: float, widened: Widened) -> bool:
    return rows >= ROWS_PER_SLOPE * (widened.shape.n_shared + widened.shape.n_intercepts)


def misfit_of_counts(design: Design, shared: Floats, widened: Widened, dispersion: float, crowd: Crowd | None = None) -> Floats:
    """A site's answer for a count, whose variance is ``dispersion`` times the mean if the model holds."""
    kernel = make_kernel(design, widened.wide, SiteEffects.PROFILED, 0.0, crowd)
    if kernel is None:
        return np.zeros(misfit_size(widened, squares=True, robust=True))
    assert isinstance(kernel, Poisson)
    total, intercept = at_once(count_steps(kernel, shared, widened))
    if total.infeasible or total.withheld:
        return answer_of_counts(total, (), widened)
    return answer_of_counts(total, sums_of_counts(kernel, widened.place(shared), intercept, dispersion), widened)


def count_steps(kernel: Kernel, shared: Floats, widened: Widened) -> Steps[tuple[Total, Floats]]:
    """Score and information of a count's model, and its intercept; what is to be found of the rows is asked for."""
    point = widened.place(shared)
    total, end = yield from steps(kernel, widened.wide, SiteEffects.PROFILED, point, 0, 1, None)
    return total, np.zeros(1) if end is None else end.intercepts


def sums_of_counts(kernel: Poisson, point: Floats, intercept: Floats, dispersion: float) -> list[Any]:
    """What is summed over the rows of a count's model at its intercept; parts of the rows may be added."""
    mean, X = np.exp(kernel.linear(point) + (intercept[0] + kernel.centre)), kernel.X
    # (y - μ)² - φy has mean zero, and its derivatives in μ have too: slopes that are estimated do not move it. Divided by 1 + μ it
    # varies about equally much wherever the mean is
    excess = ((kernel.y - mean) ** 2 - dispersion * kernel.y) / (1.0 + mean)
    ones = np.ones_like(mean) if kernel.w is None else kernel.w
    level = ones * mean / (1.0 + mean)  # how φ would move the sum of these
    weighted = ones * excess
    squared = weighted * excess
    return [
        float(ones.sum()),
        float(level.sum()),
        np.dot(level, X),
        float(weighted.sum()),
        np.dot(weighted, X),
        float(squared.sum()),
        np.dot(squared, X),
        np.dot((X * squared[:, None]).T, X),
    ]


def answer_of_counts(total: Total, sums: Sequence[Any], widened: Widened) -> Floats:
    """The answer made of :func:`count_steps` and, where something may be told, :func:`sums_of_counts`."""
    if total.infeasible or total.withheld:
        return _nothing(misfit_size(widened, squares=True, robust=True), total)
    rows, moved, levels, sum_, weighted, squares, squared, products = sums
    about = levels / moved  # columns about these, so that φ does not move the sums with them
    lean = weighted - about * sum_
    spread = products - np.outer(about, squared) - np.outer(squared, about) + squares * np.outer(about, about)
    moments = np.zeros(MOMENTS)
    if squares > 0 and _enough(rows, widened):
        moments[:] = rows, sum_ * sum_ / squares, sum_ * moved / squares, moved * moved / squares, 0.0, 1.0
    tail = (moments, lean, spread[upper(len(lean))])
    return _answer(widened, total.score, total.info, rows, tail, say=_enough(rows, widened))

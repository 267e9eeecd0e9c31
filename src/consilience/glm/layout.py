"""Where each number of a model stands: parameter counts, and the flat vector a site sends for one model.

A site's answer for one model with P parameters is one flat vector of ``4 + P + P(P+1)/2`` numbers::

    infeasible | objective | barrier | slack | score (P) | upper triangle of the information (P(P+1)/2), row by row

A model of counts has ``1 + P`` more at the end: Pearson's sum Σ (y - μ)²/μ and its gradient, from which the dispersion is estimated.
Sums of such vectors over sites are again such vectors, and only sums reach the solver. ``infeasible`` counts the sites at which the
point has a non-positive probability, and in units of :data:`WITHHELD` those that say nothing there, since it would be about too few of
their rows (:mod:`consilience.glm.crowd`); ``objective`` is log-likelihood plus barrier.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from consilience.data.kinds import Kind
from consilience.glm.kernel import Floats

__all__ = [
    "HEADER",
    "SILENCE",
    "WITHHELD",
    "Family",
    "ModelSize",
    "Ordinal",
    "Shape",
    "SiteEffects",
    "Total",
    "answer_size",
    "family_of",
    "is_silent",
    "model_size",
    "n_parameters",
    "pack",
    "unpack",
    "unsaid",
    "upper",
]

HEADER = 4
"""Numbers before the score: infeasible, objective, barrier, slack."""
WITHHELD = 2.0**20
"""What a site that says nothing adds to the first number: more than there are sites, so that one number counts both kinds."""
_SILENT_BITS = np.uint64(0x7FF8_5349_4C45_4E43)
SILENCE = float(_SILENT_BITS.view(np.float64))
"""Stands where a site says nothing: a NaN with bits of its own, which no arithmetic makes. It never travels: on the way out random numbers
take its place, so that the sum says nothing of the other sites either."""


class Family(StrEnum):
    """The response model of an iterative fit. A Gaussian one is iterative only with random site effects."""

    GAUSSIAN = "gaussian"
    LOGIT = "logit"
    MULTINOMIAL = "multinomial"
    PROPORTIONAL = "proportional"
    GENERALIZED = "generalized"
    POISSON = "poisson"


class Ordinal(StrEnum):
    """How an ordinal response with more than two levels is modelled."""

    PROPORTIONAL = "proportional"
    GENERALIZED = "generalized"


class SiteEffects(StrEnum):
    """Where the sites' intercepts live: see the table in ``docs/statistics.md``."""

    PROFILED = "profiled"
    COORDINATE = "coordinate"
    JOINT = "joint"
    NONE = "none"
    RANDOM = "random"

    @property
    def common(self) -> bool:
        """True where one intercept (or one set of thresholds) stands in the common parameters, so that columns are not centred at sites."""
        return self in (SiteEffects.NONE, SiteEffects.RANDOM)


def family_of(kind: Kind, n_levels: int, ordinal: Ordinal) -> Family:
    """The family of a response with ``n_levels`` observed levels, or of a number, which has none; two levels are always a logit.

    >>> family_of(Kind.ORDINAL, 4, Ordinal.PROPORTIONAL).value, family_of(Kind.MULTINOMIAL, 2, Ordinal.PROPORTIONAL).value
    ('proportional', 'logit')
    """
    if kind is Kind.COUNT:
        return Family.POISSON
    if kind is Kind.CONTINUOUS:
        return Family.GAUSSIAN
    if n_levels == 2:  # with two levels all four models are the same one, and the logit is the cheapest to fit
        return Family.LOGIT
    return Family.MULTINOMIAL if kind is Kind.MULTINOMIAL else Family(ordinal.value)


@dataclass(frozen=True, slots=True)
class Shape:
    """A model's size: its family, its columns, its observed response levels (none for numbers).

    >>> Shape(Family.PROPORTIONAL, 3, 4).n_shared, Shape(Family.MULTINOMIAL, 3, 4).n_intercepts
    (5, 3)
    """

    family: Family
    n_columns: int
    n_levels: int

    @property
    def n_shared(self) -> int:
        """Parameters common to all sites, whatever their intercepts are; the precision of a Gaussian is one of them."""
        if self.family is Family.GAUSSIAN:
            return self.n_columns + 1
        if self.family in (Family.LOGIT, Family.POISSON):
            return self.n_columns
        if self.family is Family.PROPORTIONAL:
            return self.n_columns + self.n_levels - 2
        return self.n_columns * (self.n_levels - 1)

    @property
    def n_intercepts(self) -> int:
        """Intercepts of one site."""
        return self.slopes_per_column  # a level has either both of its own, or neither

    @property
    def slopes_per_column(self) -> int:
        """How many degrees of freedom one column is worth."""
        return self.n_levels - 1 if self.family in (Family.MULTINOMIAL, Family.GENERALIZED) else 1

    @property
    def dispersed(self) -> bool:
        """True where the variance has a factor of its own, which is estimated: counts."""
        return self.family is Family.POISSON


def n_parameters(shape: Shape, effects: SiteEffects, n_sites: int) -> int:
    """Length of β as the server sees it. Random effects add one standard deviation, the last parameter.

    >>> n_parameters(Shape(Family.LOGIT, 2, 2), SiteEffects.JOINT, 5), n_parameters(Shape(Family.LOGIT, 2, 2), SiteEffects.RANDOM, 5)
    (7, 4)
    """
    if effects is SiteEffects.JOINT:
        return shape.n_shared + n_sites * shape.n_intercepts
    return shape.n_shared + (shape.n_intercepts if effects.common else 0) + (effects is SiteEffects.RANDOM)


def answer_size(n: int, *, dispersed: bool = False) -> int:
    """Length of the answer for a model with ``n`` parameters.

    >>> answer_size(2), answer_size(2, dispersed=True)
    (9, 12)
    """
    return HEADER + n + n * (n + 1) // 2 + (1 + n if dispersed else 0)


class ModelSize(NamedTuple):
    """A model's shape, the length of its β as the server sees it, and that of a site's answer."""

    shape: Shape
    parameters: int
    answer: int


@lru_cache(maxsize=256)  # as below
def model_size(kind: Kind, n_levels: int, n_columns: int, ordinal: Ordinal, effects: SiteEffects, n_sites: int) -> ModelSize:
    """The sizes of a model with a response of this kind and these many observed levels.

    >>> model_size(Kind.BINARY, 2, 3, Ordinal.PROPORTIONAL, SiteEffects.PROFILED, 5)[1:]
    (3, 13)
    """
    shape = Shape(family_of(kind, n_levels, ordinal), n_columns, n_levels)
    parameters = n_parameters(shape, effects, n_sites)
    return ModelSize(shape, parameters, answer_size(parameters, dispersed=shape.dispersed))


@lru_cache(maxsize=256)  # a batch has few different sizes, and asks for each thousands of times
def upper(n: int) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Rows and columns of the upper triangle of a matrix, as it travels."""
    return np.triu_indices(n)


@lru_cache(maxsize=256)
def _places(n: int) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Where the upper triangle stands among the numbers of a matrix, and where each number of the matrix stands in the triangle."""
    rows, columns = upper(n)
    back = np.empty((n, n), dtype=np.intp)
    back[rows, columns] = back[columns, rows] = np.arange(len(rows))
    return rows * n + columns, back


@dataclass(frozen=True, slots=True, eq=False)
class Total:
    """A sum of answers, unpacked. ``squares`` is Pearson's sum and ``pull`` its gradient; None where the model has no dispersion.

    ``withheld``: some site says nothing here, and no other number means anything.
    """

    infeasible: bool
    objective: float
    barrier: float
    slack: float
    score: Floats
    info: Floats
    squares: float = 0.0
    pull: Floats | None = None
    withheld: bool = False


def unsaid(size: int) -> Total:
    """The answer of a site that says nothing on a model with so many parameters.

    >>> is_silent(pack(unsaid(1)))
    array([False,  True,  True,  True,  True,  True])
    """
    return Total(False, 0.0, 0.0, 0.0, np.zeros(size), np.zeros((size, size)), withheld=True)


def is_silent(vector: Floats) -> NDArray[np.bool_]:
    """Where a site says nothing.

    >>> is_silent(np.array([1.0, SILENCE, np.nan]))
    array([False,  True, False])
    """
    found: NDArray[np.bool_] = np.ascontiguousarray(vector, dtype=np.float64).view(np.uint64) == _SILENT_BITS
    return found


def pack(total: Total) -> Floats:
    """One flat vector; :func:`unpack` is its inverse.

    >>> unpack(pack(Total(False, -3.0, 0.0, 0.0, np.array([1.0]), np.array([[2.0]]))), 1).info
    array([[2.]])
    """
    if total.withheld:
        silent = np.full(answer_size(len(total.score), dispersed=total.pull is not None), SILENCE)
        silent[0] = WITHHELD
        return silent
    head = [float(total.infeasible), total.objective, total.barrier, total.slack]
    # Every number is one that may be added over sites: hence a count where a flag would do, and no rank, maximum or ratio anywhere.
    tail = np.empty(0) if total.pull is None else np.append(total.squares, total.pull)
    return np.concatenate([head, total.score, total.info.ravel()[_places(len(total.score))[0]], tail])


def unpack(vector: Floats, n: int) -> Total:
    """The parts of an answer, or of a sum of answers, for a model with ``n`` parameters."""
    end = answer_size(n)
    info = vector[HEADER + n : end][_places(n)[1]]
    squares, pull = (float(vector[end]), vector[end + 1 :]) if len(vector) > end else (0.0, None)
    # counts of sites, so one or more means yes; 0.5 asks nothing of its last bit
    withheld = round(float(vector[0]) / WITHHELD)
    return Total(
        float(vector[0]) - withheld * WITHHELD > 0.5,
        float(vector[1]),
        float(vector[2]),
        float(vector[3]),
        vector[HEADER : HEADER + n],
        info,
        squares,
        pull,
        withheld > 0,
    )

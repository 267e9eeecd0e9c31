"""Where each number of a model stands: parameter counts, and the flat vector a site sends for one model.

A site's answer for one model with P parameters is one flat vector of ``4 + P + P(P+1)/2`` numbers::

    infeasible | objective | barrier | slack | score (P) | upper triangle of the information (P(P+1)/2), row by row

Sums of such vectors over sites are again such vectors, and only sums reach the solver. ``infeasible`` counts the sites at which the
point has a non-positive probability; ``objective`` is log-likelihood plus barrier.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from consilience.data.kinds import Kind
from consilience.glm.kernel import Floats

__all__ = ["HEADER", "Family", "Ordinal", "Shape", "SiteEffects", "Total", "answer_size", "family_of", "n_parameters", "pack", "unpack"]

HEADER = 4
"""Numbers before the score: infeasible, objective, barrier, slack."""


class Family(StrEnum):
    """The response model of an iterative fit. A Gaussian one is iterative only with random site effects."""

    GAUSSIAN = "gaussian"
    LOGIT = "logit"
    MULTINOMIAL = "multinomial"
    PROPORTIONAL = "proportional"
    GENERALIZED = "generalized"


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
    """The family of a response with ``n_levels`` observed levels; two levels are always a logit, and none are a Gaussian.

    >>> family_of(Kind.ORDINAL, 4, Ordinal.PROPORTIONAL).value, family_of(Kind.MULTINOMIAL, 2, Ordinal.PROPORTIONAL).value
    ('proportional', 'logit')
    """
    if kind is Kind.CONTINUOUS:
        return Family.GAUSSIAN
    if n_levels == 2:  # with two levels all four models are the same one, and the logit is the cheapest to fit
        return Family.LOGIT
    return Family.MULTINOMIAL if kind is Kind.MULTINOMIAL else Family(ordinal.value)


@dataclass(frozen=True, slots=True)
class Shape:
    """A model's size: its family, its columns, its observed response levels (0 for a Gaussian).

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
        if self.family is Family.LOGIT:
            return self.n_columns
        if self.family is Family.PROPORTIONAL:
            return self.n_columns + self.n_levels - 2
        return self.n_columns * (self.n_levels - 1)

    @property
    def n_intercepts(self) -> int:
        """Intercepts of one site."""
        return self.slopes_per_column

    @property
    def slopes_per_column(self) -> int:
        """How many degrees of freedom one column is worth."""
        return self.n_levels - 1 if self.family in (Family.MULTINOMIAL, Family.GENERALIZED) else 1


def n_parameters(shape: Shape, effects: SiteEffects, n_sites: int) -> int:
    """Length of β as the server sees it. Random effects add one standard deviation, the last parameter.

    >>> n_parameters(Shape(Family.LOGIT, 2, 2), SiteEffects.JOINT, 5), n_parameters(Shape(Family.LOGIT, 2, 2), SiteEffects.RANDOM, 5)
    (7, 4)
    """
    if effects is SiteEffects.JOINT:
        return shape.n_shared + n_sites * shape.n_intercepts
    return shape.n_shared + (shape.n_intercepts if effects.common else 0) + (effects is SiteEffects.RANDOM)


def answer_size(n: int) -> int:
    """Length of the answer for a model with ``n`` parameters.

    >>> answer_size(2)
    9
    """
    return HEADER + n + n * (n + 1) // 2


@lru_cache(maxsize=256)  # a batch has few different sizes, and asks for each thousands of times
def _triangle(n: int) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    return np.triu_indices(n)


@dataclass(frozen=True, slots=True, eq=False)
class Total:
    """A sum of answers, unpacked."""

    infeasible: bool
    objective: float
    barrier: float
    slack: float
    score: Floats
    info: Floats


def pack(total: Total) -> Floats:
    """One flat vector; :func:`unpack` is its inverse.

    >>> unpack(pack(Total(False, -3.0, 0.0, 0.0, np.array([1.0]), np.array([[2.0]]))), 1).info
    array([[2.]])
    """
    head = [float(total.infeasible), total.objective, total.barrier, total.slack]
    # Every number is one that may be added over sites: hence a count where a flag would do, and no rank, maximum or ratio anywhere.
    return np.concatenate([head, total.score, total.info[_triangle(len(total.score))]])


def unpack(vector: Floats, n: int) -> Total:
    """The parts of an answer, or of a sum of answers, for a model with ``n`` parameters."""
    info = np.zeros((n, n))
    rows, columns = _triangle(n)
    info[rows, columns] = vector[HEADER + n :]
    info[columns, rows] = vector[HEADER + n :]
    # a count of sites, so one or more means yes; 0.5 asks nothing of its last bit
    return Total(vector[0] > 0.5, float(vector[1]), float(vector[2]), float(vector[3]), vector[HEADER : HEADER + n], info)

"""What every response model offers at one site: log-likelihood, score and information.

Conventions, the same in every kernel:

- ``X`` is the site's centred design (n rows, p columns), ``y`` the response codes (or the counts), ``w`` the row weights.
- *Shared* parameters are common to all sites (slopes; for the proportional model also the threshold gaps). *Intercepts* belong to
  the site. A kernel's parameter vector is always (shared, intercepts).
- ``loglik`` is maximised. ``score`` is its gradient, ``info`` minus its Hessian (observed information, positive semi-definite: all
  log-likelihoods are concave).

A kernel works in two phases so that a search over intercepts alone stays cheap: :meth:`Kernel.linear` costs O(n p) and depends on
the shared parameters only; :meth:`Kernel.rows` and :meth:`Kernel.intercept_terms` cost O(n); :meth:`Kernel.full` costs O(n p²).
Kernels are pure functions of arrays: no options, no environment, no I/O.

Products over rows are ``np.dot`` and not ``@``: numpy lets other threads run during the one, and keeps the interpreter to itself during the
other, which is where a site of many rows spends most of its time.

Observed and not expected information: for the logit, multinomial and Poisson models they are the same; for the two ordinal ones only the
observed one is minus a second derivative, which is what makes the steps Newton's and the Schur complement the curvature of the profile
likelihood.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from consilience.glm.crowd import Crowd, Weights

__all__ = ["Evaluation", "Floats", "Kernel", "RowTerms", "ShiftedKernel", "Softplus"]

Floats = NDArray[np.float64]


@dataclass(slots=True, eq=False)
class RowTerms:
    """Per-row quantities at one point. ``loglik`` is the plain log-likelihood, ``barrier`` what is added to it (generalized only).

    ``slack`` bounds how far the barrier keeps the log-likelihood below its supremum. ``feasible`` is False where some cell
    probability is not positive, or a mean out of all range; the other fields then mean nothing. ``squares`` is Pearson's sum (counts only).
    """

    loglik: float
    arrays: tuple[Any, ...] = ()
    barrier: float = 0.0
    slack: float = 0.0
    feasible: bool = True
    squares: float = 0.0


@dataclass(slots=True, eq=False)
class Evaluation:
    """Score and information over (shared, intercepts), and for counts the gradient of Pearson's sum."""

    score: Floats
    info: Floats
    pull: Floats | None = None


class Kernel(ABC):
    """A response model bound to one site's rows. Where it has a ``crowd``, sums that are about too few of them are not told."""

    n_shared: int
    n_intercepts: int
    reaches: bool = False
    """True where a search over intercepts needs :meth:`reach` before it begins."""
    crowd: Crowd | None = None
    order: NDArray[np.intp] | None = None

    def __copy__(self) -> Self:
        # as the module copy does it, five times as fast: every model of a block begins with one
        made = object.__new__(type(self))
        made.__dict__.update(self.__dict__)
        return made

    @property
    def places(self) -> NDArray[np.intp]:
        """Where the intercepts stand among those of a site that has every level."""
        return np.arange(self.n_intercepts)

    @abstractmethod
    def over(self, X: Floats, y: NDArray[np.int32] | Floats, w: Floats | None, like: Kernel | None = None) -> Kernel:
        """The same model over some of the site's rows, with what was found of all of them: its sums are parts of this kernel's.

        ``like`` is one of the same response over the same rows, with other columns: what depends on the response alone is taken from it.
        """

    @abstractmethod
    def start(self, shared: Floats, reach: Floats | None = None) -> Floats:
        """Intercepts from which the search over them begins. ``reach`` is that of all rows, for who has found it already."""

    def reach(self, eta: Floats) -> Floats:
        """What rows say on how far intercepts may go, whatever these are."""
        del eta
        return np.empty(0)

    def joined(self, one: Floats, other: Floats) -> Floats:
        """:meth:`reach` of some rows and of others together."""
        del other
        return one

    def closed(self, reach: Floats) -> Floats | None:
        """The intercepts that maximise the likelihood, where a formula says them; None: they must be searched for."""
        del reach
        return None

    def repair(self, reach: Floats, intercepts: Floats) -> Floats:
        """Intercepts near the given ones at which every probability is positive."""
        del reach
        return intercepts

    def softer(self) -> list[Kernel]:
        """The same kernel with more barrier, most first: a path along which a search from far away finds the maximum."""
        return []

    @abstractmethod
    def linear(self, shared: Floats) -> Floats:
        """The part of the linear predictors that the shared parameters make."""

    @abstractmethod
    def rows(self, eta: Floats, shared: Floats, intercepts: Floats) -> RowTerms:
        """Per-row terms at a point; ``eta`` is ``linear(shared)``."""

    @abstractmethod
    def intercept_terms(self, terms: RowTerms) -> tuple[Floats, Floats]:
        """Score and information of the intercepts alone."""

    @abstractmethod
    def full(self, terms: RowTerms) -> Evaluation:
        """Score and information of all parameters."""

    @abstractmethod
    def weights(self, terms: RowTerms, crowd: Crowd) -> Iterator[Weights]:
        """With which weights rows count in score and information. Only asked for where rows are not compressed."""

    def is_steep(self, terms: RowTerms) -> bool:
        """True if something that :meth:`full` says is about too few rows."""
        return self.crowd is not None and not self.crowd.is_enough(self.weights(terms, self.crowd))

    def is_steep_at(self, shared: Floats, intercepts: Floats) -> bool:
        """The same at a point, where the intercepts are the most likely of those that are integrated over."""
        if self.crowd is None:
            return False
        terms = self.rows(self.linear(shared), shared, intercepts)
        return terms.feasible and self.is_steep(terms)


@dataclass(frozen=True, slots=True, eq=False)
class Softplus:
    """A log-likelihood at one point as a function of a shift of the intercept, and of all parameters around it::

        value + tilt · shift - Σ w log(1 + e^v),    v ± shift

    ``design`` has the derivatives of every v by (shared, intercept); the last is -1 for the first ``falling`` terms and 1 for the
    others. ``score`` and ``info`` are of what stands before the sum, the same under every shift.
    """

    v: Floats
    design: Floats
    weights: Floats | None
    falling: int
    value: float
    tilt: float
    score: Floats
    info: Floats | None


class ShiftedKernel(Kernel):
    """A kernel with one intercept that can be looked at under many values of it at once, as integration over it needs."""

    @abstractmethod
    def softplus(self, shared: Floats, intercept: float) -> Softplus | None:
        """The log-likelihood as a sum of simple terms; None where the point is not feasible."""

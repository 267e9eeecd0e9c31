"""The server's side of a fit: from sums over sites to the maximum of the likelihood, one question a round.

It solves score(β) = 0 for a concave log-likelihood ℓ by damped Newton steps::

    δ = (H + λ diag H)⁻¹ score,   β ← β + t δ

with H the aggregated information. Steps are halved (t) while ℓ falls or a probability is not positive; λ is raised when halving does not
help or H is singular, and lowered after success. The matrix is brought to unit diagonal first, so units of columns cannot matter.

The fit is done when the gain that the next step promises, ½ scoreᵀδ, is below ``tolerance · (|ℓ| + 1)``. That gain is then added
to ℓ: near the maximum it is what is missing, up to third order.

Under separation ℓ has a finite supremum at infinite β. Near it ℓ(β) ≈ sup - c e^{-b}, a Newton step is one unit of b, and what is
missing is twice the promised gain; a fit whose last step is still long (in standard deviations of the column) is recognised by that,
and flagged.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from consilience.glm.generalized import BARRIER_FACTOR, FIRST_BARRIER
from consilience.glm.kernel import Floats
from consilience.glm.layout import Total
from consilience.glm.secant import SecantMemory

__all__ = ["Fit", "FitProblem", "Newton"]

MOST_HALVINGS, MOST_HALVINGS_BARRIER = 3, 10
ROUNDING = 1e-11
LONGEST_REACH = 5.0
"""A step corrected by memory may move the linear predictor by this much per standard deviation of a column."""
SLACK = 1e-7
"""The barrier is lowered until it can keep the log-likelihood below its supremum by this share at most (in fact by far less)."""


@dataclass(frozen=True, slots=True, eq=False)
class FitProblem:
    """What does not change during a fit.

    The first ``n_slopes`` parameters are slopes. ``scale`` turns a step into units of the linear predictor: the standard deviation of
    a slope's column, one for an intercept, zero for a threshold gap. ``increasing`` are the positions of parameters that must
    increase from zero (threshold gaps); ``quadratic`` is False where steps use an information that is too large, so that
    convergence is linear (coordinate ascent). ``weight`` is the number of rows, for the ridge.
    """

    start: Floats
    scale: Floats
    n_slopes: int
    increasing: slice | None = None
    barrier: bool = False
    quadratic: bool = True
    ridge: float = 0.0
    weight: float = 1.0
    tolerance: float = 1e-9
    most_rounds: int = 200


@dataclass(frozen=True, slots=True, eq=False)
class Fit:
    """A finished fit: log-likelihood at the maximum, rounds used, and the two flags.

    ``beta`` is the point the next step would have gone to: the best estimate, and one at which no sum was asked for.
    """

    loglik: float
    rounds: int
    converged: bool
    separated: bool = False
    beta: Floats = field(default_factory=lambda: np.zeros(0), repr=False)


@dataclass(slots=True, eq=False)
class _State:
    beta: Floats
    total: Total | None = None
    step: Floats = field(default_factory=lambda: np.zeros(0))
    length: float = 1.0
    halvings: int = 0
    damping: float = 0.0
    rounds: int = 0
    last_gain: float = np.inf
    mu: float = 0.0


class Newton:
    """One model's fit as a state machine: evaluate at :attr:`beta`, :meth:`tell` the sum, until :attr:`fit` is there.

    >>> newton = Newton(FitProblem(np.zeros(1), np.ones(1), 1))
    >>> while newton.fit is None:  # ℓ(β) = -(β - 3)²/2
    ...     b = newton.beta
    ...     newton.tell(Total(False, float(-((b[0] - 3) ** 2) / 2), 0.0, 0.0, 3 - b, np.eye(1)))
    >>> newton.fit
    Fit(loglik=0.0, rounds=2, converged=True, separated=False)
    """

    def __init__(self, problem: FitProblem) -> None:
        self.problem = problem
        self.state = _State(problem.start.copy(), mu=FIRST_BARRIER if problem.barrier else 0.0)
        self.beta = problem.start.copy()
        self.fit: Fit | None = None
        self.memory = SecantMemory()

    @property
    def mu(self) -> float:
        """The barrier weight to use at :attr:`beta`."""
        return self.state.mu

    def tell(self, total: Total) -> None:
        """Take the sum over sites at :attr:`beta`, and set the next :attr:`beta` or the :attr:`fit`."""
        state = self.state
        state.rounds += 1
        total = self._penalised(total)
        if self._worse(total):
            self._shorten()
        else:
            self._accept(total)
        if self.fit is None and state.rounds >= self.problem.most_rounds:
            loglik = -np.inf if state.total is None else state.total.objective - state.total.barrier
            self.fit = Fit(loglik, state.rounds, converged=False)

    def _penalised(self, total: Total) -> Total:
        """Subtract the ridge penalty ½ ridge·n·Σ (s_j β_j)², with s_j the standard deviation of column j."""
        if self.problem.ridge == 0.0 or total.infeasible:
            return total
        stiffness = self.problem.ridge * self.problem.weight * self.problem.scale**2
        stiffness[self.problem.n_slopes :] = 0.0
        penalty = 0.5 * float(stiffness @ self.beta**2)
        return Total(
            False,
            total.objective - penalty,
            total.barrier - penalty,
            total.slack,
            total.score - stiffness * self.beta,
            total.info + np.diag(stiffness),
        )

    def _worse(self, total: Total) -> bool:
        current = self.state.total
        if total.infeasible or not np.isfinite(total.objective):
            return True
        return current is not None and total.objective < current.objective - ROUNDING * (1.0 + abs(current.objective))

    def _shorten(self) -> None:
        """Halve the step; when that does not help, damp it and start from its full length again."""
        state = self.state
        if state.total is None:
            # the very first point is not feasible: move towards zero slopes, where every model is
            self.beta = self.beta.copy()
            self.beta[: self.problem.n_slopes] *= 0.5
            return
        state.halvings += 1
        if state.halvings > (MOST_HALVINGS_BARRIER if self.problem.barrier else MOST_HALVINGS):
            self.memory = SecantMemory()
            state.halvings = 0
            state.damping = max(10.0 * state.damping, 1e-4)
            state.step, _ = self._direction(state.total)
            state.length = 1.0
        else:
            state.length *= 0.5
        if state.length * float(np.max(np.abs(state.step), initial=0.0)) < 1e-15 or state.damping > 1e12:
            self.fit = Fit(state.total.objective - state.total.barrier, state.rounds, converged=False)
            return
        self._propose()

    def _accept(self, total: Total) -> None:
        state, problem = self.state, self.problem
        if state.total is not None and not problem.quadratic:
            self.memory.remember(self.beta - state.beta, state.total.score - total.score)
        state.beta, state.total = self.beta, total
        state.damping = 0.0 if state.damping < 1e-8 else 0.1 * state.damping
        state.halvings, state.length = 0, 1.0
        state.step, gain = self._direction(total)
        ratio = gain / state.last_gain if state.last_gain > 0 else 0.0
        state.last_gain = gain
        limit = problem.tolerance * (abs(total.objective) + 1.0)
        if not problem.quadratic:
            # steps that shrink by a constant factor leave gain/(1 - ratio) ahead; no extrapolation makes up for it
            remaining = gain / (1.0 - min(ratio, 0.9))
            limit *= 1e-2
        else:
            remaining = gain
        if remaining <= limit and state.damping <= 1e-6:
            if problem.barrier and total.slack > SLACK * (1.0 + abs(total.objective)):
                self._lower_barrier()
                return
            self._finish(total, gain)
            return
        self._propose()

    def _lower_barrier(self) -> None:
        """Continue with less barrier. The point is kept; its sums under the new weight must be asked for again."""
        state = self.state
        state.mu *= BARRIER_FACTOR
        state.total, state.last_gain = None, np.inf
        self.memory = SecantMemory()
        self.beta = state.beta

    def _finish(self, total: Total, gain: float) -> None:
        reach = np.max(np.abs(self.state.step) * self.problem.scale, initial=0.0)
        separated = bool(reach > 0.05)
        missing = 2.0 * gain if separated else gain
        self.fit = Fit(
            total.objective - total.barrier + missing,
            self.state.rounds,
            converged=True,
            separated=separated,
            beta=self.state.beta + self.state.step,
        )

    def _propose(self) -> None:
        """The next point; threshold gaps that would close are known here, and cost no round."""
        state, ordered = self.state, self.problem.increasing
        while True:
            self.beta = state.beta + state.length * state.step
            if ordered is None or (np.diff(self.beta[ordered], prepend=0.0) > 0).all():
                return
            state.length *= 0.5

    def _direction(self, total: Total) -> tuple[Floats, float]:
        """The damped Newton step (with the memory of earlier ones, where the information is too large) and the gain it promises."""
        info, score = total.info, total.score
        if len(score) == 0:
            return np.zeros(0), 0.0
        factor, inverse = self._factor(info)

        def solve(right: Floats) -> Floats:
            solved: Floats = inverse * np.linalg.solve(factor.T, np.linalg.solve(factor, right * inverse))
            return solved

        if not self.problem.quadratic and self.state.damping == 0.0:
            step = self.memory.correct(score, solve)
            reach = float(np.max(np.abs(step) * self.problem.scale, initial=0.0))
            step = step * min(1.0, LONGEST_REACH / reach) if reach > 0.0 else step
            if float(score @ step) > 0.0:
                return step, 0.5 * float(score @ step)
        step = solve(score)
        return step, 0.5 * float(score @ step)

    def _factor(self, info: Floats) -> tuple[Floats, Floats]:
        """Cholesky factor of the information brought to unit diagonal, damped as much as needed, and the scaling that did it."""
        diagonal = np.diag(info)
        inverse = np.where(diagonal > 0, 1.0 / np.sqrt(np.where(diagonal > 0, diagonal, 1.0)), 0.0)
        matrix = info * inverse[:, None] * inverse[None, :]
        unit = np.arange(len(diagonal))
        damping = self.state.damping
        while True:
            matrix[unit, unit] = 1.0 + damping
            try:
                factor: Floats = np.linalg.cholesky(matrix).astype(np.float64, copy=False)
            except np.linalg.LinAlgError:
                damping = max(10.0 * damping, 1e-10)
            else:
                return factor, inverse

"""The server's side of a fit: from sums over sites to the maximum of the likelihood, one question a round.

The equation is score(β) = 0, for a concave log-likelihood ℓ. It is solved by damped Newton steps::

    δ = (H + λ diag H)⁻¹ score,   β ← β + t δ

with H the aggregated information. One turn of the loop, which is one round with the sites:

1. Ask all sites for ℓ, score and H at β, together: a probe that asked for ℓ alone would cost a round as well (:attr:`Newton.beta`).
2. Subtract the ridge, if there is one (``_penalised``).
3. Has ℓ fallen, or some probability left its range? Then halve t; where halving does not help, raise λ and begin again at t = 1
   (``_shorten``). Halve t also where sites say nothing, a few times; then the fit ends without a maximum (``_turn_back``).
4. Else keep the point, lower λ, and factor H, brought to unit diagonal so that units of columns cannot matter (``_accept``,
   ``_direction``).
5. Is the gain that the next step promises, ½ scoreᵀδ, below ``tolerance · (|ℓ| + 1)``? Then lower the barrier, where one is left to
   lower, or finish (``_lower_barrier``, ``_finish``).
6. Else propose the next point (``_propose``).

The promised gain is added to ℓ at the end: near the maximum it is what is missing, up to third order.

Under separation ℓ has a finite supremum at infinite β. Near it ℓ(β) ≈ sup - c e^{-b}, a Newton step is one unit of b, and what is
missing is twice the promised gain; a fit whose last step is still long (in standard deviations of the column) is recognised by that,
and flagged.

Two other ways to stop were not taken. A short step in β never comes under separation. A short score says how steep ℓ is, not how much is
left of it, and depends on units; the gain is in units of ℓ, and a likelihood-ratio statistic is twice a difference of ℓ.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np

from consilience.glm.generalized import BARRIER_FACTOR, FIRST_BARRIER
from consilience.glm.kernel import Floats
from consilience.glm.layout import Total
from consilience.glm.secant import SecantMemory
from consilience.glm.spread import FAR, NO_SPREAD, Balanced, balanced_step, from_saddle, spread_step

__all__ = ["LONG_STEP", "TOLERANCE", "Fit", "FitProblem", "Newton"]

TOLERANCE = 1e-9
"""A fit ends when its next step promises less than this share of ℓ."""
MOST_HALVINGS = 3
"""Halvings of a step before its direction is given up and damped. Each costs a round. A Newton step that fails at an eighth of its length
is wrong in its direction, not in its length: that is what damping changes."""
MOST_HALVINGS_BARRIER = 10
"""The same where a barrier stands. There a step fails because it leaves the region in which all probabilities are positive, and its
direction may be right: only its length has to fit. With three, 5 of 140 directions of tests over small sites did not converge (joint site
effects: 9); with ten all do."""
ROUNDING = 1e-11
"""A fall of ℓ by less than this share is rounding, and no reason to shorten a step. It lies between two scales: sums over a million
rows are right to 1e-15 of themselves or so, and a fit ends at 1e-9 (``tolerance``), so nothing that matters for the end is let through."""
LONGEST_REACH = 5.0
"""A step corrected by memory may move the linear predictor by this much per standard deviation of a column. Five changes odds by a factor
of 150, as far as one should jump on what earlier steps seemed to say. A safeguard: random studies end alike with 1 and without it."""
SLACK = 1e-7
"""The barrier is lowered until it can keep the log-likelihood below its supremum by this share at most. Statistics then agree with those
of other site effects to some 1e-8; at 1e-5 they differed by up to 4e-6, which the equality of all variants (1e-6) does not allow."""
LINEAR_CARE = 1e-2
"""Where convergence is linear the tolerance is multiplied by this. There the promised gain is not what is missing, and is only estimated
(:data:`SLOWEST_RATIO`), so it is asked to be much smaller. Costs a sixth more rounds, and brings ``coordinate`` from 6e-9 of the pooled
statistics to 2e-10, where ``profiled`` is."""
SLOWEST_RATIO = 0.9
"""Steps whose gains shrink by a ratio r leave gain/(1 - r) in all ahead, a geometric series. r is taken from two gains only, and is one or
more whenever a gain happens to grow: beyond this value (ten gains ahead) it is not believed, or a fit that is done might never end."""
LONG_STEP = 0.05
"""A finished fit whose last step is still longer than this, in units of the linear predictor per standard deviation of a column, is
separated. An ordinary fit ends with steps below 4e-4 (a gain of 1e-9 ℓ is ½ Σ w (xδ)², with w about ¼), a separated one still goes on by
one unit of b, 0.15 and more in random studies: the value lies far from both. A level that predicts perfectly has a column of standard
deviation √share, so one with less than 1/400 of the rows is not flagged; its missing gain is then added once instead of twice, an error
within the tolerance."""
FIRST_DAMPING, DAMPING_FACTOR = 1e-4, 10.0
"""Where λ begins, and what it is multiplied with at each failure and divided by at each success (Marquardt 1963 takes ten as well). The
matrix has a unit diagonal, so 1e-4 is small beside every direction that the data determine, and large beside those they do not."""
NO_DAMPING = 1e-8
"""λ below this becomes zero, so that the last steps are Newton's own and converge quadratically."""
HARMLESS_DAMPING = 1e-6
"""A fit may end with λ up to this. A damped step is shorter than Newton's and promises less: a small promise is then no sign of the end."""
MOST_DAMPING = 1e12
"""With more the step is a 1e-12th of the score, and no point differs from the last: the fit gives up."""
SINGULAR_DAMPING = 1e-10
"""Added to the unit diagonal where a Cholesky factor does not exist, ten times as much at each further failure. Rounding moves eigenvalues
by about 1e-15 times the number of parameters, so the first addition lifts a zero one well above it."""
MOST_WITHHELD, MOST_WITHHELD_IN_ALL = 2, 4
"""Points at which sites may say nothing (:mod:`consilience.glm.crowd`), one after the other and in a whole fit, before it ends. A step that
goes too far, in a fit whose maximum lies elsewhere, is halved; a fit on its way to infinity meets only such points, at a round each."""
SHORTEST_STEP = 1e-15
"""A step below this changes no parameter near one: the spacing of float64 there is 2e-16."""


@dataclass(frozen=True, slots=True, eq=False)
class FitProblem:
    """What does not change during a fit.

    The first ``n_slopes`` parameters are slopes. ``scale`` turns a step into units of the linear predictor: the standard deviation of
    a slope's column, one for an intercept, zero for a threshold gap. ``increasing`` are the positions of parameters that must
    increase from zero (threshold gaps); ``quadratic`` is False where steps use an information that is too large, so that
    convergence is linear (coordinate ascent). ``weight`` is the number of rows, for the ridge.

    ``tolerance`` is a share of ℓ: the gain that is still promised is added at the end, so that what is missed is of third order, and
    statistics agree to about 1e-10. ``most_rounds`` ends a fit that will not converge; ordinary ones take six to ten.

    ``spread`` says that the last parameter is the standard deviation of random effects, in which ℓ is even and not concave
    (:mod:`consilience.glm.spread`); the ``shifts`` of every site, one or more, are those of as many parameters before it, and there are so
    many ``sites``. ``ceiling`` is a parameter (by position) and the value beyond which the fit ends, as separated: the
    precision of a Gaussian that is fitted exactly has no maximum.
    """

    start: Floats
    scale: Floats
    n_slopes: int
    increasing: slice | None = None
    barrier: bool = False
    quadratic: bool = True
    ridge: float = 0.0
    weight: float = 1.0
    tolerance: float = TOLERANCE
    most_rounds: int = 200
    spread: bool = False
    shifts: int = 1
    sites: int = 1
    ceiling: tuple[int, float] | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Fit:
    """A finished fit: log-likelihood at the maximum, rounds used, and the two flags.

    ``beta`` is the point the next step would have gone to: the best estimate, and one at which no sum was asked for. ``squares`` is
    Pearson's sum there, of counts. ``withheld``: sites have nothing to say on the way to the maximum, which was not reached.
    """

    loglik: float
    rounds: int
    converged: bool
    separated: bool = False
    beta: Floats = field(default_factory=lambda: np.zeros(0), repr=False)
    squares: float = field(default=np.nan, repr=False)
    withheld: bool = field(default=False, repr=False)


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
    withheld: int = 0
    withheld_in_all: int = 0


class Newton:
    """One model's fit as a state machine: evaluate at :attr:`beta`, :meth:`tell` the sum, until :attr:`fit` is there.

    >>> newton = Newton(FitProblem(np.zeros(1), np.ones(1), 1))
    >>> while newton.fit is None:  # ℓ(β) = -(β - 3)²/2
    ...     b = newton.beta
    ...     newton.tell(Total(False, float(-((b[0] - 3) ** 2) / 2), 0.0, 0.0, 3 - b, np.eye(1)))
    >>> newton.fit
    Fit(loglik=0.0, rounds=2, converged=True, separated=False)
    """

    # A state machine rather than a function that calls the sites: the fits of all models of all tests go on in the same rounds, and an
    # exchange that waits for nothing can be driven in process, over a network and from a journal alike.

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
        if total.withheld:
            self._turn_back()
            return
        total = self._penalised(total)
        if self._worse(total):
            self._shorten()
        else:
            self._accept(total)
        if self.fit is None and state.rounds >= self.problem.most_rounds:
            # what was reached, without the barrier: a lower bound, flagged as not converged. No feasible point at all: nothing was
            loglik = -np.inf if state.total is None else state.total.objective - state.total.barrier
            self.fit = Fit(loglik, state.rounds, converged=False)

    def _turn_back(self) -> None:
        """Sites say nothing here: halve the step, as long as that may help. Damping would not: the direction is not at fault."""
        state = self.state
        state.withheld, state.withheld_in_all = state.withheld + 1, state.withheld_in_all + 1
        too_often = state.withheld > MOST_WITHHELD or state.withheld_in_all > MOST_WITHHELD_IN_ALL
        if too_often or state.rounds >= self.problem.most_rounds:
            loglik = -np.inf if state.total is None else state.total.objective - state.total.barrier
            self.fit = Fit(loglik, state.rounds, converged=False, withheld=True)
        elif state.total is None:
            self.beta = self.beta.copy()
            self.beta[: self.problem.n_slopes] *= 0.5
        else:
            state.length *= 0.5
            self._propose()

    def _penalised(self, total: Total) -> Total:
        """Subtract the ridge penalty ½ ridge·n·Σ (s_j β_j)², with s_j the standard deviation of column j."""
        if self.problem.ridge == 0.0 or total.infeasible:
            return total
        stiffness = self.problem.ridge * self.problem.weight * self.problem.scale**2
        stiffness[self.problem.n_slopes :] = (
            0.0  # intercepts and gaps are free: shrinking them would pull the levels' shares towards each other
        )
        penalty = 0.5 * float(stiffness @ self.beta**2)
        return replace(
            total,
            objective=total.objective - penalty,
            # reported ℓ is objective - barrier: the penalty steers the fit and is not part of its likelihood
            barrier=total.barrier - penalty,
            score=total.score - stiffness * self.beta,
            info=total.info + np.diag(stiffness),
        )

    def _worse(self, total: Total) -> bool:
        current = self.state.total
        if total.infeasible or not np.isfinite(total.objective):
            return True
        # Any rise is accepted. Armijo's condition, a share of the promised rise, would refuse some of them at the price of a round each;
        # ℓ is concave, so a rise that was too small shows in the next promise.
        return current is not None and total.objective < current.objective - ROUNDING * (1.0 + abs(current.objective))

    def _shorten(self) -> None:
        """Halve the step; when that does not help, damp it and start from its full length again."""
        state = self.state
        if state.total is None:
            # the first point under this barrier is not feasible: move towards zero slopes, where every model is
            self.beta = self.beta.copy()
            self.beta[: self.problem.n_slopes] *= 0.5
            return
        state.halvings += 1
        # a step off a saddle of the spread is a guess of its length alone
        long = self.problem.barrier or (self.problem.spread and abs(state.beta[-1]) < NO_SPREAD)
        if state.halvings > (MOST_HALVINGS_BARRIER if long else MOST_HALVINGS):
            self.memory = SecantMemory()  # what made a step that fails even when short is not to be believed
            state.halvings = 0
            state.damping = max(DAMPING_FACTOR * state.damping, FIRST_DAMPING)
            state.step, _ = self._direction(state.total)
            state.length = 1.0
        else:
            state.length *= 0.5
        if state.length * float(np.max(np.abs(state.step), initial=0.0)) < SHORTEST_STEP or state.damping > MOST_DAMPING:
            self.fit = Fit(state.total.objective - state.total.barrier, state.rounds, converged=False)
            return
        self._propose()

    def _accept(self, total: Total) -> None:
        state, problem = self.state, self.problem
        if state.total is not None and not problem.quadratic:
            self.memory.remember(self.beta - state.beta, state.total.score - total.score)
        state.beta, state.total = self.beta, total
        # lowered after every success, however little it gained: only an undamped promise can end the fit
        state.damping = 0.0 if state.damping < NO_DAMPING else 0.1 * state.damping
        state.halvings, state.withheld, state.length = 0, 0, 1.0
        state.step, gain = self._direction(total)
        ratio = gain / state.last_gain if state.last_gain > 0 else 0.0
        state.last_gain = gain
        limit = problem.tolerance * (abs(total.objective) + 1.0)
        if problem.ceiling is not None and self.beta[problem.ceiling[0]] > problem.ceiling[1]:
            self.fit = Fit(total.objective, state.rounds, converged=True, separated=True, beta=self.beta + state.step)
            return
        if not problem.quadratic:
            # steps that shrink by a constant factor leave gain/(1 - ratio) ahead
            remaining = gain / (1.0 - min(ratio, SLOWEST_RATIO))
            limit *= LINEAR_CARE
        else:
            remaining = gain
        if remaining <= limit and state.damping <= HARMLESS_DAMPING:
            if problem.barrier and total.slack > SLACK * (1.0 + abs(total.objective)):
                self._lower_barrier()
                return
            self._finish(total, gain)
            return
        self._propose()

    def _lower_barrier(self) -> None:
        """Continue with less barrier. The point is kept; its sums under the new weight must be asked for again."""
        # Halfway points under one barrier say nothing of ℓ under the next: neither the old sums (``total``) nor the old ratio of gains
        # nor the remembered curvature may be compared with what comes.
        state = self.state
        state.mu *= BARRIER_FACTOR
        state.total, state.last_gain = None, np.inf
        self.memory = SecantMemory()
        self.beta = state.beta

    def _finish(self, total: Total, gain: float) -> None:
        reach = np.max(np.abs(self.state.step) * self.problem.scale, initial=0.0)
        separated = bool(reach > LONG_STEP) and self.problem.ceiling is None
        # ℓ = sup - c e^{-b}: score c e^{-b}, information c e^{-b}, step 1, promised gain ½ c e^{-b}: half of what is missing
        missing = 2.0 * gain if separated else gain
        self.fit = Fit(
            total.objective - total.barrier + missing,
            self.state.rounds,
            converged=True,
            separated=separated,
            beta=self.state.beta + self.state.step,
            squares=total.squares if total.pull is None else max(0.0, total.squares + float(total.pull @ self.state.step)),
        )

    def _propose(self) -> None:
        """The next point; threshold gaps that would close are known here, and cost no round."""
        state, ordered = self.state, self.problem.increasing
        # ends: the gaps at state.beta are open, since the sites were asked there and some ℓ came back
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
        if self.problem.spread:
            return self._spread_direction(total)
        factor, inverse = self._factor(info)  # Cholesky: it fails where H is not positive definite, which is what one wants to know

        def solve(right: Floats) -> Floats:
            solved: Floats = inverse * np.linalg.solve(factor.T, np.linalg.solve(factor, right * inverse))
            return solved

        if not self.problem.quadratic and self.state.damping == 0.0:
            step = self.memory.correct(score, solve)
            reach = float(np.max(np.abs(step) * self.problem.scale, initial=0.0))
            step = step * min(1.0, LONGEST_REACH / reach) if reach > 0.0 else step
            # limited-memory BFGS keeps the matrix positive definite, in exact arithmetic; where rounding has spoilt it, the step goes
            # down and the plain one is taken
            if float(score @ step) > 0.0:
                return step, 0.5 * float(score @ step)
        step = solve(score)
        return step, 0.5 * float(score @ step)

    def _spread_direction(self, total: Total) -> tuple[Floats, float]:
        """The step where the last parameter is a spread: its own first, along the maximum over all others, then theirs."""
        factor, inverse = self._factor(total.info[:-1, :-1])
        right = np.stack([total.score[:-1], total.info[:-1, -1]], axis=1) * inverse[:, None]
        plain, follow = (inverse[:, None] * np.linalg.solve(factor.T, np.linalg.solve(factor, right))).T
        cross = total.info[:-1, -1]
        slope, curvature = float(total.score[-1] - cross @ plain), float(total.info[-1, -1] - cross @ follow)
        s, known = float(self.state.beta[-1]), self._known(total)
        move, gain = spread_step(s, slope, curvature + self.state.damping * abs(curvature), from_saddle(curvature, known))
        if self.problem.sites > 1 and self.state.damping == 0.0:
            far, more = balanced_step(s, slope, known)
            move, gain = (far, more) if abs(far) > FAR * abs(s) else (move, gain)
        return np.append(plain - move * follow, move), gain + 0.5 * float(total.score[:-1] @ plain)

    def _known(self, total: Total) -> Balanced:
        """The information about the means of the random shifts, as independent ones."""
        shifts = self.problem.shifts
        block = total.info[-1 - shifts : -1, -1 - shifts : -1]
        # those of logits against a first level are differences: C z with C Cᵀ = I + 11ᵀ, and tr(CᵀHC) = tr H + 1ᵀH1
        known = float(block.trace()) + (float(block.sum()) if shifts > 1 else 0.0)
        return Balanced(shifts * self.problem.sites, known)

    def _factor(self, info: Floats) -> tuple[Floats, Floats]:
        """Cholesky factor of the information brought to unit diagonal, damped as much as needed, and the scaling that did it."""
        diagonal = np.diag(info)
        # a parameter without information (a level that no contributing site has any more) gets a zero row and the diagonal 1: its step is 0
        inverse = np.where(diagonal > 0, 1.0 / np.sqrt(np.where(diagonal > 0, diagonal, 1.0)), 0.0)
        matrix = info * inverse[:, None] * inverse[None, :]
        unit = np.arange(len(diagonal))
        damping = self.state.damping
        # what is added here is not kept in the state: the next point may be regular, and then no trace of it should slow the fit down
        while True:
            matrix[unit, unit] = 1.0 + damping
            try:
                factor: Floats = np.linalg.cholesky(matrix).astype(np.float64, copy=False)
            except np.linalg.LinAlgError:
                damping = max(DAMPING_FACTOR * damping, SINGULAR_DAMPING)
            else:
                return factor, inverse

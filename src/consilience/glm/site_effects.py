"""One site's answer for one model, under each way of treating its intercepts α.

``profiled``
    α is maximised over at the site. What leaves it is the profile log-likelihood with its score and its information, the Schur
    complement H_ββ - H_βα H_αα⁻¹ H_αβ. Newton on the sum over sites is Newton on the joint likelihood.
``coordinate``
    α is maximised over at the site; the information that leaves is H_ββ, as if α were known.
``joint``
    α_k stands in the common parameter vector, after the shared parameters, in the block of its site. Those at infinity (of levels that the
    site lacks) keep their places, and nothing is said on them.
``none``
    one α for all sites, at the end of the parameter vector.
``random``
    α is a common one plus a draw from a normal law, which is integrated out (:mod:`consilience.glm.random_effects`).
"""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass, replace
from typing import Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from consilience.data.design import Design
from consilience.glm.crowd import Crowd
from consilience.glm.gaussian import Moments
from consilience.glm.generalized import Generalized
from consilience.glm.kernel import Floats, Kernel, RowTerms
from consilience.glm.layout import Family, Shape, SiteEffects, Total, n_parameters, pack, unsaid
from consilience.glm.logit import Logit
from consilience.glm.multinomial import Multinomial
from consilience.glm.poisson import Poisson
from consilience.glm.proportional import Proportional
from consilience.glm.random_effects import marginal

__all__ = ["Ask", "Steps", "WarmStart", "answer", "at_once", "make_kernel", "steps"]

T = TypeVar("T")

MOST_INNER_STEPS = 200
"""Steps of one search over intercepts. They cost a pass over the site's rows each, but no round. Three are many, since the search begins
where the last one's end is predicted to have moved; next to a barrier thirty were seen."""
SHORT_STEP, MISSED_GAIN = 1e-4, 1e-13
"""A search ends a step early when that step is short and gain × step, the order of what the correction to second order leaves out, is
below this share of ℓ. The last pass over the rows would only confirm it: without this there were 1.8 times as many passes, and statistics
were the same to 1e-10."""
NO_GAIN = 1e-15
"""A search always ends when its next step gains less than this share of ℓ: more, float64 cannot tell."""
LONGEST_STEP = 5.0
"""An intercept moves by at most this much at a time. On the flat tail of a logistic curve Newton's step is e^|z|, thousands at z = 10, past
the maximum and far out on the other tail; five changes odds by a factor of 150."""
ROUNDING = 1e-11
"""A fall of ℓ below this share is rounding, as in :data:`consilience.glm.solver.ROUNDING`."""
SHORTEST_STEP = 1e-14
"""Halving stops here: less does not move an intercept of ordinary size."""
NO_CURVATURE = 1e-290
"""Less than this is zero: a step along it would be beyond all numbers."""
LARGEST_SUM = 2.0**60
"""The most that a number of a count's model may be, divided by the number of sites. Where intercepts are the server's, a step that is too
long makes means of e³⁰ and more; a number beyond the ring (2⁶²) would close the study for the site, and all it means is "too far"."""
LARGEST_CORRECTION = 1e-6
"""A last step that would still gain more than this share of ℓ is no end of a search: the search got stuck, and β counts as out of reach.
The server then shortens its step, as for any point that is not feasible."""


@dataclass(frozen=True, slots=True, eq=False)
class WarmStart:
    """Where the last search over a model's intercepts ended, and how its end moves with the shared parameters."""

    shared: Floats
    intercepts: Floats
    slope: Floats

    def predict(self, shared: Floats) -> Floats:
        """The intercepts expected at other shared parameters, to first order."""
        return self.intercepts + self.slope @ (shared - self.shared)


class Ask(NamedTuple):
    """What is to be found of the rows of a kernel at a point: :meth:`Kernel.rows`, or :meth:`Kernel.reach` where intercepts are None.

    Where terms are made a block at a time, only those of intercepts are made if not the ``whole`` is wanted.
    """

    kernel: Kernel
    shared: Floats
    intercepts: Floats | None = None
    whole: bool = True


Steps = Generator[Ask, Any, T]
"""A computation that asks for one thing after the other, and is sent what was found: terms of rows, or their reach."""


def make_kernel(design: Design, shape: Shape, effects: SiteEffects, mu: float, crowd: Crowd | None = None) -> Kernel | None:
    """The kernel of a model at this site, or None where the site's intercepts absorb all it has.

    With a ``crowd``, what would be about too few rows is not told.
    """
    kernel = _make_kernel(design, shape, effects, mu)
    if kernel is not None and crowd is not None:
        kernel.crowd = crowd if kernel.order is None else crowd.ordered(kernel.order)
    return kernel


def _make_kernel(design: Design, shape: Shape, effects: SiteEffects, mu: float) -> Kernel | None:
    if shape.family is Family.POISSON:
        return _counts_kernel(design, effects)
    X, y, w = design.columns, design.response.astype(np.int32, copy=False), design.weights
    # With intercepts of its own a site leaves out those that are at infinity. With one for all sites it must keep every parameter that the
    # server's vector has a place for, whatever this site lacks.
    own = not effects.common
    present = np.flatnonzero(np.bincount(y, minlength=shape.n_levels))
    if len(y) == 0 or (own and _absorbed(shape, present)):
        return None
    if shape.family is Family.LOGIT:
        return Logit(X, y, w)
    if shape.family is Family.PROPORTIONAL:
        return Proportional(X, y, w, shape.n_levels, own_intercept=own)
    if shape.family is Family.GENERALIZED:
        if own:
            return Generalized(X, y, w, shape.n_levels, mu, int(present[0]), int(present[-1]))
        return Generalized(X, y, w, shape.n_levels, mu)
    if not own:
        return Multinomial(X, y, w, shape.n_levels, np.arange(shape.n_levels), 0)
    # the most frequent level as the reference of the intercepts: its count is far from zero, so no log-ratio to it is wild. In the server's
    # vector level 0 has no place, so it is the reference wherever it occurs
    counts = np.bincount(y, weights=w, minlength=shape.n_levels)
    reference = 0 if effects is SiteEffects.JOINT and counts[0] > 0 else int(np.argmax(counts))
    return Multinomial(X, y, w, shape.n_levels, present, reference)


def _absorbed(shape: Shape, present: NDArray[np.intp]) -> bool:
    """Does α = ±∞ fit the site perfectly whatever the shared parameters are, so that it says nothing on them?

    So it is where the response has one level only, but for one case: with proportional odds a level in the middle has the probability
    σ(θ_j + α - xβ) - σ(θ_{j-1} + α - xβ), which has its maximum at a finite α, since the gap between the thresholds is common to all sites.
    """
    if len(present) > 1:
        return False
    return shape.family is not Family.PROPORTIONAL or int(present[0]) in (0, shape.n_levels - 1)


def _counts_kernel(design: Design, effects: SiteEffects) -> Kernel | None:
    """As above: a site where nothing was counted is fitted perfectly by α = -∞, whatever β."""
    y = design.response.astype(np.float64)
    if len(y) == 0 or (effects is not SiteEffects.NONE and not y.any()):
        return None
    return Poisson(design.columns, y, design.weights, own_centre=effects is SiteEffects.JOINT)


def answer(
    kernel: Kernel | Moments | None, shape: Shape, effects: SiteEffects, beta: Floats, site: int, n_sites: int, warm: WarmStart | None
) -> tuple[Total, WarmStart | None]:
    """What the site says on a model at β, and the warm start for the next question."""
    return at_once(steps(kernel, shape, effects, beta, site, n_sites, warm))


def at_once(asking: Steps[T]) -> T:
    """The end of a computation on one model at one point, whose rows are at hand."""
    eta = None
    try:
        ask = next(asking)
        while True:  # what the shared parameters make is made once
            eta = ask.kernel.linear(ask.shared) if eta is None else eta
            at = ask.intercepts
            ask = asking.send(ask.kernel.reach(eta) if at is None else ask.kernel.rows(eta, ask.shared, at))
    except StopIteration as end:
        found: T = end.value
        return found


def steps(
    kernel: Kernel | Moments | None, shape: Shape, effects: SiteEffects, beta: Floats, site: int, n_sites: int, warm: WarmStart | None
) -> Steps[tuple[Total, WarmStart | None]]:
    """The same without a look at rows: what is to be found of them is asked for, one thing at a time.

    So many models can be answered in the same passes over rows that do not fit into memory (:mod:`consilience.glm.blocked`).
    """
    total, warm = yield from _answer(kernel, shape, effects, beta, site, n_sites, warm)
    return _in_range(total, n_sites) if shape.dispersed else total, warm


def _in_range(total: Total, n_sites: int) -> Total:
    """An answer on counts whose numbers may be summed: as long as every other one, and not feasible where one is out of all range."""
    size = len(total.score)
    if total.pull is None or total.infeasible:
        return replace(total, pull=np.zeros(size))
    if (np.abs(pack(total)) <= LARGEST_SUM / n_sites).all():
        return total
    return Total(True, 0.0, 0.0, 0.0, np.zeros(size), np.zeros((size, size)), 0.0, np.zeros(size))


def _answer(
    kernel: Kernel | Moments | None, shape: Shape, effects: SiteEffects, beta: Floats, site: int, n_sites: int, warm: WarmStart | None
) -> Steps[tuple[Total, WarmStart | None]]:
    if kernel is None:
        size = n_parameters(shape, effects, n_sites)
        return Total(False, 0.0, 0.0, 0.0, np.zeros(size), np.zeros((size, size))), None
    if effects is SiteEffects.RANDOM:
        return marginal(kernel, beta), None
    assert isinstance(kernel, Kernel)  # a Gaussian needs no question but with random effects
    if effects in (SiteEffects.PROFILED, SiteEffects.COORDINATE):
        return (yield from _profile(kernel, beta, warm, schur=effects is SiteEffects.PROFILED))
    size, n_shared = n_parameters(shape, effects, n_sites), shape.n_shared
    block = n_shared + (site * shape.n_intercepts if effects is SiteEffects.JOINT else 0)
    where = np.concatenate([np.arange(n_shared), block + kernel.places])
    shared, intercepts = beta[:n_shared], beta[where[n_shared:]]
    terms = yield Ask(kernel, shared, intercepts)
    if not terms.feasible:
        return _nowhere(size), None
    if kernel.is_steep(terms):
        return unsaid(size), None
    score, info = np.zeros(size), np.zeros((size, size))
    evaluation = kernel.full(terms)
    score[where] = evaluation.score
    info[np.ix_(where, where)] = evaluation.info
    pull = None
    if evaluation.pull is not None:
        pull = np.zeros(size)
        pull[where] = evaluation.pull
    return Total(False, terms.loglik + terms.barrier, terms.barrier, terms.slack, score, info, terms.squares, pull), None


def _profile(kernel: Kernel, shared: Floats, warm: WarmStart | None, *, schur: bool) -> Steps[tuple[Total, WarmStart | None]]:
    # The inner search is done here and not in the outer steps because it costs no round, and because only its end makes ℓ a function of β
    # alone: the server then sees a concave function, whose score and information are exact (the envelope theorem).
    intercepts, terms = yield from _search(kernel, shared, warm)
    p = kernel.n_shared
    if not terms.feasible:
        return _nowhere(p), warm
    if kernel.is_steep(terms):
        return unsaid(p), None  # the next point is far from here: a search begins afresh
    evaluation = kernel.full(terms)
    g_b, g_a = evaluation.score[:p], evaluation.score[p:]
    h_bb, h_ba, h_aa = evaluation.info[:p, :p], evaluation.info[:p, p:], evaluation.info[p:, p:]
    solved = _solve(h_aa, np.concatenate([h_ba.T, g_a[:, None]], axis=1))
    slope, last_step = -solved[:, :p], solved[:, p]  # slope is dα/dβ along the maximum, by the implicit function theorem
    # the search over α stops a step short of its end; these terms add that step to second order
    correction = 0.5 * float(g_a @ last_step)
    if not 0.0 <= correction <= LARGEST_CORRECTION * (1.0 + abs(terms.loglik)):
        return _nowhere(p), warm
    objective = terms.loglik + terms.barrier + correction
    score = g_b - h_ba @ last_step
    info = h_bb + h_ba @ slope if schur else h_bb
    # only the upper triangle travels: a matrix that is symmetric up to rounding alone would lose half of what it says
    pull = None if evaluation.pull is None else evaluation.pull[:p] + slope.T @ evaluation.pull[p:]  # along the maximum over α
    total = Total(False, objective, terms.barrier, terms.slack, score, 0.5 * (info + info.T), terms.squares, pull)
    return total, WarmStart(shared, intercepts + last_step, slope)


def _nowhere(size: int) -> Total:
    return Total(True, 0.0, 0.0, 0.0, np.zeros(size), np.zeros((size, size)))


def _search(kernel: Kernel, shared: Floats, warm: WarmStart | None) -> Steps[tuple[Floats, RowTerms]]:
    """The intercepts that maximise the likelihood at fixed shared parameters, by a formula or from the last ones if there are any."""
    reach = (yield Ask(kernel, shared)) if kernel.reaches else np.empty(0)
    exact = kernel.closed(reach)
    if exact is not None:
        return exact, (yield Ask(kernel, shared, exact))
    intercepts = kernel.start(shared, reach) if warm is None else warm.predict(shared)
    terms = yield Ask(kernel, shared, intercepts)
    if not terms.feasible:
        intercepts = kernel.repair(reach, intercepts)
        terms = yield Ask(kernel, shared, intercepts)
        if not terms.feasible:  # slopes so large that rounding leaves no room between thresholds
            return intercepts, terms
        # A repaired point may be next to the boundary and far from the maximum: under a weak barrier a search would creep along the wall.
        # Down a path of weaker and weaker barriers each search begins well inside. A safeguard that random studies hardly need.
        for soft in kernel.softer():
            intercepts, _ = yield from _climb(soft, shared, intercepts, (yield Ask(soft, shared, intercepts)))
        terms = yield Ask(kernel, shared, intercepts)
    return (yield from _climb(kernel, shared, intercepts, terms))


def _climb(kernel: Kernel, shared: Floats, intercepts: Floats, terms: RowTerms) -> Steps[tuple[Floats, RowTerms]]:
    """Newton with step halving from a feasible point, whose terms are known."""
    step = np.zeros_like(intercepts)
    accepted = True
    for _ in range(MOST_INNER_STEPS):
        if accepted:
            gradient, info = kernel.intercept_terms(terms)
            step = _solve(info, gradient)
            gain = 0.5 * float(gradient @ step)
            size = float(np.abs(step).max(initial=0.0))
            # Beyond the second-order correction made later, what is missed is of the order gain × size; next to a barrier
            # no step is short, and the gain itself must vanish.
            smooth = terms.barrier == 0.0 and size <= SHORT_STEP and gain * size <= MISSED_GAIN * (1.0 + abs(terms.loglik))
            if smooth or gain <= NO_GAIN * (1.0 + abs(terms.loglik)):
                break
            if size > LONGEST_STEP:  # far out on a flat tail the quadratic model overshoots
                step = step * (LONGEST_STEP / size)
        trial = yield Ask(kernel, shared, intercepts + step)
        floor = terms.loglik + terms.barrier - ROUNDING * (1.0 + abs(terms.loglik))
        accepted = trial.feasible and trial.loglik + trial.barrier >= floor
        if accepted:
            intercepts, terms = intercepts + step, trial
        else:
            step = 0.5 * step
            if float(np.max(np.abs(step), initial=0.0)) < SHORTEST_STEP:
                break
    return intercepts, terms


def _solve(matrix: Floats, right: Floats) -> Floats:
    if matrix.shape == (1, 1):
        # the usual case, and no call into linear algebra; a weight of (nearly) zero means that rounding sees no curvature: stay
        return right / matrix[0, 0] if matrix[0, 0] > NO_CURVATURE else np.zeros_like(right)
    try:
        solved: Floats = np.linalg.solve(matrix, right).astype(np.float64, copy=False)
    except np.linalg.LinAlgError:  # flat in some direction of α: the shortest solution does not move along it
        solved = np.linalg.lstsq(matrix, right, rcond=None)[0].astype(np.float64, copy=False)
    return solved

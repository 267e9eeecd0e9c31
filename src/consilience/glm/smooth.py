"""Penalised least squares from cross-products: the smooth mean of a variable given others, without rows and without iteration.

The columns are free of a penalty or belong to one of two groups: curves, penalised by their roughness, and pairs, penalised by their size.
Given the cross-products of all of them (what sites left of them), one change of columns makes cross-products and penalty diagonal; for
every weight of the penalty coefficients, residual sums and effective degrees of freedom are then formulas, and generalised
cross-validation a search over a few numbers (Craven and Wahba 1979; Wood 2017, section 6.2).

The weight is then lowered (:data:`UNDERSMOOTH`): products of residuals of two variables have a bias that is the product of both models'
biases, and a variance that hardly depends on the weight; what is best for prediction is too smooth for them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from consilience.data.basis import Widths
from consilience.glm.kernel import Floats

__all__ = ["Axes", "Smooth", "axes", "smooth"]

WEIGHTS = 10.0 ** np.arange(-6.0, 7.01, 0.5)
"""Weights of the penalty that are tried, relative to the size of the cross-products: from next to none to a straight line."""
RATIOS = (0.03, 1.0, 30.0, 1000.0)
"""How much more pairs are penalised than curves, of which the data choose one."""
UNDERSMOOTH = 0.3
"""What the chosen weight is multiplied with."""
MOST_PARAMETERS = 0.4
"""Effective parameters, as a share of the rows, that a model may have: beyond, residuals say more about the fit than about the data."""
VANISHED = 1e-9
"""A column, or a direction of columns brought to unit size, with a smaller share of the rows than this is none."""


@dataclass(frozen=True, slots=True, eq=False)
class Axes:
    """The change of columns that makes cross-products and penalty diagonal.

    B becomes B @ ``turn``, with cross-products diag(``size``); ``penalised`` is one for a direction with a penalty, zero for one without.
    """

    turn: Floats
    size: Floats
    penalised: Floats


@dataclass(frozen=True, slots=True, eq=False)
class Smooth:
    """A fitted mean: coefficients on turned columns, one column a response column; effective parameters; cross-products of residuals.

    A row w of turned columns has the leverage w² · ``shrink`` besides that of the site's own columns.
    """

    axes: Axes
    coefficients: Floats
    shrink: Floats
    weight: float
    edf: float
    left: Floats

    @property
    def rss(self) -> Floats:
        """Residual sums of squares of the response columns."""
        return np.maximum(np.diag(self.left), 0.0)


def axes(gram: Floats, rough: Floats, wide: Widths, n: float) -> tuple[Axes, ...]:
    """Diagonalise cross-products and penalty together, once for every ratio; directions that the data do not have are left out.

    >>> wide = Widths(1, 1, 1, 1, 0)
    >>> (turned,) = axes(np.diag([4.0, 3.0]), np.eye(1), wide, 4.0)
    >>> turned.size, turned.penalised
    (array([1., 1.]), array([0., 1.]))
    """
    f, c = wide.free, wide.curves
    free, inner = gram[:f, :f], gram[f:, f:]
    half = _root_of_inverse(free, n)
    maps = half @ (half.T @ gram[:f, f:])
    left = inner - gram[:f, f:].T @ maps
    first = Axes(np.concatenate([half, np.zeros((c + wide.pairs, half.shape[1]))]), np.ones(half.shape[1]), np.zeros(half.shape[1]))
    there = np.diag(inner) > VANISHED * max(n, 1.0)
    there &= np.diag(left) > VANISHED * np.diag(inner)
    if not there.any():
        return (first,)
    roots = _roots(rough, np.diag(inner), left, there, c)
    both = wide.pairs > 0 and there[:c].any() and there[c:].any()
    found = []
    for ratio in RATIOS if both else (1.0,):
        scale = np.where(np.arange(len(there)) < c, 1.0, ratio**-0.5)
        white = roots * scale[there]
        size, turn = np.linalg.eigh(white.T @ left @ white)
        kept = size > 1e-12 * max(float(size[-1]), 1e-300)
        pen = white @ turn[:, kept]
        whole = np.concatenate([-maps @ pen, pen])
        k = int(kept.sum())
        found.append(
            Axes(
                np.concatenate([first.turn, whole], axis=1),
                np.concatenate([first.size, size[kept]]),
                np.concatenate([first.penalised, np.ones(k)]),
            )
        )
    return tuple(found)


def _roots(rough: Floats, squares: Floats, left: Floats, there: NDArray[np.bool_], c: int) -> Floats:
    """R with RᵀPR = 1 for the penalty P of the columns that are there, both groups scaled so that their cross-products RᵀLR have mean 1."""
    curves, pairs = np.flatnonzero(there[:c]), c + np.flatnonzero(there[c:])
    root = np.zeros((len(there), len(curves) + len(pairs)))
    if len(curves):
        lower = np.linalg.cholesky(rough[np.ix_(curves, curves)])
        part = np.linalg.inv(lower).T
        mean = float(np.trace(part.T @ left[np.ix_(curves, curves)] @ part)) / len(curves)
        root[curves, : len(curves)] = part / np.sqrt(mean)
    if len(pairs):
        mean = float(np.mean(left[pairs, pairs] / squares[pairs]))
        root[pairs, len(curves) + np.arange(len(pairs))] = 1.0 / np.sqrt(squares[pairs] * mean)
    return root


def _root_of_inverse(gram: Floats, n: float) -> Floats:
    """H with H Hᵀ the pseudo-inverse."""
    diagonal = np.diag(gram)
    unit = np.divide(1.0, np.sqrt(np.maximum(diagonal, 0.0)), out=np.zeros(len(gram)), where=diagonal > VANISHED * max(n, 1.0))
    values, vectors = np.linalg.eigh(gram * np.outer(unit, unit))
    kept = values > VANISHED
    half: Floats = (unit[:, None] * vectors[:, kept]) / np.sqrt(values[kept])
    return half


def smooth(turned: Sequence[Axes], products: Floats, squares: Floats, n: float, local: float, *, levels: bool = False) -> Smooth:
    """The mean of one variable (one or more columns of it), by the weight that generalised cross-validation prefers, lowered.

    ``products`` are Bᵀy, ``squares`` yᵀy of what sites left of the response, ``local`` the parameters that sites kept to themselves. The
    columns of one variable share a weight. Those of ``levels`` count as they are, with the level that has no column: so it does not
    matter which one that is. Other columns count by their own variance.
    """
    spread = np.diag(squares)
    if levels:
        together = np.concatenate([np.eye(len(squares)), np.ones((len(squares), 1))], axis=1)
    else:
        together = np.diag(np.divide(1.0, np.sqrt(np.maximum(spread, 0.0)), out=np.zeros(len(spread)), where=spread > 0))
    total = float(np.sum(together * (squares @ together)))
    most, best = MOST_PARAMETERS * n, (np.inf, turned[-1], float(WEIGHTS[-1]))
    for each in turned:
        b = each.turn.T @ products
        power = ((b @ together) ** 2).sum(axis=1)
        inverse = 1.0 / (each.size + WEIGHTS[:, None] * each.penalised)
        edf = local + inverse @ each.size
        rss = np.maximum(total - (2.0 * inverse - inverse**2 * each.size) @ power, 0.0)
        score = np.where(edf <= most, rss / np.maximum(1.0 - edf / n, 1e-3) ** 2, np.inf)
        i = int(np.argmin(score))
        if score[i] < best[0]:
            best = float(score[i]), each, float(WEIGHTS[i])
    _, chosen, weight = best
    weight *= UNDERSMOOTH
    while local + _edf(chosen, weight) > most and weight < 1e12:
        weight *= 2.0
    shrink = 1.0 / (chosen.size + weight * chosen.penalised)
    b = chosen.turn.T @ products
    left = squares - b.T @ ((2.0 * shrink - shrink**2 * chosen.size)[:, None] * b)
    return Smooth(chosen, shrink[:, None] * b, shrink, weight, local + _edf(chosen, weight), left)


def _edf(turned: Axes, weight: float) -> float:
    return float((turned.size / (turned.size + weight * turned.penalised)).sum())

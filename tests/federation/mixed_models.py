"""Mixed models of pooled rows by other means than the package's: dense covariances, plain grids, scipy's optimisers.

Gaussian models profile over the variance ratio with a dense covariance matrix per site. Logit and cumulative models integrate over the
site's shift by the trapezoidal rule on a fixed grid. Multinomial models use Laplace's approximation in the shifts themselves, with the
inverse covariance matrix, and numerical derivatives.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray
from scipy.optimize import minimize, minimize_scalar
from scipy.special import expit, log_expit, logsumexp

import consilience as cs

Array = NDArray[Any]
GRID = np.linspace(-8.0, 8.0, 321)
LOG_WEIGHT = -0.5 * GRID**2 - 0.5 * np.log(2 * np.pi) + np.log(GRID[1] - GRID[0])


def design(frame: pl.DataFrame, names: Sequence[str], kinds: dict[str, str]) -> Array:
    """Standardised columns, treatment-coded, without those that others explain; no intercept."""
    columns: list[Array] = []
    for name in names:
        if kinds[name] == "continuous":
            columns.append(frame[name].to_numpy().astype(float))
        else:
            columns += [(frame[name] == level).to_numpy().astype(float) for level in sorted(frame[name].unique())[1:]]
    kept = [np.ones(frame.height)]
    for column in columns:
        trial = np.stack([*kept, (column - column.mean()) / (column.std() or 1.0)], axis=1)
        if np.linalg.matrix_rank(trial, tol=1e-6) == trial.shape[1]:
            kept.append(trial[:, -1])
    return np.stack(kept, axis=1)[:, 1:]


def pooled_rows(clients: Sequence[cs.Client], names: Sequence[str]) -> tuple[pl.DataFrame, Array]:
    """The complete rows of all sites that measure ``names``, and the site of each."""
    parts = [c.frame.select(names).drop_nulls() for c in clients if set(names) <= set(c.frame.columns)]
    site = np.repeat(np.arange(len(parts)), [part.height for part in parts])
    return pl.concat(parts, how="vertical_relaxed"), site


def loglik(kind: str, y: Array, X: Array, site: Array) -> float:
    """The highest marginal log-likelihood."""
    if kind == "continuous":
        return gaussian(y.astype(float), X, site)
    codes = np.unique(y, return_inverse=True)[1]
    if kind == "multinomial" and codes.max() > 1:
        return multinomial(codes, X, site)
    return cumulative(codes, X, site)


def gaussian(y: Array, X: Array, site: Array) -> float:
    n = len(y)
    design_1 = np.column_stack([np.ones(n), X])
    y = (y - y.mean()) / y.std()

    def at(s: float) -> float:
        cross, right, total, logdet = 0.0, 0.0, 0.0, 0.0
        for k in np.unique(site):
            W, v = design_1[site == k], y[site == k]
            V = np.eye(len(v)) + s * s
            solved = np.linalg.solve(V, np.column_stack([W, v]))
            cross, right, total = cross + W.T @ solved[:, :-1], right + W.T @ solved[:, -1], total + v @ solved[:, -1]
            logdet += np.linalg.slogdet(V)[1]
        rss = total - right @ np.linalg.solve(cross, right)
        return float(0.5 * n * (np.log(2 * np.pi * rss / n) + 1.0) + 0.5 * logdet)

    tries = np.concatenate([[0.0], np.geomspace(0.01, 30, 25)])
    values = [at(s) for s in tries]
    i = int(np.argmin(values))
    low, high = tries[max(i - 1, 0)], tries[min(i + 1, len(tries) - 1)]
    return -min(values[i], minimize_scalar(at, bounds=(low, high), method="bounded", options={"xatol": 1e-10}).fun)


def cumulative(codes: Array, X: Array, site: Array) -> float:
    """Cumulative logit, of which the logit is the case of two levels."""
    p, thresholds = X.shape[1], int(codes.max())
    shares = np.cumsum(np.bincount(codes))[:-1] / len(codes)
    first = np.log(shares / (1 - shares))

    def at(beta: Array, theta: Array, s: float) -> tuple[float, Array, Array, float]:
        edges = np.concatenate([[-np.inf], theta, [np.inf]])
        eta = X @ beta
        value, by_beta, by_theta, by_s = 0.0, np.zeros(p), np.zeros(thresholds), 0.0
        for k in np.unique(site):
            rows = site == k
            u = (edges[codes[rows] + 1] - eta[rows])[:, None] - s * GRID
            v = (edges[codes[rows]] - eta[rows])[:, None] - s * GRID
            with np.errstate(over="ignore"):
                gap = np.diff(edges)[codes[rows]][:, None]  # infinite for the first and the last level
                log_p = log_expit(u) + log_expit(-v) + np.log(-np.expm1(-gap))
                q = 1.0 / np.expm1(gap)
            posterior = log_p.sum(axis=0) + LOG_WEIGHT
            total = logsumexp(posterior)
            weight = np.exp(posterior - total)
            d_u, d_v = expit(-u) + q, -expit(v) - q
            value += float(total)
            by_beta -= X[rows].T @ ((d_u + d_v) @ weight)
            by_s -= float(((d_u + d_v).sum(axis=0) * GRID) @ weight)
            for j in range(thresholds):
                by_theta[j] += (d_u[codes[rows] == j] @ weight).sum() + (d_v[codes[rows] == j + 1] @ weight).sum()
        return value, by_beta, by_theta, by_s

    def objective(point: Array) -> tuple[float, Array]:
        beta, gaps, s = point[:p], point[p : p + thresholds], point[-1]
        steps = np.concatenate([[gaps[0]], np.exp(np.minimum(gaps[1:], 300.0))])  # a long step of the search may try any gap
        value, by_beta, by_theta, by_s = at(beta, np.cumsum(steps), s)
        by_gap = np.cumsum(by_theta[::-1])[::-1] * np.concatenate([[1.0], steps[1:]])
        return -value, -np.concatenate([by_beta, by_gap, [by_s]])

    start = np.concatenate([np.zeros(p), [first[0]], np.log(np.diff(first))])
    return max(_best(objective, np.append(start, s), jac=True) for s in (0.0, 0.6))


def multinomial(codes: Array, X: Array, site: Array) -> float:
    p, d = X.shape[1], int(codes.max())
    exchangeable = np.linalg.inv(np.eye(d) + 1.0)
    logdet = np.log(d + 1.0)
    seen = np.eye(d + 1)[codes][:, 1:]
    order = np.argsort(site, kind="stable")
    X, seen, site = X[order], seen[order], site[order]
    starts = np.flatnonzero(np.diff(site, prepend=-1))
    mode = np.zeros((len(starts), d))  # of all sites at once, from one question to the next

    def at(point: Array) -> float:
        eta = X @ point[: p * d].reshape(p, d) + point[p * d : -1]
        inverse = exchangeable / point[-1] ** 2
        for _ in range(60):
            z = eta + mode[site]
            total = np.logaddexp(0.0, logsumexp(z, axis=1))
            prob = np.exp(z - total[:, None])
            curvature = -np.add.reduceat(prob[:, :, None] * prob[:, None, :], starts) + inverse
            curvature[:, np.arange(d), np.arange(d)] += np.add.reduceat(prob, starts)
            step = np.linalg.solve(curvature, (np.add.reduceat(seen - prob, starts) - mode @ inverse)[:, :, None])[:, :, 0]
            if np.abs(step).max() < 1e-10:
                break
            mode[:] += step * np.minimum(1.0, 2.0 / np.maximum(np.abs(step).max(axis=1, keepdims=True), 1e-300))
        value = (seen * z).sum() - total.sum() - 0.5 * np.einsum("kd,de,ke", mode, inverse, mode)
        value -= 0.5 * (len(starts) * (logdet + 2 * d * np.log(abs(point[-1]))) + np.linalg.slogdet(curvature)[1].sum())
        return -float(value)

    shares = np.bincount(codes) / len(codes)
    start = np.concatenate([np.zeros(p * d), np.log(shares[1:] / shares[0])])
    # at zero itself the inverse does not exist: 1e-4 is as good as none
    return max(_best(at, np.append(start, 0.4)), -at(np.append(start, 1e-4)))


def _best(f: Callable[[Array], Any], start: Array, *, jac: bool = False) -> float:
    if jac:
        return float(-minimize(f, start, jac=True, method="BFGS", options={"gtol": 1e-6, "maxiter": 300}).fun)
    return float(-minimize(f, start, method="BFGS", jac="3-point", options={"gtol": 1e-5, "maxiter": 300}).fun)


def statistic(clients: Sequence[cs.Client], kinds: dict[str, str], response: str, predictor: str, given: Sequence[str]) -> float:
    """The likelihood-ratio statistic of one direction of a test."""
    frame, site = pooled_rows(clients, [response, predictor, *given])
    y = frame[response].to_numpy()
    small, large = design(frame, given, kinds), design(frame, [*given, predictor], kinds)
    return 2 * (loglik(kinds[response], y, large, site) - loglik(kinds[response], y, small, site))

"""The test of residuals written down once more, from its definition: numpy only, explicit smoothing matrices, all rows in one place.

Slow and plain on purpose: one n by n matrix per response, normal equations with every column of every site in them, B-splines by their
recursion. Of the package it takes nothing; quantiles of continuous variables, from which knots are chosen, are given, since sites agree on
them by counting.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from itertools import combinations, pairwise, product

import numpy as np
from scipy import stats

WEIGHTS = 10.0 ** np.arange(-6.0, 7.01, 0.5)
RATIOS = (0.03, 1.0, 30.0, 1000.0)


@dataclass
class Answer:
    """T, its degrees of freedom, the n' of its law (infinite for χ²), and p."""

    statistic: float
    df: int
    units: float
    p_value: float


def bsplines(x: np.ndarray, knots: np.ndarray) -> np.ndarray:
    """All cubic B-splines on the knots but the first and the last; straight lines beyond the knots."""
    t = np.concatenate([[knots[0]] * 3, knots, [knots[-1]] * 3])
    inside = np.clip(x, knots[0], knots[-1])
    value, slope = _recursion(inside, t, 3), _slope(inside, t)
    return (value + (x - inside)[:, None] * slope)[:, 1:-1]


def _recursion(x: np.ndarray, t: np.ndarray, degree: int) -> np.ndarray:
    """The Cox–de Boor recursion; the last piece contains its right end."""
    last = np.max(np.flatnonzero(t < t[-1]))
    found = np.stack([(x >= t[i]) & ((x < t[i + 1]) | ((i == last) & (x == t[-1]))) for i in range(len(t) - 1)], axis=1).astype(float)
    for k in range(1, degree + 1):
        new = np.zeros((len(x), len(t) - 1 - k))
        for i in range(len(t) - 1 - k):
            if t[i + k] > t[i]:
                new[:, i] += (x - t[i]) / (t[i + k] - t[i]) * found[:, i]
            if t[i + k + 1] > t[i + 1]:
                new[:, i] += (t[i + k + 1] - x) / (t[i + k + 1] - t[i + 1]) * found[:, i + 1]
        found = new
    return found


def _slope(x: np.ndarray, t: np.ndarray, degree: int = 3) -> np.ndarray:
    low = _recursion(x, t, degree - 1)
    found = np.zeros((len(x), low.shape[1] - 1))
    for i in range(found.shape[1]):
        for j, sign in ((i, 1.0), (i + 1, -1.0)):
            if t[j + degree] > t[j]:
                found[:, i] += sign * degree / (t[j + degree] - t[j]) * low[:, j]
    return found


def roughness(knots: np.ndarray) -> np.ndarray:
    """∫ f''g'' between the outer knots, by Simpson's rule: exact, since f''g'' is quadratic between knots."""
    total = np.zeros((len(knots), len(knots)))
    for a, b in pairwise(knots):
        h = (b - a) / 4.0
        grid = np.array([a + h, (a + b) / 2.0, b - h])  # inside the piece, where the second derivative is one straight line
        second = (bsplines(grid + 0.5 * h, knots) - 2.0 * bsplines(grid, knots) + bsplines(grid - 0.5 * h, knots)) / (0.5 * h) ** 2
        slope, middle = (second[2] - second[0]) / (2.0 * h), second[1]
        ends = middle - 2.0 * h * slope, middle + 2.0 * h * slope
        total += (b - a) / 6.0 * (np.outer(ends[0], ends[0]) + 4.0 * np.outer(middle, middle) + np.outer(ends[1], ends[1]))
    return total


def knots_of(ladder: np.ndarray, pieces: int) -> np.ndarray:
    """Knots in units of a quarter of the ladder's width about its middle."""
    chosen = np.interp(np.linspace(0, len(ladder) - 1, pieces + 1), np.arange(len(ladder)), ladder)
    return np.unique(scaled(chosen, ladder))


def scaled(values: np.ndarray, ladder: np.ndarray) -> np.ndarray:
    return (values - ladder[len(ladder) // 2]) / (0.25 * (ladder[-1] - ladder[0]))


class Smoother:
    """Smoothing matrices of all rows given Z: ``numbers`` with their ladders, ``factors`` as codes."""

    def __init__(self, numbers: dict[str, tuple[np.ndarray, np.ndarray]], factors: dict[str, np.ndarray], site: np.ndarray) -> None:
        self.n = n = len(site)
        root, both = np.cbrt(n), len(numbers) + len(factors) == 2
        pieces, short = 1 + min(40, max(3, round(2 * root))), 1 + (min(5, round(root / 4)) if both else 0)
        lines = {v: scaled(values, ladder) for v, (values, ladder) in numbers.items()}
        levels = [(codes[:, None] == np.arange(1, codes.max() + 1)).astype(float) for codes in factors.values()]
        for use_short, use_pairs in ((short, True), (0, True), (0, False)):
            curves = [bsplines(lines[v], knots_of(ladder, pieces)) for v, (_, ladder) in numbers.items()]
            halves = [
                np.column_stack([lines[v], bsplines(lines[v], knots_of(ladder, use_short))] if use_short else [lines[v]])
                for v, (_, ladder) in numbers.items()
            ]
            made = (*combinations(halves, 2), *product(halves, levels), *combinations(levels, 2)) if use_pairs else ()
            pairs = [(a[:, :, None] * b[:, None, :]).reshape(n, -1) for a, b in made]
            free = [u[:, None] for u in lines.values()] + levels
            main = np.column_stack([np.empty((n, 0)), *free])
            if use_pairs and len(numbers) == 2 and not factors:
                free, pairs = [*free, pairs[0][:, :1]], [pairs[0][:, 1:]]
            if sum(part.shape[1] for part in (*free, *curves, *pairs)) <= min(250, n // 2):
                break
        own = _site_columns([np.column_stack([np.empty((n, 0)), *free]), main], list(lines.values()), site)
        self.base = _projector(np.column_stack([own, *free]))
        self.swept_by = np.eye(n) - _projector(own)
        rough = [roughness(knots_of(ladder, pieces)) for _, ladder in numbers.values()]
        self.curves = np.column_stack([np.empty((n, 0)), *curves])
        self.pairs = np.column_stack([np.empty((n, 0)), *pairs])
        self.rough = np.zeros((self.curves.shape[1],) * 2)
        at = 0
        for block in rough:
            self.rough[at : at + len(block), at : at + len(block)] = block
            at += len(block)

    def makers(self) -> list[Callable[[float], np.ndarray]]:
        """H as a function of the weight of the penalty, for every ratio."""
        rest = np.eye(self.n) - self.base
        squares = ((self.swept_by @ self.pairs) ** 2).sum(axis=0)
        there = squares > 1e-9 * self.n
        left, pairs, squares = rest @ self.curves, rest @ self.pairs[:, there], squares[there]
        whole, c = np.column_stack([left, pairs]), left.shape[1]
        found = []
        for ratio in RATIOS if c and len(squares) else (1.0,):
            penalty = np.zeros((whole.shape[1],) * 2)
            if c:
                penalty[:c, :c] = self.rough * np.trace(np.linalg.solve(self.rough, left.T @ left)) / c
            if len(squares):
                penalty[c:, c:] = np.diag(squares * ((pairs**2).sum(axis=0) / squares).mean() * ratio)
            found.append(partial(self._matrix, whole, penalty))
        return found if whole.shape[1] else []

    def _matrix(self, whole: np.ndarray, penalty: np.ndarray, weight: float) -> np.ndarray:
        return self.base + whole @ np.linalg.solve(whole.T @ whole + weight * penalty, whole.T)

    def fit(self, response: np.ndarray, *, levels: bool) -> tuple[np.ndarray, np.ndarray]:
        """H with the least cross-validated error, undersmoothed, and residuals."""
        swept = self.swept_by @ response
        scored = np.column_stack([response, response.sum(axis=1)]) if levels else response / np.sqrt((swept**2).sum(axis=0))
        best, chosen, lowest = np.inf, None, 0.0
        for make in self.makers():
            for weight in WEIGHTS:
                h = make(weight)
                edf, rss = np.trace(h), (((np.eye(self.n) - h) @ scored) ** 2).sum()
                if edf <= 0.4 * self.n and rss / (1 - edf / self.n) ** 2 < best:
                    best, chosen, lowest = rss / (1 - edf / self.n) ** 2, make, weight
        if chosen is None:
            return self.base, response - self.base @ response
        weight = 0.3 * lowest
        while np.trace(h := chosen(weight)) > 0.4 * self.n:
            weight *= 2
        return h, response - h @ response


def _site_columns(richest_first: list[np.ndarray], lines: list[np.ndarray], site: np.ndarray) -> np.ndarray:
    """An intercept for every site; slopes, squares or curves of its own where it has rows enough."""
    blocks = []
    for k in np.unique(site):
        here = site == k
        n = int(here.sum())
        columns = [np.ones((n, 1))]
        main = next((each for each in richest_first if n >= 7.5 * (1 + each.shape[1])), None)
        if main is not None:
            width = main.shape[1]
            columns.append(main[here])
            count = min(10, int((n / 20 - 1 - width) // len(lines))) if lines else 0
            if count < 1 and n >= 7.5 * (1 + width + len(lines)):
                count = 1
            for u in lines if count >= 1 else ():
                knots = np.quantile(u[here], np.linspace(0, 1, count)) if count > 1 else np.empty(0)
                columns.append(bsplines(u[here], knots) if count > 1 else u[here][:, None] ** 2)
        block = np.zeros((len(site), sum(c.shape[1] for c in columns)))
        block[here] = np.column_stack(columns)
        blocks.append(block)
    return np.column_stack(blocks)


def _projector(columns: np.ndarray) -> np.ndarray:
    norms = np.sqrt((columns**2).sum(axis=0))
    unit = columns[:, norms > 0] / norms[norms > 0]
    vectors, sizes, _ = np.linalg.svd(unit, full_matrices=False)
    kept = vectors[:, sizes > 3e-5]
    return kept @ kept.T


def response_of(kind: str, values: np.ndarray, least: float) -> tuple[np.ndarray, np.ndarray | None]:
    """The columns of a variable, and how they are combined: rare levels are merged. None where no level is frequent enough."""
    if kind == "continuous":
        return values[:, None].astype(float), np.eye(1)
    counts = np.bincount(values)
    if kind == "ordinal":
        score = (np.cumsum(counts) - counts / 2)[values] / len(values)
        return score[:, None], np.eye(1) if len(values) - counts.max() >= least else None
    kept = np.flatnonzero(counts >= least)
    if len(kept) and counts[counts < least].sum() < least:
        kept = kept[kept != kept[np.argmax(counts[kept])]]
    if not len(kept):
        return values[:, None].astype(float), None
    combine = np.zeros((len(counts), len(kept)))
    combine[kept, np.arange(len(kept))] = 1.0
    return (values[:, None] == np.arange(len(counts))).astype(float), combine


def residual_test(
    x: tuple[str, np.ndarray],
    y: tuple[str, np.ndarray],
    numbers: dict[str, tuple[np.ndarray, np.ndarray]],
    factors: dict[str, np.ndarray],
    site: np.ndarray,
    cluster: np.ndarray | None = None,
) -> Answer | None:
    """X ⫫ Y | Z by products of residuals; None where the test cannot tell. X and Y are a kind and its values, or codes from zero."""
    n, smoother, sides = len(site), Smoother(numbers, factors, site), []
    discrete = x[0] != "continuous" and y[0] != "continuous"
    least = max(5.0, np.sqrt((1.0 if cluster is None else 5.0) * n)) if discrete else 5.0
    for kind, values in (x, y):
        columns, combine = response_of(kind, values, least)
        if combine is None:
            return None
        unordered = kind in ("binary", "multinomial")
        # all levels but the first, as the definition of the criterion has it: their sum is what is left of the first
        h, residual = smoother.fit(columns[:, 1:] if unordered else columns, levels=unordered)
        if unordered:
            residual = np.column_stack([-residual.sum(axis=1), residual])
        sides.append((h, residual @ combine, columns - residual, combine, unordered))
    (hx, rx, px, cx, ux), (hy, ry, py, cy, uy) = sides
    products = np.stack([a * b for a, b in product(rx.T, ry.T)], axis=1)
    total, df = products.sum(axis=0), products.shape[1]
    if cluster is None:
        weight = ((1 - np.minimum(np.diag(hx), 0.99)) * (1 - np.minimum(np.diag(hy), 0.99))) ** -0.25
        weighted = products * weight[:, None]
    else:
        member = (cluster[:, None] == np.unique(cluster)).astype(float)
        levers = [np.minimum(np.diag(member.T @ h @ member) / member.sum(axis=0), 0.9) for h in (hx, hy)]
        weighted = (member.T @ products) * ((1 - levers[0]) * (1 - levers[1]))[:, None] ** -0.25
        if len(weighted) - len(np.unique(site)) < 8:
            return None
    if ux and uy and cluster is None:
        variance = sum(w * w * np.kron(cx.T @ _spread(a) @ cx, cy.T @ _spread(b) @ cy) for w, a, b in zip(weight, px, py, strict=True))
        statistic = float(total @ np.linalg.solve(variance, total))
        return Answer(statistic, df, np.inf, float(stats.chi2.sf(statistic, df)))
    inverse = np.linalg.inv(weighted.T @ weighted)
    statistic = float(total @ inverse @ total)
    units = df * (df + 2) / float((np.einsum("ni,ij,nj->n", weighted, inverse, weighted) ** 2).sum()) - 2
    if units < 2 * df:
        return None
    return Answer(statistic, df, units, float(stats.beta.sf(min(statistic / units, 1.0), df / 2, (units - df) / 2)))


def _spread(p: np.ndarray) -> np.ndarray:
    """The covariance of level indicators; fitted shares are made shares again."""
    p = np.clip(p, 0.0, 1.0) / np.clip(p, 0.0, 1.0).sum()
    return np.diag(p) - np.outer(p, p)

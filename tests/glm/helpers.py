"""Kernels of every family with some of their levels, points to look at them, and finite differences."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from consilience.glm.generalized import Generalized
from consilience.glm.kernel import Floats, Kernel
from consilience.glm.logit import Logit
from consilience.glm.multinomial import Multinomial
from consilience.glm.poisson import Poisson
from consilience.glm.proportional import Proportional

Make = Callable[[Floats, Any, Floats | None], Kernel]

# each case: the levels that occur, and the kernel over four (or two) levels of the study
CASES: dict[str, tuple[list[int], Make]] = {
    "logit": ([0, 1], Logit),
    "multinomial": ([0, 1, 2, 3], lambda X, y, w: Multinomial(X, y, w, 4, np.arange(4), 0)),
    "multinomial, reference 2": ([0, 1, 2, 3], lambda X, y, w: Multinomial(X, y, w, 4, np.arange(4), 2)),
    "multinomial without 1": ([0, 2, 3], lambda X, y, w: Multinomial(X, y, w, 4, np.array([0, 2, 3]), 0)),
    "multinomial without its baseline": ([1, 2, 3], lambda X, y, w: Multinomial(X, y, w, 4, np.array([1, 2, 3]), 2)),
    "multinomial with two": ([1, 3], lambda X, y, w: Multinomial(X, y, w, 4, np.array([1, 3]), 1)),
    "proportional": ([0, 1, 2, 3], lambda X, y, w: Proportional(X, y, w, 4)),
    "proportional, common intercept": ([0, 1, 2, 3], lambda X, y, w: Proportional(X, y, w, 4, own_intercept=False)),
    "proportional without 0": ([1, 2, 3], lambda X, y, w: Proportional(X, y, w, 4)),
    "proportional without 1": ([0, 2, 3], lambda X, y, w: Proportional(X, y, w, 4)),
    "proportional without 3": ([0, 1, 2], lambda X, y, w: Proportional(X, y, w, 4)),
    "proportional with two": ([0, 1], lambda X, y, w: Proportional(X, y, w, 2)),
    "generalized": ([0, 1, 2, 3], lambda X, y, w: Generalized(X, y, w, 4, 0.0)),
    "generalized with barrier": ([0, 1, 2, 3], lambda X, y, w: Generalized(X, y, w, 4, 0.03)),
    "generalized without 0": ([1, 2, 3], lambda X, y, w: Generalized(X, y, w, 4, 0.03, 1, 3)),
    "generalized without 3": ([0, 1, 2], lambda X, y, w: Generalized(X, y, w, 4, 0.03, 0, 2)),
    "generalized without 1": ([0, 2, 3], lambda X, y, w: Generalized(X, y, w, 4, 0.03, 0, 3)),
    "poisson": ([0, 1, 2, 7], lambda X, y, w: Poisson(X, y.astype(float), w)),
    "generalized with two": ([1, 2], lambda X, y, w: Generalized(X, y, w, 4, 0.03, 1, 2)),
}
cases = pytest.mark.parametrize("case", CASES)
columns = pytest.mark.parametrize("p", [0, 1, 3])
weighted = pytest.mark.parametrize("weights", [False, True], ids=["", "weighted"])


def rows_of(levels: list[int], p: int, *, weights: bool, n: int = 40) -> tuple[Floats, Any, Floats | None]:
    rng = np.random.default_rng([*levels, p])
    X = rng.normal(size=(n, p))
    y = np.array([*levels, *rng.choice(levels, n - len(levels))], dtype=np.int32)
    return X - X.mean(axis=0), y, rng.integers(1, 5, n).astype(float) if weights else None


def make(case: str, p: int = 2, *, weights: bool = False) -> Kernel:
    levels, factory = CASES[case]
    return factory(*rows_of(levels, p, weights=weights))


def point_of(kernel: Kernel, seed: int = 0) -> Floats:
    """A point away from the maximum at which every probability is positive."""
    rng = np.random.default_rng(seed)
    shared = 0.15 * rng.normal(size=kernel.n_shared)
    if isinstance(kernel, Proportional):
        shared[kernel.p :] = np.cumsum(rng.uniform(0.5, 1.5, kernel.n_shared - kernel.p))
    return np.concatenate([shared, kernel.start(shared) + 0.1 * np.arange(kernel.n_intercepts)])


def terms_at(kernel: Kernel, point: Floats) -> Any:
    shared, intercepts = np.split(point, [kernel.n_shared])
    terms = kernel.rows(kernel.linear(shared), shared, intercepts)
    assert terms.feasible
    return terms


def objective(kernel: Kernel, point: Floats) -> float:
    terms = terms_at(kernel, point)
    return float(terms.loglik + terms.barrier)


def differences(f: Callable[[Floats], Any], at: Floats, step: float = 1e-5) -> Floats:
    """Central finite differences, one row per parameter."""
    return np.array([(f(at + step * unit) - f(at - step * unit)) / (2.0 * step) for unit in np.eye(len(at))]).reshape(len(at), -1)

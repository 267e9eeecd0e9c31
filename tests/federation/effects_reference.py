"""What effects are held against: pooled rows with site dummies in statsmodels, risks by hand from its predictions, and the delta method
with numerical derivatives. Nothing of the package is used here."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
import polars as pl
import statsmodels.api as sm
from scipy.special import expit, softmax
from statsmodels.miscmodels.ordinal_model import OrderedModel
from statsmodels.tools.numdiff import approx_fprime, approx_fprime_cs, approx_hess_cs

LEVELS = {"stage": [0, 1, 2, 3], "smoker": ["no", "yes"], "ward": ["p", "q", "r"]}
KINDS = {"stage": "ordinal", "visits": "count", "smoker": "binary", "ward": "multinomial"}


def frames(sites: int, *, gaps: bool = False, seed: int = 4) -> list[pl.DataFrame]:
    """Sites with age and salt continuous, bp continuous, and one variable of every other kind; with ``gaps`` values are missing."""
    rng, made = np.random.default_rng(seed), []
    for k in range(sites):
        n = 160 + 30 * k
        salt = rng.normal(size=n) + k
        age = 50 + 10 * (0.6 * salt + rng.normal(size=n))
        u = (age - 50) / 10
        smoker = rng.random(n) < 1 / (1 + np.exp(0.3 - 0.6 * u + 0.2 * k))
        ward = np.argmax(np.stack([rng.gumbel(size=n), 0.4 * u + rng.gumbel(size=n), 0.3 * k - 0.3 * u + rng.gumbel(size=n)]), axis=0)
        frame = pl.DataFrame(
            {
                "salt": salt,
                "age": age,
                "bp": 120 + 8 * (0.3 * u - 0.4 * smoker + (1 + 0.3 * smoker) * rng.normal(size=n)),
                "smoker": np.where(smoker, "yes", "no"),
                "stage": np.digitize(0.7 * u + rng.logistic(size=n) + 0.3 * k, [-1.0, 0.5, 1.5]),
                "ward": np.array(["p", "q", "r"])[ward],
                "visits": rng.poisson(np.exp(0.5 + 0.2 * u + 0.3 * smoker) * rng.gamma(2.0, 0.5, size=n)),
            }
        )
        if gaps:
            holes = rng.random((n, len(frame.columns))) < 0.06
            frame = frame.with_columns(
                pl.when(pl.Series(holes[:, j])).then(None).otherwise(pl.col(name)).alias(name) for j, name in enumerate(frame.columns)
            )
        made.append(frame)
    return made


class Told(NamedTuple):
    """A contrast by hand."""

    estimate: float
    se: float
    value: float
    reference: float


class Pooled:
    """All rows that have x, y and what is given, in one place; ``site`` counts the sites that have some."""

    def __init__(self, parts: Sequence[pl.DataFrame], x: str, y: str, given: Sequence[str], *, dummies: bool = True) -> None:
        names = (x, y, *given)
        held = [frame.select(names).drop_nulls() for frame in parts if set(names) <= set(frame.columns)]
        self.rows = pl.concat([frame.with_columns(site=pl.lit(k)) for k, frame in enumerate(held)])
        self.x, self.y, self.given, self.sites = x, y, given, len(held)
        self.site = self.rows["site"].to_numpy()
        self.by_site = dummies

    @property
    def n(self) -> int:
        return len(self.rows)

    def middle(self) -> np.ndarray:
        """The mean of x at each row's site, or over all rows."""
        values = self.rows[self.x].to_numpy().astype(float)
        if not self.by_site:
            return np.full(self.n, values.mean())
        return np.array([values[self.site == k].mean() for k in range(self.sites)])[self.site]

    def deviation(self) -> float:
        values = self.rows[self.x].to_numpy().astype(float)
        return float(np.sqrt(np.mean((values - self.middle()) ** 2)))

    def values(self) -> list[np.ndarray]:
        """The columns of x at each value that it is set to."""
        if self.x in LEVELS:
            return [np.tile([float(level == other) for other in LEVELS[self.x][1:]], (self.n, 1)) for level in LEVELS[self.x]]
        half = 0.5 * self.deviation()
        return [(self.middle() - half)[:, None], (self.middle() + half)[:, None]]

    def design(self, own: np.ndarray | None = None, *, constant: bool = True) -> np.ndarray:
        """Columns of x (as they are, or as given), of what is adjusted for, and of sites."""
        sites = np.stack([(self.site == k).astype(float) for k in range(self.sites)], axis=1) if self.by_site else np.ones((self.n, 1))
        parts = [self.coded(self.x) if own is None else own, *(self.coded(name) for name in self.given), sites]
        return np.concatenate([*parts[:-1], parts[-1] if constant else parts[-1][:, 1:]], axis=1)

    def coded(self, name: str) -> np.ndarray:
        column = self.rows[name]
        if name not in LEVELS:
            return column.to_numpy().astype(float)[:, None]
        return np.stack([(column == level).to_numpy().astype(float) for level in LEVELS[name][1:]], axis=1)

    def response(self) -> np.ndarray:
        column = self.rows[self.y].to_list()
        return np.array([LEVELS[self.y].index(value) for value in column] if self.y in LEVELS else column, dtype=float)


def mean_differences(data: Pooled, *, robust: bool = True) -> list[Told]:
    """Of a continuous response, in its unit: per standard deviation of a number, or per level."""
    fit = sm.OLS(data.response(), data.design()).fit(**({"cov_type": "HC1"} if robust else {}))
    width = 1 if data.x not in LEVELS else len(LEVELS[data.x]) - 1
    unit = 1.0 if data.x in LEVELS else data.deviation()
    return [Told(float(fit.params[j]) * unit, float(fit.bse[j]) * unit, np.nan, np.nan) for j in range(width)]


def standardised(data: Pooled) -> list[Told]:
    """Risk differences of every outcome, or ratios of mean counts, for each value of x against the first."""
    params, covariance, predict = _fitted(data)
    values = data.values()

    def means(point: np.ndarray) -> np.ndarray:
        return np.concatenate([predict(point, value).mean(axis=0) for value in values])

    rows = np.concatenate([predict(params, value) for value in values], axis=1)
    psi = rows.mean(axis=0)
    jacobian = approx_fprime(params, means, centered=True)
    total = jacobian @ covariance @ jacobian.T + (rows - psi).T @ (rows - psi) / data.n**2
    outcomes, told = len(psi) // len(values), []
    for value in range(1, len(values)):
        for k in range(outcomes):
            low, high = psi[k], psi[value * outcomes + k]
            towards = np.zeros(len(psi))
            ratio = data.y == "visits"
            towards[k], towards[value * outcomes + k] = (-1 / low, 1 / high) if ratio else (-1.0, 1.0)
            se = float(np.sqrt(towards @ total @ towards))
            told.append(Told(float(high / low if ratio else high - low), se, float(high), float(low)))
    return told


Predict = Callable[[np.ndarray, np.ndarray], np.ndarray]


def _fitted(data: Pooled) -> tuple[np.ndarray, np.ndarray, Predict]:
    """Parameters, their covariance, and predictions (rows × outcomes) at parameters and columns of x."""
    y = data.response()
    if data.y == "smoker":
        fit = sm.Logit(y, data.design()).fit(disp=0, tol=1e-12, method="newton")
        return fit.params, fit.cov_params(), lambda b, own: expit(data.design(own) @ b)[:, None]
    if data.y == "visits":
        fit = sm.GLM(y, data.design(), family=sm.families.Poisson()).fit(tol=1e-13, scale="X2")
        return fit.params, fit.cov_params(), lambda b, own: np.exp(data.design(own) @ b)[:, None]
    if data.y == "ward":
        fit = sm.MNLogit(y, data.design()).fit(disp=0, tol=1e-12, method="newton")
        flat = np.asarray(fit.params).ravel(order="F")

        def risks(b: np.ndarray, own: np.ndarray) -> np.ndarray:
            X = data.design(own)
            return softmax(np.column_stack([np.zeros(len(X)), X @ b.reshape(2, -1).T]), axis=1)

        return flat, np.asarray(fit.cov_params()), risks
    model = OrderedModel(y, data.design(constant=False), distr="logit")
    fit = model.fit(method="bfgs", disp=0, gtol=1e-7, maxiter=500)
    slopes = np.asarray(fit.params)[: -model.k_levels + 1]
    start = np.concatenate([slopes, model.transform_threshold_params(np.asarray(fit.params))[1:-1]])
    point, covariance = _polished(data, y, start)
    assert np.abs(point - start).max() < 1e-4, "two more steps stay where statsmodels ended"
    return point, covariance, lambda b, own: expit((data.design(own, constant=False) @ b[:-3])[:, None] - b[-3:])


def _polished(data: Pooled, y: np.ndarray, point: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Newton's last steps of an ordered logit, and its covariance, by complex steps: statsmodels differentiates this model numerically."""
    X, level = data.design(constant=False), y.astype(int)

    def loglik(b: np.ndarray) -> np.ndarray:
        above = 1.0 / (1.0 + np.exp((X @ b[:-3])[:, None] - b[-3:]))
        whole = np.column_stack([np.zeros(len(X)), above, np.ones(len(X))])
        rows = np.arange(len(X))
        return np.log(whole[rows, level + 1] - whole[rows, level]).sum()

    for _ in range(2):
        hessian = approx_hess_cs(point, loglik)
        point = point - np.linalg.solve(hessian, approx_fprime_cs(point, loglik).ravel())
    return point, np.linalg.inv(-approx_hess_cs(point, loglik))

"""Simulated studies whose effects are known: three sites with levels of their own, a confounder, and an outcome of one kind.

C is normal, X follows it (as a number, or as a level), and Y follows both, with an intercept for each site. The truth is a mean over the
law of C, which is integrated, and over the sites as they are; Y's model is right. Of a continuous Y residuals scatter more where X is large
and at some sites, which its variance must bear.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
import polars as pl
from scipy.special import expit

import consilience as cs
from consilience.citest.effect import Contrast, Estimate

ROWS = (150, 240, 110)
SHIFTS = (-0.5, 0.2, 0.7)
CUTS = np.array([-0.8, 0.4, 1.5])
TO_X, TO_Y, EFFECT = 0.8, 0.9, 0.6
OUTCOMES = ("continuous", "binary", "ordinal")


class Covered(NamedTuple):
    """One contrast of one study: what it is, whether its interval has the truth in it, and how far off it is."""

    name: str
    covered: bool
    error: float
    se: float


def study(outcome: str, rng: np.random.Generator) -> list[pl.DataFrame]:
    """The tables of three sites."""
    made = []
    for rows, shift in zip(ROWS, SHIFTS, strict=True):
        c = rng.normal(size=rows)
        latent = TO_X * c + shift + rng.logistic(size=rows)
        if outcome == "continuous":
            scatter = np.exp(0.25 * (latent - shift)) * (1.0 + abs(shift))
            made.append(pl.DataFrame({"C": c, "X": latent, "Y": EFFECT * latent + TO_Y * c + 3 * shift + scatter * rng.normal(size=rows)}))
            continue
        x = latent > 0
        y = EFFECT * x + TO_Y * c + shift + rng.logistic(size=rows)
        level = (y > 0).astype(int) if outcome == "binary" else np.digitize(y, CUTS)
        made.append(pl.DataFrame({"C": c, "X": x.astype(int), "Y": level}))
    return made


def estimate(frames: list[pl.DataFrame], outcome: str) -> Estimate:
    """The effect of X on Y, adjusted for C, by a server over the sites."""
    kinds, levels = ({"Y": "ordinal"}, {"Y": [0, 1, 2, 3]}) if outcome == "ordinal" else ({}, {})
    clients = [cs.Client(f"s{k}", frame, kinds=kinds, levels=levels) for k, frame in enumerate(frames)]
    return cs.Server(clients, diagnostics=False).effect("X", "Y", ["C"])


def truth(outcome: str, found: Estimate, contrast: Contrast) -> float:
    """What the contrast is of, in the law that the rows are drawn from."""
    if outcome == "continuous":
        assert found.step is not None
        return EFFECT * found.step
    cut = 0.0 if outcome == "binary" else float(CUTS[int(contrast.outcome[0]) - 1])
    nodes, weights = np.polynomial.hermite_e.hermegauss(60)
    weights = weights / weights.sum()
    risks = [
        sum(n * float(weights @ expit(EFFECT * x + TO_Y * nodes + shift - cut)) for n, shift in zip(ROWS, SHIFTS, strict=True)) / sum(ROWS)
        for x in (0, 1)
    ]
    return risks[1] - risks[0]


def coverage(outcome: str, studies: int, seed: int) -> Iterator[Covered]:
    """Every contrast of so many studies."""
    rng = np.random.default_rng([seed, OUTCOMES.index(outcome)])
    for _ in range(studies):
        found = estimate(study(outcome, rng), outcome)
        for one in found.contrasts:
            wanted = truth(outcome, found, one)
            assert one.low is not None
            assert one.high is not None
            assert one.se is not None
            yield Covered(one.outcome or one.measure, one.low <= wanted <= one.high, one.estimate - wanted, one.se)

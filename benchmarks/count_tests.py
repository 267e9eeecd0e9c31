"""Tests of counts: how often a true independence is rejected, by the law of the counts, and what ``method="auto"`` makes of it.

    python benchmarks/count_tests.py [--replications 500]

X and Y are counts with the mean exp(1 + 0.6 Z), independent given Z, at four sites. Prints tables in Markdown.
"""

from __future__ import annotations

import os

os.environ["OPENBLAS_NUM_THREADS"] = os.environ["OMP_NUM_THREADS"] = "1"

import argparse
from collections.abc import Callable
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from consilience.citest import CIResult
from consilience.citest.question import Question
from consilience.data.schema import Schema
from consilience.simulate.methods import ask_sites

Floats = NDArray[np.float64]
Law = Callable[[Floats, np.random.Generator], NDArray[Any]]
SITES, SIZES, LEVEL = 4, (100, 400, 2000), 0.05
SCHEMA = Schema({"X": "count", "Y": "count", "Z": "continuous"})


def negative_binomial(mean: Floats, rng: np.random.Generator) -> NDArray[Any]:
    """Counts with the variance μ + μ²/2."""
    return rng.poisson(rng.gamma(2.0, mean / 2.0))


LAWS: dict[str, Law] = {
    "Poisson": lambda mean, rng: rng.poisson(mean),
    "Poisson, rare (a twelfth of the mean)": lambda mean, rng: rng.poisson(mean / 12.0),
    "variance twice the mean": lambda mean, rng: rng.poisson(rng.gamma(mean, 1.0)),
    "negative binomial, variance μ + μ²/2": negative_binomial,
    "the same with 30% more zeros": lambda mean, rng: negative_binomial(mean, rng) * (rng.random(mean.size) > 0.3),
}
WIDE = "negative binomial, variance μ + μ²/2"


def study(law: str, n: int, seed: int, effect: float = 0.0) -> dict[str, pl.DataFrame]:
    """Four sites' rows; with an effect, X moves the logarithm of Y's mean by so much a standard deviation."""
    rng = np.random.default_rng([n, seed])
    z = rng.normal(size=n)
    x = LAWS[law](np.exp(1.0 + 0.6 * z), rng)
    y = LAWS[law](np.exp(1.0 + 0.6 * z + effect * (x - x.mean()) / x.std()), rng)
    whole = pl.DataFrame({"X": x.astype(np.int64), "Y": y.astype(np.int64), "Z": z})
    return {f"site{k}": whole[k::SITES] for k in range(SITES)}


def asked(frames: dict[str, pl.DataFrame], **settings: Any) -> CIResult:
    """What the sites answer to X ⫫ Y | Z."""
    (found,) = ask_sites(frames, SCHEMA, [Question("X", "Y", ("Z",))], **settings)
    return found


def rejected(law: str, n: int, replications: int, effect: float = 0.0, **settings: Any) -> float:
    """The share of tests that reject; one that cannot tell does not."""
    found = [asked(study(law, n, r, effect), **settings) for r in range(replications)]
    return float(np.mean([result.informative and result.p_value < LEVEL for result in found]))


def seen(n: int, studies: int) -> float:
    """The share of studies of wide counts whose linear models are said not to hold."""
    found = [asked(study(WIDE, n, r)).linear_p for r in range(studies)]
    return float(np.mean([p is not None and p < LEVEL for p in found]))


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--replications", type=int, default=500)
    options = parser.parse_args()
    times = options.replications
    print(f"| counts | {' | '.join(f'n = {n:,}' for n in SIZES)} |\n|---|---|---|---|", flush=True)
    for law in LAWS:
        print(f"| {law} | {' | '.join(f'{rejected(law, n, times, diagnostics=False):.3f}' for n in SIZES)} |", flush=True)
    print(f"\nLinear models said not to hold, {WIDE}:", ", ".join(f"{seen(n, 60):.0%} at n = {n:,}" for n in SIZES), flush=True)
    for effect, law, what in ((0.0, WIDE, "true independences rejected"), (0.15, "Poisson", "dependences found")):
        both = {method: rejected(law, 100, times, effect, method=method, diagnostics=True) for method in ("auto", "fedci")}
        print(f"{law}, n = 100, {what}:", ", ".join(f"{method} {share:.3f}" for method, share in both.items()), flush=True)


if __name__ == "__main__":
    main()

"""What the rule on columns about few rows costs tests of residuals at small sites: rejections with it, and without it.

X and Y have the same bent mean given Z (and W, or a level C) and are independent given them, or not (an effect of a quarter)::

    python benchmarks/small_sites.py --studies 400
"""

from __future__ import annotations

import os

os.environ["OPENBLAS_NUM_THREADS"] = os.environ["OMP_NUM_THREADS"] = "1"  # before numpy loads: several processes go on at once

import argparse
import sys
from typing import Any, NamedTuple

import numpy as np
import polars as pl
from joblib import Parallel, delayed

from consilience.citest.question import Question
from consilience.data.schema import Schema
from consilience.simulate.methods import ask_sites

ALPHA = 0.05


class Case(NamedTuple):
    """Means, noise, and how many sites have how many rows."""

    mean: str
    noise: float
    sites: int
    rows: int

    @property
    def given(self) -> tuple[str, ...]:
        """What the test is given."""
        return {"sin 2Z + ZW + W²/2": ("W", "Z"), "sin 2Z + CZ": ("C", "Z")}.get(self.mean, ("Z",))


CASES = (
    Case("sin 2Z", 1.0, 4, 40),
    Case("Z²", 1.0, 4, 40),
    Case("sin 2Z", 0.5, 4, 40),
    Case("sin 2Z", 0.5, 4, 100),
    Case("sin 2Z + ZW + W²/2", 1.0, 4, 40),
    Case("sin 2Z + CZ", 1.0, 4, 40),
    Case("Z²", 1.0, 8, 20),
    Case("sin 2Z", 1.0, 8, 20),
)


def draw(case: Case, effect: float, seed: int) -> dict[str, pl.DataFrame]:
    """The sites of one study."""
    rng = np.random.default_rng([seed, case.sites, case.rows])
    frames = {}
    for k in range(case.sites):
        z, w, c = rng.normal(size=case.rows), rng.normal(size=case.rows), rng.integers(2, size=case.rows)
        mean = {
            "sin 2Z": np.sin(2 * z),
            "Z²": z**2,
            "sin 2Z + ZW + W²/2": np.sin(2 * z) + z * w + w**2 / 2,
            "sin 2Z + CZ": np.sin(2 * z) + c * z,
        }[case.mean]
        x = mean + case.noise * rng.normal(size=case.rows)
        y = mean + case.noise * rng.normal(size=case.rows) + effect * (x - mean)
        columns: dict[str, Any] = {"X": x, "Y": y, "Z": z, "W": w, "C": c}
        frames[f"site{k}"] = pl.DataFrame({name: columns[name] for name in ("X", "Y", *case.given)})
    return frames


def rejects(case: Case, effect: float, seed: int, min_cell: int) -> bool:
    """Is independence rejected in this study?"""
    kinds = {"X": "continuous", "Y": "continuous", "Z": "continuous", "W": "continuous", "C": "binary"}
    schema = Schema({name: kinds[name] for name in ("X", "Y", *case.given)})
    (found,) = ask_sites(draw(case, effect, seed), schema, [Question("X", "Y", case.given)], method="residual", min_cell=min_cell)
    return found.informative and found.p_value < ALPHA


def main() -> int:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--studies", type=int, default=400)
    parser.add_argument("--jobs", type=int, default=2)
    args = parser.parse_args()
    print("| means of X and of Y | noise | sites | rejected | with an effect of a quarter |\n|---|---|---|---|---|")
    with Parallel(n_jobs=args.jobs) as pool:
        for case in CASES:
            cells = []
            for effect in (0.0, 0.25):
                shares = [
                    float(np.mean(pool(delayed(rejects)(case, effect, seed, min_cell) for seed in range(args.studies))))
                    for min_cell in (5, 1)
                ]
                cells.append("{:.3f} ({:.3f})".format(*shares))
            print(f"| {case.mean} | {case.noise:g} | {case.sites} of {case.rows} | {cells[0]} | {cells[1]} |", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())

"""Whether tests hold their level where sites stay out by small cells (``cells="refuse"``), and how many tests are left.

X and Y are independent given Z, all three discrete, in sites of equal size. Rejections at 0.05 of the tests that are answered, under three
rules: small cells are told; a site stays out by its *observed* cells alone; and, as it is, also by *expected* ones
(``consilience.disclosure.cells``)::

    python benchmarks/cells_calibration.py --studies 2000 --jobs 2
"""

from __future__ import annotations

import os

os.environ["OPENBLAS_NUM_THREADS"] = os.environ["OMP_NUM_THREADS"] = "1"  # before numpy loads: several processes go on at once

import argparse
import sys
from math import sqrt
from typing import NamedTuple

import numpy as np
import polars as pl
from joblib import Parallel, delayed

from consilience.citest.question import Question
from consilience.data.schema import Schema
from consilience.disclosure import cells
from consilience.simulate.methods import ask_sites

ALPHA = 0.05
RULES = ("told", "observed", "refuse")
SCHEMA = Schema({"X": ("multinomial", "pqr"), "Y": "binary", "Z": "binary"})


class Case(NamedTuple):
    """How many sites have how many rows, how rare the rarer levels are, and what the test is given."""

    sites: int
    rows: int
    rare: float
    given: tuple[str, ...] = ()


CASES = (
    Case(4, 60, 0.3),
    Case(12, 60, 0.3),
    Case(20, 100, 0.22),
    Case(12, 150, 0.3),
    Case(20, 300, 0.2),
    Case(12, 300, 0.3, ("Z",)),
    Case(20, 400, 0.25, ("Z",)),
    Case(4, 1000, 0.3, ("Z",)),
)


def draw(case: Case, seed: int) -> dict[str, pl.DataFrame]:
    """The sites of one study."""
    rng = np.random.default_rng([seed, case.sites, case.rows, len(case.given)])
    frames = {}
    for k in range(case.sites):
        z = rng.random(case.rows) < 0.5
        rare = np.where(z, case.rare, 1.15 * case.rare)
        u = rng.random(case.rows)
        x = np.where(u < rare, "p", np.where(u < 0.5 + rare / 2, "q", "r"))
        y = rng.random(case.rows) < (rare if case.given else case.rare)
        frames[f"site{k}"] = pl.DataFrame({"X": x, "Y": y.astype(int), "Z": z.astype(int)})
    return frames


def do(case: Case, seed: int) -> dict[str, tuple[float, int]]:
    """The p-value (NaN: none) and the number of sites under every rule."""
    frames, question, found = draw(case, seed), [Question("X", "Y", case.given)], {}
    times = cells.TIMES
    for rule in RULES:
        cells.TIMES = 0 if rule == "observed" else times  # type: ignore[misc]
        how = "told" if rule == "told" else "refuse"
        (result,) = ask_sites(frames, SCHEMA, question, min_cell=5, cells=how, single_site="refuse", on_dropout="stop", diagnostics=False)
        found[rule] = (result.p_value if result.informative else float("nan"), result.contributors if result.informative else 0)
    cells.TIMES = times  # type: ignore[misc]
    return found


def main() -> int:
    """Print the table; 1 if a test is off its level by more than four standard errors, with the rule as it is."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--studies", type=int, default=2000)
    parser.add_argument("--jobs", type=int, default=2)
    options = parser.parse_args()
    print("| sites × rows | rarest level | given | " + " | ".join(f"{rule}: rejections | answered | sites" for rule in RULES) + " |")
    print("|---|---|---|" + "---|---|---|" * len(RULES))
    off = 0
    for case in CASES:
        done = Parallel(n_jobs=options.jobs)(delayed(do)(case, seed) for seed in range(options.studies))
        parts = []
        for rule in RULES:
            p = np.array([one[rule][0] for one in done])
            answered = ~np.isnan(p)
            rate = float((p[answered] < ALPHA).mean()) if answered.any() else float("nan")
            if rule == "refuse" and answered.sum() >= 100 and abs(rate - ALPHA) > 4 * sqrt(ALPHA * (1 - ALPHA) / answered.sum()):
                off += 1
            sites = float(np.mean([one[rule][1] for one in done]))
            shown = "–" if not answered.any() else f"{rate:.3f}"
            parts.append(f"{shown} | {answered.mean():.2f} | {sites:.1f}")
        given = ", ".join(case.given) or "–"
        print(f"| {case.sites} × {case.rows} | {case.rare} | {given} | {' | '.join(parts)} |", flush=True)
    print(f"\n{options.studies} studies each; where fewer than 100 are answered nothing is judged. Off their level: {off} of {len(CASES)}.")
    return int(off > 0)


if __name__ == "__main__":
    sys.exit(main())

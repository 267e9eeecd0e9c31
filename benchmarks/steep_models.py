"""How many tests the rule on steep models costs: directions that are left out, and tests that cannot be answered for it.

    python benchmarks/steep_models.py [--studies 26]

Five mixed variables, all 80 tests of each study, 3 to 8 sites and 90 to 1,000 rows; then the same with a slope for each threshold of an
ordinal response, at 400 and at 150 rows. Prints counts.
"""

from __future__ import annotations

import os

os.environ["OPENBLAS_NUM_THREADS"] = os.environ["OMP_NUM_THREADS"] = "1"

import argparse
from itertools import combinations
from typing import Any

import numpy as np

import consilience as cs
from consilience.citest.question import Question
from consilience.data.schema import unite
from consilience.simulate.methods import ask_sites

MIN_CELL = 5
NAMES = tuple("ABCDE")
QUESTIONS = [
    Question(x, y, given)
    for x, y in combinations(NAMES, 2)
    for size in range(4)
    for given in combinations([name for name in NAMES if name not in (x, y)], size)
]


def counted(n: int, sites: int, seed: int, responses: str = "ABCDE", **settings: Any) -> np.ndarray:
    """Directions of tests with these responses, those that are left out as too steep, tests, and tests without an answer for it."""
    frames = cs.simulate.mixed_sites(n=n, sites=sites, seed=seed)
    schema = unite({name: cs.Client(name, frame).declarations for name, frame in frames.items()})
    found = ask_sites(frames, schema, QUESTIONS, min_cell=MIN_CELL, diagnostics=False, **settings)
    directions = [d for result in found for d in result.directions if d.response in responses]
    steep = sum("so steep" in d.reason for d in directions)
    silent = sum(not result.informative and any("so steep" in d.reason for d in result.directions) for result in found)
    return np.array([len(directions), steep, len(found), silent])


def main() -> None:
    """Print the counts."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--studies", type=int, default=26)
    options = parser.parse_args()
    rng = np.random.default_rng(1)
    drawn = [(int(rng.integers(90, 1001)), int(rng.integers(3, 9))) for _ in range(options.studies)]
    total = sum(counted(n, sites, seed) for seed, (n, sites) in enumerate(drawn))
    print("{} directions, {} left out; {} tests, {} without an answer for it".format(*total), flush=True)
    for n in (400, 150):
        of_ordinal = sum(counted(n, 3, seed, responses="D", ordinal="generalized") for seed in range(5))
        print("slopes of thresholds, n = {}: {} directions with an ordinal response, {} left out".format(n, *of_ordinal[:2]), flush=True)


if __name__ == "__main__":
    main()

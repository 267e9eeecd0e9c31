"""How many 2×2 tables have the same p-value of three digits, which is what one site alone tells of a test of two binary variables.

    PYTHONPATH=. python benchmarks/told_digits.py [--rows 20 40 137]

All tables with so many rows are made, those that differ by names of levels and variables counted once.
"""

from __future__ import annotations

import argparse

import numpy as np
from scipy import special
from tests.federation.site.test_precision import every_table

from consilience.citest.rounding import LEAST_ALONE


def alike(n: int) -> np.ndarray:
    """For every table with n rows, how many have its p-value as it is told."""
    _, ratios = every_table(n)
    p = np.maximum(special.chdtrc(1, ratios * (n - 2) / n), LEAST_ALONE)
    _, which, sizes = np.unique([f"{value:.2e}" for value in p], return_inverse=True, return_counts=True)
    return sizes[which]


def main() -> None:
    """Print a line for each number of rows."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, nargs="+", default=[20, 40, 137])
    for n in parser.parse_args().rows:
        found = alike(n)
        print(f"{n} rows: {found.size:,} tables; alike at the median {np.median(found):g}; singled out {np.mean(found == 1):.1%}")


if __name__ == "__main__":
    main()

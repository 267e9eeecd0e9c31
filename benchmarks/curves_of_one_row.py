"""How much one row may weigh in what all curves of a number together tell: measured, since nothing is proved.

    PYTHONPATH=. python benchmarks/curves_of_one_row.py [--tables 12]

Whatever a server asks for of a normal variable over the same rows lies in one space of functions (``tests/disclosure/test_one_space.py``).
Of all combinations, that which is most about a row is its projection into the space. Printed are the share of its sum of squares that the
row has, and how many rows it is about, by (Σ|v|)²/Σv².
"""

from __future__ import annotations

import argparse

import numpy as np
from tests.disclosure.scenes import MIN_CELL
from tests.disclosure.test_one_space import directions, effective, site, told

SIZES = (40, 60, 100, 150, 250, 400)


def main() -> None:
    """Print a line for each number of rows, and the extremes over all."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tables", type=int, default=12)
    tables = parser.parse_args().tables
    fewest, most, below = np.inf, 0.0, 0
    print("| rows | outermost: mean share | most | between the five outermost: most | about at least |\n|---|---|---|---|---|")
    for n in SIZES:
        ends, inside, about = list[float](), list[float](), list[float]()
        for seed in range(tables):
            table, knots = site(seed, n)
            found, _ = directions(told(table, knots))
            share, order = (found**2).sum(axis=1), np.argsort(table.numbers["X"])
            ends += [float(share[order[0]]), float(share[order[-1]])]
            inner = order[MIN_CELL:-MIN_CELL]
            inside.append(float(share[inner].max()))
            about.append(float(effective(found[inner] @ found.T).min()))
        print(f"| {n} | {np.mean(ends):.2f} | {max(ends):.2f} | {max(inside):.2f} | {min(about):.1f} rows |", flush=True)
        fewest, most, below = min(fewest, *about), max(most, *inside), below + sum(one < MIN_CELL for one in about)
    print(f"\n{tables * len(SIZES)} tables: at most {most:.2f}, about {fewest:.1f} rows or more; in {below} about fewer than {MIN_CELL}")


if __name__ == "__main__":
    main()

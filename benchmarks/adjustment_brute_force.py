"""Adjustment sets in all PAGs of five nodes, held against the definition of the criterion: every path, every set.

For each ordered pair of nodes of each PAG: the verdict (a set, zero, an edge that may hide a common cause, an open path), all sets, the
minimal ones, the canonical one, the forbidden variables; and, where the criterion has anything to say, the same for every part of the
variables that a data set may measure::

    python benchmarks/adjustment_brute_force.py --nodes 5 --jobs 2

Exit code 1 if the two disagree anywhere.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections import Counter
from itertools import permutations
from multiprocessing import Pool
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))  # tests/ is not installed

from tests.graph.adjustment_by_definition import Criterion
from tests.graph.adjustment_compared import compare, compare_measured
from tests.iod.mag_enumeration import COUNTS, load

from consilience.graph import PAG, adjustment_sets

DISAGREE, DEFINITION, PACKAGE = "disagreements", "CPU seconds of the definition", "CPU seconds of the package"


def compared(work: tuple[int, int, int]) -> Counter[str]:
    """What is found in some of the PAGs: how often which verdict, how often the two disagree, and how long either takes."""
    nodes, first, beyond = work
    found: Counter[str] = Counter()
    for matrix in load(nodes).pags[first:beyond]:
        pag, rows = PAG(matrix, "ABCDE"[:nodes]), matrix.tolist()
        pairs = list(permutations(range(nodes), 2))
        began = time.process_time()
        criteria = [Criterion(rows, x, y) for x, y in pairs]
        for criterion in criteria:
            list(criterion.sets())
        middle = time.process_time()
        for x, y in pairs:
            adjustment_sets(pag, pag.labels[x], pag.labels[y])
        found[PACKAGE] += time.process_time() - middle  # type: ignore[assignment]
        found[DEFINITION] += middle - began  # type: ignore[assignment]
        for (x, y), criterion in zip(pairs, criteria, strict=True):
            try:
                found[compare(pag, criterion, x, y)] += 1
                if criterion.possible and criterion.amenable:
                    compare_measured(pag, criterion, x, y)
            except AssertionError as wrong:
                found[DISAGREE] += 1
                print(f"{pag}, {pag.labels[x]} on {pag.labels[y]}: {wrong}", file=sys.stderr)
    return found


def main() -> int:
    """Compare all, and say how many there were."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--nodes", type=int, choices=sorted(COUNTS), default=5)
    parser.add_argument("--jobs", type=int, default=1)
    chosen = parser.parse_args()
    pags = len(load(chosen.nodes).pags)
    began = time.perf_counter()
    parcels = [(chosen.nodes, first, first + 250) for first in range(0, pags, 250)]
    with Pool(chosen.jobs) as pool:
        found = sum(pool.imap_unordered(compared, parcels), Counter())
    pairs = pags * chosen.nodes * (chosen.nodes - 1)
    seconds = time.perf_counter() - began
    print(f"{pags:,} PAGs of {chosen.nodes} nodes, {pairs:,} ordered pairs, in {seconds:.0f} s; {found[DISAGREE]} {DISAGREE}")
    for what in sorted(set(found) - {DISAGREE, DEFINITION, PACKAGE}):
        print(f"  {what:14} {found[what]:9,}")
    print(f"  {DEFINITION}: {found[DEFINITION]:.1f}; {PACKAGE}: {found[PACKAGE]:.1f}")
    return int(found[DISAGREE] > 0)


if __name__ == "__main__":
    sys.exit(main())

"""How often the demonstration finds what: its study on many seeds.

    python benchmarks/demo_seeds.py                                                # the first hundred seeds, with 1,800 and 18,000 rows
    python benchmarks/demo_seeds.py --out src/consilience/cli/demo_seeds.json      # and keep the answers, for the demonstration to count

No seed is left out. ``consilience demo`` shows the first of them.
"""

from __future__ import annotations

import os

os.environ["OPENBLAS_NUM_THREADS"] = os.environ["OMP_NUM_THREADS"] = "1"  # before numpy loads

import argparse
import sys
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from consilience.cli.demo_study import FIRST, ROWS, TRUTH, Series, answer, kinds_of_answers, written


def study(rows: int, seeds: int) -> Series:
    """The answers of the first seeds."""
    return Series(rows, tuple(answer(rows, seed) for seed in range(FIRST, FIRST + seeds)))


def lines(series: Series) -> list[str]:
    """What is printed of them."""
    answers = series.answers
    words = [f"{series.rows:,} rows, {len(answers)} seeds; made from what has the PAG {TRUTH}"]
    words += [f"{count:5}  {kind}" for kind, count in kinds_of_answers(answers).items()]
    words.append(f"{sum(found.overruled > 0 for found in answers):5}  have decisions that contradict each other")
    words.append(f"{sum(found.as_pooled for found in answers):5}  list what pooled rows lead to")
    words.append("which graphs:")
    words += [f"{count:5}  {'; '.join(graphs)}" for graphs, count in Counter(found.graphs for found in answers).most_common()]
    return words


def main(arguments: Sequence[str] | None = None) -> int:
    """Count, print, and write."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=100)
    parser.add_argument("--rows", type=int, nargs="+", default=[ROWS, 10 * ROWS])
    parser.add_argument("--out", type=Path, help="write all answers to this file")
    chosen = parser.parse_args(arguments)
    found = []
    for rows in chosen.rows:
        found.append(study(rows, chosen.seeds))
        print("\n".join(lines(found[-1])), end="\n\n", flush=True)
    if chosen.out:
        chosen.out.write_text(written(found), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())

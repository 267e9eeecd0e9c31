"""How often each test rejects a true independence: where models hold, and where they do not.

Two tables. One has every pair of kinds, drawn from the response models that the likelihood test assumes. The other has what real tables
have: effects that bend, noise that grows, slopes and spreads that differ between sites, wards, counts
(``consilience.simulate.violations``). X and Y are independent given Z in all of them::

    python benchmarks/calibration.py --replications 2000 --out docs/calibration.md

Rejections are kept in ``docs/calibration.jsonl``, block by block: a run that was interrupted goes on where it stopped, a later run adds
what is missing, and ``--page`` only writes the page from what is kept. Take the lines of a test out of the file when the test changes.
``--methods``, ``--sizes`` and ``--rows`` choose parts. KCI is causal-learn's, on the pooled rows, the sites as further columns of Z; it is
asked up to n = 400 and for a tenth of the replications; the models of 200 levels, and of 20 sites, that we compare with do a tenth in many
rows, and where one of them rejects more than 0.15 after 500 replications, it is asked no more.

A cell of ours that is outside its interval with so many replications is asked five times as often: among two hundred figures one is outside
by chance. Exit code 1 if a test is outside its interval where its assumptions hold, or above 0.075 elsewhere.
"""

from __future__ import annotations

import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # before numpy: the work is spread over processes, not threads

import argparse
import sys
import time
import zlib
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from itertools import combinations_with_replacement
from pathlib import Path

import calibration_page as page
from compared import METHODS, available, replications
from consilience.simulate.violations import SITUATIONS, Drawn

SIZES = (100, 400, 2000, 10000)
PAIR_SIZES = (60, 1000)
KINDS = ("continuous", "binary", "ordinal", "multinomial", "count")
PAIRS = tuple(f"{x} – {y}" for x, y in combinations_with_replacement(KINDS, 2))
OTHERS = tuple(name for name in SITUATIONS if " given " not in name)
HELD = {name for name in OTHERS if SITUATIONS[name].holds} | set(PAIRS)
"""Where the assumptions of our tests hold."""
BLOCK = 50
SETTLED, CLEARLY = 500, 0.15
"""After so many replications, a test to compare with that rejects more often than this is asked no more: it does not hold there."""
FURTHER = 5
"""Times the replications for a cell that is outside its interval, which tells chance from a test that is wrong."""
KEEP = Path(__file__).parents[1] / "docs" / "calibration.jsonl"


def drawn(row: str, n: int, replication: int) -> Drawn:
    """The data of one replication. For a pair of kinds, Z is of each kind in turn."""
    name = f"{row} given {KINDS[replication % len(KINDS)]}" if row in PAIRS else row
    return SITUATIONS[name].draw(n, [replication, n, zlib.crc32(row.encode())])


def kinds(row: str) -> set[str]:
    """The kinds of X and Y, but for continuous ones."""
    return set(row.split(" – ")) if row in PAIRS else {SITUATIONS[row].kinds[v] for v in "XY" if v in SITUATIONS[row].kinds}


def levels(row: str) -> int:
    """The most levels that X or Y was declared with; pairs of kinds have few."""
    return max(SITUATIONS[row].levels.get(name, 0) for name in "XY") if row in SITUATIONS else 0


def block(task: page.Block) -> page.Block:
    """The rejections among some replications, and the processor seconds they took."""
    test, start = METHODS[task.method], time.process_time()
    p = [test(drawn(task.row, task.n, r)) for r in range(task.first, task.first + task.count)]
    return task.answered(p, time.process_time() - start)


def tasks(args: argparse.Namespace, kept: page.Kept, most: int) -> list[page.Block]:
    """What is not kept yet of so many replications, small tables first."""
    found = []
    for row in args.rows:
        for n in (PAIR_SIZES if row in PAIRS else SIZES) if args.sizes is None else args.sizes:
            if n < SITUATIONS.get(row, SITUATIONS["linear"]).sites:
                continue
            for method in args.methods:
                have = kept.count(row, n, method)
                if method not in page.OURS and have >= SETTLED and kept.share(row, n, method, 0.05) > CLEARLY:
                    continue
                count = replications(method, n, most, kinds(row), levels(row), SITUATIONS[row].sites if row in SITUATIONS else 4)
                found += [page.Block(row, n, method, i, min(BLOCK, count - i)) for i in range(have, count, BLOCK)]
    return sorted(found, key=lambda b: (b.first, b.n))


def doubtful(args: argparse.Namespace, kept: page.Kept) -> list[page.Block]:
    """Further replications of what is outside its interval."""
    cells = [cell for cell in kept.outside(HELD) if cell[0] in args.rows and cell[2] in args.methods]
    most = FURTHER * args.replications
    return [page.Block(*cell, i, min(BLOCK, most - i)) for cell in cells for i in range(kept.count(*cell), most, BLOCK)]


def main(arguments: Sequence[str] | None = None) -> int:
    """Do what is missing, then write the page."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--replications", type=int, default=2000)
    parser.add_argument("--processes", type=int, default=min(2, os.cpu_count() or 1))
    parser.add_argument("--keep", type=Path, default=KEEP, help="where rejections are kept, as JSON lines")
    parser.add_argument("--out", type=Path, help="write the page as Markdown")
    parser.add_argument("--page", action="store_true", help="only write the page, from what is kept")
    parser.add_argument("--methods", nargs="+", choices=list(METHODS), default=available())
    parser.add_argument("--sizes", nargs="+", type=int)
    parser.add_argument("--rows", nargs="+", choices=[*OTHERS, *PAIRS], default=[*OTHERS, *PAIRS], metavar="ROW")
    args = parser.parse_args(arguments)
    kept = page.Kept.read(args.keep)
    if not args.page:
        with ProcessPoolExecutor(args.processes) as pool:
            for choose in (partial(tasks, most=SETTLED), partial(tasks, most=args.replications), doubtful):
                todo = choose(args, kept)
                for i, done in enumerate(pool.map(block, todo), 1):
                    kept.add(done, args.keep)
                    print(f"{i}/{len(todo)}  {done.row}  n = {done.n}  {done.method}", flush=True)
    kept.write(args.keep)
    print(kept.text(OTHERS, PAIRS))
    if args.out:
        args.out.write_text(page.page(kept, OTHERS, PAIRS), encoding="utf-8")
    wrong = kept.outside(HELD)
    print(*wrong.values(), sep="\n")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())

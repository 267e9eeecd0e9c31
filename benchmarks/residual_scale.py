"""What tests of residuals cost: beside the likelihood test, and as rows grow to a million.

All 80 tests of five mixed variables at four sites, masks and ledgers included; then one test of three numbers, whose time must be linear in
the rows::

    python benchmarks/residual_scale.py

Each size runs in a process of its own, small ones several times, of which the fastest counts; ``fedci`` is asked without diagnostics, which
take a third of its time. Up to some hundred thousand rows the columns of curves are kept from round to round, and beyond that made anew, so
that a row takes longer once; what must be linear is what comes after. Exit code 1 if at 5,000 rows ``residual`` takes more than twice the
CPU time of ``fedci`` or more than 15 rounds, or if time is not linear in the rows.
"""

from __future__ import annotations

import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # before numpy: CPU time of one core

import argparse
import resource
import sys
import time
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from typing import NamedTuple

import numpy as np
import polars as pl

import consilience as cs
from consilience.citest.question import all_questions

SITES, MOST_RATIO, MOST_ROUNDS = 4, 2.0, 15
REPEATS, FEW = 7, 5_000
LINEAR = 1.5
"""A row of the largest table may take so many times as long as one of the table before it."""


class Cost(NamedTuple):
    """CPU seconds, rounds, and the peak of resident memory in MiB beyond what the data took."""

    seconds: float
    rounds: int
    mib: float


def resident() -> float:
    """The peak of resident memory so far, in MiB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def mixed(n: int, method: str) -> Cost:
    """All tests of five mixed variables, after a small study that loads what is loaded once."""
    found: list[Cost] = []
    for rows in (400, *[n] * (REPEATS if n <= FEW else 1)):
        clients = [cs.Client(name, frame) for name, frame in cs.simulate.mixed_sites(n=rows, sites=SITES, seed=1).items()]
        server = cs.Server(clients, method=method, diagnostics=False)
        asked = [(q.x, q.y, q.given) for q in all_questions(tuple(server.schema))]
        before, start = resident(), time.process_time()
        server.test_many(asked)
        found.append(Cost(time.process_time() - start, server.rounds, resident() - before))
    return min(found[1:])._replace(mib=found[1].mib)  # memory grows once


def numbers(n: int, alternatives: str) -> Cost:
    """One test of three numbers."""
    for rows in (400, n):
        rng = np.random.default_rng(1)
        z = rng.standard_normal(rows)
        frame = pl.DataFrame({v: np.sin(2.0 * z) + rng.standard_normal(rows) for v in "XY"} | {"Z": z})
        size = rows // SITES
        clients = [cs.Client(f"site{k}", frame[k * size : (k + 1) * size]) for k in range(SITES)]
        server = cs.Server(clients, method="residual", alternatives=alternatives)
        before, start = resident(), time.process_time()
        server.test("X", "Y", ["Z"])
        cost = Cost(time.process_time() - start, server.rounds, resident() - before)
    return cost


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure, print, and say whether targets are met."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--mixed", nargs="*", type=int, default=[5_000, 50_000], help="rows of the 80 tests")
    parser.add_argument("--numbers", nargs="*", type=int, default=[100_000, 1_000_000, 2_000_000], help="rows of the test of three numbers")
    args = parser.parse_args(arguments)
    wrong: list[str] = []
    with ProcessPoolExecutor(1, mp_context=get_context("spawn"), max_tasks_per_child=1) as pool:
        for n in args.mixed:
            found = {method: pool.submit(mixed, n, method).result() for method in ("fedci", "residual")}
            ratio = found["residual"].seconds / found["fedci"].seconds
            costs = (f"{m} {c.seconds:.2f} s, {c.rounds} rounds, {c.mib:.0f} MiB" for m, c in found.items())
            print(f"80 tests, n = {n:,}", *costs, f"ratio {ratio:.2f}", sep="; ", flush=True)
            if n <= FEW and (ratio > MOST_RATIO or found["residual"].rounds > MOST_ROUNDS):
                wrong.append(f"n = {n:,}: {ratio:.2f} × fedci, {found['residual'].rounds} rounds")
        for alternatives in ("linear", "smooth"):
            grown = {n: pool.submit(numbers, n, alternatives).result() for n in args.numbers}
            for n, cost in grown.items():
                per_row = 1e6 * cost.seconds / n
                print(f"one test, {alternatives}, n = {n:,}: {cost.seconds:.2f} s, {per_row:.2f} µs a row, {cost.mib:.0f} MiB", flush=True)
            largest = sorted(grown)[-2:]
            if len(largest) == 2 and grown[largest[1]].seconds / largest[1] > LINEAR * grown[largest[0]].seconds / largest[0]:
                wrong.append(f"{alternatives}: not linear in the rows from {largest[0]:,} to {largest[1]:,}")
    print(*wrong, sep="\n")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())

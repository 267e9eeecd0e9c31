"""How much faster a site of many rows is in two threads: the same tests, by the clock, with one thread over with two.

Two sites of a million rows of five mixed variables in memory, all tests with at most one variable given; runs alternate, and the least of
several is taken of each: noise only adds. Results are the same to the last bit. On a machine with busy cores the ratio says nothing::

    python benchmarks/threads.py
    python benchmarks/threads.py --rows 2000000 --diagnostics
"""

from __future__ import annotations

import os

# One BLAS thread, and one of polars, set before they load: the threads are those of the site.
os.environ["OPENBLAS_NUM_THREADS"] = os.environ["OMP_NUM_THREADS"] = os.environ["POLARS_MAX_THREADS"] = "1"

import argparse
import sys
import time

import polars as pl

import consilience as cs

LEAST = 1.8
"""Near twice, on two cores. Python itself runs in one thread at a time, and hands over tens of thousands of times."""


def run(frames: dict[str, pl.DataFrame], threads: int, *, diagnostics: bool) -> tuple[float, float, pl.DataFrame]:
    """Seconds by the clock and of processors, and all tests."""
    clients = [cs.Client(name, frame, threads=threads) for name, frame in frames.items()]
    server = cs.Server(clients, on_dropout="stop", single_site="refuse", diagnostics=diagnostics)
    clock, work = time.perf_counter(), time.process_time()
    tests = server.test_all(max_given=1)
    return time.perf_counter() - clock, time.process_time() - work, tests


def main() -> int:
    """Print both times and their ratio; exit code 1 if two threads gain too little, or change a digit."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=1_000_000, help="of each of two sites")
    parser.add_argument("--repetitions", type=int, default=3)
    parser.add_argument("--diagnostics", action="store_true", help="also whether linear models hold, as studies do by default")
    args = parser.parse_args()
    frames = cs.simulate.mixed_sites(n=2 * args.rows, sites=2, seed=1)
    times: dict[int, list[tuple[float, float]]] = {1: [], 2: []}
    tables: dict[int, pl.DataFrame] = {}
    for _ in range(args.repetitions):
        for threads, found in times.items():
            clock, work, tables[threads] = run(frames, threads, diagnostics=args.diagnostics)
            found.append((clock, work))
    least = {threads: min(found) for threads, found in times.items()}
    ratio, same = least[1][0] / least[2][0], tables[1].equals(tables[2])
    for threads, (clock, work) in least.items():
        print(
            f"2 sites, {args.rows:,} rows each, {tables[1].height} tests, {threads} thread(s): {clock:.2f} s ({work:.2f} s of processors)"
        )
    failed = not same or ratio < LEAST
    print(f"{ratio:.2f} times as fast (at least {LEAST}), results {'equal' if same else 'DIFFER'}: {'MISSED' if failed else 'pass'}")
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())

"""How long a hundred replicates take, and how many rounds: six mixed variables at four sites of a thousand rows.

    python benchmarks/bootstrap_speed.py [--replicates 100] [--rows 1000]

Prints processor seconds of the plain discovery and of the one with replicates, their ratio per replicate, rounds, bytes and memory. Exit
code 1 if replicates take more than 120 processor seconds, or more than twice the rounds of the plain discovery.
"""

from __future__ import annotations

import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # before numpy

import argparse
import resource
import sys
import time

import numpy as np
import polars as pl

import consilience as cs

MOST_SECONDS, MOST_ROUNDS = 120.0, 2.0


def clients(rows: int, sites: int = 4) -> list[cs.Client]:
    """Two numbers, a binary, an ordinal and a multinomial variable (``simulate.mixed_sites``), and a number that depends on the first."""
    rng = np.random.default_rng(18)
    frames = cs.simulate.mixed_sites(n=rows * sites, sites=sites, seed=18)
    return [cs.Client(k, f.with_columns(F=pl.Series(0.4 * f["A"].to_numpy() + rng.normal(size=f.height)))) for k, f in frames.items()]


def main() -> int:
    """Measure both, and compare."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--replicates", type=int, default=100)
    parser.add_argument("--rows", type=int, default=1000, help="of each of four sites")
    given = parser.parse_args()
    sites, taken = clients(given.rows), []
    for replicates in (0, given.replicates):
        server, start, wall = cs.Server(sites), time.process_time(), time.perf_counter()
        found = cs.discover(server, bootstrap=replicates)
        taken.append((time.process_time() - start, time.perf_counter() - wall, server.rounds, server.bytes, found))
    (plain, _, rounds, _, _), (both, wall, _, size, found) = taken
    assert found.stability is not None
    each = (both - plain) / given.replicates
    print(f"plain discovery: {plain:.2f} s, {rounds} rounds, {found.tests.height} tests")
    print(
        f"{given.replicates} replicates: {both - plain:.1f} processor seconds ({wall:.0f} s by the clock), {each:.2f} s each, "
        f"{each / plain:.2f} of the plain discovery"
    )
    print(f"rounds of all replicates: {found.stability.rounds} ({found.stability.rounds / rounds:.2f} of the plain discovery)")
    print(f"{size / 1e6:.0f} MB over a network, {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3:.0f} MB of memory for all sites")
    return int(both - plain > MOST_SECONDS or found.stability.rounds > MOST_ROUNDS * rounds)


if __name__ == "__main__":
    sys.exit(main())

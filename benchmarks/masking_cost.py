"""What masking costs: CPU time of all 80 tests with masks over that without, in one process.

Key agreement is part of it: every run begins with a fresh server. Runs with and without masks alternate, and medians are compared::

    python benchmarks/masking_cost.py
"""

from __future__ import annotations

import os

# One BLAS thread, set before numpy loads: CPU seconds then mean work done, not threads that wait for each other.
os.environ["OPENBLAS_NUM_THREADS"] = os.environ["OMP_NUM_THREADS"] = "1"

import argparse
import statistics
import sys
import time

import consilience as cs

TARGETS = {4: 1.3, 20: 2.0}


def seconds(clients: list[cs.Client], *, masking: bool) -> float:
    """CPU seconds of a fresh server and all its tests."""
    start = time.process_time()
    cs.Server(clients, masking=masking).test_all()
    return time.process_time() - start


def main() -> int:
    """Print a line per number of clients; exit code 1 if a target is missed."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--n", type=int, default=5000, help="rows over all clients")
    parser.add_argument("--repetitions", type=int, default=9)
    args = parser.parse_args()
    missed = False
    for sites, target in TARGETS.items():
        frames = cs.simulate.mixed_sites(n=args.n, sites=sites, seed=1)
        clients = [cs.Client(name, frame) for name, frame in frames.items()]
        seconds(clients, masking=True)
        masked, plain = [], []
        for _ in range(args.repetitions):
            masked.append(seconds(clients, masking=True))
            plain.append(seconds(clients, masking=False))
        ratio = statistics.median(masked) / statistics.median(plain)
        missed = missed or ratio > target
        verdict = "pass" if ratio <= target else "MISSED"
        print(
            f"{sites:2d} clients, n = {args.n}: {statistics.median(masked):.3f} s masked, {statistics.median(plain):.3f} s plain, "
            f"ratio {ratio:.2f} (at most {target}: {verdict})"
        )
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())

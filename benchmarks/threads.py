"""How much faster a site of many rows is on two processors: the same tests, by the clock, with ``threads=1`` over ``threads=2``.

Two sites of a million rows of five mixed variables in memory, all tests with at most one variable given. The second thread is a process,
which the first run starts when sums have taken half a second; how long that run took is printed beside. Results are the same to the last
bit.

Two processors do not do twice the work of one: they share a cache, memory and power, and on a rented machine more. What they do is measured
in the same run, by two programs side by side that have nothing to do with each other; nine tenths of it is near twice. The three take
turns, and the least of several is taken of each: noise only adds. On a machine with busy cores none of it says anything::

    python benchmarks/threads.py
    python benchmarks/threads.py --rows 2000000 --diagnostics
    python benchmarks/threads.py --memory "512 MiB"             # too little for a process: two threads
"""

from __future__ import annotations

import os

# One BLAS thread, and one of polars, set before they load: the threads are those of the site.
os.environ["OPENBLAS_NUM_THREADS"] = os.environ["OMP_NUM_THREADS"] = os.environ["POLARS_MAX_THREADS"] = "1"

import argparse
import subprocess
import sys
import time

import polars as pl

import consilience as cs
from consilience.data.helpers import helpers
from processors import seconds_of_processors

LEAST = 0.9
"""Of what two processors give to two programs that do not know each other: 1.8 times as fast as one where that is twice."""


def run(frames: dict[str, pl.DataFrame], threads: int, memory: str | None, *, diagnostics: bool) -> tuple[float, float, pl.DataFrame]:
    """Seconds by the clock and of processors, and all tests."""
    clients = [cs.Client(name, frame, threads=threads, memory=memory) for name, frame in frames.items()]
    server = cs.Server(clients, on_dropout="stop", single_site="refuse", diagnostics=diagnostics)
    clock, work = time.perf_counter(), seconds_of_processors()
    tests = server.test_all(max_given=1)
    return time.perf_counter() - clock, seconds_of_processors() - work, tests


class Stranger:
    """A program that does all with ``threads=1`` whenever it is told to, beside another that does the same."""

    def __init__(self, rows: int, *, diagnostics: bool) -> None:
        command = [sys.executable, __file__, "--stranger", "--rows", str(rows), *(["--diagnostics"] if diagnostics else [])]
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.told, self.says = self.process.stdin, self.process.stdout
        self.says.readline()  # its tables are made

    def begin(self) -> None:
        """All tests once more."""
        self.told.write("begin\n")
        self.told.flush()

    def seconds(self) -> float:
        """How long they took."""
        return float(self.says.readline())

    def end(self) -> None:
        """No more."""
        self.told.close()
        self.process.wait()
        self.says.close()


def stranger(frames: dict[str, pl.DataFrame], *, diagnostics: bool) -> None:
    """One of these programs, as it runs."""
    print("ready", flush=True)
    for _ in sys.stdin:
        print(run(frames, 1, None, diagnostics=diagnostics)[0], flush=True)


def main() -> int:
    """Print the times and their ratios; exit code 1 if the second thread gains too little, or changes a digit."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=1_000_000, help="of each of two sites")
    parser.add_argument("--repetitions", type=int, default=4)
    parser.add_argument("--diagnostics", action="store_true", help="also whether linear models hold, as studies do by default")
    parser.add_argument("--memory", help="that a site's table may take")
    parser.add_argument("--stranger", action="store_true", help=argparse.SUPPRESS)
    args = parser.parse_args()
    frames = cs.simulate.mixed_sites(n=2 * args.rows, sites=2, seed=1)
    if args.stranger:
        stranger(frames, diagnostics=args.diagnostics)
        return 0
    strangers = [Stranger(args.rows, diagnostics=args.diagnostics) for _ in range(2)]
    times: dict[int, list[tuple[float, float]]] = {1: [], 2: []}
    side_by_side = list[float]()
    tables: dict[int, pl.DataFrame] = {}
    for _ in range(args.repetitions):
        for threads, found in times.items():
            clock, work, tables[threads] = run(frames, threads, args.memory, diagnostics=args.diagnostics)
            found.append((clock, work))
        for each in strangers:
            each.begin()
        side_by_side.append(sum(each.seconds() for each in strangers) / len(strangers))
    for each in strangers:
        each.end()
    least = {threads: min(found) for threads, found in times.items()}
    for threads, (clock, work) in least.items():
        print(
            f"2 sites, {args.rows:,} rows each, {tables[1].height} tests, threads={threads}: {clock:.2f} s ({work:.2f} s of processors), "
            f"at first {times[threads][0][0]:.2f} s"
        )
    ratio, same, possible = least[1][0] / least[2][0], tables[1].equals(tables[2]), 2 * least[1][0] / min(side_by_side)
    failed = not same or ratio < LEAST * possible
    helped = f"with {len(helpers.there)} process beside" if helpers.there else "without a process beside"
    print(f"two programs side by side, threads=1: {min(side_by_side):.2f} s each: two processors do {possible:.2f} times the work of one")
    print(
        f"{ratio:.2f} times as fast {helped}, {ratio / possible:.2f} of what is possible (at least {LEAST}), "
        f"results {'equal' if same else 'DIFFER'}: {'MISSED' if failed else 'pass'}"
    )
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())

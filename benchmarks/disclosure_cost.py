"""What the rules of the disclosure model cost in time: rounds, bytes and CPU seconds of a whole study, with them over without.

Five mixed variables over four sites, all 80 tests, in one process; a fresh server each time, so that statements and keys are part of it.
Runs alternate, and the least of several is taken of each: noise only adds. It is taken of each part of a study, from one model at one site
to the next, and these are added up: on a busy machine no whole run goes by undisturbed, and of most parts one does. Exit code 1 if there
are more than two rounds more, or more than 10 % of CPU time::

    python benchmarks/disclosure_cost.py
"""

from __future__ import annotations

import os

# One BLAS thread, set before numpy loads: CPU seconds then mean work done, not threads that wait for each other.
os.environ["OPENBLAS_NUM_THREADS"] = os.environ["OMP_NUM_THREADS"] = "1"

import argparse
import sys
import time
from collections.abc import Callable
from itertools import pairwise
from typing import Any, NamedTuple

import consilience as cs
from consilience.federation.site.half import SiteHalf
from consilience.protocol import evaluate
from consilience.protocol.diagnose import DiagnoseAsk

STOP = {"on_dropout": "stop", "single_site": "refuse"}
RULES: dict[str, dict[str, Any]] = {
    "no rules": {**STOP, "min_cell": 1},
    "aggregate": {**STOP, "min_cell": 5},
    "strict": {**STOP, "min_cell": 5, "isolation": "strict"},
}
MOST_ROUNDS, MOST_TIME = 2, 1.10


class Cost(NamedTuple):
    """Of one study: CPU seconds of its parts, in their order."""

    parts: list[float]
    rounds: int
    bytes: int


MARKS: list[float] = []
"""CPU time at the beginning and the end of every part of the study that runs."""


def watch(owner: object, name: str) -> None:
    """Mark the beginning and the end of every call of a function or method."""
    plain: Callable[..., Any] = getattr(owner, name)

    def marked(*args: Any, **options: Any) -> Any:
        MARKS.append(time.process_time())
        found = plain(*args, **options)
        MARKS.append(time.process_time())
        return found

    setattr(owner, name, marked)


def cost(clients: list[cs.Client], rules: dict[str, Any]) -> Cost:
    """A fresh server and all its tests."""
    MARKS[:] = [time.process_time()]
    server = cs.Server(clients, **rules)
    server.test_all()
    MARKS.append(time.process_time())
    return Cost([end - start for start, end in pairwise(MARKS)], server.rounds, server.bytes)


def least(runs: list[Cost]) -> float:
    """CPU seconds of the same study, which has the same parts every time."""
    return sum(map(min, zip(*(run.parts for run in runs), strict=True)))


def main() -> int:
    """Print a line for each kind of tables and rules."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--n", type=int, default=5000, help="rows over all sites")
    parser.add_argument("--sites", type=int, default=4)
    parser.add_argument("--repetitions", type=int, default=9)
    args = parser.parse_args()
    for owner in (SiteHalf, DiagnoseAsk, evaluate):
        watch(owner, "answer")
    missed = False
    for words, made in (
        ("complete tables", {}),
        ("two sites lack a variable", {"absent": {0: ["B"], 1: ["D"]}}),
        ("3 % of values missing", {"missing": 0.03}),
    ):
        frames = cs.simulate.mixed_sites(n=args.n, sites=args.sites, seed=1, **made)
        clients = [cs.Client(name, frame) for name, frame in frames.items()]
        runs = {name: [cost(clients, rules)] for name, rules in RULES.items()}  # warms up
        for _ in range(args.repetitions):
            for name, rules in RULES.items():
                runs[name].append(cost(clients, rules))
        seconds, before = {name: least(found) for name, found in runs.items()}, runs["no rules"][0]
        for name, (found, *_) in runs.items():
            ratio, more = seconds[name] / seconds["no rules"], found.rounds - before.rounds
            failed = ratio > MOST_TIME or more > MOST_ROUNDS
            missed = missed or failed
            print(
                f"{words}, {args.sites} sites, n = {args.n}, {name}: {seconds[name]:.3f} s, ratio {ratio:.2f} (at most {MOST_TIME:.2f}); "
                f"{found.rounds} rounds, {more:+d} (at most +{MOST_ROUNDS}); {found.bytes / before.bytes:.2f} of the bytes: "
                f"{'MISSED' if failed else 'pass'}"
            )
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())

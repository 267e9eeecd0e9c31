"""What the rules of the disclosure model cost in time: rounds, bytes and CPU seconds of a whole study, with them over without.

Five mixed variables over four sites, all 80 tests, in one process; a fresh server each time, so that statements and keys are part of it.
Runs alternate, and the least of several is taken of each: noise only adds. It is taken of each part of a study, from one model at one site
to the next, and these are added up: on a busy machine no whole run goes by undisturbed, and of most parts one does. Exit code 1 if there
are more than two rounds more, or more than 10 % of CPU time::

    python benchmarks/disclosure_cost.py

Rules may also have made slower what is done without them. Today's code with rules can be held against the code before there were any,
which is checked out beside it; whole studies, in processes that alternate::

    git worktree add ../before 1f15b00~1
    python benchmarks/disclosure_cost.py --before ../before
"""

from __future__ import annotations

import os

# One BLAS thread, set before numpy loads: CPU seconds then mean work done, not threads that wait for each other.
os.environ["OPENBLAS_NUM_THREADS"] = os.environ["OMP_NUM_THREADS"] = "1"

import argparse
import json
import subprocess
import sys
import time
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
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
TABLES: dict[str, dict[str, Any]] = {
    "complete tables": {},
    "two sites lack a variable": {"absent": {0: ["B"], 1: ["D"]}},
    "3 % of values missing": {"missing": 0.03},
}
WHOLE = """
import json, sys, time
import consilience as cs
tables, rules, n, sites = json.loads(sys.argv[1])
found = []
for made in tables:
    if "absent" in made:
        made["absent"] = {int(site): names for site, names in made["absent"].items()}
    frames = cs.simulate.mixed_sites(n=n, sites=sites, seed=1, **made)
    clients, times = [cs.Client(name, frame) for name, frame in frames.items()], []
    for _ in range(5):
        start = time.process_time()
        cs.Server(clients, **rules).test_all()
        times.append(time.process_time() - start)
    found.append(min(times))
print(json.dumps(found))
"""
"""CPU seconds of whole studies, by whatever code is found first: that of before knows no rules and no parts."""


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


def whole(source: Path, rules: dict[str, Any], n: int, sites: int) -> list[float]:
    """CPU seconds of a study of each kind of tables, by the code in a folder."""
    asked = json.dumps([list(TABLES.values()), rules, n, sites])
    environment = os.environ | {"PYTHONPATH": str(source.resolve())}
    done = subprocess.run([sys.executable, "-c", WHOLE, asked], env=environment, capture_output=True, text=True, check=True)
    found: list[float] = json.loads(done.stdout)
    return found


def against(before: Path, n: int, sites: int, repetitions: int) -> bool:
    """Print today's code with rules over the code of before; True if that is too much."""
    today = Path(__file__).parents[1] / "src"
    runs: dict[str, list[list[float]]] = {}
    for _ in range(repetitions):
        runs.setdefault("before", []).append(whole(before / "src", STOP, n, sites))
        for name in ("aggregate", "strict"):
            runs.setdefault(name, []).append(whole(today, RULES[name], n, sites))
    best = {name: [min(times) for times in zip(*found, strict=True)] for name, found in runs.items()}
    missed = False
    for name in ("aggregate", "strict"):
        for words, seconds, reference in zip(TABLES, best[name], best["before"], strict=True):
            failed = seconds / reference > MOST_TIME
            missed = missed or failed
            print(
                f"{words}, {sites} sites, n = {n}, {name}: {seconds:.3f} s, before there were rules {reference:.3f} s, "
                f"ratio {seconds / reference:.2f} (at most {MOST_TIME:.2f}): {'MISSED' if failed else 'pass'}"
            )
    return missed


def main() -> int:
    """Print a line for each kind of tables and rules."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--n", type=int, default=5000, help="rows over all sites")
    parser.add_argument("--sites", type=int, default=4)
    parser.add_argument("--repetitions", type=int, default=9)
    parser.add_argument("--before", type=Path, help="a folder with the code of before, to hold today's against")
    args = parser.parse_args()
    if args.before is not None:
        return int(against(args.before, args.n, args.sites, args.repetitions))
    for owner in (SiteHalf, DiagnoseAsk, evaluate):
        watch(owner, "answer")
    missed = False
    for words, made in TABLES.items():
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

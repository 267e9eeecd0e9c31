"""Whether linear models hold: how often that is doubted where they do, how often it is seen where they do not, and what looking costs.

    python benchmarks/diagnostics.py [--replications 300] [--studies 40]

The data are those of :mod:`consilience.simulate.violations`, at four sites. A check of a test is the smaller p-value of its two directions,
doubled. Prints three tables in Markdown.
"""

from __future__ import annotations

import os

os.environ["OPENBLAS_NUM_THREADS"] = os.environ["OMP_NUM_THREADS"] = "1"

import argparse
import time

import numpy as np

import consilience as cs
from consilience.citest import CIResult
from consilience.citest.question import Question
from consilience.data.kinds import Kind, Variable
from consilience.data.schema import Schema
from consilience.simulate.methods import ask_sites
from consilience.simulate.violations import SITUATIONS, Drawn

LEVEL = 0.05
CHECKS = ("curvature", "variance", "slopes")
TRUE = (("continuous", 400), ("binary", 400), ("ordinal", 400), ("multinomial", 400), ("multinomial", 2000), ("count", 400))
"""Kinds of both variables, given a number; all models are true."""
ROWS = 2000
DECLARED = ("linear", "counts")
BENT = (
    *("square", "sine", "product", "step", "noise grows", "slopes by site", "noise by site", "zero-inflated"),
    *("binary square", "binary slopes"),
)


def asked(data: Drawn, *, declared: bool = True) -> CIResult:
    """The answer of the sites; counts that are not declared are taken as numbers."""
    kinds = {name: Kind(kind) if declared or kind != "count" else Kind.CONTINUOUS for name, kind in data.kinds.items()}
    levels = {name: tuple(map(str, data.levels.get(name, range(2)))) for name, kind in kinds.items() if kind.is_discrete}
    schema = Schema([Variable(name, kind, levels.get(name, ())) for name, kind in kinds.items()])
    (found,) = ask_sites(data.frames, schema, [Question("X", "Y", data.given)])
    return found


def shares(kind: str, n: int, replications: int) -> str:
    """How often each check is below the level, where it says anything."""
    situation = SITUATIONS[f"{kind} – {kind} given continuous"]
    found = [asked(situation.draw(n, seed=[n, r])).diagnostics for r in range(replications)]
    cells = []
    for check in CHECKS:
        told = [p for one in found if one is not None and (p := getattr(one, f"{check}_p")) is not None]
        cells.append(f"{np.mean(np.array(told) < LEVEL):.3f}" if len(told) > replications // 2 else "–")
    return f"| {kind}, n = {n:,} | {' | '.join(cells)} |"


def flagged(name: str, studies: int, *, declared: bool = True) -> int:
    """In how many studies the linear models of a test are said not to hold."""
    found = (asked(SITUATIONS[name].draw(ROWS, seed=[7, r]), declared=declared).linear_p for r in range(studies))
    return sum(p is not None and p < LEVEL for p in found)


def price(*, diagnostics: bool, times: int = 5) -> tuple[float, int, int]:
    """CPU seconds, rounds and bytes of all tests of five mixed variables; the least of several runs."""
    frames = cs.simulate.mixed_sites(n=5000, sites=4, seed=1)
    taken = []
    for _ in range(times):
        server = cs.Server([cs.Client(name, frame) for name, frame in frames.items()], diagnostics=diagnostics)
        begun = time.process_time()
        server.test_all()
        taken.append(time.process_time() - begun)
    return min(taken), server.rounds, server.bytes


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--replications", type=int, default=300)
    parser.add_argument("--studies", type=int, default=40)
    options = parser.parse_args()
    print(f"All models true; share of checks below {LEVEL}, {options.replications} replications:\n")
    print(f"| X and Y | {' | '.join(CHECKS)} |\n|---|---|---|---|", flush=True)
    for kind, n in TRUE:
        print(shares(kind, n, options.replications), flush=True)
    print(f"\n`linear_p` < {LEVEL}, of {options.studies} studies with {ROWS:,} rows:\n\n| data | studies |\n|---|---|", flush=True)
    for name in (*DECLARED, *BENT):
        print(f"| {SITUATIONS[name].about} | {flagged(name, options.studies)} |", flush=True)
    print(f"| {SITUATIONS['counts'].about}, taken as numbers | {flagged('counts', options.studies, declared=False)} |")
    (plain, rounds, sent), (looked, more_rounds, more) = price(diagnostics=False), price(diagnostics=True)
    print("\n| 80 tests of five mixed variables, 4 × 1,250 rows | CPU | rounds | bytes |\n|---|---|---|---|")
    print(f"| tests alone | {plain:.2f} s | {rounds} | {sent:,} |\n| with the checks | {looked:.2f} s | {more_rounds} | {more:,} |")


if __name__ == "__main__":
    main()

"""Type-I error of the federated test for every pair of kinds.

X and Y are independent given Z and the site. Four sites of 250 rows, an intercept of its own at every site for every variable, Z of each
kind in turn. Rejections at 0.05 and 0.01 must lie within the 99% interval of the binomial distribution::

    python benchmarks/calibration.py --replications 2000 --out docs/calibration.md
"""

from __future__ import annotations

import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # before numpy: the work is spread over processes, not threads

import argparse
import sys
import time
from concurrent.futures import ProcessPoolExecutor
from itertools import combinations_with_replacement
from pathlib import Path

import numpy as np
import polars as pl
from numpy.typing import NDArray
from scipy import stats

import consilience as cs

KINDS = ("continuous", "binary", "ordinal", "multinomial", "count")
LEVELS = (0.05, 0.01)
SITES, ROWS = 4, 250


def draw(kind: str, signal: NDArray[np.float64], rng: np.random.Generator) -> NDArray[np.float64]:
    """One variable that depends on ``signal`` as its own response model says; codes for the discrete kinds."""
    n = len(signal)
    if kind == "continuous":
        return signal + rng.normal(size=n)
    if kind == "count":
        return rng.poisson(np.exp(1.0 + 0.6 * signal)).astype(float)
    if kind == "binary":
        return (signal + rng.logistic(size=n) > 0).astype(float)
    if kind == "ordinal":
        return np.digitize(signal + rng.logistic(size=n), [-1.2, 0.0, 1.2]).astype(float)
    scores = np.outer(signal, [0.0, 0.8, -0.8, 0.4]) + rng.gumbel(size=(n, 4))
    return np.argmax(scores, axis=1).astype(float)


def one_site(kinds: tuple[str, str, str], effects: NDArray[np.float64], rng: np.random.Generator) -> pl.DataFrame:
    """X ⫫ Y | Z at one site. ``effects`` holds what each level of Z (or its value) does to X and Y."""
    own = rng.normal(0.0, 0.7, size=3)
    z = draw(kinds[2], np.full(ROWS, own[2]), rng)
    score = {"continuous": 0.5 * z, "count": 0.25 * (z - 3.0)}.get(kinds[2])
    pull = [e[z.astype(int)] if score is None else e[0] * score for e in effects]
    x, y = (draw(kinds[i], own[i] + pull[i], rng) for i in range(2))
    columns = {"X": (x, kinds[0]), "Y": (y, kinds[1]), "Z": (z, kinds[2])}
    return pl.DataFrame({name: v if kind == "continuous" else v.astype(np.int64) for name, (v, kind) in columns.items()})


def p_value(pair: tuple[str, str], replication: int) -> float:
    """The p-value of one replication."""
    kinds = (*pair, KINDS[replication % len(KINDS)])
    rng = np.random.default_rng([replication, KINDS.index(pair[0]), KINDS.index(pair[1])])
    effects = rng.uniform(-1.0, 1.0, size=(2, 4))
    declared = dict(zip("XYZ", kinds, strict=True))
    levels = {name: range(4) for name, kind in declared.items() if kind in ("ordinal", "multinomial")}
    frames = [one_site(kinds, effects, rng) for _ in range(SITES)]
    clients = [cs.Client(f"s{k}", frame, kinds=declared, levels=levels) for k, frame in enumerate(frames)]
    return cs.Server(clients).test("X", "Y", ["Z"]).p_value


def block(task: tuple[tuple[str, str], range]) -> list[float]:
    """Several replications of one pair."""
    pair, replications = task
    return [p_value(pair, r) for r in replications]


def main() -> int:
    """Run all pairs, print the table, write it if asked; exit code 1 if a cell is outside its interval."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--replications", type=int, default=2000)
    parser.add_argument("--processes", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--out", type=Path, help="write the table as Markdown")
    args = parser.parse_args()
    n, size = args.replications, 100
    bounds = {a: [int(b) for b in stats.binom.interval(0.99, n, a)] for a in LEVELS}
    rows, outside, start = [], 0, time.perf_counter()
    with ProcessPoolExecutor(args.processes) as pool:
        for pair in combinations_with_replacement(KINDS, 2):
            parts = pool.map(block, [(pair, range(i, min(i + size, n))) for i in range(0, n, size)])
            p = np.array([value for part in parts for value in part])
            cells = []
            for level in LEVELS:
                rejected = int((p < level).sum())
                inside = bounds[level][0] <= rejected <= bounds[level][1]
                outside += not inside
                cells.append(f"{rejected / n:.4f}" + ("" if inside else " (outside)"))
            rows.append((f"{pair[0]} – {pair[1]}", *cells, f"{stats.kstest(p, 'uniform').pvalue:.3f}"))
            print(*rows[-1], f"{time.perf_counter() - start:.0f} s", sep="  ", flush=True)
    text = report(rows, n, bounds)
    if args.out:
        args.out.write_text(text, encoding="utf-8")
    print(f"{outside} of {2 * len(rows)} cells outside their 99% interval")
    return 1 if outside else 0


def report(rows: list[tuple[str, ...]], n: int, bounds: dict[float, list[int]]) -> str:
    """The page in docs/."""
    intervals = ", ".join(f"{b[0] / n:.4f} to {b[1] / n:.4f} at {a}" for a, b in bounds.items())
    table = "\n".join(f"| {' | '.join(row)} |" for row in rows)
    return f"""# Calibration

How often the federated test rejects a true independence. X and Y are independent given Z and the site; {SITES} sites of {ROWS} rows with
intercepts of their own for every variable; Z is continuous, binary, ordinal, multinomial and a count in turn; {n:,} replications
for each pair of kinds; default settings (profiled site effects, proportional odds). The 99% interval of the binomial distribution is
{intervals}. Made by `make calibration`.

| X – Y | rejected at 0.05 | rejected at 0.01 | uniform? (Kolmogorov–Smirnov p) |
|---|---|---|---|
{table}

The last column compares the whole distribution of p-values with the uniform one. The combined p-value, min{{2 min(p), max(p)}}, is not
exactly uniform where the two directions differ; what matters for decisions is the share of rejections.
"""


if __name__ == "__main__":
    sys.exit(main())

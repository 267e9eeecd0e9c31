"""Is the summary complete where the list is too long to finish?

Random sparse MAGs over 20 and 30 variables, three data sets that lack 30% of the variables each, a perfect CI test, a time limit of 60 CPU
seconds. Each case runs in a process of its own.

    python benchmarks/iod_summary.py                                               the table
    python benchmarks/iod_summary.py --before 15ef29e                              with the same cases by an earlier version
    python benchmarks/iod_summary.py --before 15ef29e --out docs/summary-scale.md  and the page

Exit code 1 if a summary is not complete, says something that is not so in the true MAG, or if the median after the tests is 60 CPU seconds
or more.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import tarfile
import tempfile
import time
from collections.abc import Sequence
from io import BytesIO
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np
import polars as pl

from consilience.graph import DAG, MAG, Oracle, latent_projection
from consilience.iod import Summary, discover
from consilience.iod.solution import Solution

SIZES = (20, 30)
SEEDS = 11
LEAST, MOST = 2.0, 2.5
"""The average degree goes from the one to the other over the seeds."""
CONFOUNDED, LACKING = 0.3, 0.3
LIMIT = 60.0
MARKS = ("arrow", "tail", "circle")


def random_mag(n: int, degree: float, rng: np.random.Generator) -> MAG:
    """The latent projection of a random DAG in which some edges are latent common causes instead."""
    names = [f"V{i:02d}" for i in range(n)]
    order = rng.permutation(n)
    pairs = [(i, j) for j in range(n) for i in range(j)]
    edges = []
    for k in rng.choice(len(pairs), size=round(degree * n / 2), replace=False):
        a, b = (names[order[v]] for v in pairs[k])
        edges += [f"L{a}{b} --> {a}", f"L{a}{b} --> {b}"] if rng.random() < CONFOUNDED else [f"{a} --> {b}"]
    joined = {name for edge in edges for name in edge.split(" --> ")}
    return latent_projection(DAG.parse(", ".join(edges + [name for name in names if name not in joined])), names)


def draw(n: int, seed: int) -> tuple[MAG, list[list[str]]]:
    """A MAG and the variables of three data sets that have all of them together."""
    rng = np.random.default_rng([n, seed])
    mag = random_mag(n, LEAST + (MOST - LEAST) * (seed % SEEDS) / (SEEDS - 1), rng)
    while True:
        lacking = [set(rng.choice(n, size=round(LACKING * n), replace=False).tolist()) for _ in range(3)]
        if not set.intersection(*lacking):
            return mag, [[name for i, name in enumerate(mag.labels) if i not in lacks] for lacks in lacking]


def ancestors(mag: MAG) -> set[tuple[str, str]]:
    """Pairs of a variable and another that a directed path leads to."""
    children: dict[str, set[str]] = {name: set() for name in mag.labels}
    for edge in mag.edges:
        if str(edge) == f"{edge.a} --> {edge.b}":
            children[edge.a].add(edge.b)
    found = set()
    for name in mag.labels:
        reached, queue = set[str](), [name]
        for v in queue:
            queue += children[v] - reached
            reached |= children[v]
        found |= {(name, other) for other in reached}
    return found


def wrong(summary: Summary, mag: MAG) -> int:
    """How many statements on all or none are not so in the true MAG, which is one of them."""
    causes, found = ancestors(mag), 0
    kinds = {2: "arrow", 3: "tail"}
    for row in summary.frame.iter_rows(named=True):
        x, y = row["x"], row["y"]
        so = {"edge": mag.adjacent(x, y)}
        for end, (a, b) in (("x", (y, x)), ("y", (x, y))):
            so |= {f"{mark}_at_{end}": kinds.get(int(mag.mark(a, b))) == mark for mark in ("arrow", "tail")}
            if so["edge"] and row.get(f"mark_at_{end}") in kinds.values():
                found += row[f"mark_at_{end}"] != kinds[int(mag.mark(a, b))]
            found += row[f"circle_at_{end}"] == "all" and not so["edge"]
        so |= {"x_causes_y": (x, y) in causes, "y_causes_x": (y, x) in causes}
        for name, holds in so.items():
            none = row.get(name) == "none" and (name in ("edge", "x_causes_y", "y_causes_x") or row[f"circle{name[-5:]}"] == "none")
            found += (row.get(name) == "all" and not holds) or (none and holds)
    return found


def measure(n: int, seed: int) -> dict[str, Any]:
    """One case, in this process. All clocks count its CPU seconds, on a busy machine as on an idle one."""
    mag, datasets = draw(n, seed)
    spent = 0.0
    summarise = Solution.summary

    def timed(self: Solution, *rest: Any) -> Summary:
        nonlocal spent
        start = time.process_time()
        found = summarise(self, *rest)
        spent = time.process_time() - start
        return found

    clocks = patch.multiple("time", perf_counter=time.process_time, monotonic=time.process_time)
    with clocks, patch.object(Solution, "summary", timed):
        found = discover(Oracle(mag, datasets), time_limit=LIMIT)
    frame = found.summary.frame
    said = frame.select(name for name in frame.columns if name not in "xy" and frame.schema[name] == pl.String)
    statuses = [status for column in said.iter_columns() for status in column]
    return {
        "n": n,
        "seed": seed,
        "degree": 2 * len(mag.edges) / n,
        "pags": len(found.pags),
        "listed": found.complete,
        "summary": found.summary.complete,
        "unknown": statuses.count("unknown"),
        "statements": len(statuses),
        "left_out": statuses.count(None),
        "in_all": frame["edge"].to_list().count("all"),
        "wrong": wrong(found.summary, mag),
        "tests_seconds": found.timings["tests"],
        "graphs_seconds": found.timings["graphs"],
        "summary_seconds": spent,
        "megabytes": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
    }


def in_child(n: int, seed: int, source: Path | None) -> dict[str, Any]:
    """One case in a process of its own, by the package that is installed or by that in a folder."""
    environment = {**os.environ, "OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1", "POLARS_MAX_THREADS": "1"}
    if source is not None:
        environment["PYTHONPATH"] = str(source)
    command = [sys.executable, __file__, "--case", str(n), str(seed)]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(f"n = {n}, seed {seed}: {done.stderr.strip()}")
    row: dict[str, Any] = json.loads(done.stdout)
    return row


def run(sizes: Sequence[int], seeds: int, source: Path | None = None) -> dict[int, list[dict[str, Any]]]:
    """All cases of one version."""
    found: dict[int, list[dict[str, Any]]] = {}
    for n in sizes:
        for seed in range(seeds):
            row = in_child(n, seed, source)
            found.setdefault(n, []).append(row)
            told = ", ".join(f"{key} {value:,.6g}" for key, value in row.items() if key not in ("n", "seed"))
            print(f"{'before' if source else 'now'} {n} {seed}: {told}", flush=True)
    return found


def spread(rows: Sequence[dict[str, Any]], key: str, form: str = "{:,.1f}") -> str:
    """Median and maximum."""
    values = [row[key] for row in rows]
    return f"{form.format(float(np.median(values)))} / {form.format(float(max(values)))}"


HEAD = (
    *("variables", "version", "cases", "lists complete", "PAGs listed", "summaries complete", "statements unknown"),
    *("marks left out", "tests, CPU s", "after the tests, CPU s", "of it summary", "memory, MB"),
)


def rows_of(versions: dict[str, dict[int, list[dict[str, Any]]]]) -> list[list[str]]:
    """One row per number of variables and version."""
    rows = []
    for n in sorted({n for found in versions.values() for n in found}):
        for version, found in versions.items():
            cases = found.get(n, [])
            if cases:
                counts = [str(sum(row[key] for row in cases)) for key in ("listed", "summary")]
                numbers = [spread(cases, key) for key in ("tests_seconds", "graphs_seconds", "summary_seconds")]
                unknown = f"{spread(cases, 'unknown', '{:,.0f}')} of {cases[0]['statements']:,}"
                head = [str(n), version, str(len(cases)), counts[0], spread(cases, "pags", "{:,.0f}"), counts[1], unknown]
                head.append(spread(cases, "left_out", "{:,.0f}"))
                rows.append([*head, *numbers, spread(cases, "megabytes", "{:,.0f}")])
    return rows


def faults(found: dict[int, list[dict[str, Any]]]) -> list[str]:
    """What is not as required."""
    broken = []
    for n, cases in found.items():
        for row in cases:
            broken += [] if row["summary"] else [f"{n} variables, seed {row['seed']}: {row['unknown']} statements are unknown"]
            broken += [f"{n} variables, seed {row['seed']}: {row['wrong']} statements are wrong"] if row["wrong"] else []
        if np.median([row["graphs_seconds"] for row in cases]) >= LIMIT:
            broken.append(f"{n} variables: the median exceeds {LIMIT:g} CPU seconds")
    return broken


def markdown(rows: Sequence[Sequence[str]]) -> str:
    """A table in Markdown."""
    return "\n".join([f"| {' | '.join(HEAD)} |", f"|{'---|' * len(HEAD)}", *(f"| {' | '.join(row)} |" for row in rows)])


def text(rows: Sequence[Sequence[str]]) -> str:
    """A table for the terminal."""
    widths = [max(len(row[i]) for row in (HEAD, *rows)) for i in range(len(HEAD))]
    return "\n".join("  ".join(cell.rjust(width) for cell, width in zip(row, widths, strict=True)) for row in (HEAD, *rows))


def page(rows: Sequence[Sequence[str]], found: dict[int, list[dict[str, Any]]], broken: Sequence[str], command: str) -> str:
    """The page in docs/."""
    degrees = [row["degree"] for cases in found.values() for row in cases]
    outcome = "Every condition was met." if not broken else f"**Violated: {'; '.join(broken)}.**"
    edges = ", ".join(f"{spread(cases, 'in_all', '{:,.0f}')} with {n}" for n, cases in found.items())
    return f"""# The summary of lists that are too long

Random sparse MAGs with an average degree of {min(degrees):.1f} to {max(degrees):.1f}, {CONFOUNDED:.0%} of their edges latent common causes
before the projection. Three data sets lack {LACKING:.0%} of the variables each. A perfect CI test, the default limit on the list, a time
limit of {LIMIT:g} CPU seconds. Seeds from 0 on, none left out.

Required: every summary is complete, whatever became of the list; what it says of all or of no graph is so in the true MAG; the median after
the tests is below {LIMIT:g} CPU seconds. {outcome}

Median / most over the cases of a row.

{markdown(rows)}

A *statement* is whether a pair has an edge, which marks stand at its ends, and, now, who is an ancestor of whom: in all, some or none. What
all MAGs share is decided by a few dozen answers of the solver (`iod/solver/consequences.py`), so that it does not matter how many classes
there are. The version before looked for circles class by class. *Left out* are marks of PAGs at ends where MAGs differ, if the listed
PAGs do not tell: whether those that are not listed have an arrowhead, a tail or a circle there is the one thing that takes the whole list,
and nothing that holds in all graphs depends on it.
Once it has a graph, a list may take half of the time limit; the rest is
the summary's. Edges that all graphs have (median / most): {edges} variables.

Made by `{command}`.
"""


def source_of(commit: str, folder: Path) -> Path:
    """The package as it was at a commit."""
    root = Path(__file__).parents[1]
    archive = subprocess.run(["git", "-C", str(root), "archive", commit, "src"], capture_output=True, check=True).stdout
    with tarfile.open(fileobj=BytesIO(archive)) as tar:
        tar.extractall(folder, filter="data")
    return folder / "src"


def main() -> int:
    """Run all cases, print what was found, write the page if asked; exit code 1 if a condition is violated."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sizes", type=int, nargs="*", default=SIZES)
    parser.add_argument("--seeds", type=int, default=SEEDS, help="cases per number of variables")
    parser.add_argument("--before", help="a commit to compare with")
    parser.add_argument("--before-seeds", type=int, default=3, help="cases per number of variables for that")
    parser.add_argument("--out", type=Path, help="write the page as Markdown")
    parser.add_argument("--case", type=int, nargs=2, help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.case:
        print(json.dumps(measure(*args.case)))
        return 0
    versions = {}
    if args.before:
        with tempfile.TemporaryDirectory() as folder:
            versions["before"] = run(args.sizes, args.before_seeds, source_of(args.before, Path(folder)))
    versions["now"] = run(args.sizes, args.seeds)
    rows, broken = rows_of(versions), faults(versions["now"])
    print(f"\n{text(rows)}")
    for fault in broken:
        print(f"violated: {fault}")
    if args.out:
        before = f" --before {args.before} --before-seeds {args.before_seeds}" if args.before else ""
        command = f"python benchmarks/iod_summary.py{before} --out docs/{args.out.name}"
        args.out.write_text(page(rows, versions["now"], broken, command), encoding="utf-8")
    return 1 if broken else 0


if __name__ == "__main__":
    sys.exit(main())

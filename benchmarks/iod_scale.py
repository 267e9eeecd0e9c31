"""How many variables the exact engine can do: complete lists for 10 to 25, a complete summary for 30.

Random sparse MAGs: 5n/4 pairs of the n variables, drawn at random, get an edge (an average degree of 2.5), along a random order of the
variables; three in ten of them a common cause that nobody measures instead. The MAG is the latent projection of that DAG, which makes it
ancestral and maximal and adds few edges. Two data sets lack two variables each, not the same: four pairs are never seen together.
A perfect CI test.

Every case runs in a process of its own, for its CPU seconds (tests and graphs) and its greatest memory. The peer is the published algorithm
on the same kind of cases, as far as it gets::

    python benchmarks/iod_scale.py --out docs/iod-scale.md

Denser and larger cases have a table of their own, with CPU seconds and memory capped. Beside it stand the figures of the code before edges
that neighbours cannot separate were looked for where they can be; they are kept in a file and measured again, on the same cases, with
``--before`` and the folder that has that code.

Exit code 1 if a list lacks the truth, is not complete, or differs from that of the published algorithm; if a summary has gaps; or if a
median exceeds its target.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np

from consilience.citest import CIResult, CITest
from consilience.citest.question import Question
from consilience.graph import DAG, MAG, Oracle, latent_projection, mag_to_pag
from consilience.iod import discover

SIZES = (10, 15, 20, 25, 30)
PEER_SIZES = (5, 6, 7)
DEGREE, CONFOUNDED = 2.5, 0.3
TARGETS = {20: 5.0, 25: 30.0}
"""CPU seconds in the median, for tests and graphs together."""
PROTOTYPE = {15: "2", 20: "7–9", 25: "93"}
"""CPU seconds of a prototype of 50 lines on cases of this kind, unshielded triples as its only redundant constraints; measured earlier."""
REACH = tuple((n, degree) for n in (20, 30, 40) for degree in (2.0, 2.5, 3.5))
CAP_SECONDS, CAP_GIGABYTES = 60, 6
"""What a denser or larger case may take, in CPU seconds and in memory that it asks for, before it counts as not finished."""
MOST_MEGABYTES = {(30, 2.5): 1000.0}
BEFORE = Path(__file__).with_name("iod_scale_before.json")
SUMMARY_ONLY = 30
SHORT = 50
"""Where the summary is asked of the solver, the list is cut at this length."""


def random_mag(n: int, rng: np.random.Generator, degree: float = DEGREE) -> MAG:
    """The MAG of a random DAG with latent common causes, by the recipe above."""
    names = [f"V{i:02d}" for i in range(n)]
    order = rng.permutation(n)
    pairs = [(i, j) for j in range(n) for i in range(j)]
    chosen = [pairs[k] for k in rng.choice(len(pairs), size=round(degree * n / 2), replace=False)]
    edges = []
    for i, j in chosen:
        a, b = names[order[i]], names[order[j]]
        edges += [f"L{a}{b} --> {a}", f"L{a}{b} --> {b}"] if rng.random() < CONFOUNDED else [f"{a} --> {b}"]
    joined = {name for edge in edges for name in edge.split(" --> ")}
    return latent_projection(DAG.parse(", ".join(edges + [name for name in names if name not in joined])), names)


def draw(n: int, seed: int, degree: float = DEGREE) -> tuple[MAG, list[list[str]]]:
    """A MAG and the variables of two data sets."""
    rng = np.random.default_rng([n, seed])
    mag = random_mag(n, rng, degree)
    lacking = rng.choice(n, size=4, replace=False)
    return mag, [[name for i, name in enumerate(mag.labels) if i not in lacks] for lacks in (lacking[:2], lacking[2:])]


class Remembered(CITest):
    """A test that answers a question once: a second run on the same case costs graphs only."""

    def __init__(self, test: CITest) -> None:
        self.variables, self.datasets = test.variables, test.datasets
        self._test = test
        self._known: dict[Question, CIResult] = {}

    def answer(self, questions: Sequence[Question], progress: Any = None) -> list[CIResult]:
        """Answer checked questions."""
        new = [question for question in questions if question not in self._known]
        self._known |= dict(zip(new, self._test.answer(new, progress), strict=True))
        return [self._known[question] for question in questions]


def measure(n: int, seed: int, engine: str) -> dict[str, Any]:
    """One case, in this process."""
    mag, datasets = draw(n, seed)
    truth = mag_to_pag(mag)
    oracle = Oracle(mag, datasets)
    row: dict[str, Any] = {"n": n, "seed": seed, "engine": engine, "edges": len(mag.edges)}
    row["confounded"] = sum(edge.at_a == edge.at_b for edge in mag.edges)
    test = Remembered(oracle) if n >= SUMMARY_ONLY else oracle
    limits = (SHORT, None) if n >= SUMMARY_ONLY else (None,)
    for limit in limits:
        before = time.process_time()
        with patch("time.perf_counter", time.process_time):  # so that timings are CPU seconds, on a busy machine as on an idle one
            found = discover(test, engine=engine, limit=limit, time_limit=None)
        seconds = time.process_time() - before
        row["summary"] = row.get("summary", True) and found.summary.complete
        if limit is not None:
            row |= {"short_graphs": found.timings["graphs"], "short_cut": not found.complete}
            tests_seconds, short_seconds = found.timings["tests"], seconds
        else:
            tests_seconds = tests_seconds if n >= SUMMARY_ONLY else found.timings["tests"]
            row |= {"tests_seconds": tests_seconds, "graphs_seconds": found.timings["graphs"]}
            row["rest_seconds"] = max(0.0, seconds - sum(found.timings.values()))
            row |= {"tests": found.tests.height, "pags": len(found.pags), "complete": found.complete}
            row["truth"] = truth in found.pags
            row["list"] = sorted(map(str, found.pags)) if n in PEER_SIZES else []
    row["seconds"] = short_seconds if n >= SUMMARY_ONLY else seconds
    row["megabytes"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return row


def in_child(n: int, seed: int, engine: str, patience: float) -> dict[str, Any] | None:
    """One case, in a process of its own; None if it takes more than ``patience`` CPU seconds."""
    most = int(patience)
    command = [sys.executable, __file__, "--case", str(n), str(seed), engine]
    threads = {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1", "POLARS_MAX_THREADS": "1"}
    environment = {**os.environ, **threads}
    limit = partial(resource.setrlimit, resource.RLIMIT_CPU, (most, most + 5))
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False, preexec_fn=limit)
    if done.returncode == -signal.SIGXCPU:
        return None
    if done.returncode:
        raise RuntimeError(f"n = {n}, seed {seed}, {engine}: {done.stderr.strip()}")
    row: dict[str, Any] = json.loads(done.stdout)
    return row


def measure_reach(n: int, seed: int, degree: float) -> dict[str, Any]:
    """One denser or larger case, in this process, which ends if it takes too much; the list is cut."""
    resource.setrlimit(resource.RLIMIT_CPU, (CAP_SECONDS, CAP_SECONDS + 5))
    resource.setrlimit(resource.RLIMIT_AS, (CAP_GIGABYTES << 30, CAP_GIGABYTES << 30))
    mag, datasets = draw(n, seed, degree)
    before = time.process_time()
    with patch("time.perf_counter", time.process_time):
        found = discover(Oracle(mag, datasets), limit=SHORT)
    row: dict[str, Any] = {"n": n, "seed": seed, "degree": degree, "seconds": time.process_time() - before}
    row |= {"tests_seconds": found.timings["tests"], "tests": found.tests.height, "pags": len(found.pags)}
    row["right"] = mag_to_pag(mag) in found.pags or not found.complete
    row["megabytes"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return row


def reach_in_child(n: int, seed: int, degree: float, source: Path | None) -> dict[str, Any]:
    """One denser or larger case in a process of its own, with this code or with that in ``source``; if not finished, which cap it met."""
    command = [sys.executable, __file__, "--reach-case", str(n), str(seed), str(degree)]
    changes = {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1", "POLARS_MAX_THREADS": "1"}
    changes |= {} if source is None else {"PYTHONPATH": str(source)}
    done = subprocess.run(command, env={**os.environ, **changes}, capture_output=True, text=True, check=False)
    if done.returncode == 0:
        row: dict[str, Any] = json.loads(done.stdout)
        return row
    late = done.returncode in (-signal.SIGXCPU, -signal.SIGKILL)
    if not late and "MemoryError" not in done.stderr and "bad_alloc" not in done.stderr:
        raise RuntimeError(f"n = {n}, degree {degree:g}, seed {seed}: {done.stderr.strip()}")
    return {"n": n, "seed": seed, "degree": degree, "over": "seconds" if late else "megabytes"}


def run_reach(cells: Sequence[tuple[int, float]], seeds: int, source: Path | None, broken: list[str]) -> list[dict[str, Any]]:
    """All denser and larger cases; ``broken`` gets what is violated."""
    rows = []
    for n, degree in cells:
        for seed in range(seeds):
            row = reach_in_child(n, seed, degree, source)
            rows.append(row)
            what = f"{n} variables, degree {degree:g}, seed {seed}"
            print(what, ", ".join(f"{key} {row[key]:,.6g}" for key in ("seconds", "tests", "megabytes") if key in row), row.get("over", ""))
            if not row.get("right", True):
                broken.append(f"{what}: the list lacks the truth")
            if row.get("megabytes", 0.0) > MOST_MEGABYTES.get((n, degree), np.inf) or row.get("over") == "megabytes":
                broken.append(f"{what}: too much memory")
    return rows


def middle(rows: Sequence[dict[str, Any]], key: str, form: str) -> str:
    """Median and maximum, where cases that were not finished count as more than any."""
    if not rows:
        return "–"
    values = sorted(row.get(key, np.inf) for row in rows)
    cap = {"seconds": f"over {CAP_SECONDS}"}.get(key, "–")
    shown = [cap if value == np.inf else form.format(value) for value in (float(np.median(values)), values[-1])]
    return " / ".join(shown)


def reach_table(before: list[dict[str, Any]], after: list[dict[str, Any]]) -> tuple[list[str], list[list[str]]]:
    """One row per number of variables and degree."""
    head = ["variables", "degree", "cases", "finished before", "finished now"]
    head += [f"{what}, {when}" for what in ("CPU s", "CI tests", "memory, MB") for when in ("before", "now")]
    rows = []
    for n, degree in REACH:
        cells = [[row for row in some if (row["n"], row["degree"]) == (n, degree)] for some in (before, after)]
        if any(cells):
            done = [str(sum("over" not in row for row in cell)) if cell else "–" for cell in cells]
            numbers = [middle(cell, key, form) for key, form in PLAIN.items() for cell in cells]
            rows.append([str(n), f"{degree:g}", str(max(map(len, cells))), *done, *numbers])
    return head, rows


PLAIN = {"seconds": "{:,.2f}", "tests": "{:,.0f}", "megabytes": "{:,.0f}"}


def faults(row: dict[str, Any]) -> list[str]:
    """What is wrong with a case."""
    wrong = [] if row["truth"] else ["the list lacks the truth"]
    wrong += [] if row["complete"] else ["the list is not complete"]
    return wrong + ([] if row["summary"] else ["the summary is not complete"])


def spread(rows: Sequence[dict[str, Any]], key: str, form: str = "{:,.2f}") -> str:
    """Median and maximum."""
    values = [row[key] for row in rows]
    return f"{form.format(float(np.median(values)))} / {form.format(float(max(values)))}" if values else "–"


def sizes_table(found: dict[int, list[dict[str, Any]]], late: dict[int, int]) -> tuple[list[str], list[list[str]]]:
    """One row per number of variables."""
    head = ["variables", "cases", "CPU s", "of it tests", "of it graphs", "CI tests", "PAGs", "memory, MB", "target", "prototype"]
    rows = []
    for n, cases in found.items():
        size = f"{len(cases)}" + (f" (+ {late[n]} not finished)" if late.get(n) else "")
        numbers = [spread(cases, key) for key in ("seconds", "tests_seconds", "graphs_seconds")]
        numbers += [spread(cases, key, "{:,.0f}") for key in ("tests", "pags", "megabytes")]
        rows.append([str(n), size, *numbers, f"{TARGETS[n]:g}" if n in TARGETS else "–", PROTOTYPE.get(n, "–")])
    return head, rows


def lengths_table(found: dict[int, list[dict[str, Any]]]) -> tuple[list[str], list[list[str]]]:
    """How long the lists are."""
    bounds = (1, 10, 100, 1_000, 10_000)
    head = ["variables", "1 PAG", *(f"to {b:,}" for b in bounds[1:]), "more"]
    rows = []
    for n, cases in found.items():
        pags = np.array([row["pags"] for row in cases])
        rows.append([str(n), *(str(c) for c in np.histogram(pags, [0, *(b + 1 for b in bounds), np.inf])[0])])
    return head, rows


def peer_table(pairs: dict[int, list[tuple[dict[str, Any], dict[str, Any] | None]]]) -> tuple[list[str], list[list[str]]]:
    """Exact against published on small cases."""
    head = ["variables", "cases", "exact, CPU s", "published, CPU s", "ratio of the sums", "published not finished"]
    rows = []
    for n, both in pairs.items():
        done = [(one, other) for one, other in both if other is not None]
        late = len(both) - len(done)
        if not done:
            rows.append([str(n), str(len(both)), spread([one for one, _ in both], "seconds", "{:.3f}"), "–", "–", str(late)])
            continue
        ratio = sum(other["seconds"] for _, other in done) / sum(one["seconds"] for one, _ in done)
        columns = [spread([pair[i] for pair in done], "seconds", "{:.3f}") for i in (0, 1)]
        rows.append([str(n), str(len(both)), *columns, f"{ratio:.1f}", str(late)])
    return head, rows


def markdown(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A table in Markdown."""
    return "\n".join([f"| {' | '.join(head)} |", f"|{'---|' * len(head)}", *(f"| {' | '.join(row)} |" for row in rows)])


def text(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A table for the terminal."""
    widths = [max(len(row[i]) for row in (head, *rows)) for i in range(len(head))]
    return "\n".join("  ".join(cell.rjust(width) for cell, width in zip(row, widths, strict=True)) for row in (head, *rows))


def page(
    found: dict[int, list[dict[str, Any]]],
    late: dict[int, int],
    pairs: dict[int, list[Any]],
    reached: tuple[list[str], list[list[str]]],
    broken: Sequence[str],
    patience: float,
) -> str:
    """The page in docs/."""
    every = [row for cases in found.values() for row in cases]
    degree = np.mean([2 * row["edges"] / row["n"] for row in every])
    share = sum(row["confounded"] for row in every) / sum(row["edges"] for row in every)
    outcome = "Every condition was met." if not broken else f"**Violated: {'; '.join(broken)}.**"
    short = found.get(SUMMARY_ONLY, [])
    cut = [row for row in short if row["short_cut"]]
    unknown = sum(not row["summary"] for row in cut)
    summary = (
        f"With {SUMMARY_ONLY} variables, {len(cut)} of {len(short)} lists have more than {SHORT} PAGs. With `limit={SHORT}` the summary\n"
        f"of these was asked of the solver instead of counted; something stayed unknown in {unknown} of them. Everything after\n"
        f"the tests took {spread(short, 'short_graphs')} CPU seconds so (median / most, all cases), and\n"
        f"{spread(short, 'graphs_seconds')} with complete lists."
        if short
        else ""
    )
    cut_note = f" With {SUMMARY_ONLY} variables the\ntotal is that with a list of {SHORT} PAGs." if short else ""
    return f"""# How far the exact engine reaches

Random sparse MAGs: {DEGREE:g}·n/2 pairs of the n variables, drawn at random, get an edge along a random order of the variables, and
{CONFOUNDED:.0%} of them a latent common cause instead; the MAG is the latent projection of that DAG, which makes it ancestral and
maximal. The MAGs drawn here have an average degree of {degree:.2f}, and {share:.0%} of their edges are `<->`. Two data sets lack two
variables each, not the same. A perfect CI test. One process per case; no limit on the list.

Required: every list is complete and holds the true PAG; every summary is complete; the medians stay below their targets; the published
algorithm lists the same PAGs where it finishes. {outcome}

## CPU time and memory

Median / most over the cases of a row.

{markdown(*sizes_table(found, late))}

*Tests* are the adjacency searches with their CI tests, each of which the oracle answers by looking for a path. *Graphs* is everything
after: local PAGs, solver, list, ranking, summary, and the table of all tests.{cut_note} The
*prototype* of 50 lines took the CPU seconds of the last column on cases of this kind, most of them in grounding and the first
answer; its figures were measured earlier, not in this run. Memory is the greatest resident size of the process, Python and its
libraries included.

## Denser and larger

Cases of the same kind with other numbers of edges; the list is cut at {SHORT} PAGs. Median / most over the cases, of which each may take
{CAP_SECONDS} CPU seconds and {CAP_GIGABYTES} GB; one that takes more counts as not finished, and as more than any other. *Before* is
the code that tested every pair given all subsets of its possible-d-sep sets, as FCI does, and kept an object for each answer, on the same
cases, measured once (`--before`). Now the edges that neighbours cannot separate are looked for where they can be
([how](discovery.md)). What is left is mostly tests given neighbours, and the search for graphs; with 30 variables and degree 2.5 no case
may take 1 GB.

{markdown(*reached)}

## Length of the lists

How many cases have how many PAGs. Two data sets that lack two variables each leave four pairs that nobody measured together; how
much that leaves open differs widely from graph to graph.

{markdown(*lengths_table(found))}

## Summary without a list

{summary}

## Against the published algorithm

Cases of the same kind, `engine="iod"` and `engine="exact"` in the same run (median / most), {patience:g} CPU seconds at most for a case.

{markdown(*peer_table(pairs))}

Made by `python benchmarks/iod_scale.py --out docs/iod-scale.md`.
"""


Pairs = dict[int, list[tuple[dict[str, Any], dict[str, Any] | None]]]


def run_sizes(
    sizes: Sequence[int], seeds: int, patience: float, broken: list[str]
) -> tuple[dict[int, list[dict[str, Any]]], dict[int, int]]:
    """All cases of the exact engine, and how many were not finished; ``broken`` gets what is violated."""
    found: dict[int, list[dict[str, Any]]] = {}
    late: dict[int, int] = {}
    parts = ("tests_seconds", "graphs_seconds", "rest_seconds", "tests", "pags", "megabytes")
    for n in sizes:
        for seed in range(seeds):
            row = in_child(n, seed, "exact", patience)
            if row is None:
                late[n] = late.get(n, 0) + 1
                broken.append(f"{n} variables, seed {seed}: not finished in {patience:g} CPU s")
                continue
            found.setdefault(n, []).append(row)
            broken += [f"{n} variables, seed {seed}: {fault}" for fault in faults(row)]
            print(n, seed, f"{row['seconds']:.2f} s:", ", ".join(f"{key} {row[key]:,.6g}" for key in parts), flush=True)
        if n in found and n in TARGETS and np.median([row["seconds"] for row in found[n]]) >= TARGETS[n]:
            broken.append(f"{n} variables: the median exceeds {TARGETS[n]:g} CPU seconds")
    return found, late


def run_peers(sizes: Sequence[int], seeds: int, patience: float, broken: list[str]) -> Pairs:
    """Small cases by both engines; ``broken`` gets what is violated."""
    pairs: Pairs = {}
    for n in sizes:
        for seed in range(seeds):
            one, other = in_child(n, seed, "exact", patience), in_child(n, seed, "iod", patience)
            if one is None:
                broken.append(f"{n} variables, seed {seed}: not finished in {patience:g} CPU s")
                continue
            pairs.setdefault(n, []).append((one, other))
            broken += [f"{n} variables, seed {seed}: {fault}" for row in (one, other) if row for fault in faults(row)]
            if other is not None and one["list"] != other["list"]:
                broken.append(f"{n} variables, seed {seed}: the engines' lists differ")
    return pairs


def main() -> int:
    """Run all cases, print what was found, write the page if asked; exit code 1 if a condition is violated."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=11, help="cases per number of variables")
    parser.add_argument("--sizes", type=int, nargs="*", default=SIZES)
    parser.add_argument("--peer-sizes", type=int, nargs="*", default=PEER_SIZES)
    parser.add_argument("--patience", type=float, default=1800.0, help="CPU seconds before a case counts as not finished")
    parser.add_argument("--peer-patience", type=float, default=60.0, help="the same against the published algorithm")
    parser.add_argument("--out", type=Path, help="write the page as Markdown")
    parser.add_argument("--reach-seeds", type=int, default=5, help="denser and larger cases, per number of variables and degree")
    parser.add_argument(
        "--before", type=Path, help="measure the denser and larger cases with the code in this folder, and keep the figures"
    )
    parser.add_argument("--case", nargs=3, help=argparse.SUPPRESS)
    parser.add_argument("--reach-case", nargs=3, help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.reach_case:
        n, seed, degree = args.reach_case
        print(json.dumps(measure_reach(int(n), int(seed), float(degree))))
        return 0
    if args.before:
        BEFORE.write_text(json.dumps(run_reach(REACH, args.reach_seeds, args.before, []), indent=1) + "\n", encoding="utf-8")
        return 0
    if args.case:
        n, seed, engine = args.case
        print(json.dumps(measure(int(n), int(seed), engine)))
        return 0
    broken: list[str] = []
    found, late = run_sizes(args.sizes, args.seeds, args.patience, broken)
    before = json.loads(BEFORE.read_text(encoding="utf-8")) if BEFORE.exists() else []
    reached = reach_table(before, run_reach(REACH, args.reach_seeds, None, broken))
    pairs = run_peers(args.peer_sizes, args.seeds, args.peer_patience, broken)
    for tabled in (sizes_table(found, late), reached, lengths_table(found), peer_table(pairs)):
        print(f"\n{text(*tabled)}")
    for fault in broken:
        print(f"violated: {fault}")
    if args.out:
        args.out.write_text(page(found, late, pairs, reached, broken, args.peer_patience), encoding="utf-8")
    return 1 if broken else 0


if __name__ == "__main__":
    sys.exit(main())

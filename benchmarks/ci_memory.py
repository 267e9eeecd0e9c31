"""Memory of one level of tests as rows grow: it must stay linear, and a million rows must fit a small machine.

Eight variables of all kinds over four clients; every pair is tested given every single other variable. Each size runs in a process
of its own. What counts is the peak of resident memory above what the clients hold before the first test.

    python benchmarks/ci_memory.py
"""

from __future__ import annotations

import os

# One BLAS thread: its work buffers count as memory, and their number should not depend on the machine.
os.environ["OPENBLAS_NUM_THREADS"] = os.environ["OMP_NUM_THREADS"] = "1"

import argparse
import gc
import json
import resource
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

import consilience as cs
from consilience.citest.question import all_questions

MIB = 1 << 20
LIMIT_ROWS, LIMIT_MIB = 1_000_000, 2048
SITES = 4
LINEAR = 1.1
"""Memory per row may grow by this factor from the smallest to the largest size before growth no longer counts as linear."""
STATUS = Path("/proc/self/status")
CLEAR = Path("/proc/self/clear_refs")


def eight_variables(n: int, rng: np.random.Generator) -> pl.DataFrame:
    """One site: A, B, C continuous; D, E binary; F (three levels), G (five levels) ordinal; H multinomial (four levels)."""
    own = rng.normal(0.0, 0.5, size=8)
    a = own[0] + rng.normal(size=n)
    b = own[1] + 0.5 * a + rng.normal(size=n)
    c = own[2] - 0.4 * b + rng.normal(size=n)
    d = rng.random(n) < 1.0 / (1.0 + np.exp(-(own[3] + 0.6 * a)))
    e = rng.random(n) < 1.0 / (1.0 + np.exp(-(own[4] + 0.5 * c - 0.5 * d)))
    f = np.digitize(own[5] + 0.7 * b + rng.logistic(size=n), [-0.7, 0.9]) + 1
    g = np.digitize(own[6] + 0.5 * c + 0.6 * e + rng.logistic(size=n), [-1.5, -0.4, 0.5, 1.6]) + 1
    h = np.argmax(own[7] + np.outer(b, [0.0, 0.5, -0.5, 0.2]) + np.outer(d, [0.0, 0.3, 0.0, -0.4]) + rng.gumbel(size=(n, 4)), axis=1)
    return pl.DataFrame({"A": a, "B": b, "C": c, "D": d, "E": e, "F": f, "G": g, "H": np.array(["p", "q", "r", "s"])[h]})


def resident() -> int:
    """Resident memory now, in bytes (where the system does not say: the most there ever was)."""
    return _status("VmRSS") if STATUS.exists() else most()


def forget_most() -> None:
    """Let :func:`most` start anew, where the system can; otherwise the making of the data counts as well."""
    if CLEAR.exists():
        CLEAR.write_text("5")


def most() -> int:
    """The most resident memory so far, in bytes."""
    if STATUS.exists():
        return _status("VmHWM")
    unit = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit


def _status(field: str) -> int:
    line = next(line for line in STATUS.read_text().splitlines() if line.startswith(field + ":"))
    return int(line.split()[1]) * 1024


def measure(n: int, seed: int) -> dict[str, Any]:
    """Run one size in this process."""
    empty = resident()
    rng = np.random.default_rng(seed)
    clients = [cs.Client(f"site{k + 1}", eight_variables(n // SITES, rng)) for k in range(SITES)]
    gc.collect()
    before = resident()
    forget_most()
    start, cpu = time.perf_counter(), time.process_time()
    server = cs.Server(clients)
    questions = [q for q in all_questions(server.variables, max_given=1) if len(q.given) == 1]
    results = server.answer(questions)
    return {
        "n": n,
        "tests": len(results),
        "all_converged": all(r.converged for r in results),
        "empty_bytes": empty,
        "before_bytes": before,
        "most_bytes": most(),
        "above_bytes": most() - before,
        "wall_seconds": time.perf_counter() - start,
        "cpu_seconds": time.process_time() - cpu,
        "rounds": server.rounds,
    }


def in_process_of_its_own(n: int, seed: int) -> dict[str, Any]:
    """Run one size in a fresh interpreter."""
    command = [sys.executable, str(Path(__file__).resolve()), "--only", str(n), "--seed", str(seed)]
    run = subprocess.run(command, stdout=subprocess.PIPE, check=True, text=True)
    found: dict[str, Any] = json.loads(run.stdout)
    return found


def show(rows: list[dict[str, Any]]) -> None:
    """Print the figures, one size a row."""
    print(f"{rows[0]['tests']} tests given one variable each, {SITES} clients, one process a size; resident memory in MiB")
    widths = {
        "rows": 10,
        "at start": 10,
        "with data": 11,
        "peak": 8,
        "above data": 12,
        "bytes/row": 11,
        "wall s": 8,
        "CPU s": 8,
        "rounds": 8,
    }
    print("".join(f"{heading:>{width}}" for heading, width in widths.items()))
    for r in rows:
        empty, before, highest, above = (r[key] / MIB for key in ("empty_bytes", "before_bytes", "most_bytes", "above_bytes"))
        sizes = f"{empty:>10,.0f}{before:>11,.0f}{highest:>8,.0f}{above:>12,.0f}{r['above_bytes'] / r['n']:>11,.0f}"
        print(f"{r['n']:>10,}{sizes}{r['wall_seconds']:>8.1f}{r['cpu_seconds']:>8.1f}{r['rounds']:>8}")


def verdicts(rows: list[dict[str, Any]]) -> list[tuple[str, bool]]:
    """Every target that the sizes allow to check, and whether it is met."""
    checks = [
        (f"{r['n']:,} rows: {r['above_bytes'] / MIB:,.0f} MiB above the data, target < {LIMIT_MIB:,}", r["above_bytes"] < LIMIT_MIB * MIB)
        for r in rows
        if r["n"] >= LIMIT_ROWS
    ]
    first, last = rows[0], rows[-1]
    if last["n"] > first["n"]:
        growth = (last["above_bytes"] / last["n"]) / (first["above_bytes"] / first["n"])
        text = f"memory per row from {first['n']:,} to {last['n']:,} rows: ×{growth:.2f}, target ≤ {LINEAR} (linear growth is ×1)"
        checks.append((text, growth <= LINEAR))
    return checks


def main() -> int:
    """Measure every size, print the figures, and say whether targets are met."""
    parser = argparse.ArgumentParser(description="Peak memory of one level of CI tests.")
    parser.add_argument("--n", type=int, nargs="+", default=[250_000, 500_000, 1_000_000], metavar="ROWS")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--json", action="store_true", help="print figures as JSON instead of a table")
    parser.add_argument("--only", type=int, metavar="ROWS", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.only:
        print(json.dumps(measure(options.only, options.seed)))
        return 0
    rows = [in_process_of_its_own(n, options.seed) for n in sorted(options.n)]
    checks = verdicts(rows)
    if options.json:
        print(json.dumps({"rows": rows, "targets": [{"target": text, "met": met} for text, met in checks]}, indent=2))
    else:
        show(rows)
        for text, met in checks:
            print(f"{'pass' if met else 'FAIL'}  {text}")
    return 0 if all(met for _, met in checks) else 1


if __name__ == "__main__":
    sys.exit(main())

"""A site larger than memory: peak memory and CPU time per row of all tests of level 0 and 1, against the same tests of a table in memory.

Ten mixed variables (four continuous, two binary, two ordinal, two multinomial) of one site, in Parquet files of two million rows each. Each
measurement is a process of its own, with the one that helps it, if there is one: its peak memory is what Linux says, and that less what the
interpreter and its packages take.
The results of the smaller table, in memory and streamed, are compared as well.

    python benchmarks/out_of_core.py                        # 10⁸ rows, about 4 GB in a temporary folder: hours
    python benchmarks/out_of_core.py --rows 2000000 --tests 12
"""

from __future__ import annotations

import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
os.environ.setdefault("OMP_NUM_THREADS", "1")

import argparse
import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

import consilience as cs
from consilience.citest.question import all_questions
from processors import held, seconds_of_processors

KINDS = {"E": "ordinal", "F": "ordinal"}
PART = 2_000_000
SMALL_MEMORY = "300 MiB"
"""What the small table may take, so that it is streamed."""
LARGEST = 2 << 30
"""Bytes that the large table may take, at its peak."""
SLOWER = 2.0
"""How much more CPU time a row may take than in memory."""


def part_of(rows: int, seed: int) -> pl.DataFrame:
    """Rows of ten variables, which depend on each other in a chain and by two hidden causes."""
    rng = np.random.default_rng(seed)
    hidden, other = rng.normal(size=(2, rows))
    a = rng.normal(size=rows)
    b = 0.05 * a + hidden + rng.normal(size=rows)
    g = (rng.logistic(size=rows) < 0.1 * b).astype(np.int8)
    c = 0.04 * g + other + rng.normal(size=rows)
    d = 0.03 * c + rng.normal(size=rows)
    latent = 0.1 * d + 0.5 * other + rng.logistic(size=rows)
    e = np.digitize(latent, [-1.5, 0.0, 1.5]).astype(np.int8)
    f = np.digitize(0.1 * (e == 2) + rng.logistic(size=rows), [-1.0, 1.0]).astype(np.int8)
    h = (rng.logistic(size=rows) < 0.2 * (f == 1) + 0.5 * hidden).astype(np.int8)
    i = np.array(["no", "some", "much"])[np.digitize(0.1 * a + rng.logistic(size=rows), [-1.0, 1.0])]
    j = np.array(["x", "y", "z"])[(rng.integers(0, 3, rows) + (rng.random(rows) < 0.02) * h) % 3]
    return pl.DataFrame({"A": a, "B": b, "C": c, "D": d, "E": e, "F": f, "G": g, "H": h, "I": i, "J": j})


def make(folder: Path, rows: int) -> None:
    """The files, one after the other."""
    folder.mkdir(parents=True, exist_ok=True)
    for number, start in enumerate(range(0, rows, PART)):
        file = folder / f"part-{number:04}.parquet"
        if not file.exists():
            part_of(min(PART, rows - start), number).write_parquet(file, row_group_size=250_000)


def measure(folder: Path, memory: str, tests: int | None, threads: int) -> dict[str, Any]:
    """In this process: the tests, with CPU seconds and peak memory."""
    small = cs.Client("small", part_of(200, 0), kinds=KINDS)  # packages are loaded when they are used: what they take is no table's
    cs.Server([small], min_contributors=1, diagnostics=False).test_all(max_given=0)
    before = held("VmRSS")
    wall, cpu = time.perf_counter(), seconds_of_processors()
    client = cs.Client("registry", str(folder / "*.parquet"), kinds=KINDS, memory=memory, threads=threads)
    server = cs.Server([client], min_contributors=1, diagnostics=False)
    loaded = seconds_of_processors() - cpu
    asked = list(all_questions(sorted(client.declarations), max_given=1))
    asked = asked if tests is None else asked[:: max(len(asked) // tests, 1)][:tests]
    results = server.test_many(asked)
    return {
        "rows": client.rows,
        "streamed": client.lazy is not None,
        "tests": len(asked),
        "cpu": seconds_of_processors() - cpu,
        "read": loaded,
        "wall": time.perf_counter() - wall,
        "peak": held("VmHWM") - before,
        "whole": held("VmHWM"),
        "statistics": [direction.statistic for result in results for direction in result.directions],
    }


def apart(folder: Path, memory: str, tests: int | None, threads: int) -> dict[str, Any]:
    """The same in a process of its own."""
    asked = [sys.executable, __file__, "--measure", "--folder", str(folder), "--memory", memory, "--threads", str(threads)]
    done = subprocess.run(asked + ([] if tests is None else ["--tests", str(tests)]), check=True, capture_output=True, text=True)
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def line(name: str, found: dict[str, Any]) -> None:
    """One measurement."""
    each = 1e9 * found["cpu"] / found["rows"] / found["tests"]
    print(
        f"{name:<28} {found['rows']:>11,} rows {found['tests']:>4} tests {found['cpu']:>9.1f} s CPU {found['wall']:>9.1f} s "
        f"{each:>7.1f} ns a row and test {found['peak'] / 2**20:>6.0f} MiB over the interpreter's, {found['whole'] / 2**20:.0f} in all",
        flush=True,
    )


def compare(folder: Path, rows: int, small: int, memory: str, tests: int | None, threads: int) -> int:
    """Make the files, measure, and say what was found; 1 if a bound does not hold."""
    make(folder / "small", small)
    inside, streamed = apart(folder / "small", "1 TB", tests, threads), apart(folder / "small", SMALL_MEMORY, tests, threads)
    line("in memory", inside)
    line("streamed", streamed)
    off = np.abs(np.array(inside["statistics"]) - streamed["statistics"]) / (1.0 + np.abs(inside["statistics"]))
    print(f"statistics in memory and streamed differ by at most {off.max():.1e}", flush=True)
    if rows == small:
        large = streamed
    else:
        make(folder / "large", rows)
        size = sum(file.stat().st_size for file in (folder / "large").glob("*.parquet"))
        print(f"{size / 1e9:.1f} GB of Parquet", flush=True)
        large = apart(folder / "large", memory, tests, threads)
        line("larger than memory", large)
    ratio = (large["cpu"] / large["rows"]) / (inside["cpu"] / inside["rows"])
    holds = large["streamed"] and large["whole"] < LARGEST and ratio < SLOWER and off.max() < 1e-9
    print(f"CPU time per row: {ratio:.2f} times that in memory; bounds hold: {holds}")
    return 0 if holds else 1


def main() -> int:
    """Read the options."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=100_000_000)
    parser.add_argument("--small", type=int, default=1_000_000, help="rows of the table that is also loaded")
    parser.add_argument("--tests", type=int, default=None, help="so many of the tests only, spread over all of them")
    parser.add_argument("--memory", default="512 MiB")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--folder", type=Path, default=None, help="where the files are made, and stay; else a temporary folder")
    parser.add_argument("--measure", action="store_true", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.measure:
        print(json.dumps(measure(given.folder, given.memory, given.tests, given.threads)))
        return 0
    if given.folder is not None:
        return compare(given.folder, given.rows, given.small, given.memory, given.tests, given.threads)
    with tempfile.TemporaryDirectory() as folder:
        return compare(Path(folder), given.rows, given.small, given.memory, given.tests, given.threads)


if __name__ == "__main__":
    sys.exit(main())

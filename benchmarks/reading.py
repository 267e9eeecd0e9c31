"""How long a text file takes to be read, typed and checked, and what memory it takes beyond the table.

    python benchmarks/reading.py [ROWS]

A file of 20 columns (floats, integers, text; two in a hundred values missing) is written to a temporary folder, and read in processes of
their own: by polars with types that it infers from the first rows; by us, whose types follow from all of them; and by a site, which also
judges every column, and is checked. Exit code 1 if that takes more than 3 s, or 1.5 times the file in memory beyond the table.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import polars as pl

import consilience as cs
from consilience.data.sources import load

ROWS = 1_000_000
HOW = ("polars", "read", "checked")
MOST_SECONDS, MOST_MEMORY = 3.0, 1.5


def write(path: Path, rows: int) -> None:
    """The file."""
    rng = np.random.default_rng(1)
    columns: dict[str, object] = {f"f{i}": rng.normal(100, 15, rows).round(3) for i in range(8)}
    columns |= {f"i{i}": rng.integers(0, 200 if i < 6 else 2, rows) for i in range(8)}
    columns |= {f"t{i}": rng.choice(["alpha", "beta", "gamma", "delta of the river"], rows) for i in range(4)}
    gaps = {name: pl.Series(rng.random(rows) < 0.02) for name in columns}
    frame = pl.DataFrame(columns)
    frame.with_columns(pl.when(gaps[name]).then(None).otherwise(pl.col(name)).alias(name) for name in frame.columns).write_csv(path)


def held(frame: pl.DataFrame) -> float:
    """Megabytes that the table is in memory: eight bytes a number, and sixteen a text besides what does not fit into them."""
    return sum(column.len() * 16 if column.dtype == pl.String else column.estimated_size() for column in frame.iter_columns()) / 2**20


def peak() -> float:
    """The most memory that this process had, in megabytes; as Linux tells it, since a child's usage begins with its parent's."""
    lines = Path("/proc/self/status").read_text(encoding="ascii").splitlines()
    return next(float(line.split()[1]) for line in lines if line.startswith("VmHWM")) / 1024


def measured(how: str, path: Path) -> None:
    """Read once, and print seconds, processor seconds, and memory beyond the table over the file's size."""
    pl.read_csv(b"a\n1\n")  # what polars needs by itself, and what programs take that are loaded
    cs.check([cs.Client("small", pl.DataFrame({"a": [1.5, 2.5, 3.5]}))], estimate=False)
    before, started, busy = peak(), time.perf_counter(), time.process_time()
    if how == "checked":
        site = cs.Client("site", path)
        cs.check([site], estimate=False)
        frame = site.frame
    else:
        frame = load(path, "site").frame if how == "read" else pl.read_csv(path)
    seconds, processor = time.perf_counter() - started, time.process_time() - busy
    print(seconds, processor, (peak() - before - held(frame)) / (path.stat().st_size / 2**20))


def main(rows: int) -> int:
    """Compare."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "site.csv"
        write(path, rows)
        print(f"{rows:,} rows, 20 columns, {path.stat().st_size / 2**20:.0f} MB")
        found = {}
        for how in HOW:
            answer = subprocess.run([sys.executable, __file__, how, str(path)], capture_output=True, text=True, check=True).stdout
            found[how] = [float(word) for word in answer.split()]
            seconds, processor, memory = found[how]
            print(f"{how:8} {seconds:6.2f} s, {processor:6.2f} s of processors, memory beyond the table {memory:5.2f} x the file")
    for how in HOW[1:]:
        wall, busy = (found[how][k] / found["polars"][k] for k in (0, 1))
        print(f"{how}: {wall:.2f} x the seconds, {busy:.2f} x the processors of polars")
    return 1 if found["checked"][0] > MOST_SECONDS or found["checked"][2] > MOST_MEMORY else 0


if __name__ == "__main__":
    if sys.argv[1:2] and sys.argv[1] in HOW:
        measured(sys.argv[1], Path(sys.argv[2]))
    else:
        sys.exit(main(int(sys.argv[1]) if len(sys.argv) > 1 else ROWS))

"""How often each test finds a dependence, straight or bent, and how long it takes, beside the kernel test.

X is standard normal, Z too; Y = f(X) + 0.5 Z + noise, at four sites with 400 rows in all. The question is X ⫫ Y | Z. Then seconds per test
of continuous variables as rows grow. KCI is causal-learn's on the pooled rows given Z::

    python benchmarks/power.py --replications 1000 --keep power.jsonl --out docs/power.md

Rejections are kept as in ``calibration.py``: a run goes on where the last one stopped. Exit code 1 if ``residual`` with smooth alternatives
finds less than KCI on a bent dependence (by more than two standard errors), if without them it finds less than 90% of what ``fedci`` finds
on the straight one, or if it takes longer than KCI at n = 400 or than a hundredth of it at n = 5,000.
"""

from __future__ import annotations

import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # before numpy: the work is spread over processes, not threads

import argparse
import sys
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import numpy as np
import polars as pl
from numpy.typing import NDArray

import calibration_page as page
from compared import METHODS, available
from consilience.simulate.randomness import generator
from consilience.simulate.violations import Drawn

Floats = NDArray[np.float64]
EFFECTS: dict[str, Callable[[Floats], Floats]] = {
    "none": np.zeros_like,
    "X²": np.square,
    "0.15 X²": lambda x: 0.15 * x * x,
    "0.3 sin 2X": lambda x: 0.3 * np.sin(2.0 * x),
    "0.5 beyond ±1.5": lambda x: 0.5 * (np.abs(x) > 1.5),
    "0.15 X": lambda x: 0.15 * x,
}
COMMON = "common spread"
"""X and Y are independent but for a factor of both their spreads: exp(0.5 N(0, 1))."""
ROWS = (*EFFECTS, COMMON)
STRAIGHT = ("none", "0.15 X")
COMPARED = ("fedci", "residual", "smooth", "kci")
"""Random effects and Fisher's method have the power of the models that they share with fedci."""
SITES, N, BLOCK = 4, 400, 50
TIMED = (400, 1000, 2000, 5000)
KCI_TIMED = 3
"""The kernel test takes minutes at n = 5,000: it is timed so often."""


def drawn(row: str, n: int, replication: int) -> Drawn:
    """The data of one replication; the noise is the same in all rows."""
    rng = generator([replication, n])
    x, z, noise, spread = rng.standard_normal((4, n))
    if row == COMMON:
        x, y = x * np.exp(0.5 * spread), noise * np.exp(0.5 * spread)
    else:
        y = EFFECTS[row](x) + 0.5 * z + noise
    frame = pl.DataFrame({"X": x, "Y": y, "Z": z})
    size = n // SITES
    return Drawn({f"site{k}": frame[k * size : (k + 1) * size] for k in range(SITES)}, dict.fromkeys("XYZ", "continuous"), {})


def kci(data: Drawn) -> float:
    """The kernel test given Z alone: the sites do not differ here, and it need not know them."""
    return METHODS["kci"](Drawn({"all": pl.concat(data.frames.values())}, data.kinds, {}))


def block(task: page.Block) -> page.Block:
    """The p-values of some replications, and the processor seconds they took."""
    test = kci if task.method == "kci" else METHODS[task.method]
    test(drawn("none", 40, 0))  # what is loaded once is not timed
    start = time.process_time()
    p = [test(drawn(task.row, task.n, r)) for r in range(task.first, task.first + task.count)]
    return task.answered(p, time.process_time() - start)


def tasks(args: argparse.Namespace, kept: page.Kept) -> list[page.Block]:
    """What is not kept yet."""
    found = []
    for method in args.methods:
        for row in ROWS:
            have = kept.count(row, N, method)
            found += [page.Block(row, N, method, i, min(BLOCK, args.replications - i)) for i in range(have, args.replications, BLOCK)]
        for n in args.timed:
            if n != N and not kept.count("none", n, method):
                found.append(page.Block("none", n, method, 0, KCI_TIMED if method == "kci" else BLOCK))
    return found


def report(kept: page.Kept) -> str:
    """The page in docs/."""
    asked = [m for m in page.LABELS if any(key[2] == m and key[1] == N for key in kept.blocks)]
    head = " | ".join(page.LABELS[m] for m in asked)
    lines = [f"| Y = | {head} |", "|---|" + "---|" * len(asked)]
    for row in ROWS:
        cells = [f"{kept.share(row, N, m, 0.05):.3f}" if kept.count(row, N, m) else "" for m in asked]
        name = row if row in ("none", COMMON) else f"{row} + 0.5 Z + noise"
        lines.append(f"| {name} | {' | '.join(cells)} |")
    sizes = sorted({n for _, n, _ in kept.blocks})
    clock = [f"| ms per test | {' | '.join(f'n = {n:,}' for n in sizes)} |", "|---|" + "---|" * len(sizes)]
    clock += [f"| {page.LABELS[m]} | {' | '.join(_milliseconds(kept, n, m) for n in sizes)} |" for m in asked]
    counts = "; ".join(f"{page.LABELS[m]} {kept.count('0.15 X', N, m):,}" for m in asked)
    return f"""# Power

How often a test rejects at 0.05 when X and Y depend on each other given Z: n = {N} rows at {SITES} sites, X, Z and noise standard normal.
The first row is no dependence; in the last one X and Y share a factor of their spreads, exp(0.5 N(0, 1)), and nothing else. Replications:
{counts}. Made by `python benchmarks/power.py`; KCI is the kernel test of causal-learn on the pooled rows.

{chr(10).join(lines)}

CPU time of one test of three continuous variables, without masks:

{chr(10).join(clock)}
"""


def _milliseconds(kept: page.Kept, n: int, method: str) -> str:
    found = [block for (_, rows, name), block in kept.blocks.items() if (rows, name) == (n, method)]
    tries = sum(block.count for block in found)
    return f"{1e3 * sum(block.seconds for block in found) / tries:,.1f}" if tries else ""


def missed(kept: page.Kept) -> list[str]:
    """Targets that are missed, in words."""
    found = []
    for row in ROWS:
        has = {m: kept.count(row, N, m) for m in ("smooth", "kci", "residual", "fedci")}
        if row not in STRAIGHT and has["smooth"] and has["kci"]:
            ours, theirs = (kept.share(row, N, m, 0.05) for m in ("smooth", "kci"))
            error = np.sqrt(ours * (1 - ours) / has["smooth"] + theirs * (1 - theirs) / has["kci"])
            if ours < theirs - 2.0 * error:
                found.append(f"{row}: smooth {ours:.3f}, KCI {theirs:.3f}")
        if row == "0.15 X" and has["residual"] and has["fedci"]:
            ours, theirs = (kept.share(row, N, m, 0.05) for m in ("residual", "fedci"))
            if ours < 0.9 * theirs:
                found.append(f"{row}: residual {ours:.3f}, fedci {theirs:.3f}")
    for n, share in ((400, 1.0), (5000, 0.01)):
        times = [_milliseconds(kept, n, m).replace(",", "") for m in ("smooth", "kci")]
        if all(times) and float(times[0]) > share * float(times[1]):
            found.append(f"n = {n:,}: smooth {times[0]} ms, KCI {times[1]} ms")
    return found


def main(arguments: Sequence[str] | None = None) -> int:
    """Do what is missing, then write the page."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--replications", type=int, default=1000)
    parser.add_argument("--processes", type=int, default=min(2, os.cpu_count() or 1))
    parser.add_argument("--keep", type=Path, default=Path("power.jsonl"), help="where rejections are kept, as JSON lines")
    parser.add_argument("--out", type=Path, help="write the page as Markdown")
    parser.add_argument("--methods", nargs="+", choices=list(METHODS), default=[name for name in available() if name in COMPARED])
    parser.add_argument("--timed", nargs="*", type=int, default=list(TIMED), help="rows to time a test at, besides 400")
    args = parser.parse_args(arguments)
    kept = page.Kept.read(args.keep)
    todo = tasks(args, kept)
    with ProcessPoolExecutor(args.processes) as pool:
        for i, done in enumerate(pool.map(block, todo), 1):
            kept.add(done, args.keep)
            print(f"{i}/{len(todo)}  {done.row}  n = {done.n}  {done.method}", flush=True)
    text = report(kept)
    print(text)
    if args.out:
        args.out.write_text(text, encoding="utf-8")
    wrong = missed(kept)
    print(*wrong, sep="\n")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())

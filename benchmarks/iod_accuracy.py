"""How near the truth the graphs come from finite samples: strongest first, optimal, and FCI on the rows that are complete.

Random MAGs over ten variables (random DAGs with latent common causes, projected), three sites of 1,000 rows with effects of their own, all
variables continuous, two of the sites lacking two variables each. FCI (causal-learn, Fisher's z) can only use the rows in which nothing is
missing: those of the one site that measures everything. Structural Hamming distances to the true PAG, of the first graph of each list and
of the best in it; lower is better::

    python benchmarks/iod_accuracy.py

Needs causal-learn.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import statistics
import time
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from causallearn.search.ConstraintBased.FCI import fci

import consilience as cs
from consilience.graph import mag_to_pag
from consilience.simulate import from_graph
from fci_check import common_causes

VARIABLES, SITES, ROWS, ALPHA = 10, 3, 1000, 0.01
LACKING = {1: (0, 1), 2: (2, 3)}
"""The second site lacks the first two variables, the third the next two."""


def sites_of(mag: cs.MAG, seed: int) -> dict[str, pl.DataFrame]:
    """The sites' tables."""
    made = from_graph(mag, n=SITES * ROWS, sites=SITES, seed=seed, kinds=dict.fromkeys(mag.labels, "continuous"))
    return {name: frame.drop([mag.labels[i] for i in LACKING.get(number, ())]) for number, (name, frame) in enumerate(made.frames.items())}


def complete_case_fci(frames: dict[str, pl.DataFrame], labels: tuple[str, ...]) -> cs.PAG:
    """FCI on the site that measures all."""
    (rows,) = (frame for frame in frames.values() if set(frame.columns) == set(labels))
    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
        graph, _ = fci(rows.select(labels).to_numpy(), "fisherz", ALPHA, show_progress=False, verbose=False, node_names=list(labels))
    return cs.PAG.from_causallearn(graph).reordered(labels)


def distances(found: Any, truth: cs.PAG) -> tuple[float, float]:
    """Of the first graph, and of the best one in the list."""
    found = [cs.shd(pag, truth) for pag in found.pags[:1000]]
    return float(found[0]), float(min(found))


def replicate(seed: int, seconds: float) -> dict[str, tuple[float, float, float]]:
    """Per method: SHD of the first graph, of the best, CPU seconds of the graphs."""
    mag = common_causes(VARIABLES, np.random.default_rng(seed))
    truth = mag_to_pag(mag)
    frames = sites_of(mag, seed)
    test = cs.pooled(list(frames.values()))  # the same p-values as over sites, faster
    found = {}
    for resolve in ("strongest", "optimal"):
        begin = time.process_time()
        result = cs.discover(test, alpha=ALPHA, resolve=resolve, time_limit=seconds, limit=1000)
        found[resolve] = (*distances(result, truth), time.process_time() - begin - result.timings["tests"])
    strict = cs.discover(test, alpha=ALPHA, resolve="strict", time_limit=seconds, limit=1000)
    if strict.pags:
        found["strict"] = (*distances(strict, truth), strict.timings["graphs"])
    begin = time.process_time()
    single = float(cs.shd(complete_case_fci(frames, mag.labels), truth))
    found["FCI, complete cases"] = (single, single, time.process_time() - begin)
    return found


def main() -> None:
    """Run all replicates and print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--replicates", type=int, default=30)
    parser.add_argument("--seconds", type=float, default=60.0, help="time limit of each search for graphs")
    parser.add_argument("--out", type=Path, help="write the table as Markdown")
    options = parser.parse_args()
    rows: dict[str, list[tuple[float, float, float]]] = {}
    for seed in range(1, options.replicates + 1):
        for name, values in replicate(seed, options.seconds).items():
            rows.setdefault(name, []).append(values)
    lines = [
        "| method | answers | mean SHD of the first graph | mean SHD of the best in the list | median CPU s |",
        "|---|---|---|---|---|",
    ]
    for name, values in rows.items():
        first, best, cpu = zip(*values, strict=True)
        lines.append(
            f"| {name} | {len(values)} of {options.replicates} | {statistics.mean(first):.2f} | {statistics.mean(best):.2f} "
            f"| {statistics.median(cpu):.2f} |"
        )
    text = "\n".join(lines)
    print(text)
    if options.out:
        pairs = VARIABLES * (VARIABLES - 1) // 2
        setting = (
            f"{VARIABLES} variables ({pairs} pairs), {SITES} sites of {ROWS} rows, two of them lacking two variables each, α = {ALPHA}, "
            f"seeds 1 to {options.replicates}, {options.seconds:g} seconds for the graphs.\n"
            f"SHD counts the marks that differ from the true PAG.\n"
            f"FCI (causal-learn, Fisher's z) can use the rows of the one site that measures everything. *Strict* answers only where all\n"
            f"decisions agree, which is where there are few errors: its row is no comparison with the others.\n\n"
            f"Made by `python benchmarks/iod_accuracy.py --out docs/accuracy.md`."
        )
        options.out.write_text(f"# Accuracy from finite samples\n\n{setting}\n\n{text}\n", encoding="utf-8")


if __name__ == "__main__":
    main()

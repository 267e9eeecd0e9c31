"""Whether edges that are found again in resampled data are true: shares against truth, over simulated studies.

    python benchmarks/stability_calibration.py [--studies 100] [--replicates 40] [--figure docs/images/stability.svg]

Each study is a random MAG over five variables of random kinds, with site effects, at four sites that measure overlapping sets of them
(``simulate.from_graph``), half of the studies with 150 rows a site and half with 400. An edge is true if the true PAG has it. A mark at an
end is true if the true PAG has the same there. Lines go to ``docs/stability.jsonl``, one a study: what is there already is not done again.
Exit code 1 if fewer than 90 % of the edges with a share above 0.9 are true.
"""

from __future__ import annotations

import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # before numpy

import argparse
import json
import sys
import time
from itertools import pairwise
from pathlib import Path

import consilience as cs
from consilience.graph.marks import Mark

KEEP = Path(__file__).parents[1] / "docs" / "stability.jsonl"
EDGES = (0.0, 0.1, 0.3, 0.5, 0.7, 0.9, 1.0)
"""Between which shares edges are counted; the last cell is above 0.9, with 1 in it."""
SURE = 0.9
NAMES = {Mark.ARROW: "arrow", Mark.TAIL: "tail", Mark.CIRCLE: "circle"}


def study(number: int, replicates: int) -> dict[str, object]:
    """One study: for each pair its share, the share in the plain list, and whether the edge is true; and so for marks of likely edges."""
    pag = cs.simulate.random_pag("ABCDE", [number, 18])
    rows = (150, 400)[number % 2]
    made = cs.simulate.from_graph(pag, n=4 * rows, sites=4, seed=[number, 81], exclusive="AE")
    start = time.process_time()
    found = cs.discover(made.clients(), bootstrap=replicates).stability
    assert found is not None
    pairs, marks = [], []
    for row in found.edges.iter_rows(named=True):
        there = made.pag.adjacent(row["x"], row["y"])
        pairs.append([round(row["share"], 4), round(row["plain"], 4), there])
        for end, other in (("x", "y"), ("y", "x")) if there else ():
            true = NAMES[made.pag.mark(row[other], row[end])]
            marks += [[round(row[f"{end}_{mark}"], 4), mark, mark == true] for mark in NAMES.values()]
    return {
        "study": number,
        "rows": rows,
        "truth": str(made.pag),
        "replicates": found.done,
        "empty": found.empty,
        "pairs": pairs,
        "marks": marks,
        "seconds": round(time.process_time() - start, 1),
    }


def counted(shares: list[tuple[float, bool]]) -> list[tuple[float, int, int]]:
    """For each cell of shares: the mean share, how many there are, how many are true."""
    cells = []
    for low, high in pairwise(EDGES):
        own = [(share, true) for share, true in shares if (low < share or low == share == 0.0) and share <= high]
        cells.append((sum(s for s, _ in own) / max(len(own), 1), len(own), sum(t for _, t in own)))
    return cells


def figure(cells: list[tuple[float, int, int]], path: Path) -> None:
    """The calibration curve, with intervals, as a picture."""
    import matplotlib as mpl  # noqa: PLC0415  only who wants the picture needs it

    mpl.use("svg")
    mpl.rcParams["svg.hashsalt"] = "stability"
    from matplotlib import pyplot as plt  # noqa: PLC0415
    from scipy import stats  # noqa: PLC0415

    shown = [(mean, n, true) for mean, n, true in cells if n]
    figure_, axes = plt.subplots(figsize=(5.2, 4.2))
    axes.plot([0, 1], [0, 1], color="0.8", linewidth=1, zorder=0)
    for mean, n, true in shown:
        low, high = stats.beta.ppf([0.025, 0.975], [true, true + 1], [n - true + 1, n - true])
        axes.plot([mean, mean], [0.0 if true == 0 else low, 1.0 if true == n else high], color="#1f5fa8", linewidth=1.5)
        axes.annotate(f"{n}", (mean, true / n), textcoords="offset points", xytext=(6, -10), fontsize=8, color="0.35")
    axes.plot([mean for mean, _, _ in shown], [true / n for _, n, true in shown], "o-", color="#1f5fa8", markersize=5)
    axes.set(xlabel="share of an edge over replicates", ylabel="how many of these edges are true", xlim=(-0.03, 1.03), ylim=(-0.03, 1.03))
    figure_.tight_layout()
    path.parent.mkdir(parents=True, exist_ok=True)
    figure_.savefig(path, metadata={"Date": None})


def main() -> int:
    """Run what is missing, print the table, draw the curve."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--studies", type=int, default=100)
    parser.add_argument("--replicates", type=int, default=40)
    parser.add_argument("--keep", type=Path, default=KEEP)
    parser.add_argument("--figure", type=Path)
    parser.add_argument("--page", action="store_true", help="nothing is run: only what is kept is shown")
    given = parser.parse_args()
    kept = {line["study"]: line for line in map(json.loads, given.keep.read_text().splitlines())} if given.keep.exists() else {}
    for number in range(0 if given.page else given.studies):
        if number not in kept:
            kept[number] = study(number, given.replicates)
            with given.keep.open("a") as file:
                file.write(json.dumps(kept[number]) + "\n")
    lines = list(kept.values())
    shares = [(share, true) for line in lines for share, _, true in line["pairs"]]
    plain = [(listed, true) for line in lines for _, listed, true in line["pairs"]]
    print(f"{len(lines)} studies, {len(shares)} pairs, {sum(line['empty'] for line in lines)} empty lists")
    print("| share | pairs | true | mean share |\n|---|---|---|---|")
    cells = counted(shares)
    for (low, high), (mean, n, true) in zip(pairwise(EDGES), cells, strict=True):
        print(f"| {low:.1f} to {high:.1f} | {n} | {true / max(n, 1):.0%} | {mean:.2f} |")
    sure = [true for share, true in shares if share > SURE]
    listed = [true for share, true in plain if share > SURE]
    print(f"edges with a share above {SURE}: {sum(sure)} of {len(sure)} are true ({sum(sure) / max(len(sure), 1):.1%})")
    right = sum(listed) / max(len(listed), 1)
    print(f"edges in more than {SURE:.0%} of the plain list: {sum(listed)} of {len(listed)} are true ({right:.1%})")
    for kind in ("arrow", "tail"):
        marks = [true for line in lines for share, mark, true in line["marks"] if mark == kind and share > SURE]
        print(f"marks '{kind}' with a share above {SURE}, on true edges: {sum(marks)} of {len(marks)} are true")
    if given.figure:
        figure(cells, given.figure)
    return int(sum(sure) < 0.9 * len(sure))


if __name__ == "__main__":
    sys.exit(main())

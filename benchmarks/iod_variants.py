"""The three variants of IOD and the exact engine: the same list, fewer candidates (appendix D of the fedCI-IOD paper).

100 random Markov equivalence classes over five nodes with a collider of order 1 or more, each seen through two data sets of four variables:
those of a discriminating path if there is one, the other at random. A perfect CI test. The lists of the variants and of the exact engine
must be identical, in the same order, hold the truth and be what listing all 24,259 classes gives; ``triples`` must not look at more
candidates than ``colliders``, nor ``colliders`` at more than ``original``; and there is a target for the CPU time of either engine::

    python benchmarks/iod_variants.py --out docs/iod-variants.md

Exit code 1 if a condition is violated.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations, permutations
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1]))  # tests/ is not installed

from tests.iod.mag_enumeration import Enumeration, load

from consilience.graph import PAG, Mark, Oracle, triples_with_order
from consilience.iod import discover

NAMES = "ABCDE"
SEED = 20_240
VARIANTS = ("original", "colliders", "triples")
EXACT = "exact"
RUNS = (*VARIANTS, EXACT)
TARGETS = {"triples": 0.2, EXACT: 0.02}
"""CPU seconds per case, on average; for the exact engine with the start of its solver."""

COMPARISONS = (
    ("CWO vs. original", "original", "colliders", (63, 18, 401)),
    ("TWO vs. original", "original", "triples", (33, 12, 1014)),
    ("TWO vs. CWO", "colliders", "triples", (33, 10, 1014)),
)
"""Title, the larger list, the smaller; and from the paper: runs without change, least and greatest reduction in the others."""

BINS = ((0, 0), (1, 2), (3, 5), (6, 10), (11, 20), (21, 50), (51, 100), (101, 200), (201, 500), (501, 100_000))


@dataclass(frozen=True, slots=True)
class Case:
    """One run of all variants, and of the exact engine."""

    truth: PAG
    datasets: tuple[tuple[str, ...], ...]
    pags: int
    candidates: dict[str, int]
    seconds: dict[str, float]
    violations: tuple[str, ...]

    def __str__(self) -> str:
        held = " and ".join("".join(names) for names in self.datasets)
        counts = ", ".join(f"{v} {self.candidates[v]} in {self.seconds[v]:.3f} s" for v in RUNS)
        return f"{self.truth}; {held}; {self.pags} PAGs; {counts}"


def discriminating_quadruples(pag: PAG) -> list[frozenset[str]]:
    """The sets of variables of discriminating paths ⟨x, a, b, c⟩: x *-> a <-* b, a --> c, b *-* c, x and c not adjacent."""

    def path(x: str, a: str, b: str, c: str) -> bool:
        return (
            pag.mark(x, a) == pag.mark(b, a) == pag.mark(a, c) == Mark.ARROW
            and pag.mark(c, a) == Mark.TAIL
            and pag.adjacent(b, c)
            and not pag.adjacent(x, c)
        )

    return list(dict.fromkeys(frozenset(four) for four in permutations(NAMES, 4) if path(*four)))


def choose_datasets(pag: PAG, rng: np.random.Generator) -> tuple[tuple[str, ...], ...]:
    """Two sets of four variables, of discriminating paths as far as there are any; any two have three in common and hold all five."""
    paths = discriminating_quadruples(pag)
    others = [four for four in map(frozenset, combinations(NAMES, 4)) if four not in paths]
    ordered = [paths[i] for i in rng.permutation(len(paths))] + [others[i] for i in rng.permutation(len(others))]
    return tuple(tuple(sorted(four)) for four in ordered[:2])


def random_classes(every: Enumeration, rng: np.random.Generator) -> Iterator[tuple[int, PAG]]:
    """Classes in random order, each with the same probability, if they have a collider of order 1 or more."""
    for number in rng.permutation(len(every.pags)).tolist():
        pag = PAG.from_matrix(every.pags[number], NAMES)
        if any(triple.collider and triple.order for triple in triples_with_order(pag)):
            yield number, pag


def run(every: Enumeration, number: int, truth: PAG, datasets: tuple[tuple[str, ...], ...]) -> Case:
    """All variants and the exact engine on one case, and what is wrong."""
    lists, candidates, seconds = {}, {}, {}
    for name in RUNS:
        oracle = Oracle(truth, datasets)
        start = time.process_time()
        how = {"engine": "exact"} if name == EXACT else {"engine": "iod", "variant": name}
        found = discover(oracle, **how, limit=None, time_limit=None)
        seconds[name] = time.process_time() - start
        lists[name], candidates[name] = found.pags, found.candidates
    expected = {PAG.from_matrix(every.pags[c], NAMES) for c in consistent(every, number, datasets)}
    violations = []
    for name in RUNS:
        if truth not in lists[name]:
            violations.append(f"{name}: the truth is not in the list")
        if lists[name] != lists["original"]:  # in the same order, too
            violations.append(f"{name}: another list than original")
        if set(lists[name]) != expected or len(lists[name]) != len(expected):
            violations.append(f"{name}: not the list of all consistent classes")
    for title, larger, smaller, _ in COMPARISONS:
        if candidates[smaller] > candidates[larger]:
            violations.append(f"{title}: more candidates")
    return Case(truth, datasets, len(expected), candidates, seconds, tuple(violations))


def consistent(every: Enumeration, number: int, datasets: Sequence[Sequence[str]]) -> list[int]:
    """The classes that agree with the true one on every data set."""
    return every.consistent_classes([[NAMES.index(name) for name in held] for held in datasets], number).tolist()


def reductions(cases: Sequence[Case], larger: str, smaller: str) -> list[int]:
    """By how many candidates the list of one variant is shorter than that of another, case by case."""
    return [case.candidates[larger] - case.candidates[smaller] for case in cases]


def histogram(values: Sequence[int]) -> list[tuple[str, int]]:
    """The bins up to the greatest value, and how many values each holds."""
    used = [(low, high) for low, high in BINS if low <= max(values)]
    return [(f"{low}" if low == high else f"{low}–{high}", sum(low <= v <= high for v in values)) for low, high in used]


def changed(values: Sequence[int]) -> tuple[int, int, int]:
    """How many reductions are 0, and the least and the greatest of the others."""
    others = [v for v in values if v] or [0]
    return len(values) - sum(v != 0 for v in values), min(others), max(others)


def print_report(cases: Sequence[Case]) -> None:
    """Histograms as text, candidates, times, the slowest cases."""
    for title, larger, smaller, paper in COMPARISONS:
        values = reductions(cases, larger, smaller)
        ours = changed(values)
        print(f"\n{title}: {ours[0]} of {len(cases)} unchanged, else {ours[1]} to {ours[2]} fewer", end=" ")
        print(f"(paper: {paper[0]} of 100, {paper[1]} to {paper[2]})")
        for interval, count in histogram(values):
            print(f"  {interval:>10}  {count:3d}  {'#' * count}")
    print(f"\n{'variant':>10}  candidates: mean, median, max   CPU s: mean, median, max, ms per PAG")
    for row in totals(cases):
        print("{:>10}  {:>10} {:>10} {:>8}   {:>6} {:>6} {:>6} {:>6}".format(*row))
    for name in TARGETS:
        print(f"\nslowest cases of {name}:")
        for case in sorted(cases, key=lambda c: -c.seconds[name])[:5]:
            print(f"  {case}")


def totals(cases: Sequence[Case]) -> list[tuple[str, ...]]:
    """Per variant: candidates (mean, median, maximum), CPU seconds (mean, median, maximum), milliseconds per PAG listed."""
    rows = []
    for variant in RUNS:
        counts = [case.candidates[variant] for case in cases]
        seconds = [case.seconds[variant] for case in cases]
        rows.append(
            (
                variant,
                f"{np.mean(counts):.1f}",
                f"{np.median(counts):g}",
                f"{max(counts):,}",
                f"{np.mean(seconds):.4f}",
                f"{np.median(seconds):.4f}",
                f"{max(seconds):.3f}",
                f"{1000 * sum(seconds) / sum(case.pags for case in cases):.2f}",
            )
        )
    return rows


def table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A table in Markdown."""
    lines = [f"| {' | '.join(head)} |", f"|{'---|' * len(head)}", *(f"| {' | '.join(row)} |" for row in rows)]
    return "\n".join(lines)


def page(cases: Sequence[Case]) -> str:
    """The page in docs/."""
    n = len(cases)
    sizes = [case.pags for case in cases]
    summary, histograms = [], []
    for title, larger, smaller, paper in COMPARISONS:
        values = reductions(cases, larger, smaller)
        zero, least, greatest = changed(values)
        summary.append((title, f"{zero} of {n}", f"{least} to {greatest:,}", f"{paper[0]} of 100", f"{paper[1]} to {paper[2]:,}"))
        histograms.append(f"### {title}\n\n" + table(("fewer candidates", "runs"), [(name, str(c)) for name, c in histogram(values)]))
    violated = sum(bool(case.violations) for case in cases)
    outcome = "Every run met all conditions." if not violated else f"**{violated} of {n} runs violated a condition.**"
    return f"""# Variants of IOD

The published algorithm has three variants, which differ in what they take over from local graphs into the union graph before they list
candidates: `original` takes the arrowheads of unshielded colliders, `colliders` (the paper's collider-with-order, CWO) those of all
colliders with order, `triples` (triple-with-order, TWO; the default) also the marks of non-colliders with order. The list of PAGs is
the same; the number of candidate graphs that are looked at before validation is not. This page repeats the experiment of the paper's
appendix D.

{n} random Markov equivalence classes over five variables with at least one collider of order 1 or more (each such class with the same
probability, seed {SEED}); two data sets of four variables with three in common, those of a discriminating path first, then at random; a
perfect CI test. Required of every run: the three lists and that of `engine="exact"` are identical, hold the true PAG and are exactly the
classes that an enumeration of all {24_259:,} classes finds consistent; and `triples` looks at no more candidates than `colliders`, nor
`colliders` at more than `original`. {outcome} The lists have {min(sizes)} to {max(sizes)} PAGs (median {np.median(sizes):g}).

## Reductions

How many candidates fewer the first variant has than the second.

{table(("", "unchanged", "reduction in the others", "unchanged in the paper", "reduction in the paper"), summary)}

This implementation drops what cannot become a solution before it counts as a candidate: skeletons in which an inseparable pair cannot be
connected, triples that must be colliders because their ends were separated without the middle, marks that contradict each other; equal
candidates count once. Its counts, and with them its reductions, are therefore smaller than those of an implementation that lists first
and validates afterwards, as the paper describes its own (in R, not run here). The paper gives reductions only, no counts, and does not
say how its graphs were drawn, on which the share of unchanged runs depends: the columns are not to be compared number by number.

{chr(10).join(part + chr(10) for part in histograms)}
## Candidates and time

{table(("variant", "candidates, mean", "median", "most", "CPU seconds, mean", "median", "most", "ms per PAG"), totals(cases))}

The last row is `engine="exact"`, whose candidates are the PAGs themselves; the start of its solver is included, in every run anew. Either
engine is asked for the whole result: tests, list, ranking and summary.

Made by `python benchmarks/iod_variants.py --out docs/iod-variants.md`.
"""


def main() -> int:
    """Run all cases, print what was found, write the page if asked; exit code 1 if a condition is violated."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cases", type=int, default=100)
    parser.add_argument("--out", type=Path, help="write the page as Markdown")
    args = parser.parse_args()
    start = time.perf_counter()
    every = load(5)
    rng = np.random.default_rng(SEED)
    cases: list[Case] = []
    for number, truth in random_classes(every, rng):
        cases.append(run(every, number, truth, choose_datasets(truth, rng)))
        if len(cases) == args.cases:
            break
    print_report(cases)
    violated = [case for case in cases if case.violations]
    for case in violated:
        print(f"violated: {'; '.join(case.violations)}: {case}")
    average = {name: float(np.mean([case.seconds[name] for case in cases])) for name in TARGETS}
    ours = ", ".join(f"{name} {average[name]:.4f} CPU s on average (target: below {target})" for name, target in TARGETS.items())
    print(f"\n{len(cases)} cases, {len(violated)} with violations; {ours}; {time.perf_counter() - start:.0f} s in all")
    if args.out:
        args.out.write_text(page(cases), encoding="utf-8")
    return 1 if violated or any(average[name] >= target for name, target in TARGETS.items()) else 0


if __name__ == "__main__":
    sys.exit(main())

"""CPU seconds per conditional-independence test: consilience, python-fedci 0.1.5 and statsmodels on the same data, in one process.

The data are four sites of two continuous, one binary, one ordinal and one multinomial variable, which make 80 tests. consilience
answers all of them as one batch, as a causal discovery would ask them. python-fedci needs seconds for each, so it is asked a sample that
is balanced over sizes of conditioning sets and over kinds; consilience is timed on exactly that sample as well, where it can share fewer
models between tests. A target holds if both ratios reach it.

python-fedci fits one slope per threshold of an ordinal response, consilience by default one slope for all; the option that makes it fit
the peer's model is timed too. statsmodels fits the pooled rows with site dummies, the same four models per test; only its fits
are timed, neither design matrices nor covariances.

    python benchmarks/ci_speed.py
"""

from __future__ import annotations

import os

# One BLAS thread, set before numpy loads: CPU seconds then mean work done, not threads that wait for each other over narrow matrices.
os.environ["OPENBLAS_NUM_THREADS"] = os.environ["OMP_NUM_THREADS"] = "1"

import argparse
import json
import platform
import statistics
import sys
import time
import warnings
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from importlib.metadata import version
from typing import Any

import fedci
import numpy as np
import polars as pl
from numpy.typing import NDArray
from statsmodels.api import OLS, Logit, MNLogit
from statsmodels.miscmodels.ordinal_model import OrderedModel

import consilience as cs
from consilience.citest.question import Question, all_questions

Frames = Mapping[str, pl.DataFrame]
Floats = NDArray[np.float64]
Model = tuple[str, tuple[str, ...]]

SITES = 4
VARIABLES = ("A", "B", "C", "D", "E")
CONTINUOUS, BINARY, ORDINAL = ("A", "B"), ("C",), ("D",)
FEDCI_TARGETS = {5_000: 100.0, 20_000: 300.0}
STATSMODELS_TARGETS = {5_000: 5.0}


@dataclass(frozen=True, slots=True)
class Line:
    """One comparison: milliseconds per test of the peer and of consilience, and the ratio to reach, if there is one."""

    n: int
    peer: str
    what: str
    peer_ms: float
    own_ms: float
    target: float | None = None

    @property
    def ratio(self) -> float:
        """How many times faster consilience is."""
        return self.peer_ms / self.own_ms

    @property
    def met(self) -> bool:
        """True unless a target is missed."""
        return self.target is None or self.ratio >= self.target


def balanced(questions: Sequence[Question], size: int) -> list[Question]:
    """A sample without chance: conditioning sets as large as among all questions, pairs and variables as even as possible.

    >>> [str(q) for q in balanced(all_questions("ABC"), 2)]
    ['A ⫫ B', 'A ⫫ C | B']
    """
    if size >= len(questions):
        return list(questions)
    by_given = sorted(questions, key=lambda q: len(q.given))
    lengths = [len(by_given[int((i + 0.5) * len(questions) / size)].given) for i in range(size)]
    chosen: list[Question] = []
    pairs: Counter[tuple[str, str]] = Counter()
    tested: Counter[str] = Counter()
    given: Counter[str] = Counter()
    for length in lengths:
        left = [q for q in questions if len(q.given) == length and q not in chosen]
        best = min(left, key=lambda q: (pairs[q.x, q.y], tested[q.x] + tested[q.y], sum(given[z] for z in q.given)))
        chosen.append(best)
        pairs[best.x, best.y] += 1
        tested.update((best.x, best.y))
        given.update(best.given)
    return chosen


def own_seconds(frames: Frames, questions: Sequence[Question], repeats: int, ordinal: str = "proportional") -> float:
    """Median CPU seconds of a batch, from frames to results: clients, server, tests."""
    taken = []
    for _ in range(repeats + 1):  # the first warms up
        start = time.process_time()
        server = cs.Server([cs.Client(name, frame) for name, frame in frames.items()], ordinal=ordinal)
        if len(questions) == len(all_questions(VARIABLES)):
            server.test_all()
        else:
            server.test_many([(q.x, q.y, q.given) for q in questions])
        taken.append(time.process_time() - start)
    return statistics.median(taken[1:])


def fedci_seconds(frames: Frames, questions: Sequence[Question]) -> tuple[float, list[float]]:
    """CPU seconds of python-fedci over the questions, clients and server included, and its p-values."""
    start = time.process_time()
    server = fedci.Server([fedci.Client(name, frame) for name, frame in frames.items()])
    p_values = [float(server.test(q.x, q.y, list(q.given)).p_value) for q in questions]
    return time.process_time() - start, p_values


def models_of(question: Question) -> tuple[tuple[Model, Model], tuple[Model, Model]]:
    """(restricted, unrestricted) with y as the response, then with x; predictors are sorted, so that equal models are equal."""

    def pair(response: str, predictor: str) -> tuple[Model, Model]:
        return (response, tuple(sorted(question.given))), (response, tuple(sorted((*question.given, predictor))))

    return pair(question.y, question.x), pair(question.x, question.y)


class Pooled:
    """The pooled rows, and statsmodels fits of them with a dummy per site but the first."""

    def __init__(self, frames: Frames) -> None:
        self.rows = pl.concat(frames.values())
        site = np.repeat(np.arange(len(frames)), [frame.height for frame in frames.values()])
        self.sites = (site[:, None] == np.arange(1, len(frames))).astype(np.float64)

    def _columns(self, name: str) -> Floats:
        column = self.rows[name]
        if name in CONTINUOUS:
            numbers: Floats = column.to_numpy()[:, None]
            return numbers
        dummies: Floats = (column.to_numpy()[:, None] == column.unique().sort().to_numpy()[1:]).astype(np.float64)
        return dummies

    def fit(self, model: Model) -> tuple[float, float]:
        """CPU seconds of the fit alone, and its log-likelihood."""
        response, predictors = model
        column = self.rows[response]
        y = column.to_numpy() if response in CONTINUOUS else np.searchsorted(column.unique().sort().to_numpy(), column.to_numpy())
        X = np.concatenate([*(self._columns(name) for name in predictors), self.sites], axis=1)
        X1 = np.concatenate([np.ones((len(y), 1)), X], axis=1)
        options: dict[str, Any] = {"disp": 0, "skip_hessian": True}
        if response in CONTINUOUS:
            prepared, options = OLS(y, X1), {}
        elif response in BINARY:
            prepared = Logit(y, X1)
        elif response in ORDINAL:
            prepared = OrderedModel(y, X, distr="logit")  # thresholds take the part of the constant
            options["method"] = "bfgs"
        else:
            prepared = MNLogit(y, X1)
        start = time.process_time()
        fitted = prepared.fit(**options)
        return time.process_time() - start, float(fitted.llf)


def against_fedci(frames: Frames, n: int, size: int, repeats: int) -> tuple[list[Line], dict[str, Any]]:
    """Ratios to python-fedci: all tests here against the sample there, and the sample on both sides."""
    every = all_questions(VARIABLES)
    sample = balanced(every, size)
    own_all, own_sample = own_seconds(frames, every, repeats), own_seconds(frames, sample, repeats)
    same_all, same_sample = (own_seconds(frames, q, repeats, "generalized") for q in (every, sample))
    peer, p_values = fedci_seconds(frames, sample)
    peer_ms = 1e3 * peer / len(sample)
    target = FEDCI_TARGETS.get(n)
    label = f"sample of {len(sample)}"
    lines = [
        Line(n, "python-fedci", f"all {len(every)} / {label}", peer_ms, 1e3 * own_all / len(every), target),
        Line(n, "python-fedci", f"{label} / same", peer_ms, 1e3 * own_sample / len(sample), target),
        Line(n, "python-fedci", f"all {len(every)}, its ordinal model / {label}", peer_ms, 1e3 * same_all / len(every)),
        Line(n, "python-fedci", f"{label}, its ordinal model / same", peer_ms, 1e3 * same_sample / len(sample)),
    ]
    server = cs.Server([cs.Client(name, frame) for name, frame in frames.items()], ordinal="generalized")
    own_p = [server.test(q.x, q.y, q.given).p_value for q in sample]
    difference = max(abs(a - b) for a, b in zip(own_p, p_values, strict=True))
    return lines, {"n": n, "sample": [str(q) for q in sample], "largest_p_difference": difference}


def against_statsmodels(frames: Frames, n: int, repeats: int) -> tuple[list[Line], dict[str, Any]]:
    """Ratios to statsmodels over all tests: four fits a test; every distinct model once; and without the ordinal response."""
    every = all_questions(VARIABLES)
    pooled = Pooled(frames)
    wanted = dict.fromkeys(m for q in every for pair in models_of(q) for m in pair)
    fits = {model: pooled.fit(model) for model in wanted}
    own = own_seconds(frames, every, repeats)
    others = [q for q in every if not {q.x, q.y} & set(ORDINAL)]
    own_others = own_seconds(frames, others, repeats)

    def four_fits_ms(questions: Sequence[Question]) -> float:
        return 1e3 * sum(fits[m][0] for q in questions for pair in models_of(q) for m in pair) / len(questions)

    own_ms, target = 1e3 * own / len(every), STATSMODELS_TARGETS.get(n)
    once_ms = 1e3 * sum(seconds for seconds, _ in fits.values()) / len(every)
    lines = [
        Line(n, "statsmodels", f"all {len(every)}, four fits a test", four_fits_ms(every), own_ms, target),
        Line(n, "statsmodels", f"all {len(every)}, each of {len(fits)} models once", once_ms, own_ms),
        Line(n, "statsmodels", f"{len(others)} without ordinal response, four fits", four_fits_ms(others), 1e3 * own_others / len(others)),
    ]
    server = cs.Server([cs.Client(name, frame) for name, frame in frames.items()])
    difference = 0.0
    for question, result in zip(every, server.test_many([(q.x, q.y, q.given) for q in every]), strict=True):
        for (restricted, full), direction in zip(models_of(question), result.directions, strict=True):
            peer = 2.0 * (fits[full][1] - fits[restricted][1])
            difference = max(difference, abs(peer - direction.statistic) / (1.0 + direction.statistic))
    families = {"OLS": CONTINUOUS, "Logit": BINARY, "OrderedModel": ORDINAL, "MNLogit": ("E",)}
    mean_ms = {family: 1e3 * statistics.mean(t for (y, _), (t, _) in fits.items() if y in names) for family, names in families.items()}
    return lines, {"n": n, "fit_ms": mean_ms, "largest_relative_statistic_difference": difference}


def run(sizes: Sequence[int], samples: Sequence[int], seed: int, repeats: int) -> dict[str, Any]:
    """All comparisons at all sizes."""
    small = cs.simulate.mixed_sites(n=800, sites=SITES, seed=seed)
    fedci_seconds(small, balanced(all_questions(VARIABLES), 1))  # warm up, as consilience does
    pooled = Pooled(small)
    for response in VARIABLES:
        pooled.fit((response, ()))
    lines: list[Line] = []
    notes: dict[str, list[dict[str, Any]]] = {"fedci": [], "statsmodels": []}
    for n, size in zip(sizes, samples, strict=True):
        frames = cs.simulate.mixed_sites(n=n, sites=SITES, seed=seed)
        if n in STATSMODELS_TARGETS or n == sizes[0]:
            found, note = against_statsmodels(frames, n, repeats)
            lines += found
            notes["statsmodels"].append(note)
        found, note = against_fedci(frames, n, size, repeats)
        lines += found
        notes["fedci"].append(note)
    return {"lines": lines, **notes}


def show(report: Mapping[str, Any]) -> None:
    """Print the figures."""
    peers = ", ".join(f"{name} {version(name)}" for name in ("python-fedci", "statsmodels", "numpy", "scipy", "polars"))
    print(f"consilience {cs.__version__}; {peers}; Python {platform.python_version()} on {platform.machine()}")
    print(f"CPU milliseconds per test, {SITES} sites; one process, one core, one BLAS thread; median of own runs, one run of the peer\n")
    print(f"{'n':>7}  {'peer':<14}{'tests: consilience / peer':<48}{'peer ms':>11}{'own ms':>9}{'ratio':>9}{'target':>8}")
    for line in report["lines"]:
        verdict = "" if line.target is None else f"{f'≥{line.target:g}':>8}  {'pass' if line.met else 'FAIL'}"
        print(f"{line.n:>7}  {line.peer:<14}{line.what:<48}{line.peer_ms:>11,.2f}{line.own_ms:>9.2f}{line.ratio:>8,.1f}×{verdict}")
    print()
    for note in report["fedci"]:
        print(f"n={note['n']}: python-fedci is too slow for every test; it answered {'; '.join(note['sample'])}.")
        print(f"  largest difference of p-values, one slope per threshold on both sides: {note['largest_p_difference']:.2g}")
    for note in report["statsmodels"]:
        fits = ", ".join(f"{family} {ms:.1f}" for family, ms in note["fit_ms"].items())
        print(f"n={note['n']}: statsmodels, mean milliseconds per fit: {fits}")
        print(f"  largest relative difference of statistics, all tests: {note['largest_relative_statistic_difference']:.2g}")


def main() -> int:
    """Measure, print the figures, and say whether targets are met."""
    parser = argparse.ArgumentParser(description="CPU time per CI test against python-fedci and statsmodels.")
    parser.add_argument("--n", type=int, nargs="+", metavar="ROWS", help="rows in all; default 5000 20000")
    parser.add_argument("--peer-sample", type=int, nargs="+", metavar="TESTS", help="tests asked of python-fedci, per size; default 10 6")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--repeats", type=int, default=5, help="runs of consilience, of which the median counts")
    parser.add_argument("--quick", action="store_true", help="5000 rows only, and four tests of python-fedci")
    parser.add_argument("--json", action="store_true", help="print figures as JSON instead of a table")
    options = parser.parse_args()
    sizes = options.n or ([5_000] if options.quick else [5_000, 20_000])
    samples = options.peer_sample or [4 if options.quick else 10 if n <= 5_000 else 6 for n in sizes]
    if len(samples) != len(sizes):
        parser.error(f"--peer-sample needs one number per size; got {len(samples)} for {len(sizes)} sizes.")
    if hasattr(os, "sched_setaffinity"):  # python-fedci runs a thread per client: on one core these cannot contend, which favours it
        os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the peers' own
        report = run(sizes, samples, options.seed, options.repeats)
    if options.json:
        lines = [asdict(line) | {"ratio": line.ratio, "met": line.met} for line in report["lines"]]
        print(json.dumps(report | {"lines": lines}, indent=2))
    else:
        show(report)
    return 0 if all(line.met for line in report["lines"]) else 1


if __name__ == "__main__":
    sys.exit(main())

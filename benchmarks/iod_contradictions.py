"""CI decisions of which one in twenty is wrong: what ``resolve="strict"``, ``"strongest"`` and ``"optimal"`` make of them.

Random Markov equivalence classes over five nodes, each seen through two or three data sets of four variables, and a CI test that errs in
5% of all decisions. The wrong decisions are a function of the case and the question: who asks twice gets the same answer. Three ways to
give a decision its p-value:

* ``certain``: 1 for independence, 0 for dependence, as an oracle has them;
* ``random``: uniform on (α, 1] for independence, α·U⁴ for dependence, U uniform, whether the decision is right or wrong;
* ``model``: uniform on [0, 1] where the truth is independence, Beta(ξ, 1) where it is not, with ξ such that 5% exceed α = 0.05. Nothing
  is flipped by hand: 5% of the decisions are wrong because p-values are what they are.

Required: ``strongest`` and ``optimal`` always find a graph; their lists are what listing all 24,259 classes gives (for ``strongest`` the
classes whose contradicted weights, sorted, come first); ``conflicts`` is minimal (with any decision left out, the solver finds a graph);
and where ``strict`` finds a graph, too, the best SHD to the truth in the list of ``optimal`` is lower
on average::

    python benchmarks/iod_contradictions.py --out docs/contradictions.md

Exit code 1 if a condition is violated.
"""

from __future__ import annotations

import argparse
import hashlib
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import combinations, groupby
from math import comb, log
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

sys.path.insert(0, str(Path(__file__).parents[1]))  # tests/ is not installed

from tests.iod.mag_enumeration import Enumeration, load, questions

from consilience.citest import CIResult, CITest
from consilience.citest.question import Question
from consilience.graph import mask_of
from consilience.iod import Discovery, discover
from consilience.iod.answers import Answers, Key
from consilience.iod.clock import Clock
from consilience.iod.evidence import Ruling, rulings, verdicts, weight
from consilience.iod.local import read_local
from consilience.iod.search_problem import SearchProblem
from consilience.iod.skeleton import search
from consilience.iod.solver.encoding import encode_separately
from consilience.iod.solver.program import PRICE
from consilience.wording import with_contents

NAMES = "ABCDE"
SEED = 5
ALPHA = 0.05
WRONG = 0.05
XI = log(1.0 - WRONG) / log(ALPHA)
KINDS = ("certain", "random", "model")
MOST = len(NAMES) * (len(NAMES) - 1)
"""The greatest SHD."""

Classes = NDArray[np.intp]


class Judge:
    """All classes over five nodes: which of them agree with a decision, and how far they are from the truth."""

    def __init__(self, every: Enumeration) -> None:
        self.every = every
        self._answers = dict(zip(questions(len(NAMES)), np.ascontiguousarray(every.models.T), strict=True))
        self._marks = every.pags.reshape(len(every.pags), -1)
        self._number = {row.tobytes(): number for number, row in enumerate(self._marks)}

    def separated(self, question: Key) -> NDArray[np.bool_]:
        """In which classes the question's set separates its pair."""
        return self._answers[question]

    def agrees(self, ruling: Ruling, held: Sequence[int]) -> NDArray[np.bool_]:
        """Which classes a decision holds in; ``held`` are the data sets' variables as bits."""
        agree = np.ones(len(self._marks), dtype=bool)
        if ruling.separated is not None:
            agree &= self.separated(ruling.separated)
        for dataset, x, y in ruling.inseparable:
            for (a, b, given), separated in self._answers.items():
                if (a, b) == (x, y) and given & ~held[dataset - 1] == 0:
                    agree &= ~separated
        return agree

    def distances(self, classes: Classes, truth: int) -> NDArray[np.int64]:
        """The SHD of each to the truth."""
        return np.count_nonzero(self._marks[classes] != self._marks[truth], axis=1)

    def numbers(self, found: Discovery, most: int | None = None) -> Classes:
        """The classes of the PAGs in a list, or of the first of them."""
        rows = [self._number[pag.marks.astype(self._marks.dtype).tobytes()] for pag in found.pags[:most]]
        return np.array(sorted(rows), dtype=np.intp)

    def least_weight(self, test: Erring, asked: Sequence[Key]) -> Classes:
        """The classes that contradict the least weight of these tests."""
        p_values = [test.p_value(key) for key in asked]
        contradicted = np.array([self.separated(key) != (p > ALPHA) for key, p in zip(asked, p_values, strict=True)])
        return least_weight(contradicted, [weight(p, ALPHA) for p in p_values])

    def strongest_first(self, test: Erring, asked: Sequence[Key]) -> Classes:
        """The classes that contradict fewest tests of the greatest weight, of these fewest of the next, and so on."""
        p_values = {key: test.p_value(key) for key in asked}
        weights = {key: round(weight(p, ALPHA), 9) for key, p in p_values.items()}
        left = np.arange(len(self._marks))
        for _, group in groupby(sorted(asked, key=lambda key: -weights[key]), key=lambda key: weights[key]):
            wrong = np.array([self.separated(key)[left] != (p_values[key] > ALPHA) for key in group]).sum(axis=0)
            left = left[wrong == wrong.min()]
        return left


class Erring(CITest):
    """A CI test that is wrong in 5% of its decisions, always in the same."""

    def __init__(self, judge: Judge, truth: int, datasets: Sequence[Sequence[str]], kind: str, seed: int) -> None:
        self.variables = tuple(NAMES)
        self.datasets = tuple(frozenset(held) for held in datasets)
        self._judge, self._truth, self._kind, self._seed = judge, truth, kind, seed

    def p_value(self, key: Key) -> float:
        """The answer to a question."""
        independent = bool(self._judge.separated(key)[self._truth])
        digest = hashlib.sha256(f"{self._seed} {key}".encode()).digest()
        u, v = ((int.from_bytes(part, "big") + 0.5) / 2**64 for part in (digest[:8], digest[8:16]))
        if self._kind == "model":
            return u if independent else u ** (1.0 / XI)
        independent ^= u < WRONG
        if self._kind == "certain":
            return float(independent)
        return ALPHA + (1.0 - ALPHA) * v if independent else ALPHA * v**4

    def answer(self, asked: Sequence[Question], progress: Callable[[int, int], None] | None = None) -> list[CIResult]:
        """Answer checked questions."""
        results = []
        for q in asked:
            x, y = sorted(map(NAMES.index, (q.x, q.y)))
            held = any(names.issuperset(q.variables) for names in self.datasets)
            p = self.p_value((x, y, mask_of(map(NAMES.index, q.given)))) if held else 1.0
            reason = "" if held else "no data set holds these"
            results.append(CIResult(q.x, q.y, q.given, p, 0, int(held), 0, held, reason, converged=True, directions=()))
        return results


@dataclass(frozen=True, slots=True)
class Figures:
    """One list of PAGs: how many, and SHD to the truth (of the best, of the first, on average)."""

    size: int
    best: float
    first: float | None
    mean: float


@dataclass(frozen=True, slots=True)
class Case:
    """One case, every way."""

    strict: Figures | None
    strongest: Figures | None
    optimal: Figures | None
    decisions: Figures | None
    """By enumeration: the classes of least weight if only the decisions behind the local graphs counted."""
    searched: Figures | None
    """By enumeration: the classes of least weight if only the tests counted that the search for local graphs asks for."""
    seconds: dict[str, float]
    wrong: int
    """Wrong decisions among all questions within the data sets."""
    tests: int
    conflict: int
    overruled: int
    violations: tuple[str, ...]


def figures(judge: Judge, classes: Classes, truth: int, first: Classes | None = None) -> Figures | None:
    """The figures of a list; None if it is empty."""
    if not len(classes):
        return None
    away = judge.distances(classes, truth)
    leading = None if first is None else float(judge.distances(first, truth)[0])
    return Figures(len(classes), float(away.min()), leading, float(away.mean()))


def draw(judge: Judge, rng: np.random.Generator, number: int) -> tuple[int, list[tuple[int, ...]]]:
    """A class, each with the same probability, and two or three data sets, in turn."""
    truth = int(rng.integers(len(judge.every.pags)))
    fours = list(combinations(range(len(NAMES)), 4))
    return truth, [fours[i] for i in rng.permutation(len(fours))[: 2 + number % 2]]


def timed(test: CITest, resolve: str) -> tuple[Discovery, float]:
    """A discovery and its CPU seconds."""
    start = time.process_time()
    found = discover(test, alpha=ALPHA, resolve=resolve, limit=None, time_limit=None)
    return found, time.process_time() - start


def run(judge: Judge, truth: int, datasets: Sequence[tuple[int, ...]], kind: str, seed: int) -> Case:
    """One case, every way, and what is wrong."""
    test = Erring(judge, truth, [[NAMES[v] for v in held] for held in datasets], kind, seed)
    strict, strict_seconds = timed(test, "strict")
    strongest, strongest_seconds = timed(test, "strongest")
    optimal, optimal_seconds = timed(test, "optimal")
    held = [mask_of(map(NAMES.index, names)) for names in strict.datasets]
    decisions = Answers(test, NAMES, ALPHA)
    locals_ = [read_local(one) for one in search(len(NAMES), held, decisions, None, lambda *_: None)]
    problem = SearchProblem(len(NAMES), locals_, rulings(locals_, decisions), verdicts(decisions))
    agree = np.array([judge.agrees(ruling, held) for ruling in problem.rulings])
    fitting = np.flatnonzero(agree.all(axis=0))
    within = [q for q in questions(len(NAMES)) if any((1 << q[0] | 1 << q[1] | q[2]) & ~one == 0 for one in held)]
    cheapest = judge.least_weight(test, within)
    lists = {"strict": judge.numbers(strict), "strongest": judge.numbers(strongest), "optimal": judge.numbers(optimal)}
    violations = []
    if not np.array_equal(lists["strict"], fitting):
        violations.append("strict: not the list of all classes that agree")
    if not np.array_equal(lists["strongest"], judge.strongest_first(test, within)):
        violations.append("strongest: not the classes that come first")
    if not len(lists["optimal"]):
        violations.append("optimal: no graph")
    elif not np.array_equal(lists["optimal"], cheapest):
        violations.append("optimal: not the classes of least weight")
    violations += conflict_faults(problem, strict, agree)
    return Case(
        figures(judge, lists["strict"], truth, judge.numbers(strict, 1)),
        figures(judge, lists["strongest"], truth, judge.numbers(strongest, 1)),
        figures(judge, lists["optimal"], truth, judge.numbers(optimal, 1)),
        figures(judge, least_weight(~agree, [r.decision.weight or 0.0 for r in problem.rulings]), truth),
        figures(judge, judge.least_weight(test, list(decisions.results)), truth),
        {"strict": strict_seconds, "strongest": strongest_seconds, "optimal": optimal_seconds},
        sum((test.p_value(q) > ALPHA) != judge.separated(q)[truth] for q in within),
        len(decisions.results),
        len(strict.conflicts),
        len(optimal.overruled),
        tuple(violations),
    )


def least_weight(contradicted: NDArray[np.bool_], weights: Sequence[float]) -> Classes:
    """The classes that contradict the least, in the whole numbers that the solver is given."""
    cost = np.array([max(1, round(PRICE * one)) for one in weights]) @ contradicted
    return np.flatnonzero(cost == cost.min())


def conflict_faults(problem: SearchProblem, found: Discovery, agree: NDArray[np.bool_]) -> list[str]:
    """What is wrong with ``found.conflicts``: by the solver, and by looking at all classes."""
    if bool(found.pags) == bool(found.conflicts):
        return ["conflicts where there is a graph" if found.pags else "no graph and no conflict"]
    known = problem.decisions
    core = [known.index(decision) for decision in found.conflicts]
    faults = []
    program = encode_separately(problem)

    def possible(numbers: Sequence[int]) -> bool:
        by_solver = program.core(Clock(), [program.holds(number) for number in numbers]) is None
        if by_solver != bool(agree[list(numbers)].all(axis=0).any()):
            faults.append(f"solver and enumeration differ on decisions {list(numbers)}")
        return by_solver

    if core and possible(core):
        faults.append("conflicts can hold together")
    if not all(possible([other for other in core if other != number]) for number in core):
        faults.append("conflicts are not minimal")
    return faults


def averages(lists: Sequence[Figures]) -> list[str]:
    """Best, normalised best, first and mean SHD, and the number of PAGs, on average over cases."""
    best, mean, size = (float(np.mean([getattr(one, name) for one in lists])) for name in ("best", "mean", "size"))
    leading = [one.first for one in lists if one.first is not None]
    return [f"{best:.2f}", f"{best / MOST:.3f}", f"{np.mean(leading):.2f}" if leading else "–", f"{mean:.2f}", f"{size:.1f}"]


LISTS = {
    "strict": "`strict`",
    "strongest": "`strongest`",
    "optimal": "`optimal`",
    "decisions": "*only decisions*",
    "searched": "*only tests of the search*",
}


def comparison(cases: Sequence[Case]) -> list[list[str]]:
    """Rows: which list over which cases."""
    answered = [case for case in cases if case.strict]
    others = [case for case in cases if not case.strict]
    rows = []
    for title, chosen in ((f"strict answers ({len(answered)})", answered), (f"strict does not ({len(others)})", others), ("all", cases)):
        for name, shown in LISTS.items():
            lists = [one for case in chosen if (one := getattr(case, name)) is not None]
            if lists and len(lists) == len(chosen):
                rows.append([title, shown, *averages(lists)])
    return rows


def paired(cases: Sequence[Case]) -> tuple[int, int, int, float]:
    """Where strict answers: how often the best graph of optimal is nearer, as near, farther; and the sign test's two-sided p."""
    gaps = [case.optimal.best - case.strict.best for case in cases if case.strict and case.optimal]
    nearer, equal, farther = sum(gap < 0 for gap in gaps), sum(gap == 0 for gap in gaps), sum(gap > 0 for gap in gaps)
    n = nearer + farther
    tail = sum(comb(n, k) for k in range(min(nearer, farther) + 1)) / 2**n
    return nearer, equal, farther, min(1.0, 2 * tail)


def lower(cases: Sequence[Case]) -> bool:
    """Whether the best SHD of optimal is lower on average where strict answers."""
    both = [(case.strict.best, case.optimal.best) for case in cases if case.strict and case.optimal]
    return bool(np.mean([o for _, o in both]) < np.mean([s for s, _ in both]))


HEAD = ("cases", "list", "best SHD", "normalised", "SHD of the first", "mean SHD of the list", "PAGs")


def facts(cases: Sequence[Case]) -> list[str]:
    """Sentences about one kind of p-values."""
    empty = sum(case.strict is None for case in cases)
    none = sum(case.optimal is None or case.strongest is None for case in cases)
    conflicts = [case.conflict for case in cases if case.strict is None]
    overruled = [case.overruled for case in cases if case.strict is None]
    seconds = {name: [case.seconds[name] for case in cases] for name in ("strict", "strongest", "optimal")}
    lines = [
        f"{np.mean([case.wrong for case in cases]):.1f} wrong decisions within the data sets per case on average; "
        f"{np.mean([case.tests for case in cases]):.0f} tests run by the search for local graphs.",
        f"`strict` finds no graph in {empty} of {len(cases)} cases ({empty / len(cases):.0%}), `strongest` or `optimal` in {none}.",
        f"A conflict has {min(conflicts)} to {max(conflicts)} decisions (mean {np.mean(conflicts):.1f}); "
        f"{np.mean(overruled):.1f} decisions are overruled on average, over all graphs of a list.",
        *(f"CPU seconds, `{name}`: mean {np.mean(own):.3f}, most {max(own):.3f}." for name, own in seconds.items()),
    ]
    nearer, equal, farther, p = paired(cases)
    lines.append(
        f"Best SHD where both answer, `optimal` against `strict`: nearer {nearer}, equal {equal}, farther {farther} "
        f"(sign test, p = {p:.2g})."
    )
    return lines


def table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A table in Markdown."""
    return "\n".join([f"| {' | '.join(head)} |", f"|{'---|' * len(head)}", *(f"| {' | '.join(row)} |" for row in rows)])


WORDS = {
    "certain": "p = 1 for independence and 0 for dependence. By the formula of the weights a dependence then weighs as much as can be,\n"
    "and an independence ln 20 ≈ 3: independences are always given up first.",
    "random": "p uniform on (α, 1] for independence and α·U⁴ for dependence, right or wrong: weights say nothing about which decision\n"
    "is wrong.",
    "model": f"p uniform where the truth is independence, Beta(ξ, 1) with ξ = {XI:.4f} where it is not: the model behind the weights.\n"
    "5% of either kind fall on the wrong side of α, and wrong decisions tend to be weak.",
}


def page(found: dict[str, list[Case]]) -> str:
    """The page in docs/."""
    parts = []
    for kind, cases in found.items():
        notes = "\n".join(f"- {line}" for line in facts(cases))
        parts.append(f"## p-values: {kind}\n\n{WORDS[kind]}\n\n{notes}\n\n{table(HEAD, comparison(cases))}\n")
    n = len(next(iter(found.values())))
    violated = sum(bool(case.violations) for cases in found.values() for case in cases)
    outcome = "All of it held in every case." if not violated else f"**{violated} cases violated a condition.**"
    return with_contents(f"""# When one decision in twenty is wrong

Where decisions contradict each other, `discover` keeps the strongest and overrules the others (`resolve="auto"`, the default), or gives up
as little evidence as can be in all (`"optimal"`), or finds no graph (`"strict"`, the published method).
[How to read such a result](reading.md#when-decisions-contradict-each-other), and [how it is found](discovery.md). This page says how near
the truth the graphs come.

{n} random Markov equivalence classes over five variables (each class with the same probability, seed {SEED}), two or three data sets of
four variables in turn, α = {ALPHA}, and a CI test that errs in {WRONG:.0%} of all decisions. The errors are a function of the case and the
question, so that a question asked twice gets the same answer. Most cases have at least one wrong decision; many of these contradict
the others, and some do not: then even `resolve="strict"` lists graphs, none of which need be the true one.

Required of every case: `strict` lists exactly the classes that agree with all decisions, `strongest` those whose contradicted weights,
sorted, come first, and `optimal` those of least weight in all, as an enumeration of all {24_259:,} classes finds them; the latter two list
at least one; no graph agrees with all of `conflicts`, and one does
with any of them left out, as the solver and the enumeration both say. {outcome}

SHD counts the marks that differ from the true PAG, {MOST} at most; *normalised* is its share of {MOST}. *Best* is the nearest graph of a
list, and favours long lists; the *first* is the graph ranked first; the *mean* is over the list and favours none. The lists in italics
are no results of the package but found by enumeration, to see what `optimal` gains by asking and weighing every question within a data
set: *only decisions* weighs the separating set of each pair and the weakest test of each adjacency instead, *only tests of the search*
what the search for the local graphs asks for. Weighing decisions alone cannot differ from `strict` where that answers.

{chr(10).join(parts)}
Made by `python benchmarks/iod_contradictions.py --out docs/contradictions.md`.
""")


def main() -> int:
    """Run all cases, print what was found, write the page if asked; exit code 1 if a condition is violated."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cases", type=int, default=200)
    parser.add_argument("--out", type=Path, help="write the page as Markdown")
    args = parser.parse_args()
    judge = Judge(load(5))
    found: dict[str, list[Case]] = {}
    bad = 0
    for kind in KINDS:
        rng = np.random.default_rng(SEED)
        found[kind] = cases = [run(judge, *draw(judge, rng, number), kind, number) for number in range(args.cases)]
        print(f"\n{kind}")
        for line in facts(cases):
            print(f"  {line}")
        for row in (HEAD, *comparison(cases)):
            print("  {:26} {:28} {:>10} {:>10} {:>16} {:>20} {:>6}".format(*row))
        for fault in dict.fromkeys(fault for case in cases for fault in case.violations):
            where = [number for number, case in enumerate(cases) if fault in case.violations]
            bad += len(where)
            print(f"  violated: {fault}; in {len(where)} cases: {', '.join(map(str, where[:20]))}{', …' if len(where) > 20 else ''}")
        if not lower(cases):
            bad += 1
            print("  violated: where strict answers, the best SHD of optimal is not lower on average")
    if args.out:
        args.out.write_text(page(found), encoding="utf-8")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())

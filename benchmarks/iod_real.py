"""Real tables: what is left of the decisions when they contradict each other, how soon, and how far from the least that must be given up.

Tables that come with packages on PyPI, and the heart data of four hospitals where they are at hand, split into sites that lack columns
(``tests/data/real_tables.py``); α = 0.05 and 0.01. For each: does ``strict`` answer; ``strongest``, with its CPU seconds after the tests;
``optimal`` with a time limit, its best and its bound::

    python benchmarks/iod_real.py --out docs/real-data.md

Exit code 1 if a case has no answer, strongest first is not complete, takes longer than its target, or gives up less than the bound.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median

sys.path.insert(0, str(Path(__file__).parents[1]))  # tests/ is not installed

from tests.data import real_tables
from tests.data.real_tables import RealStudy, studies

import consilience as cs
from consilience.citest import CIResult, CITest
from consilience.citest.question import Question
from consilience.iod import Discovery, discover

ALPHAS = (0.05, 0.01)
MEDIAN, MOST, LARGE = 10.0, 60.0, 300.0
"""CPU seconds of strongest first: in the median and at most with up to 12 variables, and at most with more."""


class Remembered(CITest):
    """A test whose answers are kept, so that only the first discovery waits for them."""

    def __init__(self, test: CITest) -> None:
        self.variables, self.datasets = test.variables, test.datasets
        self._test = test
        self._kept: dict[tuple[str, str, tuple[str, ...]], CIResult] = {}

    def answer(self, asked: Sequence[Question], progress: Callable[[int, int], None] | None = None) -> list[CIResult]:
        """Answer checked questions."""
        keys = [(q.x, q.y, q.given) for q in asked]
        new = [q for q, key in zip(asked, keys, strict=True) if key not in self._kept]
        for q, answer in zip(new, self._test.answer(new, progress) if new else [], strict=True):
            self._kept[q.x, q.y, q.given] = answer
        return [self._kept[key] for key in keys]


@dataclass(frozen=True, slots=True)
class Case:
    """One table at one level."""

    study: RealStudy
    alpha: float
    tests: int
    strict: int
    strongest: Discovery
    seconds: float
    optimal: Discovery
    optimal_seconds: float

    @property
    def complete(self) -> bool:
        """Every decision was considered and every graph that is left was listed."""
        return self.strongest.resolution.proved and self.strongest.complete

    def faults(self) -> list[str]:
        """What is not as it should be."""
        found, best = self.strongest.resolution, self.optimal.resolution
        wrong = []
        if not self.strongest.pags or not self.optimal.pags:
            wrong.append("no graph")
        if not self.complete:
            wrong.append("strongest first is not complete")
        if self.seconds > (MOST if self.study.n <= 12 else LARGE):
            wrong.append(f"strongest first took {self.seconds:.0f} CPU seconds")
        if best.bound > best.given_up + 1e-6 or best.given_up > found.given_up + 1e-6 or found.bound > best.given_up + 1e-6:
            wrong.append("bounds contradict each other")
        return wrong


def timed(test: CITest, alpha: float, resolve: str, limit: float | None) -> tuple[Discovery, float]:
    """A discovery and its CPU seconds."""
    start = time.process_time()
    found = discover(test, alpha=alpha, resolve=resolve, time_limit=limit)
    return found, time.process_time() - start


def run(study: RealStudy, test: CITest, alpha: float, seconds: float) -> Case:
    """One table at one level, three ways."""
    strict = discover(test, alpha=alpha, resolve="strict", time_limit=60.0)
    strongest, spent = timed(test, alpha, "strongest", None)
    optimal, longer = timed(test, alpha, "optimal", seconds)
    return Case(study, alpha, strict.tests.height, len(strict.pags), strongest, spent, optimal, longer)


HEAD = (
    *("table", "variables", "α", "tests", "`strict`: PAGs", "decisions weighed", "CPU s", "complete", "PAGs", "overruled", "given up"),
    *("`optimal`: given up", "at least", "proved"),
)


def row(case: Case) -> list[str]:
    """A line of the table."""
    found, best = case.strongest.resolution, case.optimal.resolution
    return [
        case.study.table,
        str(case.study.n),
        f"{case.alpha}",
        f"{case.tests:,}",
        str(case.strict),
        str(case.strongest.settings["weighed"]),
        f"{case.seconds:.1f}",
        "yes" if case.complete else "no",
        f"{len(case.strongest.pags):,}" + ("" if case.strongest.complete else " or more"),
        str(len(found.overruled)),
        f"{found.given_up:.2f}",
        f"{best.given_up:.2f}",
        f"{best.bound:.2f}",
        "yes" if best.proved else "no",
    ]


def sentences(cases: Sequence[Case], seconds: float) -> list[str]:
    """What the table comes to."""
    lines = []
    few, many = ([case for case in cases if (case.study.n <= 12) is so] for so in (True, False))
    for words, chosen in (("8 to 12 variables", few), ("14 and 15", many)):
        if chosen:
            spent = [case.seconds for case in chosen]
            lines.append(
                f"{words}: {len(chosen)} cases; `strict` answers in {sum(case.strict > 0 for case in chosen)}, strongest first in "
                f"{sum(bool(case.strongest.pags) for case in chosen)}, complete in {sum(case.complete for case in chosen)}; "
                f"CPU seconds {median(spent):.1f} in the median, {max(spent):.1f} at most."
            )
    proved = [case for case in cases if case.optimal.resolution.proved]
    lines.append(f"`optimal` is proved within {seconds:.0f} s in {len(proved)} of {len(cases)} cases.")
    if proved:
        more = [case.strongest.resolution.given_up - case.optimal.resolution.given_up for case in proved]
        lines.append(f"There, strongest first gives up {median(more):.2f} more than the least in the median, {max(more):.2f} at most.")
    better = sum(case.optimal.resolution.given_up < case.strongest.resolution.given_up - 1e-6 for case in cases)
    lines.append(f"`optimal` gives up less than strongest first, proved or not, in {better} of {len(cases)} cases.")
    return lines


def page(cases: Sequence[Case], seconds: float) -> str:
    """The page in docs/."""
    table = "\n".join([f"| {' | '.join(HEAD)} |", f"|{'---|' * len(HEAD)}", *(f"| {' | '.join(row(case))} |" for case in cases)])
    notes = "\n".join(f"- {line}" for line in sentences(cases, seconds))
    bad = [f"{case.study}, α = {case.alpha}: {', '.join(case.faults())}" for case in cases if case.faults()]
    outcome = "Every condition was met." if not bad else "**Not met:** " + "; ".join(bad) + "."
    return f"""# Real tables

Tables that come with packages on PyPI and UCI's heart data from four hospitals. Rows are dealt out in turn to three sites that lack two
columns each (up to ten variables) or four that lack three; the hospitals keep their own. No split was chosen for its result. The CI tests
are those of all rows in one place (`pooled`), which masked sums reproduce.

*CPU s* are those of `resolve="strongest"` after the tests: local graphs, every decision considered in the order of its weight, all PAGs
that are left, ranking and summary. It is *complete* if every decision was considered and every PAG listed. *Overruled* are decisions that
contradict stronger ones, *given up* is their total weight, |ln(p / α)| each. `optimal` gives up as little as possible in all; it had
{seconds:.0f} seconds, and *at least* is what it could prove that every graph gives up.

Required: an answer in every case; strongest first complete, with up to 12 variables in {MEDIAN:.0f} CPU seconds in the median and
{MOST:.0f} at most, with more in {LARGE:.0f}; bounds that do not contradict each other. {outcome}

{notes}

{table}

Made by `python benchmarks/iod_real.py --out docs/real-data.md`.
"""


def main() -> int:
    """Run all cases, print what was found, write the page if asked; exit code 1 if a condition is violated."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--most", type=int, default=15, help="leave out tables with more variables")
    parser.add_argument("--only", nargs="*", help="these only, such as heart-8")
    parser.add_argument("--seconds", type=float, default=60.0, help="time limit of optimal")
    parser.add_argument("--heart", type=Path, help="folder of the heart data, if they are not beside the project")
    parser.add_argument("--out", type=Path, help="write the page as Markdown")
    args = parser.parse_args()
    if args.heart:
        real_tables.HEART = args.heart
    cases = []
    for study in studies(args.most):
        if args.only and str(study) not in args.only:
            continue
        test = Remembered(cs.pooled(study.clients()))
        for alpha in ALPHAS:
            cases.append(run(study, test, alpha, args.seconds))
            print(*row(cases[-1]), f"{cases[-1].optimal_seconds:.1f}", *cases[-1].faults(), sep="  ", flush=True)
    for line in sentences(cases, args.seconds):
        print(line)
    if args.out:
        args.out.write_text(page(cases, args.seconds), encoding="utf-8")
    small = [case.seconds for case in cases if case.study.n <= 12]
    return 1 if any(case.faults() for case in cases) or (small and median(small) > MEDIAN) else 0


if __name__ == "__main__":
    sys.exit(main())

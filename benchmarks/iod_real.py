"""Real tables, split into sites that lack columns: what each way out of contradictions answers, how fast, and at what price.

Eight tables of eight to fifteen variables (``tests/data/real_tables.py``), significance levels 0.05 and 0.01. Strict answers only where all
decisions agree. Strongest first should be complete in under 10 CPU seconds in the median, and 60 at most, for up to twelve variables::

    python benchmarks/iod_real.py --most 12 --out docs/real-data.md

CPU seconds are those of the search for graphs; the tests come before. Time limits are in CPU seconds, too: other work on the machine
changes nothing. The p-values are those of the pooled rows, as over sites.

``--sentences`` ends the search on every table and at both levels after 0.01, 1 and 10 seconds, and reads all that is then said: every
sentence must be true. That takes a quarter of an hour of its own.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import time
from dataclasses import dataclass
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from tests.data.real_tables import RealStudy, studies
from tests.iod.said import check_sentences

import consilience as cs
from consilience.iod import clock
from consilience.settings.choices import Resolve

ALPHAS = (0.05, 0.01)
LIMITS = (0.01, 1.0, 10.0)
"""CPU seconds after which a search is ended, to read what is said then."""
HEAD = (
    "| table | α | strict | strongest: CPU s | complete | overruled | weight given up | graphs | optimal: given up | at least | proved |\n"
    "|---|---|---|---|---|---|---|---|---|---|---|"
)


class ProcessTime:
    """The clock of the search, in CPU seconds of this process."""

    monotonic = staticmethod(time.process_time)


@dataclass(frozen=True, slots=True)
class Row:
    """One table at one level."""

    study: RealStudy
    text: str
    seconds: float
    complete: bool


def measure(study: RealStudy, test: cs.CITest, alpha: float, seconds: float, optimal: float) -> Row:
    """Discover in every way."""
    first = cs.discover(test, alpha=alpha, resolve="strict", time_limit=0.0, limit=1)  # the tests
    begin = time.process_time()
    found = first.redecide(resolve="auto", time_limit=seconds, limit=1000)
    cpu = time.process_time() - begin
    how = found.resolution
    best = "– | – | –"
    if optimal and how.how is not Resolve.STRICT:
        other = first.redecide(resolve="optimal", time_limit=optimal, limit=10).resolution
        best = f"{other.given_up:.1f} | {other.bound:.1f} | {'yes' if other.proved else 'no'}"
    strict = "yes" if how.how is Resolve.STRICT else "no"
    graphs = f"{len(found.pags)}{'' if found.complete else ' or more'}"
    text = (
        f"| {study} | {alpha} | {strict} | {cpu:.1f} | {'yes' if how.proved else 'no'} | {len(how.overruled)} of {how.decisions} "
        f"| {how.given_up:.1f} | {graphs} | {best} |"
    )
    return Row(study, text, cpu, how.proved)


def read_sentences(test: cs.CITest) -> int:
    """End the search after each of the limits and hold every sentence against what is known; how many answers were read."""
    first = cs.discover(test, alpha=ALPHAS[0], resolve="strict", time_limit=0.0, limit=1)
    for alpha in ALPHAS:
        for seconds in LIMITS:
            found = first.redecide(alpha=alpha, resolve="auto", time_limit=seconds)
            assert found.pags, "an answer without a graph"
            check_sentences(found)
    return len(ALPHAS) * len(LIMITS)


def main() -> None:
    """Measure all tables, print the rows, and write the page."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--least", type=int, default=8, help="fewest variables")
    parser.add_argument("--most", type=int, default=15, help="most variables")
    parser.add_argument("--seconds", type=float, default=300.0, help="time limit of strongest first")
    parser.add_argument("--optimal", type=float, default=10.0, help="time limit of the optimum; 0 leaves it out")
    parser.add_argument("--out", type=Path, help="write the table as Markdown")
    parser.add_argument("--sentences", action="store_true", help="read what is said when the search is ended early, too")
    options = parser.parse_args()
    print(HEAD)
    rows, read = [], 0
    clock.time = ProcessTime()  # type: ignore[assignment]
    for study in [study for study in studies(options.most) if study.n >= options.least]:
        test = cs.pooled(study.frames().values())
        for alpha in ALPHAS:
            rows.append(measure(study, test, alpha, options.seconds, options.optimal))
            print(rows[-1].text, flush=True)
        if options.sentences:
            read += read_sentences(test)
    small = [row.seconds for row in rows if row.study.n <= 12]
    answer = f"{sum(row.complete for row in rows)} of {len(rows)} complete"
    answer += f"; up to twelve variables: median {statistics.median(small):.1f} CPU s, most {max(small):.1f}." if small else "."
    if read:
        limits = ", ".join(f"{seconds:g}" for seconds in LIMITS)
        answer += f" Ended after {limits} CPU seconds, {read} answers were read: each has a graph, and no sentence was false."
    print(answer)
    if options.out:
        words = (
            "# Real tables\n\nWritten by `python benchmarks/iod_real.py --sentences --out docs/real-data.md`. Tables that packages "
            "ship, and the heart data of four hospitals, split into three or four sites that lack two or three columns each; "
            "nothing of the split was chosen for its result. CPU seconds are those of the search for graphs: of tests that are there, "
            "every way out of their contradictions. *Strict* says whether all decisions agree. *Strongest* may take "
            f"{options.seconds:g} CPU seconds and is complete if every decision was considered; *optimal* may take {options.optimal:g}: "
            "the least weight given up that it found, and the weight that every graph gives up at least.\n\n"
        )
        options.out.write_text(words + HEAD + "\n" + "\n".join(row.text for row in rows) + f"\n\n{answer}\n", encoding="utf-8")


if __name__ == "__main__":
    main()

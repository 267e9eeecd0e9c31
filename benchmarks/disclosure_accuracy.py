"""What the rules of the disclosure model cost in accuracy: the paper's study under each of them, and real tables with missing values.

The study is that of ``consilience reproduce``: its graphs, data and questions, without masks. Decisions are held against those without
rules; distances of graphs against what a perfect test would lead to. Real tables are asked for all pairs::

    python benchmarks/disclosure_accuracy.py --size smoke
    python benchmarks/disclosure_accuracy.py --size default --jobs 2 --out docs/disclosure-accuracy.md
"""

from __future__ import annotations

import os

# One BLAS thread a process, set before numpy loads: several runs go on at once.
os.environ["OPENBLAS_NUM_THREADS"] = os.environ["OMP_NUM_THREADS"] = "1"

import argparse
import math
import sys
import warnings
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import polars as pl
from joblib import Parallel, delayed

sys.path.insert(0, str(Path(__file__).parents[1]))

from tests.data.real_tables import HEART, TABLES, RealStudy

import consilience as cs
from consilience.citest.question import Question
from consilience.reproduction.design import ALPHA, Run, study_graphs
from consilience.reproduction.runs import best_shd, find_pags, reference_pags
from consilience.reproduction.sizes import SIZES, Size
from consilience.simulate.sites import from_graph
from consilience.wording import counted

STRICT = {"isolation": "strict", "single_site": "refuse", "on_dropout": "stop", "min_cell": 5}
RULES: dict[str, dict[str, Any]] = {
    "no rules": {"on_dropout": "stop", "min_cell": 1},
    "aggregate, 5 rows a level": {"isolation": "aggregate", "on_dropout": "stop", "min_cell": 5},
    "strict, 5 rows a level": STRICT,
    "aggregate, 5 rows a level, no small cells": {"isolation": "aggregate", "on_dropout": "stop", "min_cell": 5, "cells": "refuse"},
    "no rules, 3 contributors": {"on_dropout": "stop", "min_cell": 1, "single_site": "refuse", "min_contributors": 3},
    "strict, 3 contributors": STRICT | {"min_contributors": 3},
}
NONE = next(iter(RULES))


class Answers(NamedTuple):
    """What one set of rules leaves of a study: p-values (NaN: refused or cannot tell), rows of each test, graphs and their distance."""

    p: tuple[float, ...]
    rows: tuple[int, ...]
    graphs: int = 0
    shd: float | None = None

    @property
    def answered(self) -> list[bool]:
        """Per question, whether it has an answer."""
        return [not math.isnan(p) for p in self.p]


def asked(frames: Mapping[str, pl.DataFrame], schema: Any, questions: Iterable[Question], rules: Mapping[str, Any]) -> Answers:
    """The study's tests under these rules: the plain χ² of the paper, without masks, which change nothing."""
    clients = [cs.Client(name, frame) for name, frame in frames.items()]
    server = cs.Server(clients, schema=schema, masking=False, diagnostics=False, small_sample=False, **rules)
    results = server.answer(list(questions))
    p = tuple(r.p_value if r.informative else math.nan for r in results)
    return Answers(p, tuple(r.n if r.informative else 0 for r in results))


def do_run(run: Run, graphs: int) -> tuple[int, dict[str, Answers]]:
    """One run of the paper's study under all rules; and its number of sites."""
    graph = study_graphs(graphs)[run.graph]
    made = from_graph(graph.pag, n=run.n, sites=run.sites, seed=run.seed, exclusive=graph.exclusive)
    reference = reference_pags(str(graph.pag), graph.exclusive)
    found = {}
    for name, rules in RULES.items():
        got = asked(made.frames, made.schema, graph.questions, rules)
        pags = find_pags(graph.questions, np.log(np.maximum(got.p, 1e-300)).tolist(), graph.datasets)
        found[name] = got._replace(graphs=len(pags), shd=best_shd(pags, reference))
    return run.sites, found


class Loss(NamedTuple):
    """What some rules leave, over several studies."""

    studies: int
    answered: float
    rows: float
    same: float
    same_of_all: float
    graphs: float
    listed: float
    listed_before: float
    shd: float
    shd_before: float


def loss(pairs: list[tuple[Answers, Answers]]) -> Loss:
    """Of (without rules, with them). Distances are of the studies that have a graph both times: only those can be compared."""
    free = np.array([p for a, _ in pairs for p in a.p])
    ruled = np.array([p for _, b in pairs for p in b.p])
    rows_free, rows_ruled = (sum(sum(one.rows) for one in part) for part in zip(*pairs, strict=True))
    both = ~np.isnan(free) & ~np.isnan(ruled)
    same = (free[both] > ALPHA) == (ruled[both] > ALPHA)
    known = int((~np.isnan(free)).sum())
    told = [(b.graphs, a.graphs, b.shd, a.shd) for a, b in pairs if a.shd is not None and b.shd is not None]
    means = [float(np.mean(part)) for part in zip(*told, strict=True)] if told else [math.nan] * 4
    return Loss(
        len(pairs),
        float(both.sum()) / known,
        rows_ruled / rows_free,
        float(same.mean()) if same.size else math.nan,
        float(same.sum()) / known,
        sum(b.shd is not None for _, b in pairs) / len(pairs),
        *means,
    )


class RealTable(NamedTuple):
    """A real table over sites, with the values that it lacks."""

    words: str
    frames: dict[str, pl.DataFrame]


def real_tables() -> list[RealTable]:
    """Those that are on this machine: the four hospitals, which lack values of their own accord, and tables that packages ship."""
    found = []
    if HEART.exists():
        found.append(RealTable("heart: four hospitals, 14 variables", RealStudy("heart", 14, lacking=0).frames()))
    for name, more, sites in (("actg175", ("cd496",), 4), ("flchain", (), 4)):
        columns, read = TABLES[name]
        whole = read().select([*columns[:8], *more])
        parts = {f"site{k + 1}": whole.gather_every(sites, k) for k in range(sites)}
        found.append(RealTable(f"{name}: {whole.height} rows dealt out to {sites} sites, {whole.width} variables", parts))
        lacking = {site: frame.drop(frame.columns[k]) for k, (site, frame) in enumerate(parts.items())}
        found.append(RealTable(f"{name}: the same, every site lacks one variable", lacking))
    return found


def schema_of(frames: Mapping[str, pl.DataFrame]) -> Any:
    """What the sites have in common, as a server without rules finds it: the same for all rules."""
    return cs.Server([cs.Client(name, frame) for name, frame in frames.items()], masking=False).schema


def real(table: RealTable) -> dict[str, Answers]:
    """All pairs of a real table, under all rules."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # two hospitals have a cholesterol of zero, and it is said
        schema = schema_of(table.frames)
        names = tuple(schema)
        questions = [Question(x, y) for i, x in enumerate(names) for y in names[i + 1 :]]
        return {name: asked(table.frames, schema, questions, rules) for name, rules in RULES.items()}


def share(value: float) -> str:
    """In per cent, with a digit where it matters; a loss is never rounded away."""
    if math.isnan(value):
        return "–"
    shown = f"{100 * value:.1f}"
    return "99.9 %" if shown == "100.0" and value < 1 else "100 %" if shown == "100.0" else f"{shown} %"


def paper_table(records: list[tuple[int, dict[str, Answers]]]) -> list[str]:
    """A row for each rule and number of sites."""
    lines = [
        "| rules | sites | studies | tests answered | rows kept | same decision, of tests answered | of all tests | studies with a graph "
        "| graphs in the list, mean | without rules | SHD of the nearest, mean | without rules |",
        "|---|---|---|---|---|---|---|---|---|---|---|---|",
    ]
    for sites in sorted({k for k, _ in records}):
        for name in RULES:
            found = loss([(got[NONE], got[name]) for k, got in records if k == sites])
            lines.append(
                f"| {name} | {sites} | {found.studies} | {share(found.answered)} | {share(found.rows)} | {share(found.same)} "
                f"| {share(found.same_of_all)} | {share(found.graphs)} | {found.listed:.1f} "
                f"| {found.listed_before:.1f} | {found.shd:.3f} | {found.shd_before:.3f} |"
            )
    return lines


def real_table(found: Mapping[str, Mapping[str, Answers]]) -> list[str]:
    """A row for each table and rule."""
    lines = ["| table | rules | pairs answered | rows of pairs kept | same decision, of pairs answered |", "|---|---|---|---|---|"]
    for words, answers in found.items():
        for name, got in answers.items():
            lost = loss([(answers[NONE], got)])
            lines.append(f"| {words} | {name} | {sum(got.answered)} of {len(got.p)} | {share(lost.rows)} | {share(lost.same)} |")
    return lines


def page(size: Size, records: list[tuple[int, dict[str, Answers]]], tables: Mapping[str, Mapping[str, Answers]]) -> str:
    """The whole page."""
    plan = SIZES[size]
    command = f"python benchmarks/disclosure_accuracy.py --size {size.value} --out docs/disclosure-accuracy.md"
    sizes = f"{plan.graphs} graphs, {counted(plan.replications, 'replication')}, {', '.join(map(str, plan.samples))} rows over all sites"
    return "\n".join(
        [
            "# Accuracy under the rules on disclosure",
            "",
            f"Made by `{command}`. What the rules are: [the model](disclosure.md#the-model).",
            "",
            "*Rows kept* are the rows of all tests together, those of tests that are refused counted as lost. A decision is",
            f"the same if both times p is above {ALPHA}, or both times not. Where decisions contradict each other there is no graph.",
            "SHD is the normalised distance between the nearest two graphs of the list found and of the list that a perfect test",
            "leads to, over studies that have a graph with the rules and without. Fewer answers make longer lists,",
            "in which something near is easily found: read it beside the number of graphs.",
            "",
            "## The paper's study",
            "",
            f"{sizes}; half of the sites lack one variable, and half another. No value is missing.",
            "",
            *paper_table(records),
            "",
            "## Real tables with missing values",
            "",
            "All pairs of variables, marginally. Values are missing as they are in the tables. What is lost are rows that a rule",
            "leaves out, and pairs that it refuses.",
            "",
            *real_table(tables),
            "",
        ]
    )


def main() -> int:
    """Print the tables, and write the page if asked to; exit code 1 if ``aggregate`` changes a decision of the paper's study beyond 2 %."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--size", type=Size, default=Size.SMOKE, choices=list(Size), help="of the paper's study")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--out", type=Path)
    args = parser.parse_args()
    plan = SIZES[args.size]
    tasks = [delayed(do_run)(run, plan.graphs) for run in plan.runs()]
    records = list(Parallel(n_jobs=args.jobs, batch_size=1)(tasks))
    tables = {table.words: real(table) for table in real_tables()}
    text = page(args.size, records, tables)
    print(text)
    if args.out is not None:
        args.out.write_text(text, encoding="utf-8")
    aggregate = loss([(got[NONE], got["aggregate, 5 rows a level"]) for _, got in records])
    return 0 if aggregate.same_of_all >= 0.98 else 1


if __name__ == "__main__":
    sys.exit(main())

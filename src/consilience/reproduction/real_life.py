"""Studies of the paper's form with other methods: the likelihood test, Fisher's method, random site effects, and tests of residuals.

The paper's graphs, partitions and questions; its data, in which linear models are true, or data in which nothing is linear
(:mod:`consilience.simulate.real_life`), of whose wards the tests of residuals are told.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from enum import StrEnum
from pathlib import Path
from typing import Any

import msgspec
import numpy as np

from consilience.parallel import Jobs, check_jobs, spread
from consilience.reproduction.design import ALPHA, SEED, Run, StudyGraph, study_graphs
from consilience.reproduction.record_folder import RecordFolder, claim_folder, code_digest
from consilience.reproduction.runs import best_shd, find_pags, reference_pags
from consilience.reproduction.sizes import Plan, Size
from consilience.settings import LOCAL
from consilience.simulate.methods import ask_sites
from consilience.simulate.real_life import WARD, real_life
from consilience.simulate.sites import from_graph

__all__ = ["HEAD", "METHODS", "PLANS", "Data", "Found", "RealLifeRecord", "RealLifeStudy", "Shown", "do_real_life", "page_of", "summarise"]


class Shown(StrEnum):
    """What is compared."""

    FEDCI = "fedci"
    RANDOM = "random"
    FISHER = "fisher"
    RESIDUAL = "residual"
    SMOOTH = "residual, smooth"


class Data(StrEnum):
    """What is drawn: data in which nothing is linear, or the paper's."""

    REAL_LIFE = "real-life"
    PAPER = "methods"


PLAIN: dict[Shown, dict[str, Any]] = {
    Shown.FEDCI: {},
    Shown.RANDOM: {"site_effects": "random"},
    Shown.FISHER: {"method": "fisher"},
    Shown.RESIDUAL: {"method": "residual", "alternatives": "linear"},
    Shown.SMOOTH: {"method": "residual", "alternatives": "smooth"},
}
WARDS = {"cluster": WARD}
METHODS: dict[Data, dict[Shown, dict[str, Any]]] = {
    Data.PAPER: PLAIN,
    Data.REAL_LIFE: PLAIN | {shown: PLAIN[shown] | WARDS for shown in (Shown.RESIDUAL, Shown.SMOOTH)},
}
PLANS = {
    Size.SMOKE: Plan(1, 1, (500,), (4,), 0),
    Size.DEFAULT: Plan(30, 4, (500, 2000, 5000), (4,), 0),
    Size.PAPER: Plan(30, 10, (500, 1000, 2500, 5000), (4, 8, 12), 0),
}


class Found(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What one method found in one run. ``p`` has an entry per question, None where the test could not tell."""

    p: tuple[float | None, ...]
    pags: int
    shd: float | None
    seconds: float


class RealLifeRecord(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The outcome of one run, as it is kept on disk."""

    run: tuple[int, int, int, int]
    found: dict[str, Found]


def do_real_life(run: Run, graph: StudyGraph, methods: Sequence[Shown] = tuple(Shown), data: Data = Data.REAL_LIFE) -> RealLifeRecord:
    """Simulate, test, discover, compare.

    >>> record = do_real_life(Run(0, 0, 300, 4), study_graphs(1)[0], [Shown.FEDCI])
    >>> len(record.found["fedci"].p)
    42
    """
    where: dict[str, Any] = {"n": run.n, "sites": run.sites, "exclusive": graph.exclusive}
    real = data is Data.REAL_LIFE
    made = real_life(graph.pag, seed=(*run.seed, 1), **where) if real else from_graph(graph.pag, seed=run.seed, **where)
    reference = reference_pags(str(graph.pag), graph.exclusive)
    found = {}
    for method in methods:
        start = time.process_time()
        # what is compared is decisions and their time; whether models hold is not asked
        results = ask_sites(made.frames, made.schema, graph.questions, diagnostics=False, **METHODS[data][method])
        p = [r.p_value if r.informative else math.nan for r in results]
        pags = find_pags(graph.questions, np.log(np.maximum(p, 1e-300)).tolist(), graph.datasets)
        told = tuple(None if math.isnan(value) else value for value in p)
        found[method.value] = Found(told, len(pags), best_shd(pags, reference), time.process_time() - start)
    return RealLifeRecord((run.replication, run.graph, run.n, run.sites), found)


class RealLifeStudy:
    """The study of one size, with its results in ``folder``; it can be interrupted and repeated."""

    def __init__(self, folder: Path, size: Size | Plan = Size.DEFAULT, data: Data = Data.REAL_LIFE) -> None:
        self.plan = size if isinstance(size, Plan) else PLANS[size]
        self.folder, self.data = folder, data
        self._records: RecordFolder[RealLifeRecord] = RecordFolder(folder / "runs", RealLifeRecord)

    def run(self, jobs: Jobs = LOCAL.jobs, progress: Callable[[int, int], None] | None = None) -> list[RealLifeRecord]:
        """Compute what is missing over ``jobs`` processes, or on the cluster of a Dask scheduler; all records."""
        check_jobs(jobs)
        claim_folder(self.folder, {"alpha": ALPHA, "code": code_digest(None, "real_life"), "seed": SEED, "study": self.data.value})
        todo, total = [run for run in self.plan.runs() if self._records.read(run.key) is None], len(self.plan.runs())
        tasks = [(run, self.plan.graphs, self.data) for run in todo]
        for done, (place, record) in enumerate(spread(_do, tasks, jobs), start=total - len(todo) + 1):
            self._records.write(todo[place].key, record)
            if progress is not None:
                progress(done, total)
        found = (self._records.read(run.key) for run in self.plan.runs())
        return [record for record in found if record is not None]


def _do(run: Run, graphs: int, data: Data) -> RealLifeRecord:
    return do_real_life(run, study_graphs(graphs)[run.graph], data=data)


def summarise(records: Sequence[RealLifeRecord], graphs: int) -> list[tuple[str, ...]]:
    """A row per sample size and method, all as text.

    Tests answered, independences that are rejected, dependences that are found, right decisions, runs with a graph, distance, CPU seconds.
    """
    truth = [np.array(graph.truth()) for graph in study_graphs(graphs)]
    rows: list[tuple[str, ...]] = []
    for n in sorted({record.run[2] for record in records}):
        for method in Shown:
            of = [(r.found[method.value], truth[r.run[1]]) for r in records if r.run[2] == n and method.value in r.found]
            if not of:
                continue
            p = np.array([[math.nan if v is None else v for v in found.p] for found, _ in of])
            true = np.array([t for _, t in of])
            told = ~np.isnan(p)
            rejected = np.where(told, p, 1.0) <= ALPHA
            shd = [found.shd for found, _ in of if found.shd is not None]
            rows.append(
                (
                    f"{n:,}",
                    method.value,
                    f"{told.mean():.3f}",
                    f"{_share(rejected, told & true):.3f}",
                    f"{_share(rejected, told & ~true):.3f}",
                    f"{_share(rejected != true, told):.3f}",
                    f"{sum(found.pags > 0 for found, _ in of)}/{len(of)}",
                    f"{np.mean(shd):.3f}" if shd else "–",
                    f"{np.mean([found.seconds for found, _ in of]):.2f}",
                )
            )
    return rows


def _share(what: np.ndarray, among: np.ndarray) -> float:
    return float(what[among].mean()) if among.any() else math.nan


HEAD = (
    "n",
    "method",
    "tests answered",
    "independences rejected",
    "dependences found",
    "right decisions",
    "runs with a graph",
    "distance",
    "CPU s",
)


TITLES = {Data.REAL_LIFE: "The study on data like those of hospitals", Data.PAPER: "Other tests on the paper's data"}
DRAWN = {
    Data.REAL_LIFE: """the data are not: effects bend, their size differs between sites, noise grows, and patients share wards of 25
(`consilience.simulate.real_life`), of which only the tests of residuals are told.""",
    Data.PAPER: """so are the data: linear models of every kind with an intercept for every site, where the likelihood test is right. What
the tests of residuals pay for assuming less shows here.""",
}


def page_of(records: Sequence[RealLifeRecord], graphs: int, command: str, data: Data = Data.REAL_LIFE) -> str:
    """The page, as Markdown."""
    rows = [HEAD, tuple("---" for _ in HEAD), *summarise(records, graphs)]
    table = "\n".join(f"| {' | '.join(row)} |" for row in rows)
    return f"""# {TITLES[data]}

This page is written by `{command}`. Graphs, partitions and questions are those of the paper's study; {DRAWN[data]}
{len(records)} runs. Decisions are taken at {ALPHA}; a distance is that of the nearest pair of PAGs, over runs in which all decisions agree
with some graph.

{table}

Independences that are rejected are false edges; at {ALPHA} one in twenty is the price of a test. A dependence that is not found may be too
weak for any test of so many rows.
"""

"""From a CI test over overlapping data sets to the complete list of PAGs."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import polars as pl

from consilience.citest.interface import CITest
from consilience.citest.result import to_frame
from consilience.errors import OptionError, check_number, check_option
from consilience.graph.graphs import PAG
from consilience.graph.working import mask_of
from consilience.iod.decisions import Decisions
from consilience.iod.engine import enumerate_pags
from consilience.iod.local import read_local
from consilience.iod.skeleton import search
from consilience.iod.union import Variant

__all__ = ["Discovery", "Stage", "discover"]

ENGINES = ("iod",)
Stage = Callable[[str], None]
"""Told, in words, what is being done; an exception that it raises cancels the discovery."""


@dataclass(frozen=True, slots=True, eq=False)
class Discovery:
    """What was found: every PAG over all variables that agrees with every data set, and all it rests on.

    ``local_pags`` has one PAG per data set, ``tests`` one row per CI test that was used, ``candidates`` counts the graphs that were
    looked at before validation, ``timings`` holds seconds per step.
    """

    pags: tuple[PAG, ...]
    local_pags: tuple[PAG, ...]
    datasets: tuple[tuple[str, ...], ...]
    tests: pl.DataFrame
    alpha: float
    engine: str
    variant: str
    candidates: int
    timings: dict[str, float]

    def to_dict(self) -> dict[str, Any]:
        """Plain types, for JSON: graphs as edges in text and as pcalg matrices."""
        return {
            "pags": [_plain(pag) for pag in self.pags],
            "local_pags": [{"variables": list(v), **_plain(p)} for v, p in zip(self.datasets, self.local_pags, strict=True)],
            "alpha": self.alpha,
            "engine": self.engine,
            "variant": self.variant,
            "candidates": self.candidates,
            "tests": self.tests.to_dicts(),
            "timings": self.timings,
        }

    def __repr__(self) -> str:
        return f"Discovery({len(self.pags)} PAGs from {len(self.datasets)} data sets, {self.tests.height} tests)"


def _plain(pag: PAG) -> dict[str, Any]:
    return {"edges": [str(edge) for edge in pag.edges], "labels": list(pag.labels), "matrix": pag.to_matrix().tolist()}


def discover(
    test: CITest,
    *,
    alpha: float = 0.05,
    engine: str = "iod",
    variant: str = "triples",
    max_given: int | None = None,
    jobs: int = 1,
    progress: Stage | None = None,
) -> Discovery:
    """Every PAG that agrees with the CI decisions of ``test`` on each of its data sets.

    ``max_given`` bounds conditioning sets; pairs that are not tested to the end are then neither separable nor inseparable.
    ``variant`` says which local marks guide the search (``"original"``, ``"colliders"``, ``"triples"``); the list is the same.
    ``jobs`` processes validate candidates.

    >>> from consilience.graph import Oracle
    >>> oracle = Oracle(PAG.parse("A o-> C, B o-> C, C --> D"), datasets=[["A", "B", "C"], ["B", "C", "D"]])
    >>> found = discover(oracle)
    >>> for pag in found.pags:
    ...     print(pag)
    A <-> C, A <-> D, B o-> C, C --> D
    A o-> C, B o-> C, C --> D
    """
    if not isinstance(alpha, float | int) or not 0.0 < alpha < 1.0:
        raise OptionError(f"alpha must lie between 0 and 1; got {alpha!r}.")
    check_option("engine", engine, ENGINES)
    chosen = Variant(check_option("variant", variant, tuple(Variant)))
    if max_given is not None:
        check_number("max_given", max_given, least=0)
    say = progress or (lambda _: None)
    names = tuple(sorted(test.variables))
    index = {name: i for i, name in enumerate(names)}
    datasets = tuple(tuple(sorted(held)) for held in test.datasets)
    decisions = Decisions(test, names, float(alpha))
    start = time.perf_counter()
    searches = search(
        len(names),
        [mask_of(index[name] for name in held) for held in datasets],
        decisions,
        max_given,
        lambda what, level, done: say(f"testing, {what} {level} ({done} tests so far)"),
    )
    tested = time.perf_counter()
    locals_ = [read_local(found) for found in searches]
    solutions = enumerate_pags(
        len(names), locals_, chosen, jobs, lambda seen, valid: say(f"validating: {seen} candidates, {valid} PAGs so far")
    )
    done = time.perf_counter()
    pags = sorted((PAG.from_working(marks, names) for marks in solutions.pags), key=str)
    local_pags = (PAG.from_working(local.marks, names) for local in locals_)
    return Discovery(
        tuple(pags),
        tuple(_restricted(pag, held) for pag, held in zip(local_pags, datasets, strict=True)),
        datasets,
        to_frame(list(decisions.results.values())),
        float(alpha),
        engine,
        chosen.value,
        solutions.candidates,
        {"tests": tested - start, "graphs": done - tested},
    )


def _restricted(pag: PAG, held: tuple[str, ...]) -> PAG:
    """A local PAG over its own variables only."""
    keep = [pag.index(name) for name in held]
    return PAG.from_matrix(pag.to_matrix()[keep][:, keep], held)

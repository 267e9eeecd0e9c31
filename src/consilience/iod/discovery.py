"""The result of a discovery."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import polars as pl

from consilience.graph.graphs import PAG
from consilience.iod.evidence import Decision
from consilience.iod.knowledge import Knowledge
from consilience.iod.summary import Summary

__all__ = ["Discovery"]


@dataclass(frozen=True, slots=True, eq=False)
class Discovery:
    """What was found: every PAG over all variables that agrees with every data set, and all it rests on.

    ``pags`` are ranked, best first; ``scores`` is the weight of the CI decisions that each contradicts (0: none). ``complete`` is False if
    a limit cut the list short; ``summary`` says what holds in all, some or none of the graphs, listed or not.

    ``conflicts`` are decisions of the local graphs that cannot hold together, and could with any one of them left out: they say why a
    strict list is empty. With ``resolve="optimal"`` decisions are ``overruled``; where all tests are weighed, this may happen without such
    a conflict. Where several graphs tie, ``overruled`` has what at least one of them gives up, and :meth:`contradicted` tells which.

    ``local_pags`` has one PAG per data set, ``tests`` one row per CI test that was used, ``candidates`` counts the graphs that were
    looked at before validation, ``timings`` holds seconds per step, ``disclosed`` what left each site in all (None if the test keeps no
    ledgers), ``settings`` and ``versions`` what it takes to do it again.
    """

    pags: tuple[PAG, ...]
    scores: tuple[float, ...]
    complete: bool
    summary: Summary
    conflicts: tuple[Decision, ...]
    overruled: tuple[Decision, ...]
    local_pags: tuple[PAG, ...]
    datasets: tuple[tuple[str, ...], ...]
    tests: pl.DataFrame
    candidates: int
    timings: dict[str, float]
    settings: dict[str, Any]
    versions: dict[str, str]
    knowledge: Knowledge | None = None
    disclosed: pl.DataFrame | None = None
    _contradicted: tuple[tuple[Decision, ...], ...] = field(default=(), repr=False)

    @property
    def alpha(self) -> float:
        """The significance level."""
        return float(self.settings["alpha"])

    @property
    def engine(self) -> str:
        """``"exact"`` or ``"iod"``."""
        return str(self.settings["engine"])

    @property
    def variant(self) -> str:
        """Which local marks guided ``engine="iod"``."""
        return str(self.settings["variant"])

    @property
    def resolve(self) -> str:
        """``"strict"`` or ``"optimal"``."""
        return str(self.settings["resolve"])

    @property
    def max_given(self) -> int | None:
        """The largest conditioning set that was allowed."""
        return None if self.settings["max_given"] is None else int(self.settings["max_given"])

    @property
    def selection_bias(self) -> bool:
        """Whether undirected edges were allowed."""
        return bool(self.settings["selection_bias"])

    def contradicted(self, number: int) -> tuple[Decision, ...]:
        """The decisions that ``pags[number]`` contradicts; none, unless decisions were overruled."""
        return self._contradicted[number] if self._contradicted else ()

    def to_html(self, path: str | Path) -> None:
        """Write the whole result as one page that needs no other file and no network."""
        from consilience.iod.report import write_report  # noqa: PLC0415  only who wants a page pays for its parts

        write_report(self, path)

    def to_dict(self) -> dict[str, Any]:
        """Plain types, for JSON: graphs as edges in text and as pcalg matrices."""
        return {
            "pags": [{**_plain(pag), "score": score} for pag, score in zip(self.pags, self.scores, strict=True)],
            "complete": self.complete,
            "summary": self.summary.frame.to_dicts(),
            "conflicts": [_decision(decision) for decision in self.conflicts],
            "overruled": [_decision(decision) for decision in self.overruled],
            "local_pags": [{"variables": list(v), **_plain(p)} for v, p in zip(self.datasets, self.local_pags, strict=True)],
            **self.settings,
            "knowledge": None if self.knowledge is None else self.knowledge.to_dict(),
            "candidates": self.candidates,
            "tests": self.tests.to_dicts(),
            "disclosed": None if self.disclosed is None else self.disclosed.to_dicts(),
            "timings": self.timings,
            "versions": self.versions,
        }

    def __repr__(self) -> str:
        more = "" if self.complete else " or more"
        count, sets = len(self.pags), len(self.datasets)
        graphs, held = "PAG" if count == 1 and not more else "PAGs", "data set" if sets == 1 else "data sets"
        return f"Discovery({count}{more} {graphs} from {sets} {held}, {self.tests.height} tests)"


def _plain(pag: PAG) -> dict[str, Any]:
    return {"edges": [str(edge) for edge in pag.edges], "labels": list(pag.labels), "matrix": pag.to_matrix().tolist()}


def _decision(decision: Decision) -> dict[str, Any]:
    return {**asdict(decision), "kind": decision.kind.value, "given": list(decision.given)}

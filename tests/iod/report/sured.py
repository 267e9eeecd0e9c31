"""A discovery whose search was repeated: age, pressure and smoker in resampled copies, and without each of three sites."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import polars as pl

from consilience.graph import PAG
from consilience.iod import Discovery
from consilience.iod.stability import Stability
from consilience.iod.stability.counting import edge_schema, edges_without_schema, test_schema
from consilience.iod.stability.influence import site_schema, without_schema
from tests.iod.report.sized import sized

__all__ = ["EDGES", "by_site", "edge", "frame", "stable", "sured"]

NAMES = ("age", "pressure", "smoker")
PAIRS = (("age", "pressure"), ("age", "smoker"), ("pressure", "smoker"))


def edge(x: str, y: str, share: float, plain: float, *, arrow: float = 0.0) -> dict[str, Any]:
    """A row of the table of edges: arrowheads at y in so many, circles elsewhere."""
    marks = {"x_arrow": 0.0, "x_tail": 0.0, "x_circle": share, "y_arrow": arrow, "y_tail": 0.0, "y_circle": share - arrow}
    return {"x": x, "y": y, "share": share, **marks, "plain": plain}


def frame(*rows: dict[str, Any]) -> pl.DataFrame:
    """Rows as the table of edges."""
    return pl.DataFrame(rows, schema=edge_schema())


EDGES = [edge(*PAIRS[0], 0.97, 1.0, arrow=0.6), edge(*PAIRS[1], 0.6, 1.0), edge(*PAIRS[2], 0.0, 0.0)]
TESTS = [
    ("age", "pressure", [], 1e-9, True, 30, 1e-12, 1e-9, 1e-6, 1.0, 1.0),
    ("age", "smoker", [], 0.04, True, 30, 0.001, 0.03, 0.4, 0.6, 0.6),
    ("pressure", "smoker", ["age"], 0.8, False, 30, 0.2, 0.6, 0.9, 0.0, 1.0),
]


def by_site(*, without: float = 0.0, graphs: int = 1, sites: tuple[str, ...] = ("mainz", "marburg")) -> dict[str, pl.DataFrame]:
    """What leaving out each site says: without the last, age – smoker has the share ``without`` of ``graphs`` graphs."""
    influences = [1.1] * (len(sites) - 1) + [9.0]
    rows = [(s, i, 3, 1, 1 if s == sites[-1] else 0, 0, graphs if s == sites[-1] else 1) for s, i in zip(sites, influences, strict=True)]
    listed = {**dict.fromkeys(PAIRS, 1.0), PAIRS[2]: 0.0}
    left = {(s, pair): without if (s, pair) == (sites[-1], PAIRS[1]) else plain for s in sites for pair, plain in listed.items()}
    edges = [(s, *pair, share, listed[pair]) for (s, pair), share in left.items()]
    tests = [(s, x, y, given, p, p, 0.5, False) for s in sites for x, y, given, p, *_ in TESTS]
    return {
        "sites": pl.DataFrame(rows, schema=site_schema(), orient="row"),
        "edges_without": pl.DataFrame(edges, schema=edges_without_schema(), orient="row"),
        "without": pl.DataFrame(tests, schema=without_schema(), orient="row"),
    }


def stable(**changes: Any) -> Stability:
    """Thirty copies, all of them finished, unless something else is said."""
    told: dict[str, Any] = {
        "asked": 30,
        "done": 30,
        "edges": frame(*EDGES),
        "tests": pl.DataFrame(TESTS, schema=test_schema(), orient="row"),
        "consensus": PAG.parse("age o-> pressure, age o-o smoker"),
        "alpha": 0.05,
    }
    return Stability(**told | changes)


def sured(**changes: Any) -> Discovery:
    """The discovery of ``sized`` with it."""
    return replace(sized(), stability=stable(**changes))

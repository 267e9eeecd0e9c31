"""Discoveries to show: from oracles, from real tables with overruled decisions, and ones that were cut short."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import numpy as np

import consilience as cs
from consilience.graph import PAG
from consilience.iod import Discovery
from tests.data.real_tables import RealStudy
from tests.iod.cases import oracle_of, random_case
from tests.iod.report.helpers import found_of, result

__all__ = ["HOSTILE", "contradictory", "cut", "hostile", "many_pairs", "nothing", "oracle", "real"]


@cache
def oracle(seed: int) -> Discovery:
    truth, datasets = random_case(seed)
    return cs.discover(oracle_of(truth, datasets))


@cache
def real() -> Discovery:
    """A real table over three sites, on which decisions contradict each other."""
    return cs.discover(cs.Server(RealStudy("diabetes", 8).clients()), time_limit=20.0)


@cache
def cut() -> Discovery:
    """A list that was cut after its first graph."""
    graph = PAG.parse("A o-> C, B o-> C, C --> D, D --> E")
    return cs.discover(cs.Oracle(graph, datasets=["ABC", "BCD", "DE"]), limit=1)


@cache
def contradictory() -> Discovery:
    """No graph at all: the weakest were not to give way."""
    return replace(real(), pags=(), scores=(), summary=type(real().summary).of([], real().summary.labels), _contradicted=())


def nothing() -> Discovery:
    """Nothing was tested, and time ran out before anything was found."""
    found = found_of([], ["ABC", "BCD"], [])
    return replace(found, complete=False, summary=type(found.summary).of([], "ABCD", complete=False))


HOSTILE = [
    "<script>alert(1)</script>",
    "\"&'",
    "</svg></td></section>",
    "' onload=alert(1) x='",
    "</script><!--",
    "{{ 7*7 }}{% x %}",
    "גיל",
    "🧪👩‍⚕️",
    "x" * 400,
    "a, b; c",
    "\x00\x07",
]


def hostile() -> Discovery:
    marks = np.zeros((len(HOSTILE), len(HOSTILE)), dtype=int)
    for k in range(len(HOSTILE) - 1):
        marks[k, k + 1], marks[k + 1, k] = 2, 1 + k % 3
    pags = [PAG.from_matrix(marks, HOSTILE), PAG.from_matrix(np.zeros_like(marks), HOSTILE)]
    results = [replace(result(x, y, HOSTILE[:1], 0.5), reason="<img src=x onerror=alert(1)>") for x in HOSTILE[1:3] for y in HOSTILE[3:]]
    return found_of(pags, [HOSTILE, HOSTILE[:4]], results)


def many_pairs(count: int) -> Discovery:
    """Tests in large number, of five variables."""
    random = np.random.default_rng(1)
    names = "ABCDE"
    tests = []
    for k in range(count):
        x, y = sorted(random.choice(5, 2, replace=False))
        tests.append(result(names[x], names[y], [f"Z{k}"], float(random.random() ** 4), 100 + k))
    return found_of([PAG.parse("A o-> B, C, D, E")], ["ABCDE"], tests)

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
from tests.iod.report.helpers import HOSTILE, found_of, hostile, result

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


def many_pairs(count: int) -> Discovery:
    """Tests in large number, of five variables."""
    random = np.random.default_rng(1)
    names = "ABCDE"
    tests = []
    for k in range(count):
        x, y = sorted(random.choice(5, 2, replace=False))
        tests.append(result(names[x], names[y], [f"Z{k}"], float(random.random() ** 4), 100 + k))
    return found_of([PAG.parse("A o-> B, C, D, E")], ["ABCDE"], tests)

"""A page of a large result is written in seconds, whatever is in it. In CPU seconds: machines that run tests do other things, too."""

from __future__ import annotations

import time
from dataclasses import replace

import numpy as np
import pytest

import consilience as cs
from consilience.citest.result import CIResult, to_frame
from consilience.iod.summary import Summary

VARIABLES, EDGES, GRAPHS, TESTS = 29, 60, 300, 12_000
SECONDS = 10.0


def large() -> cs.Discovery:
    """Twenty graphs to draw, some hundreds as text, more tests than the page has rows."""
    rng = np.random.default_rng(0)
    names = [f"variable_{i:02d}" for i in range(VARIABLES)]
    pairs = [(i, j) for j in range(VARIABLES) for i in range(j)]
    chosen = [pairs[k] for k in rng.choice(len(pairs), EDGES, replace=False)]

    def graph() -> cs.PAG:
        edges = [f"{names[i]} {rng.choice(['o-o', '-->', 'o->', '<->'])} {names[j]}" for i, j in chosen if rng.random() < 0.97]
        return cs.PAG.parse(", ".join([*edges, *names])).reordered(names)

    graphs = tuple(graph() for _ in range(GRAPHS))
    tests = []
    for number in range(TESTS):
        x, y, z, w = sorted(rng.choice(VARIABLES, 4, replace=False))
        given = (names[z], names[w]) if number % 2 else ()
        tests.append(CIResult(names[x], names[y], given, float(rng.random()), n=500, contributors=3))
    small = cs.discover(cs.Oracle(cs.PAG.parse(f"{names[0]} --> {names[1]}")))
    local = tuple(graphs[k].reordered(names) for k in range(3))
    return replace(
        small,
        pags=graphs,
        scores=(0.0,) * GRAPHS,
        summary=Summary.of(graphs, names, complete=True),
        datasets=(tuple(names),) * 3,
        local_pags=local,
        tests=to_frame(tests),
        _contradicted=(),
    )


@pytest.mark.slow
def test_a_page_of_a_large_result_is_written_in_seconds() -> None:
    found = large()
    begin = time.process_time()
    page = found.to_html()
    assert time.process_time() - begin < SECONDS
    assert len(page) > 1_000_000

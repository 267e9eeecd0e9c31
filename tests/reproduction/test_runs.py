"""One run: distances between lists, and what discovery depends on."""

from __future__ import annotations

import math

import msgspec
import numpy as np
import pytest

from consilience.graph import PAG, Oracle, normalised_shd
from consilience.reproduction.design import Run, study_graphs
from consilience.reproduction.runs import Record, RunOutcome, _decisions, best_shd, do_run, find_pags, reference_pags
from consilience.reproduction.tabled import TabledTest
from consilience.simulate.methods import ComparedMethod


def test_the_best_distance_is_the_least_over_all_pairs() -> None:
    one, two, far = PAG.parse("A o-> B, C"), PAG.parse("A o-o B, C"), PAG.parse("A <-> C, B <-> C")
    assert best_shd([far, two], [one]) == normalised_shd(two, one) == 1 / 6
    assert best_shd([far, one], [two, one]) == 0.0
    assert best_shd([], [one]) is None


def test_a_perfect_test_has_distance_zero() -> None:
    for graph in study_graphs(3):
        p = [1.0 if independent else 0.0 for independent in graph.truth()]
        logs = [math.log(value) if value else -np.inf for value in p]
        found = find_pags(graph.questions, logs, graph.datasets)
        reference = reference_pags(str(graph.pag), graph.exclusive)
        assert set(found) == set(reference)
        assert graph.pag in reference
        assert best_shd(found, reference) == 0.0


def test_equal_keys_mean_equal_decisions() -> None:
    base = [math.log(p) for p in (0.3, 0.01, 0.6)]
    assert _decisions(base) == _decisions([value + 1e-12 for value in base])
    assert _decisions(base) != _decisions([math.log(p) for p in (0.3, 0.06, 0.6)])  # another decision
    assert _decisions(base) != _decisions([math.log(p) for p in (0.6, 0.01, 0.3)])  # another separating set may be kept
    assert _decisions([*base, math.nan]) != _decisions([*base, math.log(0.01)])


def test_the_table_answers_like_the_test_it_was_made_from() -> None:
    graph = study_graphs(1)[0]
    oracle = Oracle(graph.pag, graph.datasets)
    results = oracle.answer(graph.questions)
    table = TabledTest({q: r.p_value for q, r in zip(graph.questions, results, strict=True)}, graph.datasets)
    assert table.variables == oracle.variables
    assert [table.test(q.y, q.x, q.given).p_value for q in graph.questions] == [r.p_value for r in results]
    a, e = graph.exclusive
    assert not table.test(a, e).informative


@pytest.mark.slow
def test_a_run_depends_on_its_seed_alone() -> None:
    graph = study_graphs(1)[0]
    first, again, other = (do_run(Run(r, 0, 500, 4), graph, [ComparedMethod.POOLED]) for r in (0, 0, 1))
    assert first.found[ComparedMethod.POOLED].log_p == again.found[ComparedMethod.POOLED].log_p != other.found[ComparedMethod.POOLED].log_p
    assert first.kinds == again.kinds
    assert len(first.found[ComparedMethod.POOLED].log_p) == 42


def test_records_on_disk_stay_readable() -> None:
    """The bytes of a record, as studies have written them."""
    written = (
        b'{"graph":3,"n":500,"sites":4,"replication":1,"kinds":{"A":"binary"},'
        b'"found":{"fedci":{"log_p":[-1.5,null],"not_converged":1,"pags":2,"shd":0.25,"seconds":0.5},'
        b'"pooled":{"log_p":[-1.5,-2.0],"not_converged":0,"pags":0,"shd":null,"seconds":0.5}},"seconds":1.5}'
    )
    record = msgspec.json.decode(written, type=Record)
    assert record.found[ComparedMethod.FEDCI] == RunOutcome((-1.5, None), 1, 2, 0.25, 0.5)
    assert msgspec.json.encode(record) == written

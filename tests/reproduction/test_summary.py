"""Arithmetic of the tables, on records made up by hand."""

from __future__ import annotations

import math

import numpy as np
import pytest

from consilience.reproduction.design import study_graphs
from consilience.reproduction.paper import paper
from consilience.reproduction.sizes import Plan
from consilience.reproduction.summary import Which, cells_of, cohens_d, estimated_hours
from consilience.simulate.methods import ComparedMethod
from tests.reproduction.helpers import PERFECT, found, record, results

TRUTH = study_graphs(1)[0].truth()


def test_accuracy_counts_decisions() -> None:
    never = found([0.0] * 42)  # p = 1 everywhere
    cell = cells_of(results([record(fisher=never)]))[0]
    assert cell.accuracy(ComparedMethod.POOLED) == cell.accuracy(ComparedMethod.FEDCI, Which.DEPENDENT) == 1.0
    assert cell.accuracy(ComparedMethod.FISHER) == pytest.approx(sum(TRUTH) / 42)
    assert cell.accuracy(ComparedMethod.FISHER, Which.DEPENDENT) == 0.0
    assert cell.accuracy(ComparedMethod.FISHER, Which.INDEPENDENT) == 1.0
    unanswered = found([None, *PERFECT[1:]])
    wrong = not TRUTH[0]  # what could not be tested was not rejected
    assert cells_of(results([record(fisher=unanswered)]))[0].accuracy(ComparedMethod.FISHER) == pytest.approx(1.0 - wrong / 42)


def test_a_p_value_at_the_level_rejects() -> None:
    """As in discovery, where only p > alpha is an independence."""
    at = found([math.log(0.05)] * 42)
    assert cells_of(results([record(fisher=at)]))[0].accuracy(ComparedMethod.FISHER, Which.DEPENDENT) == 1.0


def test_log_ratios_leave_out_what_one_of_both_could_not_test() -> None:
    shifted = found([None, *(value + 0.7 for value in PERFECT[1:])])
    cell = cells_of(results([record(fisher=shifted)]))[0]
    assert cell.log_ratios(ComparedMethod.FISHER) == pytest.approx([0.7] * 41)
    assert not cell.log_ratios(ComparedMethod.JOINT).any()


def test_distances_are_compared_over_common_runs() -> None:
    made = [
        record(replication=0, fisher=found(shd=0.3)),
        record(replication=1, fisher=found(shd=None)),
        record(replication=2, fisher=found(shd=0.2), pooled=found(shd=None)),
        record(replication=3, rest=found(shd=0.5), fisher=found(shd=0.4)),
    ]
    cell = cells_of(results(made))[0]
    assert cell.common.tolist() == [True, False, False, True]
    assert cell.mean_shd(ComparedMethod.FISHER) == pytest.approx(0.35)
    assert cell.mean_shd(ComparedMethod.POOLED) == pytest.approx(0.3)
    assert cell.own_mean_shd(ComparedMethod.FISHER) == pytest.approx(0.3)
    assert cell.own_mean_shd(ComparedMethod.POOLED) == pytest.approx((0.1 + 0.1 + 0.5) / 3)
    assert cell.without_pag(ComparedMethod.FISHER) == cell.without_pag(ComparedMethod.POOLED) == 0.25
    assert cell.differences(ComparedMethod.FISHER) == pytest.approx([0.2, -0.1])
    assert cohens_d(cell.differences(ComparedMethod.FISHER)) == pytest.approx(0.05 / np.std([0.2, -0.1], ddof=1))


def test_cohens_d_without_spread() -> None:
    assert cohens_d(np.zeros(5)) == 0.0
    assert math.isnan(cohens_d(np.full(5, 0.1)))
    assert math.isnan(cohens_d(np.array([0.1])))
    assert math.isnan(cohens_d(np.array([])))


def test_hours_are_extrapolated_cell_by_cell() -> None:
    made = [record(500, 4, 0, 1.0), record(500, 4, 1, 3.0), record(500, 8, 0, 10.0)]
    plan = Plan(graphs=2, replications=9, samples=(500,), partitions=(4, 8), cases=0)
    assert estimated_hours(results(made), plan, cores=2) == pytest.approx(18 * (2.0 + 10.0) / 2 / 3600)


def test_cells_are_separate() -> None:
    cells = cells_of(results([record(500, 4), record(1000, 4), record(500, 8), record(500, 8, 1)]))
    assert [(cell.sites, cell.n, len(cell.records)) for cell in cells] == [(4, 500, 1), (4, 1000, 1), (8, 500, 2)]


def test_the_papers_numbers_are_typed_in_whole() -> None:
    """Every cell is there, and what the paper says of its tables in words is true of them."""
    printed = paper()
    for n in (500, 1000, 2500, 5000):
        for sites in (4, 8, 12):
            pooled, fisher, joint = (
                printed.cell("shd", m, n, sites) for m in (ComparedMethod.POOLED, ComparedMethod.FISHER, ComparedMethod.JOINT)
            )
            assert pooled is not None
            assert fisher is not None
            assert joint is not None
            assert fisher > pooled
            assert abs(joint - pooled) <= 0.0031
            assert printed.cell("shd", ComparedMethod.FEDCI, n, sites) == joint
            for method in (ComparedMethod.FISHER, ComparedMethod.JOINT, ComparedMethod.COORDINATE):
                assert printed.cell("d", method, n, sites) is not None
            assert printed.cell("d", ComparedMethod.FISHER, n, sites) > 0.1
    assert printed.cell("shd", ComparedMethod.POOLED, 700, 4) is None
    assert sum(printed.cell("shd", ComparedMethod.FISHER, n, 12) or 0 for n in (500, 1000, 2500, 5000)) == pytest.approx(1.223)

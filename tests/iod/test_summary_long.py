"""Summaries of lists that nobody can finish: what they say in words, frames and drawings is true, at any time limit."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from itertools import combinations, permutations

import pytest

import consilience as cs
from consilience.graph import MAG, Oracle
from consilience.iod import Knowledge, Summary
from tests.iod.test_summary import edges_of, words_of

NAMES = "ABCDEFGHIJ"
ENDLESS = Oracle(MAG.parse(", ".join(NAMES)), [NAMES[:5], NAMES[5:]])
"""Ten variables without an edge, of which nobody has seen five together with the others: more graphs than anyone can list."""


def across(x: str, y: str) -> bool:
    """Whether nobody has seen the two together: everything is possible then, and otherwise nothing."""
    return (x in NAMES[:5]) != (y in NAMES[:5])


def check(summary: Summary, *, unknown: bool = False) -> None:
    """Every statement is true, in the frame, in words and in the drawing; some may be unknown if that is allowed."""
    allowed = {"unknown"} if unknown else set()
    assert summary.count is None
    assert unknown or summary.complete
    for row in summary.frame.iter_rows(named=True):
        open_ = across(row["x"], row["y"])
        assert row["edge"] in {"some" if open_ else "none"} | allowed
        assert {row["x_causes_y"], row["y_causes_x"]} <= {"some" if open_ else "none"} | allowed
        assert {row["mark_at_x"], row["mark_at_y"]} <= {"either" if open_ else "none"} | allowed
        marks = {row[f"{mark}_at_{end}"] for mark in ("arrow", "tail", "circle") for end in "xy"}
        assert marks <= ({"some", None} if open_ else {"none"}) | allowed
        assert all(row[name] is None for name in summary.frame.columns if "share" in name)
    told = {(edge.a, edge.b): edge for edge in summary.edges()}
    assert unknown or set(told) == {pair for pair in combinations(NAMES, 2) if across(*pair)}
    for (a, b), edge in told.items():
        assert edge.words == f"{a} ?-? {b} {'perhaps' if edge.status == 'unknown' else 'in some'}"
        assert edge.status in {"some" if across(a, b) else "unknown"} | allowed
    root = ET.fromstring(summary.to_svg())
    assert set(edges_of(root)) == set(told)
    differ = "an arrowhead in some, a tail in others"
    assert unknown or words_of(root) == ["in every graph", "in some", differ]
    assert f'<div class="consilience-summary">{summary.to_svg()}</div>' == summary._repr_html_()
    statuses = {(cause, effect): status for cause, effect, status in summary.ancestors.iter_rows()}
    assert list(statuses) == list(permutations(NAMES, 2))


@pytest.mark.slow
@pytest.mark.parametrize("limit", [1, 20, 1500])
def test_a_list_that_was_cut(limit: int) -> None:
    found = cs.discover(ENDLESS, limit=limit)
    assert (len(found.pags), found.complete) == (limit, False)
    check(found.summary)


@pytest.mark.slow
@pytest.mark.parametrize("seconds", [0, 0.01, 0.1, 1])
def test_any_time_limit(seconds: float) -> None:
    found = cs.discover(ENDLESS, time_limit=seconds, limit=None)
    assert not found.complete
    check(found.summary, unknown=True)


@pytest.mark.slow
def test_a_list_without_an_end_leaves_time_for_the_summary() -> None:
    found = cs.discover(ENDLESS, time_limit=12, limit=None)
    assert found.pags
    check(found.summary)


@pytest.mark.slow
def test_knowledge_counts_in_graphs_that_are_not_listed() -> None:
    known = Knowledge(tiers=[["A"], ["F"]], required=["B => G"])
    found = cs.discover(ENDLESS, limit=5, knowledge=known)
    assert found.summary.complete
    rows = {(row["x"], row["y"]): row for row in found.summary.frame.iter_rows(named=True)}
    # An arrowhead at F, the later of the two. B causes G, and through no other variable: with either group it has no edges.
    assert (rows["A", "F"]["mark_at_y"], rows["A", "F"]["y_causes_x"], rows["A", "F"]["x_causes_y"]) == ("arrow", "none", "some")
    assert (rows["B", "G"]["x_causes_y"], rows["B", "G"]["y_causes_x"]) == ("all", "none")
    assert (rows["C", "H"]["edge"], rows["C", "H"]["mark_at_x"]) == ("some", "either")
    assert "unknown" not in set(found.summary.ancestors["status"])

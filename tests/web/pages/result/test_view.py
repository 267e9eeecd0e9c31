"""The view of a graph has its edges and its missing edges, all of them and no others."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations

import pytest
from starlette.exceptions import HTTPException

from consilience.graph import PAG
from consilience.graph.marks import NONE
from consilience.iod import Discovery, Summary
from consilience.iod.report.pairs import Pairs
from consilience.web.pages.result.choice import Choice, Kind, Ref, choose
from consilience.web.pages.result.difference import Difference
from consilience.web.pages.result.view import View
from tests.iod.report.helpers import found_of, small
from tests.web.pages.result.cases import contradictory, cut, nothing, oracle, real


def view(found: Discovery, **query: str) -> View:
    return View(found, Pairs(found), choose(query, found))


def check(found: Discovery, shown: View, pag: PAG) -> None:
    edges = {frozenset((edge.a, edge.b)): str(edge) for edge in pag.edges}
    assert {frozenset((row.a, row.b)): f"{row.a} {row.sign} {row.b}" for row in shown.rows} == edges
    apart = {frozenset(pair) for pair in combinations(pag.labels, 2)} - edges.keys()
    assert [frozenset((row.a, row.b)) for row in shown.gaps] == sorted(apart, key=sorted)
    told = shown.to_dict(dict.fromkeys(shown.names, (0.0, 0.0)))["pairs"]
    assert len(told) == len(pag.labels) * (len(pag.labels) - 1) // 2
    for x, y in combinations(sorted(pag.labels), 2):
        one = told[shown.pair(x, y)]
        assert bool(one["sign"]) == (pag.mark(x, y) != NONE)
        assert shown.pair_named(one["pair"]) == (x, y)
        known = found.tests.filter(found.tests["x"].is_in([x, y]) & found.tests["y"].is_in([x, y])).height
        assert len(one["tests"]) + one["more"] == known


@pytest.mark.slow
def test_every_graph_of_random_oracles() -> None:
    for seed in range(12):
        found = oracle(seed)
        for number, pag in enumerate(found.pags[:4], start=1):
            check(found, view(found, show=str(number)), pag)
        for number, pag in enumerate(found.local_pags, start=1):
            check(found, view(found, show=f"set-{number}"), pag)


@pytest.mark.slow
def test_a_real_table() -> None:
    found = real()
    check(found, view(found, show="1"), found.pags[0])


@pytest.mark.slow
def test_the_summary_has_every_edge_of_any_graph() -> None:
    for seed in range(12):
        found = oracle(seed)
        shown = view(found, show="summary")
        some = {frozenset((edge.a, edge.b)) for pag in found.pags for edge in pag.edges}
        assert {frozenset((row.a, row.b)) for row in shown.rows} == some
        for row in shown.rows:
            count = sum(pag.mark(row.a, row.b) != NONE for pag in found.pags)
            n = len(found.pags)
            assert row.often == (("yes" if n == 1 else f"all {n}") if count == n else f"{count} of {n}")


def test_the_summary_says_only_what_all_graphs_share() -> None:
    rows = {(row.a, row.b): row for row in view(small()).rows}
    assert (rows["A", "C"].sign, rows["B", "C"].sign) == ("o->", "?->")
    assert rows["C", "D"].words == "C is a cause of D, directly or through others."
    assert rows["A", "D"].often == "1 of 2"
    assert rows["A", "D"].words == "Where they are joined: neither causes the other: something that nobody measured causes both."
    assert rows["B", "C"].words == "C is not a cause of B; the rest is left open."


def test_a_cut_list_claims_nothing_of_others() -> None:
    shown = view(cut(), show="summary")
    assert shown.title == "Summary of all graphs, listed or not"
    assert view(cut(), show="1").title == "Graph 1 of 1 listed"
    for row in shown.rows:
        assert not row.often.startswith("all 1")


def test_pairs_of_which_nothing_is_known_are_not_drawn_as_edges_nor_as_gaps() -> None:
    pags = [PAG.parse("A o-> B, B --> C", labels="ABCDEFGH"), PAG.parse("A o-> B, B <-> C", labels="ABCDEFGH")]
    found = found_of(pags, ["ABCDEFGH"], [])
    found = replace(found, complete=False, summary=Summary.of(pags, "ABCDEFGH", complete=False))
    assert choose({}, found).first == Ref(Kind.GRAPH, 1)
    shown = view(found, show="summary")
    assert shown.unknown == 28
    assert shown.rows == []
    assert shown.legend == ["Not drawn: 28 pairs of which it is not known whether graphs join them."]
    told = shown.details("A", "B")
    assert (told["sign"], told["gap"]) == ("", "not known")
    assert told["facts"][0]["words"] == "It is not known whether graphs join them."
    assert view(found, show="1").details("A", "C")["gap"] == "no edge"


@pytest.mark.slow
@pytest.mark.parametrize("make", [nothing, contradictory])
def test_without_a_graph(make: object) -> None:
    found = make()  # type: ignore[operator]
    shown = view(found)
    assert shown.title == "No graph to sum up"
    assert shown.rows == []
    assert shown.legend == ["No graph was found."]
    for x, y in combinations(shown.names, 2):
        assert shown.details(x, y)["facts"][0]["words"] == "There is no graph."


def test_what_cannot_be_shown_is_not_found() -> None:
    found = small()
    for query in ({"show": "3"}, {"show": "set-3"}, {"show": "0"}, {"show": "<b>"}, {"show": "١"}, {"show": "summary", "with": "1"}):
        with pytest.raises(HTTPException, match="404"):
            choose(query, found)
    assert choose({"show": "2", "with": "2"}, found) == Choice(Ref(Kind.GRAPH, 2))
    shown = view(found)
    for text in ("", "0", "0-0", "1-0", "0-9", "-1-2", "0-1-2", "a-b", "9" * 40 + "-1"):
        assert shown.pair_named(text) is None


@pytest.mark.slow
def test_the_difference_of_two_graphs_counts_every_pair() -> None:
    for seed in range(12):
        found = oracle(seed)
        for k, j in combinations(range(min(len(found.pags), 4)), 2):
            one, other = found.pags[k], found.pags[j]
            told = Difference(Ref(Kind.GRAPH, k + 1), one, Ref(Kind.GRAPH, j + 1), other)
            kinds = {frozenset((line.a, line.b)): told.status(line) for line in told.lines}
            for x, y in combinations(one.labels, 2):
                marks = [(pag.mark(x, y), pag.mark(y, x)) for pag in (one, other)]
                joined = [pair[0] != NONE for pair in marks]
                kind = kinds.get(frozenset((x, y)))
                if joined == [True, True]:
                    assert kind == ("same" if marks[0] == marks[1] else "marks")
                else:
                    assert kind == {(True, False): "first", (False, True): "second", (False, False): None}[joined[0], joined[1]]


def test_the_difference_with_a_data_set_is_over_what_both_have() -> None:
    shown = view(small(), show="1", **{"with": "set-1"})
    assert shown.labels == ("A", "B", "C")
    assert "Only variables that both have are compared" in shown.difference.summary  # type: ignore[union-attr]

"""What is said of two variables is what the graphs, the summary and the tests say."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest

import consilience as cs
from consilience.graph.marks import ARROW, CIRCLE, NONE, TAIL
from consilience.iod import Discovery
from consilience.iod.report import render
from consilience.iod.report.pairs import MARK_WORDS, Pairs, Story
from tests.iod.cases import oracle_of, random_case
from tests.iod.report.helpers import read, small
from tests.web.pages.result.cases import contradictory, cut, nothing, oracle, real

NAMES = {ARROW: "arrow", TAIL: "tail", CIRCLE: "circle"}


def fact(story: Story, term: str) -> str:
    (words,) = [one.words for one in story.facts if one.term == term]
    return words


def check(found: Discovery) -> int:
    """Every pair of a complete list, against the graphs themselves; how many reasons were among the words."""
    told, n, reasons = Pairs(found), len(found.pags), 0
    for x, y in told.pairs():
        story = told.story(y, x)
        assert (story.x, story.y) == (x, y)
        marks = [(pag.mark(y, x), pag.mark(x, y)) for pag in found.pags]
        joined = [pair for pair in marks if pair[0] != NONE]
        assert story.count == len(joined)
        assert story.status == ("all" if len(joined) == n else "some" if joined else "none")
        for end, name, other in ((0, x, y), (1, y, x)):
            seen = {pair[end] for pair in joined}
            words = [one.words for one in story.facts if one.term == f"At {name}"]
            assert len(words) == bool(joined)
            if len(seen) == 1 and CIRCLE not in seen:
                mark = NAMES[seen.pop()]
                where = "in every graph" if story.status == "all" else "wherever they are joined"
                cause = "not a cause" if mark == "arrow" else "a cause"
                assert words[0].startswith(f"{MARK_WORDS[mark].capitalize()} {where}: {name} is {cause} of {other}")
                reasons += reason_holds(found, words[0])
            elif joined:
                counts = {mark: sum(pair[end] == mark for pair in joined) for mark in seen}
                if len(seen) > 1:
                    assert words[0].startswith("Left open: ")
                    assert sorted(map(int, re.findall(r" in (\d+) graph", words[0]))) == sorted(counts.values())
                else:
                    assert words[0].startswith("A circle: ")
        check_data_sets(found, story)
    return reasons


def reason_holds(found: Discovery, words: str) -> int:
    """A reason names a test that is there, and a triple that every graph has. 1 if one was told."""
    if "Why: it follows from the decisions" in words or "Why" not in words:
        return 0
    match = re.search(r"(\w+) and (\w+) are independent(?: given ([\w, ]+))? \(", words)
    assert match, words
    a, b, given = match[1], match[2], frozenset((match[3] or "").split(", ")) - {""}
    tests = {(frozenset((x, y)), frozenset(z)): p for x, y, z, p in found.tests.select("x", "y", "given", "p_value").iter_rows()}
    assert tests[frozenset((a, b)), given] > found.alpha
    if collider := re.search(r"both are joined to (\w+)\.", words):
        v = collider[1]
        assert v not in given
        for pag in found.pags:
            assert (pag.mark(a, v), pag.mark(b, v), pag.mark(a, b)) == (ARROW, ARROW, NONE)
    else:
        (v, w), third = re.search(r"what comes to (\w+) from \w+ goes on to (\w+)", words).groups(), a  # type: ignore[union-attr]
        assert v in given
        for pag in found.pags:
            assert (pag.mark(third, v), pag.mark(w, v), pag.mark(v, w), pag.mark(third, w)) == (ARROW, TAIL, ARROW, NONE)
    return 1


def check_data_sets(found: Discovery, story: Story) -> None:
    together = [k for k, held in enumerate(found.datasets) if {story.x, story.y} <= set(held)]
    assert [one.term for one in story.facts if one.term.startswith("Data")] == ([f"Data set {k + 1}" for k in together] or ["Data"])
    for k in together:
        joined = found.local_pags[k].mark(story.x, story.y) != NONE
        assert fact(story, f"Data set {k + 1}").startswith("Joins them" if joined else "Does not join them")


@pytest.mark.slow
def test_random_oracles() -> None:
    assert sum(check(oracle(seed)) for seed in range(40)) > 20


@pytest.mark.slow
def test_a_real_table_with_overruled_decisions() -> None:
    found = real()
    assert found.overruled
    assert found.complete
    check(found)
    told = Pairs(found)
    for decision in found.overruled:
        words = [one.words for one in told.story(decision.x, decision.y).facts if one.term == "Overruled"]
        assert any(one.startswith(decision.text) for one in words)


def test_every_test_of_a_pair_is_there_and_no_other() -> None:
    found = small()
    told = Pairs(found)
    asked = [(frozenset((x, y)), tuple(z), p) for x, y, z, p in found.tests.select("x", "y", "given", "p_value").iter_rows()]
    seen = [(frozenset((x, y)), test.given, test.p_value) for x, y in told.pairs() for test in told.story(x, y).tests]
    assert sorted(asked, key=repr) == sorted(seen, key=repr)


def test_a_list_that_was_cut_says_nothing_of_all_graphs_by_counting() -> None:
    found = cut()
    assert not found.complete
    told = Pairs(found)
    for x, y in told.pairs():
        story = told.story(x, y)
        words = fact(story, "Joined")
        assert "all 1 " not in words
        assert "the one graph." not in words
        assert ("every graph, listed or not" in words) == (story.status == "all")
        assert ("no graph, listed or not" in words) == (story.status == "none")
        for one in story.facts:
            if one.words.startswith(("An arrowhead in every graph", "A tail in every graph")):
                assert story.status == "all"


def test_a_cut_list_of_which_nothing_else_is_known() -> None:
    found = small()
    summary = type(found.summary).of(found.pags, found.summary.labels, complete=False)
    told = Pairs(replace(found, complete=False, summary=summary))
    words = fact(told.story("A", "C"), "Joined")
    assert words == "Whether all, some or no graphs join them is not known; in 2 of the 2 listed."
    assert fact(told.story("A", "C"), "At C") == "Not known. Among the graphs that are listed: an arrowhead."
    assert "Why" not in "".join(one.words for x, y in told.pairs() for one in told.story(x, y).facts)


@pytest.mark.slow
def test_without_a_graph_nothing_is_said_of_edges_or_causes() -> None:
    for found in (nothing(), contradictory()):
        told = Pairs(found)
        for x, y in told.pairs():
            story = told.story(x, y)
            assert story.status == "nothing"
            assert fact(story, "Joined") == "There is no graph that could tell."
            assert not any(one.term.startswith(("At ", "Causes", "Marks")) for one in story.facts)


def test_no_reason_is_told_where_decisions_were_not_considered_or_asked() -> None:
    found = oracle(3)
    undecided = replace(found, resolution=replace(found.resolution, undecided=2))
    for x, y in Pairs(undecided).pairs():
        for one in Pairs(undecided).story(x, y).facts:
            assert "Why" not in one.words or "it follows from the decisions taken together" in one.words


def test_exogenous_variables_are_not_asked_about() -> None:
    found = cs.discover(oracle_of(*random_case(3)), knowledge=cs.Knowledge(exogenous=["A", "B"]), resolve="auto")
    facts = Pairs(found).story("A", "B").facts
    assert fact(Pairs(found).story("A", "B"), "Marks").startswith("Both were declared exogenous")
    assert not any(one.term in ("At A", "At B", "Causes") for one in facts)


def test_the_report_tells_every_pair() -> None:
    page = read(render(small()))
    stories = page.one("section", id="summary").all("dl", class_="facts")
    assert len(stories) == 6
    assert "No data set has both" in "".join(story.text for story in stories)

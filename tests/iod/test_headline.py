"""Whatever happened to a search, what is said about its result is true: every situation there can be, and real searches cut short."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import product

import polars as pl
import pytest

import consilience as cs
from consilience.graph import PAG
from consilience.iod import Decision, Discovery, Knowledge, Summary
from consilience.iod.discovery import question_schema
from consilience.iod.evidence import Source
from consilience.iod.headline import Ended, condition, ended
from consilience.iod.resolution import Resolution
from consilience.settings import Resolve
from tests.iod.report.helpers import found_of, said, small
from tests.iod.said import check_sentences, everything_said

PAGS = (
    PAG.parse("A o-> C, B o-> C, C --> D"),
    PAG.parse("A o-> C, B <-> C, C --> D, A <-> D"),
    PAG.parse("A o-o C, B o-o C, D"),
)
WEAK = tuple(said(f"decision {k} (p = 0.04)", 0.04, 0.5) for k in range(3))
KNOWN = Knowledge(tiers=[["A"], ["B"]])


@dataclass(frozen=True)
class Situation:
    """What may have happened; ``asked`` says that the summary comes from the solver and not from the list."""

    how: Resolve
    graphs: int
    complete: bool
    proved: bool
    overruled: int
    undecided: int
    bound: float
    conflict: bool
    known: bool
    cut: Ended
    asked: bool

    def possible(self) -> bool:
        """Nothing is cut without a reason; strict overrules nothing; only strongest first leaves decisions aside; and so on."""
        if (self.cut is Ended.NOTHING) != (self.complete and self.proved):
            return False
        if self.cut is Ended.LIMIT and not (self.proved and self.graphs):
            return False
        if self.how is Resolve.STRICT and (self.overruled or not self.proved or self.conflict != (not self.graphs and self.complete)):
            return False
        if (self.undecided > 0) != (self.how is Resolve.STRONGEST and not self.proved):
            return False
        if self.bound and self.how is not Resolve.OPTIMAL:
            return False
        if self.how is Resolve.OPTIMAL and self.proved and self.graphs and (self.bound > 0) != (self.overruled > 0):
            return False
        if self.conflict and self.graphs and not self.overruled and not self.undecided:
            return False
        if self.complete and not self.proved and not self.graphs:
            return False
        return not (self.asked and self.complete)

    def found(self) -> Discovery:
        pags, overruled = PAGS[: self.graphs], WEAK[: self.overruled]
        cost = 0.5 * self.overruled if self.graphs else 0.0
        bound = (cost if self.proved and self.graphs else 0.2) if self.bound else 0.0
        resolution = Resolution(self.how, overruled, cost, bound, self.proved, self.undecided, decisions=45, total=612.0)
        if self.how is Resolve.STRONGEST:
            resolution = replace(resolution, weakest=said("kept (p = 0.048)", 0.048, 0.04))
        summary = Summary.of(pags, "ABCD", complete=self.complete)
        if self.asked:
            summary = Summary.from_statuses(
                "ABCD", {("A", "C"): "all", ("A", "D"): "some", ("B", "D"): "none"}, {("A", "C", "arrow"): "all"}
            )
        limit = self.graphs if self.cut is Ended.LIMIT else 10_000
        base = found_of(pags, ["ABC", "BCD"])
        return replace(
            base,
            complete=self.complete,
            summary=summary,
            conflicts=(*WEAK[:2], Decision(Source.KNOWLEDGE, "A is earlier than B")) if self.conflict else (),
            overruled=overruled if self.graphs else (),
            resolution=resolution,
            stopped=self.cut is Ended.STOPPED,
            knowledge=KNOWN if self.known else None,
            settings=base.settings | {"limit": limit, "time_limit": 10.0, "resolve": "auto"},
            timings={"tests": 1.0, "graphs": 3.21},
            _contradicted=(overruled,) * self.graphs,
        )


def situations() -> Iterator[Situation]:
    """All of them, possible ones only."""
    hows, flags = (Resolve.STRICT, Resolve.STRONGEST, Resolve.OPTIMAL), (False, True)
    for parts in product(hows, (0, 1, 3), flags, flags, (0, 1, 3), (0, 1, 14), (0.0, 1.0), flags, flags, tuple(Ended), flags):
        one = Situation(*parts)
        if one.possible():
            yield one


def test_the_situations_cover_what_can_happen() -> None:
    every = list(situations())
    assert len(every) > 500
    for how in (Resolve.STRICT, Resolve.STRONGEST, Resolve.OPTIMAL):
        own = [one for one in every if one.how is how]
        assert {(one.graphs > 0, one.complete) for one in own} == set(product((False, True), repeat=2)), how
        assert {one.cut for one in own} == set(Ended), how


@pytest.mark.slow
@pytest.mark.parametrize("how", [Resolve.STRICT, Resolve.STRONGEST, Resolve.OPTIMAL])
def test_no_sentence_is_false_in_any_situation(how: Resolve) -> None:
    for one in situations():
        if one.how is how:
            found = one.found()
            assert ended(found) is one.cut, one
            check_sentences(found, drawings=False)


@pytest.mark.slow
@pytest.mark.parametrize("how", [Resolve.STRICT, Resolve.STRONGEST, Resolve.OPTIMAL])
def test_nor_does_a_drawing_or_its_section_say_what_is_false(how: Resolve) -> None:
    """A page takes a tenth of a second, so of the situations above there are eight of each kind, spread over all of them."""
    every = [one for one in situations() if one.how is how]
    for one in every[:: max(1, len(every) // 8)]:
        check_sentences(one.found())


CONTRADICT = "The decisions contradict each other. "


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({}, "All 45 decisions agree: 3 graphs."),
        ({"known": True, "graphs": 1}, "All 45 decisions agree with each other and with what is known: exactly one graph."),
        (
            {"complete": False, "cut": Ended.LIMIT},
            "All 45 decisions agree. The first 3 graphs are listed, which is the limit; there may be more.",
        ),
        (
            {"complete": False, "cut": Ended.TIME},
            "All 45 decisions agree. When the time limit of 10 s was reached, 3 graphs had been found; there may be more.",
        ),
        (
            {"complete": False, "cut": Ended.STOPPED, "graphs": 0},
            "When the search was stopped, after 3.2 s, no graph had been found: whether the decisions agree is not known.",
        ),
        ({"graphs": 0, "conflict": True}, "The decisions contradict each other: no graph agrees with all of them."),
        (
            {"how": Resolve.STRONGEST, "overruled": 3},
            CONTRADICT + "Strongest first, 3 of 45 were overruled (weight 1.5 of 612); the weakest that was kept has p = 0.048. "
            "3 graphs agree with the rest.",
        ),
        (
            {"how": Resolve.STRONGEST, "overruled": 3, "undecided": 14, "proved": False, "cut": Ended.TIME},
            CONTRADICT + "When the time limit of 10 s was reached, 31 of 45 decisions had been considered, strongest first: 3 of these "
            "were overruled (weight 1.5 of 612); the weakest that was kept has p = 0.048. Graphs may contradict the other 14. "
            "3 graphs agree with what was kept.",
        ),
        (
            {"how": Resolve.OPTIMAL, "overruled": 3, "bound": 1.0},
            CONTRADICT + "No graph gives up decisions of less weight than 1.5 of 612. 3 graphs give up no more; each contradicts 3 of 45.",
        ),
        (
            {"how": Resolve.OPTIMAL, "overruled": 1, "bound": 1.0, "proved": False, "complete": False, "cut": Ended.TIME, "graphs": 1},
            CONTRADICT + "When the time limit of 10 s was reached, the best graph that had been found gives up decisions of weight "
            "0.5 of 612; no graph gives up less than 0.2, so that the gap is 0.3. 1 graph that gives up no more is "
            "listed; it contradicts 1 of 45; "
            "there may be more.",
        ),
        (
            {"how": Resolve.OPTIMAL, "graphs": 0, "proved": False, "complete": False, "cut": Ended.TIME},
            "When the time limit of 10 s was reached, no graph had been found: whether the decisions agree is not known.",
        ),
        ({"how": Resolve.STRONGEST, "graphs": 0, "known": True}, "No graph agrees with what is known, whichever decisions are given up."),
    ],
    ids=range(12),
)
def test_headlines(changes: dict[str, object], words: str) -> None:
    usual = Situation(Resolve.STRICT, 3, True, True, 0, 0, 0.0, False, False, Ended.NOTHING, False)
    assert replace(usual, **changes).found().headline == words


def test_missing_questions_are_said() -> None:
    missing = pl.DataFrame([{"x": "A", "y": "B", "given": ["C"]}], schema=question_schema())
    found = replace(small(), missing=missing)
    assert found.headline == "All decisions agree: 2 graphs. 1 question that this needs was never asked: unknown, not independent."
    check_sentences(found)


def test_graphs_that_give_up_different_decisions_have_no_common_condition() -> None:
    overruled = WEAK[:2]
    resolution = Resolution(Resolve.OPTIMAL, overruled, 0.5, 0.5, decisions=45, total=612.0)
    found = replace(small(), overruled=overruled, resolution=resolution, _contradicted=((WEAK[0],), (WEAK[1],)))
    assert condition(found) == "if the decisions that a graph contradicts are wrong and the others right"
    check_sentences(found)


def test_json_begins_with_the_headline() -> None:
    found = small()
    plain = found.to_dict()
    assert next(iter(plain.items())) == ("headline", found.headline)
    assert plain["resolution"]["how"] == "strict"


CHAIN = ", ".join(f"{a} --> {b}" for a, b in zip("ABCDE", "BCDEF", strict=True))
LONG = cs.Oracle(cs.MAG.parse(CHAIN), datasets=["ABC", "BCDE", "DEF"])


@pytest.mark.slow
@pytest.mark.parametrize("resolve", ["auto", "strict", "optimal"])
@pytest.mark.parametrize("limits", [{"time_limit": 0}, {"time_limit": 0.05}, {"limit": 1}, {"limit": 20}], ids=str)
def test_searches_cut_short_say_so(resolve: str, limits: dict[str, float]) -> None:
    found = cs.discover(LONG, resolve=resolve, **limits)  # type: ignore[arg-type]
    check_sentences(found)
    assert limits == {"time_limit": 0.05} or not found.complete  # a fast machine may be done


def test_a_search_that_is_asked_to_stop_keeps_what_it_has() -> None:
    asked: list[None] = []

    def stop() -> bool:
        asked.append(None)
        return len(asked) > 25

    found = cs.discover(LONG, limit=None, stop=stop)
    assert found.stopped
    assert not found.complete
    assert len(found.pags) > 5
    assert "When the search was stopped" in found.headline
    check_sentences(found)


def test_everything_is_said_somewhere() -> None:
    assert set(everything_said(small())) >= {"headline", "repr", "notebook", "title", "terminal", "page: result"}

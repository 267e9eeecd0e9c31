"""An answer at any time limit, and nothing said of it that is not so."""

from __future__ import annotations

from functools import cache

import pytest

import consilience as cs
from consilience.graph import MAG, Oracle
from consilience.iod import Discovery
from consilience.iod.exact.makeshift import makeshift
from consilience.settings.choices import Resolve
from tests.data.real_tables import RealStudy, studies
from tests.iod.exact.problems import Kept, of


@cache
def asked(study: RealStudy) -> Kept:
    return Kept(cs.pooled(study.clients()))


def check(found: Discovery) -> None:
    """What a resolution says of the graphs is so."""
    said = found.resolution
    assert found.pags
    assert said.bound <= said.given_up + 1e-9
    assert said.undecided >= 0
    if said.how is Resolve.STRICT:
        assert not said.overruled
        assert not found.overruled
        return
    totals = [sum(decision.weight or 0.0 for decision in found.contradicted(k)) for k in range(len(found.pags))]
    assert said.given_up == pytest.approx(min(totals), abs=1e-2)
    if said.how is Resolve.STRONGEST:
        assert said.proved == (said.undecided == 0)
        assert all(decision in found.overruled for decision in said.overruled)
        assert all(decision in said.overruled for decision in said.reasons)
        if said.proved:
            assert set(found.overruled) == set(said.overruled)
            assert max(totals) == pytest.approx(min(totals), abs=1e-2)
    if said.how is Resolve.OPTIMAL and said.proved:
        assert said.given_up == said.bound
    if not said.proved:
        assert not found.complete
    assert [decision.weight for decision in said.overruled] == sorted((d.weight for d in said.overruled), reverse=True)


@pytest.mark.slow
@pytest.mark.parametrize("seconds", [0.0, 0.01, 1.0])
@pytest.mark.parametrize("resolve", ["auto", "strongest", "optimal"])
@pytest.mark.parametrize("study", [study for study in studies() if str(study) != "flchain-10"], ids=str)
def test_real_tables(study: RealStudy, resolve: str, seconds: float) -> None:
    check(cs.discover(asked(study), resolve=resolve, time_limit=seconds))


@pytest.mark.slow
@pytest.mark.parametrize("study", studies(8), ids=str)
def test_without_a_limit_everything_is_considered(study: RealStudy) -> None:
    found = cs.discover(asked(study), resolve="auto")
    check(found)
    assert found.resolution.proved
    assert found.complete


def test_who_asks_to_stop_gets_what_there_is() -> None:
    oracle = Oracle(MAG.parse("A --> B, B --> C, C --> D"))
    for resolve in ("auto", "strongest", "optimal"):
        found = cs.discover(oracle, resolve=resolve, stop=lambda: True)
        check(found)
        assert not found.complete


def test_who_cancels_gets_nothing() -> None:
    class GoneError(Exception):
        pass

    def progress(words: str) -> None:
        if not words.startswith("testing"):
            raise GoneError

    with pytest.raises(GoneError):
        cs.discover(Oracle(MAG.parse("A --> B, B --> C")), resolve="strongest", progress=progress)


KNOWN = cs.Knowledge(required=["A => B"], forbidden=["A *-* B", "A *-* C", "A *-* D"])


@pytest.mark.parametrize("resolve", ["auto", "strongest", "optimal"])
@pytest.mark.parametrize("seconds", [None, 0.0])
def test_knowledge_that_contradicts_itself_leaves_no_graph_and_says_why(resolve: str, seconds: float | None) -> None:
    found = cs.discover(Oracle(MAG.parse("A --> B, B --> C, C --> D")), resolve=resolve, knowledge=KNOWN, time_limit=seconds)
    assert found.pags == ()
    assert found.complete
    if seconds is None:
        assert found.conflicts
        assert all(decision.kind == "knowledge" for decision in found.conflicts)


@pytest.mark.parametrize("required", [["A *-* B"], ["B => A"], ["D => A", "C *-* A"]])
def test_a_makeshift_agrees_with_what_is_known(required: list[str]) -> None:
    known = cs.Knowledge(required=required, forbidden=["A --> B", "A => D"])
    oracle = Oracle(MAG.parse("A --> B, B --> C, C --> D"))
    found = cs.discover(oracle, resolve="strongest", knowledge=known, time_limit=0.0)
    assert len(found.pags) == 1
    assert not found.complete
    assert found.resolution.undecided == found.settings["weighed"]
    mag = makeshift(of(oracle, knowledge=known))
    assert mag is not None
    assert known.allows(MAG.from_matrix(mag.to_matrix(), "ABCD"))


def test_knowledge_that_only_an_edge_without_causes_fulfils() -> None:
    known = cs.Knowledge(required=["A *-* B"], forbidden=["A => B", "B => A"])
    mag = makeshift(of(Oracle(MAG.parse("A --> B, B --> C")), knowledge=known))
    assert mag is not None
    assert known.allows(MAG.from_matrix(mag.to_matrix(), "ABC"))

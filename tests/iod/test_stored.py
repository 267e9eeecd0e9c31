"""A result that was written down and read back says the same."""

from __future__ import annotations

import json
from dataclasses import replace
from functools import cache
from typing import Any

import pytest

import consilience as cs
from consilience.errors import OptionError
from consilience.iod import Discovery, Knowledge
from consilience.iod.report import render
from consilience.service.result_files import plain
from tests.data.real_tables import RealStudy
from tests.iod.cases import oracle_of, random_case


def again(found: Discovery) -> Discovery:
    return Discovery.from_dict(json.loads(json.dumps(plain(found.to_dict()), allow_nan=False)))


def assert_same(one: Discovery, other: Discovery) -> None:
    assert plain(one.to_dict()) == plain(other.to_dict())
    assert one.tests.equals(other.tests)
    assert one.summary.frame.equals(other.summary.frame)
    assert one.summary.count == other.summary.count
    assert one.headline == other.headline
    assert [one.contradicted(k) for k in range(len(one.pags))] == [other.contradicted(k) for k in range(len(other.pags))]
    assert render(one) == render(other)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(6))
def test_oracles(seed: int) -> None:
    found = cs.discover(oracle_of(*random_case(seed)))
    assert_same(found, again(found))


@cache
def contradicting() -> cs.Server:
    """Which answers a question that was asked before from what it has."""
    return cs.Server(RealStudy("diabetes", 8).clients())


@pytest.mark.slow
@pytest.mark.parametrize("resolve", ["strict", "strongest", "optimal"])
def test_a_real_table_that_contradicts_itself(resolve: str) -> None:
    found = cs.discover(contradicting(), resolve=resolve, time_limit=10.0)
    assert_same(found, again(found))


def test_knowledge_and_a_cut_list() -> None:
    found = cs.discover(oracle_of(*random_case(1)), knowledge=Knowledge(tiers=[["A"], ["B", "C"]]), limit=1)
    assert_same(found, again(found))


def test_what_was_read_can_be_decided_anew() -> None:
    found = cs.discover(oracle_of(*random_case(2)))
    assert again(found).redecide(alpha=0.01).pags == found.pags


def test_a_result_of_before_is_read_without_what_graphs_contradict() -> None:
    told = cs.discover(oracle_of(*random_case(2))).to_dict()
    del told["contradicted"]
    assert Discovery.from_dict(told).contradicted(0) == ()


def broken(told: dict[str, Any], name: str) -> dict[str, Any]:
    return {
        "missing": {key: value for key, value in told.items() if key != "summary"},
        "rows": told | {"summary": told["summary"][1:]},
        "marks": told | {"pags": [told["pags"][0] | {"matrix": [[9]]}]},
        "place": told | {"contradicted": {"decisions": [], "by": [[3]]}},
        "kind": told | {"resolution": told["resolution"] | {"how": "<b>"}},
    }[name]


@pytest.mark.parametrize("name", ["missing", "rows", "marks", "place", "kind"])
def test_what_is_no_result_is_refused(name: str) -> None:
    found = replace(cs.discover(oracle_of(*random_case(2))), timings={})
    with pytest.raises(OptionError, match=r"result\.json"):
        Discovery.from_dict(broken(found.to_dict(), name))

"""Another level: graphs from the tests that are there, within a time, and nothing said that would need others."""

from __future__ import annotations

import asyncio
import time

import pytest
from starlette.exceptions import HTTPException

import consilience as cs
from consilience.web.pages.result import prepared
from consilience.web.pages.result.prepared import Desk, read_alpha
from consilience.web.pages.result.source import ResultSource
from consilience.web.rendering import Shell
from tests.iod.report.helpers import small
from tests.web.pages.result.cases import real
from tests.web.pages.result.stage import client_of, documents
from tests.web.pages.result.test_pages import read


@pytest.mark.slow
@pytest.mark.parametrize("alpha", [0.001, 0.06])
def test_graphs_are_those_of_the_same_tests_at_that_level(alpha: float) -> None:
    found = real()
    again = found.redecide(alpha=alpha, time_limit=10.0)
    client = client_of(found)
    text = " ".join(read(client.get(f"/studies/s/result?alpha={alpha:g}&show=summary").text).one("main").text.split())
    assert again.headline in text
    assert f"Decided anew at α = {alpha:g}" in text
    low, high = sorted((alpha, found.alpha))
    changed = sum(1 for p, told in found.tests.select("p_value", "informative").iter_rows() if told and low < p <= high)
    assert f"{changed:,} of {found.tests.height:,} tests {'is' if changed == 1 else 'are'} decided otherwise" in text
    if again.missing.height:
        assert f"This would need {again.missing.height:,} test" in text
        listed = read(client.get(f"/studies/s/result/tests?alpha={alpha:g}").text).one("main").text
        assert "never asked: unknown, not independent" in listed
    else:
        assert "This would need" not in text
    told = client.get(f"/studies/s/result/export/json?alpha={alpha:g}&show=1").json()
    assert cs.PAG.from_matrix(told["matrix"], told["labels"]) == again.pags[0]


@pytest.mark.slow
def test_the_layout_is_that_of_the_study_at_every_level() -> None:
    client = client_of(real())
    own, other = (client.get(f"/studies/s/result/graph.json{query}").json() for query in ("", "?alpha=0.001"))
    assert own["positions"] == other["positions"]
    assert own["pairs"] != other["pairs"]


def test_the_studys_own_level_is_the_study() -> None:
    client = client_of(small())
    assert "Decided anew" not in client.get("/studies/s/result?alpha=0.05").text
    assert "Decided anew" in client.get("/studies/s/result?alpha=0.051").text


@pytest.mark.parametrize("text", ["0", "1", "-0.1", "nan", "inf", "<script>", "0.05; drop", "1e-300", "9" * 500])
def test_what_is_no_level_is_said_beside_the_field(text: str) -> None:
    answer = client_of(small()).get("/studies/s/result", params={"alpha": text})
    assert answer.status_code == 200
    tree = read(answer.text)
    assert tree.one("div", class_="error-summary").one("a").attributes["href"] == "#alpha"
    assert tree.one("input", id="alpha").attributes["aria-invalid"] == "true"
    assert "Decided anew" not in tree.text


def test_levels_are_rounded_so_that_few_are_computed() -> None:
    assert {read_alpha(f"0.0123{k:05d}").value for k in range(400)} == {0.0123}


def source(version: str) -> ResultSource:
    return ResultSource("s", "S", version, documents(small()).get, Shell("C"))


def test_a_result_is_read_once_and_forgotten_after_others(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(prepared, "KEPT", 3)
    desk = Desk()
    first = asyncio.run(desk.get(source("1")))
    assert asyncio.run(desk.get(source("1"))) is first
    for version in "234":
        asyncio.run(desk.get(source(version)))
    assert asyncio.run(desk.get(source("1"))) is not first


def test_one_search_at_a_time_and_nobody_waits_for_ever(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(prepared, "PATIENCE", 0.2)
    desk = Desk()
    asyncio.run(desk.get(source("1")))
    assert desk._busy.acquire(blocking=False)
    begun = time.monotonic()
    with pytest.raises(HTTPException) as refused:
        asyncio.run(desk.get(source("1"), 0.01))
    assert refused.value.status_code == 503
    assert 0.2 <= time.monotonic() - begun < 5.0
    assert asyncio.run(desk.get(source("1"))).found.alpha == 0.05  # what is there is served meanwhile
    desk._busy.release()
    assert asyncio.run(desk.get(source("1"), 0.01)).found.alpha == 0.01


def test_a_search_that_takes_too_long_says_so() -> None:
    """The limit reaches the search; what it says of time that ran out is its own headline."""
    desk = Desk(seconds=1e-9)
    found = asyncio.run(desk.get(source("1"), 0.01)).found
    assert found.settings["time_limit"] == 1e-9
    if not found.complete:
        assert "time limit" in found.headline or "may be more" in found.headline

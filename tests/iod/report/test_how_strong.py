"""How strong, as it is told: which test stands for a pair, in which words, on which pages, and what older results say of it."""

from __future__ import annotations

import json
from io import StringIO

import pytest
from rich.console import Console

import consilience as cs
from consilience.citest.result import size_from_row
from consilience.cli.show import show_discovery
from consilience.iod import Discovery
from consilience.iod.report import render
from consilience.iod.report.pairs import Pairs
from consilience.service.result_files import plain
from tests.iod.report.sized import sized

WEAKEST = (
    "Weakest of 2 tests: higher age goes with higher pressure: +0.31 standard deviations per standard deviation "
    "(95 % interval 0.25 to 0.37), given smoker."
)
MARGINAL = "Higher age goes with higher pressure: +0.41 standard deviations per standard deviation (95 % interval 0.35 to 0.47)."
APART = (
    "Where a test finds them independent: no clear direction between pressure and smoker: odds of smoker = yes × 0.98 per standard "
    "deviation (95 % interval 0.80 to 1.20), given age."
)


def facts(found: Discovery, x: str, y: str) -> dict[str, str]:
    return {fact.term: fact.words for fact in Pairs(found).story(x, y).facts}


def test_an_edge_is_told_by_its_weakest_test() -> None:
    told = facts(sized(), "age", "pressure")
    assert (told["How strong"], told["Given nothing"]) == (WEAKEST, MARGINAL)


def test_a_missing_edge_is_told_by_the_test_that_took_it_away() -> None:
    told = facts(sized(), "smoker", "pressure")
    assert told["How strong"] == APART
    assert told["Given nothing"].startswith("Higher pressure goes with more frequent smoker = yes: odds × 1.50 per standard deviation")


def test_what_one_site_knows_alone_has_a_strength_and_no_size() -> None:
    told = facts(sized(), "age", "smoker")
    assert told["How strong"] == "age and smoker: strength 0.20 of 1."
    assert "Given nothing" not in told


def test_no_sentence_speaks_of_causes() -> None:
    for x, y in Pairs(sized()).pairs():
        told = facts(sized(), x, y)
        assert all(word not in told["How strong"] for word in ("cause", "effect", "influence", "because"))


def test_the_report_says_it() -> None:
    text = render(sized())
    for words in ("+0.31 SD per SD (0.25 to 0.37)", "smoker = yes: odds × 1.50 per SD (1.23 to 1.82)", WEAKEST, APART):
        assert words in text


def test_it_is_written_down_and_read_back() -> None:
    found = sized()
    again = Discovery.from_dict(json.loads(json.dumps(plain(found.to_dict()), allow_nan=False)))
    assert again.tests.equals(found.tests)
    assert [facts(again, x, y) for x, y in Pairs(found).pairs()] == [facts(found, x, y) for x, y in Pairs(found).pairs()]
    size = size_from_row(again.tests.row(0, named=True))
    assert size is not None
    assert (size.predictor, size.response, size.estimate) == ("age", "pressure", 0.41)


def test_results_of_before_are_read_without_it() -> None:
    told = json.loads(json.dumps(plain(sized().to_dict()), allow_nan=False))
    for row in told["tests"]:
        for name in [name for name in row if name in ("sign", "strength") or name.startswith("size")]:
            del row[name]
    old = Discovery.from_dict(told)
    assert old.tests["strength"].null_count() == 5
    assert "How strong" not in facts(old, "age", "pressure")
    assert "–" in render(old)


def test_the_command_line_says_it() -> None:
    console = Console(width=400, file=StringIO())
    show_discovery(sized(), console)
    said = console.file.getvalue()  # type: ignore[attr-defined]
    assert "How strong (an association, not a cause):" in said
    assert f"  - age – pressure: {WEAKEST} Given nothing: {MARGINAL}" in said


def test_an_oracle_says_nothing_of_it() -> None:
    found = cs.discover(cs.Oracle(cs.PAG.parse("A o-> C, B o-> C"), datasets=["ABC"]))
    assert "How strong" not in facts(found, "A", "C")


@pytest.mark.parametrize("method", ["fedci", "residual"])
def test_a_server_says_it_of_every_pair(method: str) -> None:
    frames = cs.simulate.mixed_sites(n=600, sites=2, seed=3)
    found = cs.discover(cs.Server([cs.Client(name, frame.select("A", "B", "C")) for name, frame in frames.items()], method=method))
    for x, y in Pairs(found).pairs():
        assert "How strong" in facts(found, x, y)
    assert found.tests["strength"].null_count() == 0
    assert set(found.tests["sign"]) <= {"+", "−"}

"""Deciding again on tests that are there: the same as deciding that way at once, as far as the tests go; and no site is asked."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from polars.testing import assert_frame_equal
from typer.testing import CliRunner

import consilience as cs
from consilience.cli.app import app
from consilience.iod.redecide import NOT_ASKED, Record, RecordedTest, redecide
from consilience.settings import NetworkSettings
from tests.data.real_tables import Remembering
from tests.iod.brute_force import Erring
from tests.iod.said import check_sentences

TRUTH = cs.MAG.parse("A --> B, B --> C, A --> D, C --> D, B --> E")
DATASETS = ["ABCD", "ABCE", "BCDE"]
SITES = cs.simulate.mixed_sites(n=1800, sites=3, seed=1, shift=1.0, missing=0.02, absent={0: ["E"], 2: ["D"]})


def erring(seed: int) -> Erring:
    return Erring(TRUTH, DATASETS, seed=seed, flips=0.08, graded=True)


@cache
def pooled() -> cs.CITest:
    return Remembering(cs.pooled([cs.Client(name, frame) for name, frame in SITES.items()]))


class Counting(cs.CITest):
    """A test that remembers what it was asked."""

    def __init__(self, test: cs.CITest) -> None:
        self.variables, self.datasets, self.test_ = test.variables, test.datasets, test
        self.asked: list[cs.Question] = []

    def answer(self, questions: Sequence[cs.Question], progress: Any = None) -> list[cs.CIResult]:
        self.asked += questions
        return self.test_.answer(questions, progress)


def check_same(one: cs.Discovery, other: cs.Discovery, *, tests: bool = True) -> None:
    """Everything but the time it took, and with ``tests`` the table of tests."""
    names = ("pags", "scores", "complete", "conflicts", "overruled", "local_pags", "datasets", "candidates", "settings", "headline")
    for name in names:
        assert getattr(one, name) == getattr(other, name), name
    assert replace(one.resolution, reasons={}) == replace(other.resolution, reasons={})
    assert_frame_equal(one.summary.frame, other.summary.frame)
    if tests:
        assert_frame_equal(one.tests, other.tests)


@pytest.mark.slow
@pytest.mark.parametrize("resolve", ["auto", "strict", "strongest", "optimal"])
def test_nothing_changes_if_nothing_is_changed(resolve: str) -> None:
    for test in (erring(1), erring(2), cs.Oracle(TRUTH, DATASETS), pooled()):
        found = cs.discover(test, resolve=resolve)
        again = found.redecide()
        check_same(again, found)
        assert again.missing.height == 0
        check_same(again.redecide(), found)


@pytest.mark.slow
@pytest.mark.parametrize("alpha", [0.001, 0.01, 0.2])
def test_another_level_is_as_if_it_had_been_that_level_where_all_tests_are_there(alpha: float) -> None:
    for test in (erring(1), erring(3), cs.Oracle(TRUTH, DATASETS), pooled()):
        found = replace(cs.discover(test), tests=test.test_all())
        again = found.redecide(alpha=alpha)
        check_same(again, cs.discover(test, alpha=alpha), tests=False)
        assert again.alpha == alpha
        assert again.missing.height == 0
        assert again.tests.height == found.tests.height


@pytest.mark.slow
def test_other_knowledge_and_other_resolutions_are_as_if_they_had_been_so() -> None:
    known = cs.Knowledge(tiers=[["A"], ["B", "C", "D", "E"]])
    test = erring(1)
    found = replace(cs.discover(test, knowledge=known), tests=test.test_all())
    for resolve in ("strict", "optimal"):
        check_same(found.redecide(resolve=resolve), cs.discover(test, knowledge=known, resolve=resolve), tests=False)
    check_same(found.redecide(knowledge=None), cs.discover(test), tests=False)
    check_same(found.redecide(max_given=1, limit=3), cs.discover(test, knowledge=known, max_given=1, limit=3), tests=False)


@pytest.mark.slow
def test_what_was_not_tested_is_said_and_asked_for_only_on_request() -> None:
    missed = 0
    for seed in range(6):
        test = Counting(erring(seed))
        found = cs.discover(test, alpha=0.001, resolve="strict", limit=500)  # what is asked hangs on no list; some have thousands of graphs
        before = len(test.asked)
        again = found.redecide(alpha=0.3)
        assert len(test.asked) == before
        there = {(x, y, tuple(given)) for x, y, given in found.tests.select("x", "y", "given").iter_rows()}
        missing = {(x, y, tuple(given)) for x, y, given in again.missing.iter_rows()}
        assert not missing & there
        assert_frame_equal(again.tests, found.tests)
        check_sentences(again, whole=False)
        missed += bool(missing)
        asked = found.redecide(alpha=0.3, ask=test)
        check_same(asked, cs.discover(erring(seed), alpha=0.3, resolve="strict", limit=500), tests=False)
        new = {(q.x, q.y, q.given) for q in test.asked[before:]}
        assert not new & there
        assert len(test.asked) - before == len(new) == asked.tests.height - found.tests.height
        assert asked.missing.height == 0
        check_same(asked.redecide(), asked)
    assert missed > 2, "no case needed a test that was not there"


def test_what_was_not_tested_is_unknown_and_not_independent() -> None:
    oracle = cs.Oracle(cs.MAG.parse("A --> B, C --> B"))
    found = cs.discover(oracle)
    without = replace(found, tests=found.tests.filter(~((pl.col("x") == "A") & (pl.col("y") == "B"))))
    again = without.redecide()
    assert ("A", "B", []) in again.missing.rows()
    assert {pag.adjacent("A", "B") for pag in again.pags} == {True, False}
    assert "never asked" in again.headline
    assert NOT_ASKED not in again.tests["reason"]


def test_options_that_do_not_exist_are_named() -> None:
    found = cs.discover(cs.Oracle(cs.MAG.parse("A --> B")))
    for wrong in ({"alhpa": 0.1}, {"test": None}):
        with pytest.raises(cs.errors.OptionError, match=next(iter(wrong))):
            found.redecide(**wrong)
    with pytest.raises(cs.errors.OptionError, match="alpha"):
        found.redecide(alpha=2)


def test_a_recorded_test_answers_whichever_way_round_it_is_asked() -> None:
    oracle = cs.Oracle(TRUTH)
    test = RecordedTest(Record.of(replace(cs.discover(oracle), tests=oracle.test_all())))
    assert test.test("D", "A", ["C", "B"]).p_value == oracle.test("A", "D", ["B", "C"]).p_value
    assert test.missing == {}


# Stored results


def test_a_stored_result_is_as_good_as_the_discovery(tmp_path: Path) -> None:
    found = cs.discover(erring(1), knowledge=cs.Knowledge(tiers=[["A"], ["B", "C", "D", "E"]]))
    path = tmp_path / "result.json"
    path.write_text(json.dumps(found.to_dict()), encoding="utf-8")
    record = Record.read(path)
    assert_frame_equal(record.tests, found.tests)
    check_same(redecide(record), found)
    check_same(redecide(record, alpha=0.01), found.redecide(alpha=0.01))


@pytest.mark.slow
def test_the_documents_of_a_network_study_can_be_decided_again() -> None:
    from consilience.data.kinds import Kind  # noqa: PLC0415  with the service's extra only
    from consilience.service.contract import Contract, Member  # noqa: PLC0415
    from consilience.service.result_files import documents_of  # noqa: PLC0415
    from consilience.service.server.runner import StoredTest  # noqa: PLC0415
    from consilience.service.settings import VariableSpec  # noqa: PLC0415

    clients = [cs.Client(name, frame) for name, frame in SITES.items()]
    rounded = StoredTest(cs.Server(clients), lambda _results: None, lambda _done, _total: None)  # as a study server decides and publishes
    found = cs.discover(rounded, max_given=1)
    variables = tuple(VariableSpec(name, Kind.CONTINUOUS) for name in "ABCDE")
    members = tuple(Member(name, bytes(32)) for name in SITES)
    contract = Contract("00112233aabbccdd", "trial", variables, found.datasets, NetworkSettings(), members)
    documents = dict(documents_of(found, contract, tuple(SITES), 9, 1000))
    told = json.loads(documents["result.json"])
    assert told["headline"] == found.headline
    record = Record.from_dict(told)
    check_same(redecide(record), found)
    check_same(redecide(record, alpha=0.01, resolve="strict"), found.redecide(alpha=0.01, resolve="strict"))


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"local_pags": [1]}', '{"local_pags": [], "tests": [{"x": 1}], "knowledge": null}'])
def test_what_is_no_result_is_refused_with_the_way_out(tmp_path: Path, text: str) -> None:
    path = tmp_path / "result.json"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(cs.errors.OptionError, match="result"):
        Record.read(path)


def test_the_command(tmp_path: Path) -> None:
    found = cs.discover(erring(1))
    path = tmp_path / "result.json"
    path.write_text(json.dumps(found.to_dict()), encoding="utf-8")
    known = tmp_path / "known.toml"
    known.write_text('tiers = [["A"], ["B", "C", "D", "E"]]', encoding="utf-8")
    out = tmp_path / "other"
    run = CliRunner().invoke(app, ["redecide", str(path), "--alpha", "0.01", "--knowledge", str(known), "--out", str(out)])
    wanted = found.redecide(alpha=0.01, knowledge=cs.Knowledge.from_toml(known))
    assert run.exit_code == (0 if wanted.pags else 3)
    assert wanted.headline.split(".")[0] in run.stdout.replace("\n", " ")
    told = json.loads((out / "result.json").read_text(encoding="utf-8"))
    assert told["headline"] == wanted.headline
    assert told["alpha"] == 0.01
    assert told["missing"] == wanted.missing.to_dicts()
    assert (out / "report.html").exists()
    shown = CliRunner().invoke(app, ["redecide", str(path), "--json"])
    assert json.loads(shown.stdout)["headline"] == found.headline


@pytest.mark.parametrize("options", [["--out", "."], ["--knowledge", "k.toml", "--without-knowledge"]], ids=str)
def test_the_command_refuses_what_would_lose_something(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, options: list[str]) -> None:
    monkeypatch.chdir(tmp_path)
    Path("result.json").write_text(json.dumps(cs.discover(cs.Oracle(TRUTH)).to_dict()), encoding="utf-8")
    run = CliRunner().invoke(app, ["redecide", "result.json", *options])
    assert isinstance(run.exception, cs.errors.OptionError)

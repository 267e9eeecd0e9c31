"""``consilience simulate`` and ``consilience reproduce``."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import polars as pl
import pytest
from typer.testing import CliRunner

import consilience as cs
from consilience.cli.app import app
from consilience.settings.studyfile import read_study

runner = CliRunner()
GRAPH = "A o-> C, B o-> C, C --> D"


def test_simulate_writes_sites_truth_and_study(tmp_path: Path) -> None:
    out = tmp_path / "made"
    answer = runner.invoke(app, ["simulate", "--graph", GRAPH, "--sites", "3", "--n", "700", "--exclusive", "A,D", "--out", str(out)])
    assert answer.exit_code == 0, answer.output
    assert sorted(path.name for path in out.iterdir()) == ["site1.csv", "site2.csv", "site3.csv", "study.toml", "truth.json", "truth.svg"]
    truth = json.loads((out / "truth.json").read_text(encoding="utf-8"))
    assert cs.PAG.parse(truth["pag"]) == cs.PAG.parse(GRAPH)
    assert truth["datasets"] == {"site1": ["A", "B", "C"], "site2": ["B", "C", "D"], "site3": ["A", "B", "C"]}
    assert sum(pl.read_csv(out / f"site{k}.csv").height for k in (1, 2, 3)) == 700
    made = cs.simulate.from_graph(GRAPH, n=700, sites=3, seed=1, exclusive="AD")
    study = read_study(out / "study.toml")
    assert dict(study.schema) == dict(made.schema)
    assert list(study.files) == list(made.frames)
    assert study.datasets == (("A", "B", "C"), ("B", "C", "D"))


@pytest.mark.slow
def test_the_study_file_brings_its_data_to_discover_and_test(tmp_path: Path) -> None:
    """Files and study file lead to what the frames themselves lead to."""
    kinds = ["--kind", "A=ordinal", "--kind", "B=continuous", "--kind", "C=continuous", "--kind", "D=binary"]
    args = ["simulate", "--graph", GRAPH, "--sites", "2", "--n", "1000", "--exclusive", "A,D", "--seed", "3", "--out", str(tmp_path)]
    assert runner.invoke(app, [*args, *kinds]).exit_code == 0
    study = str(tmp_path / "study.toml")
    found = json.loads(runner.invoke(app, ["discover", "--json", study]).stdout)
    made = cs.simulate.from_graph(
        GRAPH, n=1000, sites=2, seed=3, exclusive="AD", kinds={"A": "ordinal", "B": "continuous", "C": "continuous", "D": "binary"}
    )
    wanted = cs.discover(cs.Server(made.clients()))
    assert [pag["edges"] for pag in found["pags"]] == [[str(edge) for edge in pag.edges] for pag in wanted.pags]
    tested = json.loads(runner.invoke(app, ["test", "A", "B", "--json", study]).stdout)
    assert tested["p_value"] == pytest.approx(cs.Server(made.clients()).test("A", "B").p_value, rel=1e-9)
    as_numbers = json.loads(runner.invoke(app, ["test", "A", "B", "--json", "--kind", "A=continuous", study]).stdout)
    assert [d["df"] for d in as_numbers["directions"]] != [d["df"] for d in tested["directions"]]


def test_the_same_seed_writes_the_same_files_and_random_graphs_are_graphs(tmp_path: Path) -> None:
    for name, seed in (("one", "4"), ("two", "4"), ("three", "5")):
        answer = runner.invoke(app, ["simulate", "--graph", "random:6", "--seed", seed, "--out", str(tmp_path / name), "--n", "60"])
        assert answer.exit_code == 0
    one, two, three = ({p.name: p.read_bytes() for p in (tmp_path / name).iterdir()} for name in ("one", "two", "three"))
    assert one == two
    assert one["site1.csv"] != three["site1.csv"]
    assert len(cs.PAG.parse(json.loads(one["truth.json"])["pag"])) == 6


def test_bad_input_of_simulate(tmp_path: Path) -> None:
    for args, words in (
        (["--graph", "A o-o B, B o-> C"], "is none of them"),
        (["--graph", "A ==> B"], "An edge reads like"),
        (["--graph", GRAPH, "--exclusive", "A,Z"], "Exclusive variables"),
        (["--graph", GRAPH, "--kind", "A"], "NAME=VALUE"),
    ):
        answer = runner.invoke(app, ["simulate", "--out", str(tmp_path / "x"), *args])
        assert isinstance(answer.exception, cs.errors.ConsilienceError)
        assert words in str(answer.exception)
    assert not (tmp_path / "x").exists()


@pytest.mark.slow
def test_reproduce_at_smoke_size(tmp_path: Path) -> None:
    """The whole study, small: results, tables, figures, the page; a second call finds everything done."""
    out, doc = tmp_path / "out", tmp_path / "docs" / "reproduction.md"
    answer = runner.invoke(app, ["reproduce", "--size", "smoke", "--out", str(out), "--jobs", "1", "--page", str(doc)])
    assert answer.exit_code == 0, answer.output
    assert len(list((out / "runs").glob("*.json"))) == 8
    assert len(list((out / "figures").glob("*.svg"))) == 4
    assert (out / "tables" / "shd.csv").exists()
    assert "What the study must show" in answer.stdout
    text = doc.read_text(encoding="utf-8")
    assert "| Fisher | 8 |" in text
    assert (doc.parent / "reproduction" / "accuracy.svg").exists()
    before = {path: path.stat().st_mtime_ns for path in (out / "runs").iterdir()}
    again = runner.invoke(app, ["reproduce", "--size", "smoke", "--out", str(out), "--jobs", "1"])
    assert again.exit_code == 0
    assert {path: path.stat().st_mtime_ns for path in (out / "runs").iterdir()} == before


def test_reproduce_says_at_once_that_matplotlib_is_missing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    answer = runner.invoke(app, ["reproduce", "--size", "smoke", "--out", str(tmp_path / "out")])
    assert isinstance(answer.exception, cs.errors.MissingPackageError)
    assert not (tmp_path / "out").exists()

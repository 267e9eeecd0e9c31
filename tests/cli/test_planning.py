"""``consilience power`` and ``consilience next``."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

import consilience as cs
from consilience.cli.app import app

runner = CliRunner()
GRAPH = "A o-> C, B o-> C, C --> D"


@pytest.fixture
def result(tmp_path: Path) -> Path:
    found = cs.discover(cs.Oracle(cs.PAG.parse(GRAPH), datasets=["ABC", "BCD"]))
    path = tmp_path / "result.json"
    path.write_text(json.dumps(found.to_dict()), encoding="utf-8")
    return path


def test_power_says_what_the_function_says() -> None:
    args = ["power", "--graph", "A o-o B", "--sites", "2", "--rows", "60", "--replications", "2", "--seed", "3", "--jobs", "1"]
    answer = runner.invoke(app, [*args, "--kind", "A=continuous", "--kind", "B=binary", "--alpha", "0.01"])
    assert answer.exit_code == 0, answer.output
    kinds = {"A": "continuous", "B": "binary"}
    wanted = cs.simulate.graph_power("A o-o B", sites=2, rows=60, replications=2, seed=3, kinds=kinds, alpha=0.01)
    assert answer.stdout.strip() == str(wanted)
    plain = json.loads(runner.invoke(app, [*args, "--json", "--kind", "A=continuous", "--kind", "B=binary", "--alpha", "0.01"]).stdout)
    assert plain == json.loads(json.dumps(wanted.to_dict()))


def test_power_of_named_sites() -> None:
    args = ["power", "--graph", GRAPH, "--site", "north=A,B,C", "--site", "south=B,C,D", "--rows", "40", "--replications", "1"]
    plain = json.loads(runner.invoke(app, [*args, "--jobs", "1", "--json"]).stdout)
    assert plain["sites"] == {"north": ["A", "B", "C"], "south": ["B", "C", "D"]}
    assert [edge["unlimited"] for edge in plain["edges"] if (edge["x"], edge["y"]) == ("A", "D")] == ["some"]


def test_next_says_what_the_function_says(result: Path) -> None:
    answer = runner.invoke(app, ["next", str(result)])
    assert answer.exit_code == 0, answer.output
    assert answer.stdout.splitlines()[1:] == ["A at B, C, D: 0.0 (3.0 settled)", "D at A, B, C: 0.0 (3.0 settled)"]
    named = runner.invoke(app, ["next", str(result), "--site", "north=A,B,C", "--site", "south=B,C,D", "--variable", "A", "--json"])
    told = json.loads(named.stdout)
    assert (told["open"], told["graphs"], told["complete"]) == (3, 2, True)
    assert [(row["site"], row["variable"], row["open"]) for row in told["measurements"]] == [("south", "A", 0.0)]


def test_bad_input(tmp_path: Path) -> None:
    (tmp_path / "list.json").write_text("[]", encoding="utf-8")
    for args, words in (
        (["next", str(tmp_path / "none.json")], "exists and holds JSON"),
        (["next", str(tmp_path / "list.json")], "cannot be read"),
        (["power", "--graph", "A o-o B", "--site", "north"], "NAME=VALUE"),
        (["power", "--graph", "A o-o B, B o-> C"], "is none of them"),
        (["power", "--graph", "A o-o B", "--cluster", "nowhere", "--replications", "1"], "address of a Dask scheduler"),
    ):
        answer = runner.invoke(app, args)
        assert isinstance(answer.exception, cs.errors.ConsilienceError), args
        assert words in str(answer.exception)

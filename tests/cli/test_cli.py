"""The command line: what it prints, and what its exit codes mean."""

from __future__ import annotations

import json
import subprocess
import sys
import sysconfig
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from typer.testing import CliRunner, Result

import consilience as cs
from consilience.cli import main
from consilience.cli.app import app

Run = Callable[..., tuple[int, str, str]]
FIELDS = {
    "sign",
    "strength",
    "in_words",
    "diagnostics",
    "method",
    "x",
    "y",
    "given",
    "p_value",
    "n",
    "contributors",
    "rounds",
    "informative",
    "reason",
    "converged",
    "directions",
    "participants",
}


@pytest.fixture
def files(tmp_path: Path) -> list[str]:
    """Three sites of 100 rows; the third, a Parquet file, does not measure E."""
    frames = cs.simulate.mixed_sites(n=300, sites=3, seed=4, absent={2: ["E"]})
    paths = [tmp_path / "muenster.csv", tmp_path / "marburg.csv", tmp_path / "mainz.parquet"]
    for path, frame in zip(paths, frames.values(), strict=True):
        frame.write_csv(path) if path.suffix == ".csv" else frame.write_parquet(path)
    return [str(path) for path in paths]


def invoke(*arguments: str) -> Result:
    return CliRunner().invoke(app, list(arguments), catch_exceptions=False, env={"COLUMNS": "200"})


def ask(*arguments: str) -> dict[str, Any]:
    """The JSON that ``consilience test`` prints, and nothing but JSON."""
    found = invoke("test", *arguments, "--json")
    assert found.exit_code in (0, 3)
    assert found.stderr == ""
    answer: dict[str, Any] = json.loads(found.stdout, parse_constant=lambda name: pytest.fail(f"{name} is no JSON"))
    return answer


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Run:
    """Call ``main`` as the console script does; returns exit code, standard output, standard error."""

    def run(*arguments: str) -> tuple[int, str, str]:
        monkeypatch.setattr(sys, "argv", ["consilience", *arguments])
        with pytest.raises(SystemExit) as stop:
            main()
        out, err = capsys.readouterr()
        code = stop.value.code
        assert code is None or isinstance(code, int)
        return code or 0, out, err

    return run


def test_version() -> None:
    found = invoke("--version")
    assert (found.exit_code, found.stdout.strip()) == (0, cs.__version__)


@pytest.mark.slow
def test_help_lists_every_command() -> None:
    found = invoke("--help")
    assert found.exit_code == 0
    assert all(command in found.stdout for command in ("demo", "test", "--version"))
    assert all(option in invoke("test", "--help").stdout for option in ("--given", "--method", "--kind", "--levels", "--json"))


def test_json_has_every_field_and_equals_the_library(files: list[str]) -> None:
    answer = ask("C", "E", *files, "--given", "A,B")
    expected = cs.Server([cs.Client(Path(file).stem, file) for file in files]).test("C", "E", ["A", "B"])
    assert answer.keys() == FIELDS
    assert answer == json.loads(json.dumps(expected.to_dict() | {"method": "fedci"}))
    assert (answer["n"], answer["contributors"], answer["given"]) == (200, 2, ["A", "B"])


def test_json_has_both_directions(files: list[str]) -> None:
    directions = ask("C", "E", *files)["directions"]
    assert [(d["response"], d["predictor"], d["df"]) for d in directions] == [("E", "C", 3), ("C", "E", 3)]
    assert all(isinstance(d["statistic"], float) and isinstance(d["loglik_restricted"], float) for d in directions)


@pytest.mark.slow
@pytest.mark.parametrize("given", ["", "A", "A,B"])
def test_methods_agree(files: list[str], given: str) -> None:
    """fedci, however it treats intercepts, is pooled; fisher answers the same question from fewer sums."""
    fedci = ask("C", "D", *files, "--given", given)
    for options in (["--method", "pooled"], ["--site-effects", "joint"], ["--site-effects", "coordinate"]):
        other = ask("C", "D", *files, "--given", given, *options)
        assert other["p_value"] == pytest.approx(fedci["p_value"], rel=1e-5)
        assert (other["n"], other["contributors"]) == (fedci["n"], fedci["contributors"])
    fisher = ask("C", "D", *files, "--given", given, "--method", "fisher")
    assert (fisher["method"], fisher["n"], fisher["directions"]) == ("fisher", 300, [])
    assert 0.0 < fisher["p_value"] < 1.0


def test_without_site_effects_methods_agree_on_another_number(files: list[str]) -> None:
    fedci, pooled = (ask("A", "D", *files, "--site-effects", "none", "--method", method) for method in ("fedci", "pooled"))
    assert fedci["p_value"] == pytest.approx(pooled["p_value"], rel=1e-5)
    assert fedci["p_value"] != pytest.approx(ask("A", "D", *files)["p_value"], rel=1e-3)


@pytest.mark.slow
def test_kinds_and_levels_may_be_declared(files: list[str]) -> None:
    """D is ordinal as read (one slope); as a multinomial response it has one per level, as a number it is Gaussian."""

    def df(*options: str) -> int:
        (found,) = (d["df"] for d in ask("A", "D", *files, *options)["directions"] if d["response"] == "D")
        return int(found)

    assert df() == 1
    assert df("--kind", "D=multinomial") == 3
    assert df("--ordinal", "generalized") == 3
    assert df("--levels", "D=1,2,3,4,5") == 1
    assert df("--kind", "D=multinomial", "--levels", "D=4,3,2,1") == 3
    assert df("--kind", "D=continuous", "--kind", "C=ordinal") == 1
    assert ask("A", "D", *files, "--kind", "D=continuous")["p_value"] != ask("A", "D", *files)["p_value"]


def test_levels_say_the_order_of_text(tmp_path: Path) -> None:
    path = tmp_path / "site.csv"
    rows = [f"{label},{number}" for i, label in enumerate(["low", "mid", "high"]) for number in (i, i + 1.5, i + 0.5, 2.5 - i)]
    path.write_text("\n".join(["S,A", *rows]))
    ordered = ask("S", "A", str(path), "--kind", "S=ordinal", "--levels", "S=low,mid,high")
    backwards = ask("S", "A", str(path), "--kind", "S=ordinal", "--levels", "S=high,mid,low")
    shuffled = ask("S", "A", str(path), "--kind", "S=ordinal", "--levels", "S=mid,low,high")
    assert backwards["p_value"] == pytest.approx(ordered["p_value"], rel=1e-6)
    assert shuffled["p_value"] != pytest.approx(ordered["p_value"], rel=1e-3)


def test_a_person_sees_what_was_read_and_both_directions(files: list[str]) -> None:
    found = invoke("test", "C", "E", *files, "--given", "A")
    assert found.exit_code == 0
    for text in ("muenster", "mainz", "not measured", "boolean", "p q r s", "C ⫫ E | A", "fedci: p = ", "sites = 2"):
        assert text in found.stdout


def test_files_of_one_name_are_told_apart_by_their_folders(tmp_path: Path) -> None:
    frames = cs.simulate.mixed_sites(n=200, sites=2, seed=4)
    paths = [tmp_path / site / "data.csv" for site in frames]
    for path, frame in zip(paths, frames.values(), strict=True):
        path.parent.mkdir()
        frame.write_csv(path)
    assert ask("A", "B", *map(str, paths))["contributors"] == 2


def test_labels_in_brackets_are_shown_as_they_are(tmp_path: Path, run: Run) -> None:
    """They are data, not markup for the terminal."""
    path = tmp_path / "site.csv"
    pl.DataFrame({"S": ["[red]", "[/b]"] * 10, "[bold]": [1.5, 2.5, 4.0, 0.5, 0.0] * 4}).write_csv(path)
    code, out, _ = run("test", "S", "[bold]", str(path))
    assert code == 0
    assert all(label in out for label in ("[red]", "[/b]", "[bold]"))


# exit codes


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["A", "Q"], ["'Q'", "A, B, C, D, E"]),
        (["A", "A"], ["'A'"]),
        (["A", "B", "--given", "A"], ["given=['A']"]),
        (["A", "B", "--given", "Q"], ["'Q'"]),
        (["A", "D", "--kind", "D"], ["--kind", "NAME=VALUE", "'D'"]),
        (["A", "D", "--kind", "D=number"], ["'D'", "'number'", "ordinal"]),
        (["A", "D", "--levels", "D="], ["--levels", "NAME=VALUE", "'D='"]),
        (["A", "D", "--levels", "D=1,2"], ["'D' of", "= '3'", "['1', '2']", "--levels D=1,2,3"]),
        (["A", "D", "--kind", "dose=ordinal"], ["'dose'"]),
        (["A", "D", "--levels", "dose=1,2"], ["'dose'"]),
        (["A", "E", "--kind", "E=ordinal"], ["'E'", "order"]),
        (["A", "B", "nowhere.csv"], ["nowhere.csv", "no such file"]),
    ],
    ids=" ".join,
)
def test_bad_input_is_one_line_and_exit_code_2(files: list[str], run: Run, arguments: list[str], words: list[str]) -> None:
    code, out, err = run("test", *arguments, *files)
    assert (code, out) == (2, "")
    assert err.startswith("error: ")
    assert err.count("\n") == 1
    assert all(word in err for word in words)


@pytest.mark.parametrize("content", ["", "A,B\n", "A,B\n1,2\n3,4,5\n", "A,A\n1,2\n", 'A,B\n"1,2\n', "A,B\n?,1\n?,2\n"])
def test_broken_files_are_one_line_and_exit_code_2(tmp_path: Path, run: Run, content: str) -> None:
    path = tmp_path / "site.csv"
    path.write_text(content)
    code, out, err = run("test", "A", "B", str(path))
    assert (code, out) == (2, "")
    assert err.startswith("error: ")
    assert err.count("\n") == 1
    assert "site" in err


def test_the_ways_out_of_a_file_that_cannot_be_read_are_options(tmp_path: Path, run: Run) -> None:
    path = tmp_path / "site.csv"
    path.write_text("A,B;C\n1,2;3\n")
    assert "The way out: --separator ',', or --separator ';'." in run("test", "A", "B", str(path))[2]


@pytest.mark.parametrize(
    "arguments", [["test", "A", "B"], ["test", "A", "B", "--method", "meta", "x.csv"], ["demo", "--n", "10"], ["tset"]]
)
def test_misuse_of_the_command_is_exit_code_2(run: Run, arguments: list[str]) -> None:
    code, out, err = run(*arguments)
    assert (code, out) == (2, "")
    assert "Usage" in err


def test_data_that_cannot_answer_are_exit_code_3(tmp_path: Path) -> None:
    path = tmp_path / "site.csv"
    path.write_text("A,B\n" + "p,1\np,2\np,3\n" * 5)
    other = tmp_path / "other.csv"
    other.write_text(path.read_text())
    answer = ask("A", "B", str(path), str(other))
    assert (answer["informative"], answer["p_value"]) == (False, 1.0)
    assert "A does not vary" in answer["reason"]
    assert [d["loglik_restricted"] for d in answer["directions"]] == [None, None]
    found = invoke("test", "A", "B", str(path), str(other))
    assert found.exit_code == 3
    assert "not informative: " in found.stdout


@pytest.mark.slow
def test_the_installed_script(files: list[str], tmp_path: Path) -> None:
    """Exit codes as a shell sees them."""
    script = Path(sysconfig.get_path("scripts")) / "consilience"

    def shell(*arguments: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run([script, *arguments], capture_output=True, text=True, cwd=tmp_path, check=False, timeout=60)

    answered, bad = shell("test", "A", "B", *files, "--json"), shell("test", "A", "Q", *files)
    assert (answered.returncode, answered.stderr) == (0, "")
    assert json.loads(answered.stdout)["x"] == "A"
    assert (bad.returncode, bad.stdout) == (2, "")
    assert bad.stderr.startswith("error: No variable 'Q'")
    constant = tmp_path / "constant.csv"
    constant.write_text("A,B\n" + "0.5,1.5\n" * 20)
    silent = shell("test", "A", "B", "constant.csv", "--json")
    assert (silent.returncode, silent.stderr) == (3, "")
    assert json.loads(silent.stdout)["informative"] is False


def test_whether_linear_models_hold_is_said(files: list[str]) -> None:
    told = " ".join(invoke("test", "A", "B", *files).stdout.split())
    assert "the linear model" in told
    assert "Against it: curvature p = " in told
    silent = " ".join(invoke("test", "A", "B", *files, "--no-diagnostics").stdout.split())
    assert "Whether linear models hold was not looked at." in silent

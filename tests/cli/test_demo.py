"""``consilience demo``: what it prints, the report that it leaves, and how often which answer comes."""

from __future__ import annotations

import importlib.util
import json
import re
import tempfile
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

import pytest
from typer.testing import CliRunner, Result

import consilience as cs
from consilience.cli.app import app
from consilience.cli.demo_study import KINDS, ROWS, TRUTH, Answer, Series, answer, kept, kind_of, kinds_of_answers, written
from consilience.errors import OptionError
from consilience.simulate.mixed import mixed_sites

ROOT = Path(__file__).parents[2]
RECOMPUTED = {ROWS: (2, 57), 10 * ROWS: (3,)}
"""Seeds that are done again, besides the first, which the demonstration shows."""


def demo(*arguments: str) -> Result:
    return CliRunner(env={"COLUMNS": "160"}).invoke(app, ["demo", *arguments])


def result(folder: Path) -> cs.Discovery:
    return cs.Discovery.from_dict(json.loads((folder / "result.json").read_text(encoding="utf-8")))


def script() -> Any:
    spec = importlib.util.spec_from_file_location("demo_seeds", ROOT / "benchmarks" / "demo_seeds.py")
    assert spec is not None
    assert spec.loader is not None
    found = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(found)
    return found


@pytest.fixture(scope="module")
def shown(tmp_path_factory: pytest.TempPathFactory) -> tuple[str, Path]:
    """The demonstration as ``make demo`` runs it, and its folder."""
    folder = tmp_path_factory.mktemp("demo of Zoë") / "build" / "demo"
    found = demo("--out", str(folder))
    assert found.exit_code == 0
    return found.stdout, folder


@pytest.mark.slow
def test_it_prints_its_tables(shown: tuple[str, Path]) -> None:
    lines = shown[0].splitlines()
    assert any("fedci" in line and "pooled" in line and "fisher" in line for line in lines)
    assert sum("⫫" in line for line in lines) == 1 + 11 + 1
    assert "never saw a row" in shown[0]
    assert "seed 1, the first there is: it was not chosen for its result" in shown[0]
    assert "This seed was chosen" in shown[0]


@pytest.mark.slow
def test_it_shows_contradictions_and_what_was_made_of_them(shown: tuple[str, Path]) -> None:
    assert "The decisions contradict each other. " in shown[0]
    assert "\nOverruled:\n" in shown[0]
    assert "wrong and the others right" in shown[0]


@pytest.mark.slow
def test_it_says_how_far_p_values_are_from_those_of_pooled_rows(shown: tuple[str, Path]) -> None:
    """Several sites: the same but for rounding of the machine. One site alone tells three digits, so half a unit of the third at most."""
    several, alone = map(float, re.findall(r"(?:to pooled: |; )([\d.e+-]+)", shown[0].partition("Largest difference")[2])[:2])
    assert several < 1e-9
    assert several < alone <= 5e-4


@pytest.mark.slow
def test_it_ends_with_the_report_and_the_app(shown: tuple[str, Path]) -> None:
    printed, folder = shown
    *_, report, _, trial = printed.splitlines()
    address = report.rpartition(" ")[2]
    assert urlsplit(address).scheme == "file"
    file = Path(unquote(urlsplit(address).path))
    assert file == folder / "report.html"
    page = file.read_text(encoding="utf-8")
    found = result(folder)
    assert found.headline in page
    assert found.headline in printed
    assert trial.endswith("three sites on this machine: consilience app --trial")


@pytest.mark.slow
def test_what_it_says_of_this_run_is_what_it_found(shown: tuple[str, Path]) -> None:
    found = result(shown[1])
    assert tuple(map(str, found.pags)) == kept()[0].answers[0].graphs
    assert f"Found here: {kind_of(map(str, found.pags))}." in shown[0]


@pytest.mark.slow
def test_without_a_folder_nothing_is_left_where_it_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    here, temporary = tmp_path / "here", tmp_path / "temporary"
    here.mkdir()
    temporary.mkdir()
    monkeypatch.chdir(here)
    monkeypatch.setattr(tempfile, "tempdir", str(temporary))
    found = demo("--n", "300", "--seed", "2")
    assert found.exit_code == 0
    assert list(here.iterdir()) == []
    (folder,) = temporary.iterdir()
    assert (folder / "report.html").as_uri() in found.stdout
    assert "seed 2)" in found.stdout


@pytest.mark.slow
def test_it_has_a_seed(tmp_path: Path) -> None:
    same = ("--n", "300", "--out", str(tmp_path))
    one, again, other = (demo(*same, "--seed", seed).stdout for seed in ("1", "1", "2"))
    assert one == again != other


def test_a_folder_that_cannot_be_is_said_before_anything_runs(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    found = demo("--out", str(tmp_path / "file" / "demo"))
    assert isinstance(found.exception, OptionError)
    assert "--out is a folder that exists or can be made" in str(found.exception)
    assert found.stdout == ""


def test_the_truth_is_that_of_the_data() -> None:
    """By m-separation over the variables of the three sites, without statistics; and of that structure are the data."""
    dag = cs.DAG.parse("A --> B, B --> C, A --> D, C --> D, B --> E")
    assert cs.discover(cs.Oracle(dag, datasets=["ABCD", "ABCDE", "ABCE"])).pags == (TRUTH,)
    assert "A → B → C, A → D ← C, B → E" in str(mixed_sites.__doc__)


def test_kinds_of_answers_are_one_of_four() -> None:
    true, other = str(TRUTH), "A o-o B, A o-o D, B --> C, B o-o E, D --> C"
    lists = {KINDS[0]: [true], KINDS[1]: [other, true], KINDS[2]: [other], KINDS[3]: ["A o-o B"]}
    assert {kind: kind_of(graphs) for kind, graphs in lists.items()} == {kind: kind for kind in KINDS}
    assert kind_of([]) == KINDS[3]
    assert kind_of([other, "A o-o B"]) == KINDS[3]


def test_no_seed_is_left_out_of_what_is_kept() -> None:
    for series in kept():
        assert [found.seed for found in series.answers] == list(range(1, 101))
        assert sum(kinds_of_answers(series.answers).values()) == 100


@pytest.mark.slow
@pytest.mark.parametrize("series", kept(), ids=lambda series: str(series.rows))
def test_what_is_kept_is_what_comes_out(series: Series) -> None:
    for seed in RECOMPUTED[series.rows]:
        assert answer(series.rows, seed) == series.answers[seed - 1]


@pytest.mark.slow
def test_the_script_writes_what_the_demonstration_reads(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "seeds.json"
    assert script().main(["--seeds", "2", "--rows", "600", "--out", str(file)]) == 0
    (series,) = kept(file)
    assert series.rows == 600
    assert [found.seed for found in series.answers] == [1, 2]
    printed = capsys.readouterr().out
    for kind, count in kinds_of_answers(series.answers).items():
        assert f"{count:5}  {kind}\n" in printed


def test_what_is_written_reads_back(tmp_path: Path) -> None:
    made = (Series(60, (Answer(1, (str(TRUTH), "A o-o B"), 3, as_pooled=False),)), Series(90, ()))
    (tmp_path / "seeds.json").write_text(written(made), encoding="utf-8")
    assert kept(tmp_path / "seeds.json") == made
    assert kept() == kept(ROOT / "src" / "consilience" / "cli" / "demo_seeds.json")


@pytest.mark.slow
def test_the_frequencies_that_are_printed_are_counted(shown: tuple[str, Path]) -> None:
    small, large = kept()
    for kind in kinds_of_answers(small.answers):
        row = next(line for line in shown[0].splitlines() if line.startswith(f"│ {kind} "))
        assert [int(cell) for cell in re.findall(r"\d+", row)] == [kinds_of_answers(one.answers).get(kind, 0) for one in (small, large)]

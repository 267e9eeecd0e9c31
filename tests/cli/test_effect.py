"""``consilience effect`` and ``consilience discover --effect``: sentences, JSON, exit codes."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from consilience.cli.app import app
from tests.service.server.test_effects import frame

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    folder: Path = tmp_path_factory.mktemp("sites")
    for seed, name in enumerate("abc"):
        frame(seed, 400).write_csv(folder / f"{name}.csv")
    return [str(folder / f"{name}.csv") for name in "abc"]


def said(command: str, *words: str) -> tuple[int, str]:
    result = CliRunner().invoke(app, [command, *words])
    return result.exit_code, result.output


def test_an_effect_is_told_in_a_sentence(files: list[str]) -> None:
    code, text = said("effect", "X", "Y", *files)
    assert code == 0
    assert "The effect of X on Y: in the only graph, adjusted for C, Y +" in text


def test_what_cannot_be_told_has_an_exit_code_of_its_own(files: list[str]) -> None:
    code, text = said("effect", "C", "X", *files)
    assert code == 3
    assert "No effect of C on X can be told." in text
    assert "is an association" in text


def test_json_has_estimates_and_nothing_else_is_printed(files: list[str]) -> None:
    code, text = said("effect", "*", "Y", "--json", *files)
    told = json.loads(text)
    assert code == 0
    assert [(one["x"], one["y"]) for one in told["effects"]] == [("C", "Y"), ("I", "Y"), ("X", "Y")]
    assert told["effects"][2]["estimates"][0]["given"] == ["C"]


def test_discover_takes_effects_and_a_study_file_may(files: list[str], tmp_path: Path) -> None:
    code, text = said("discover", "--effect", "X -> Y", *files)
    assert code == 0
    assert "What would change" in text
    study = tmp_path / "study.toml"
    sites = "".join(f'[sites.{Path(file).stem}]\nfile = "{file}"\n' for file in files)
    variables = "".join(f'{name} = "continuous"\n' for name in "CIXY")
    study.write_text(f'[settings]\neffects = ["Y -> X"]\n\n[variables]\n{variables}\n{sites}', encoding="utf-8")
    code, text = said("discover", "--json", str(study))
    assert code == 0
    assert [(one["x"], one["y"]) for one in json.loads(text)["effects"]] == [("Y", "X")]


def test_what_is_no_effect_is_an_error(files: list[str]) -> None:
    result = CliRunner().invoke(app, ["discover", "--effect", "X to Y", *files])
    assert result.exit_code != 0
    assert "cause -> outcome" in str(result.exception)

"""``consilience nvflare`` up to where FLARE begins; ``tests/system/test_nvflare.py`` has the rest."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from consilience.cli.app import app
from consilience.flare.job import read_contract
from consilience.flare.kit import site_settings
from consilience.flare.names import CONTROLLER, EXECUTOR
from consilience.service.agent.home import Home
from consilience.service.errors import ConfigurationError
from tests.flare.trial import SITES, frames, make_kit

STUDY = """
name = "trial"
datasets = [["A", "B"]]
[variables]
A = "continuous"
B = "continuous"
"""


def run(*words: str | Path, **more: Any) -> Result:
    return CliRunner().invoke(app, ["nvflare", *map(str, words)], catch_exceptions=True, **more)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Three kits, each with a table and a card, in the current folder."""
    monkeypatch.chdir(tmp_path)
    for name, frame in frames().items():
        make_kit(tmp_path / name, name)
        frame.select("A", "B").write_csv(tmp_path / f"{name}.csv")
        result = run("site", name, "--data", f"{name}.csv")
        assert result.exit_code == 0, result.output
    (tmp_path / "study.toml").write_text(STUDY)
    return tmp_path


def job(*names: str) -> Result:
    return run("job", "study.toml", *(word for name in names for word in ("--site", f"{name}.json")), "--out", "job")


def test_a_site_has_settings_an_identity_and_a_class_that_may_run(folder: Path) -> None:
    for name in SITES:
        settings = site_settings(folder / name / "local")
        assert settings.data == str(folder / f"{name}.csv")
        identity = Home(Path(settings.home)).identity()
        assert json.loads((folder / f"{name}.json").read_text()) == {"site": name, "identity": identity.public_bytes.hex()}
        assert EXECUTOR in json.loads((folder / name / "local" / "resources.json").read_text())["class_allow_list"]
    assert isinstance(run("site", "mainz", "--data", "mainz.csv").exception, ConfigurationError), "settings are changed by hand"


def test_a_site_with_a_policy_agrees_by_it(folder: Path) -> None:
    make_kit(folder / "other", "other")
    missing = run("site", "other", "--data", "mainz.csv", "--policy", "policy.toml")
    assert isinstance(missing.exception, ConfigurationError)
    (folder / "policy.toml").write_text("min_rows = 20")
    assert run("site", "other", "--data", "mainz.csv", "--policy", "policy.toml", "--card", "card.json").exit_code == 0
    settings = site_settings(folder / "other" / "local")
    assert (settings.yes, settings.policy) == (True, str(folder / "policy.toml"))
    assert (folder / "card.json").exists()


def test_a_server_may_run_the_controller_and_keeps_journals_where_it_says(tmp_path: Path) -> None:
    kit = make_kit(tmp_path / "server", "server")
    assert run("server", kit, "--home", tmp_path / "journals").exit_code == 0
    assert CONTROLLER in json.loads((kit / "local" / "resources.json").read_text())["class_allow_list"]
    assert (kit / "local" / "consilience.toml").read_text() == f'home = "{tmp_path / "journals"}"\n'


def test_a_job_says_what_sites_agree_to(folder: Path) -> None:
    result = job(*SITES)
    assert result.exit_code == 0, result.output
    contract = read_contract(folder / "job")
    assert contract.digest.hex() in result.output
    assert [member.name for member in contract.members] == list(SITES)


def test_a_yes_is_the_digest_in_the_sites_settings_and_a_no_is_none(folder: Path) -> None:
    job(*SITES)
    digest = read_contract(folder / "job").digest.hex()
    declined = run("consent", "mainz", "job", input="n\n")
    assert (declined.exit_code, site_settings(folder / "mainz" / "local").consent) == (3, "")
    agreed = run("consent", "mainz", "job", input="y\n")
    assert agreed.exit_code == 0, agreed.output
    assert site_settings(folder / "mainz" / "local").consent == digest
    assert "everybody in the study sees that this site contributes A, B" in agreed.output


def test_a_contract_that_does_not_list_the_site_is_not_agreed_to(folder: Path) -> None:
    job("marburg", "muenster")
    result = run("consent", "mainz", "job", input="y\n")
    assert isinstance(result.exception, ConfigurationError)
    assert "must list this site, 'mainz'" in str(result.exception)

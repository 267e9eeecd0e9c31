"""What a job says to FLARE, and which studies cannot be one."""

from __future__ import annotations

import json
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from consilience.data.errors import ReadError
from consilience.data.schema import Schema
from consilience.errors import OptionError
from consilience.flare.card import read_card, write_card
from consilience.flare.job import contract_for, read_contract, write_job
from consilience.flare.names import CONTROLLER, EXECUTOR, TASK
from consilience.service.contract import Member
from consilience.service.errors import ConfigurationError
from consilience.settings.choices import Dropout
from consilience.settings.studyfile import StudyFile

MEMBERS = tuple(Member(name, bytes([k]) * 32) for k, name in enumerate(("muenster", "marburg", "mainz")))
SCHEMA = Schema({"A": "continuous", "B": "continuous"})


def study(**settings: Any) -> StudyFile:
    return StudyFile(SCHEMA, datasets=(("A", "B"),), settings=settings, name="trial")


def card(site: str, identity: str) -> str:
    return json.dumps({"site": site, "identity": identity})


def test_a_job_has_the_contract_the_classes_and_the_pace(tmp_path: Path) -> None:
    contract = contract_for(study(alpha=0.01), MEMBERS)
    write_job(tmp_path / "job", contract)
    assert read_contract(tmp_path / "job") == contract
    assert (contract.settings.alpha, [member.name for member in contract.members]) == (0.01, ["mainz", "marburg", "muenster"])
    meta = json.loads((tmp_path / "job" / "meta.json").read_text())
    assert meta["deploy_map"] == {"app_server": ["server"], "app_site": ["mainz", "marburg", "muenster"]}
    assert (meta["min_clients"], meta["mandatory_clients"]) == (3, ["mainz", "marburg", "muenster"])
    server = json.loads((tmp_path / "job" / "app_server" / "config" / "config_fed_server.json").read_text())
    assert server["workflows"] == [{"id": "study", "path": CONTROLLER, "args": {}}]
    assert server["server"]["task_request_interval"] < 0.1
    site = json.loads((tmp_path / "job" / "app_site" / "config" / "config_fed_client.json").read_text())
    assert site["executors"] == [{"tasks": [TASK], "executor": {"path": EXECUTOR, "args": {}}}]
    assert site["default_task_fetch_interval"] < 0.1


@pytest.mark.parametrize("path", [CONTROLLER, EXECUTOR])
def test_the_classes_are_there_and_take_no_argument_of_a_job(path: str) -> None:
    module, _, name = path.rpartition(".")
    made = getattr(import_module(module), name)
    made()
    with pytest.raises(TypeError):
        made(data="/etc/passwd")


def test_a_job_is_not_written_over_another(tmp_path: Path) -> None:
    write_job(tmp_path / "job", contract_for(study(), MEMBERS))
    with pytest.raises(ConfigurationError, match="submitted again as it is"):
        write_job(tmp_path / "job", contract_for(study(), MEMBERS))


def test_every_job_is_a_study_of_its_own() -> None:
    assert contract_for(study(), MEMBERS).study != contract_for(study(), MEMBERS).study


@pytest.mark.parametrize(
    ("told", "members", "words"),
    [
        (StudyFile(Schema([]), name="trial"), MEMBERS, "declares its variables"),
        (study(on_dropout=Dropout.RESTART), MEMBERS, "must be 'stop' on FLARE's network"),
        (study(), MEMBERS[:1], "at least 2 sites"),
        (study(min_contributors=4), MEMBERS, "at least 4 sites"),
        (study(), (MEMBERS[0], MEMBERS[0]), "a name and an identity of its own"),
        (study(), (MEMBERS[0], Member("other", MEMBERS[0].identity)), "a name and an identity of its own"),
    ],
)
def test_what_cannot_be_a_job_is_said(told: StudyFile, members: tuple[Member, ...], words: str) -> None:
    with pytest.raises(OptionError, match=words):
        contract_for(told, members)


@pytest.mark.parametrize("text", ["", "{}", card("x", "zz"), card("x", "00"), card("\n", "00" * 32), card("", "00" * 32)])
def test_what_is_no_card_is_said(tmp_path: Path, text: str) -> None:
    (tmp_path / "card.json").write_text(text)
    with pytest.raises(ReadError, match=r"should (be a site's card|have a site's name)"):
        read_card(tmp_path / "card.json")


def test_a_card_has_a_public_identity_and_a_name(tmp_path: Path) -> None:
    write_card(tmp_path / "card.json", MEMBERS[1])
    assert read_card(tmp_path / "card.json") == MEMBERS[1]


def test_what_is_no_job_is_said(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match="consilience nvflare job"):
        read_contract(tmp_path)

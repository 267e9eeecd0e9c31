"""Sharing studies at the command line, with a server that runs."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from consilience.errors import AccessError, OptionError
from tests.cli.served import Desk, served

pytestmark = pytest.mark.slow


@pytest.fixture
def server(tmp_path: Path) -> Iterator[str]:
    with served(tmp_path / "server") as url:
        yield url


@pytest.fixture
def study_file(tmp_path: Path) -> str:
    file = tmp_path / "study.toml"
    file.write_text('name = "ours"\ndatasets = [["age"]]\n[variables]\nage = "continuous"\n')
    return str(file)


def test_a_study_is_shared_taken_back_and_handed_over(server: str, study_file: str) -> None:
    ada, bob = Desk(server, "ada"), Desk(server, "bob")
    study = ada.do("study", "create", study_file).strip()
    assert isinstance(bob.run("study", "show", study).exception, AccessError)
    assert "observer" in ada.do("study", "share", study, "bob", "--observer", "--result")
    (member,) = json.loads(ada.do("study", "members", study, "--json"))
    assert (member["account"], member["role"], member["result"]) == ("bob", "observer", True)
    refused = bob.run("study", "open", study)
    assert isinstance(refused.exception, AccessError)
    assert "You are an observer of this study" in str(refused.exception)
    assert "bob" in bob.do("study", "members", study)
    ada.do("study", "share", study, "bob")
    assert bob.do("study", "open", study).strip() == "open"
    assert ada.do("study", "transfer", study, "bob").strip() == "bob"
    assert isinstance(ada.run("study", "unshare", study, "bob").exception, AccessError)
    ada.do("study", "unshare", study, "ada")
    assert isinstance(ada.run("study", "show", study).exception, AccessError)
    done = [(one["account"], one["action"]) for one in json.loads(bob.do("study", "history", study, "--json"))]
    assert done[-3:] == [("bob", "opened"), ("ada", "handed the study over"), ("ada", "left the study")]
    assert "ada  left the study" in bob.do("study", "history", study)


def test_the_result_is_promised_to_observers_only(server: str) -> None:
    refused = Desk(server, "ada").run("study", "share", "00112233aabbccdd", "bob", "--result")
    assert isinstance(refused.exception, OptionError)
    assert "--observer" in str(refused.exception)

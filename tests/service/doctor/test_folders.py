"""A site's folder: loose rights, a disk that is full, and one that cannot be written."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from consilience.service.agent.home import Home
from consilience.service.doctor import folders
from consilience.service.doctor.folders import look_at_folder
from consilience.service.doctor.sign import Standing, in_the_way
from consilience.service.invitation import Invitation

LIMITED = """
import json, resource, sys
from pathlib import Path
from consilience.service.doctor.folders import look_at_folder
resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096))
print(json.dumps([sign.to_dict() for sign in look_at_folder(Path(sys.argv[1]))]))
"""


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """A site's folder as the program makes it."""
    place = Home(tmp_path / "site")
    place.identity()
    place.enter(Invitation("https://study.example", "00112233aabbccdd", "one", bytes(32), bytes(32)))
    return place.path


def test_what_the_program_makes_is_private(home: Path) -> None:
    signs = look_at_folder(home)
    assert [sign.about for sign in signs] == ["disk", "rights"]
    assert {sign.standing for sign in signs} == {Standing.GOOD}
    assert sorted(path.name for path in home.iterdir()) == ["identity.pem", "studies"], "nothing is left behind"


def test_a_folder_that_is_not_there_yet_is_looked_for_above(tmp_path: Path) -> None:
    signs = look_at_folder(tmp_path / "not" / "yet")
    assert {sign.standing for sign in signs} == {Standing.GOOD}
    assert repr(str(tmp_path)) in signs[0].words
    assert "not there yet" in signs[1].words


@pytest.mark.parametrize(
    ("name", "mode"), [("identity.pem", 0o644), ("identity.pem", 0o620), ("studies/00112233aabbccdd/study.json", 0o604)]
)
def test_a_private_file_that_others_can_reach(home: Path, name: str, mode: int) -> None:
    (home / name).chmod(mode)
    (found,) = in_the_way(look_at_folder(home))
    assert (found.about, str(home / name) in found.words, f"{mode:03o}" in found.words) == ("rights", True, True)
    assert "chmod 600" in found.ask


def test_a_folder_that_others_can_write_in(home: Path) -> None:
    home.chmod(0o777)
    (found,) = in_the_way(look_at_folder(home))
    assert "chmod 700" in found.ask


def test_a_file_of_somebody_else(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "getuid", lambda: (home / "identity.pem").stat().st_uid + 1)
    if (home / "identity.pem").stat().st_uid == 0:
        assert in_the_way(look_at_folder(home)) == [], "who owns all may own this"
    else:
        assert "it is another's" in in_the_way(look_at_folder(home))[0].words


def test_where_rights_are_not_modes(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(folders.os, "name", "nt")
    (found,) = folders._rights_signs(home)
    assert (found.standing, "only my account" in found.ask) == (Standing.NOTICE, True)


@pytest.mark.slow
def test_a_disk_without_room(home: Path) -> None:
    """The system refuses to write, as on a full disk or beyond a quota: here by a limit on this process's files."""
    done = subprocess.run([sys.executable, "-c", LIMITED, str(home)], capture_output=True, text=True, check=True)
    disk = json.loads(done.stdout)[0]
    assert (disk["about"], disk["standing"]) == ("disk", "obstacle")
    assert "no room for a file of 1 MiB" in disk["words"]
    assert "make room" in disk["ask"]


def test_little_room(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for least, easy, standing in ((1 << 60, 1 << 61, Standing.OBSTACLE), (0, 1 << 61, Standing.NOTICE)):
        monkeypatch.setattr(folders, "LEAST_BYTES", least)
        monkeypatch.setattr(folders, "EASY_BYTES", easy)
        assert look_at_folder(home)[0].standing is standing


def test_a_folder_that_cannot_be_written() -> None:
    """The kernel's own, in which nobody makes files, whoever they are."""
    found = look_at_folder(Path("/proc/consilience-site"))[0]
    assert found.standing is Standing.OBSTACLE
    assert "Please let my account write in '/proc'" in found.ask

"""``consilience doctor``: what it prints, what a program reads, and its exit code."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

from consilience.cli.app import app
from consilience.service.agent.home import Home
from consilience.service.errors import InvitationError
from consilience.service.invitation import Invitation, read_invitation
from tests.code_blocks import lines_on
from tests.system.processes import Server, declaration, environment, free_port
from tests.system.test_relay import FRAME

pytestmark = pytest.mark.slow


@pytest.fixture(autouse=True)
def _alone(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    monkeypatch.setenv("COLUMNS", "100")
    monkeypatch.chdir(tmp_path)


def told(*words: str) -> tuple[int, dict[str, list[dict[str, str]]]]:
    done = CliRunner().invoke(app, ["doctor", "--json", *words])
    assert done.exception is None or isinstance(done.exception, SystemExit), done.output
    found = json.loads(done.output)
    assert found["ok"] == (done.exit_code == 0)
    return done.exit_code, {group["of"]: group["signs"] for group in found["groups"]}


def obstacles(groups: dict[str, list[dict[str, str]]]) -> list[tuple[str, str]]:
    return [(sign["about"], sign["ask"]) for signs in groups.values() for sign in signs if sign["standing"] == "obstacle"]


def test_nothing_in_the_way_of_a_site_with_an_invitation(server: Server, tmp_path: Path) -> None:
    study = server.do("POST", "/studies", declaration({"site": FRAME, "other": FRAME}))["id"]
    text = server.do("POST", f"/studies/{study}/invitations", {"site": "site"})["invitation"]
    (tmp_path / "invitation.txt").write_text(text)
    FRAME.write_csv(tmp_path / "muenster.csv")
    (line,) = lines_on("docs/doctor.md", "consilience doctor")
    code, groups = told(*line.split()[2:])
    assert (code, obstacles(groups)) == (0, [])
    assert list(groups) == ["This machine", "The folder consilience-site", f"The server {server.url}", "The table muenster.csv"]
    assert "40 rows; read as: A continuous (" in groups["The table muenster.csv"][0]["words"]
    Home(tmp_path / "site").enter(read_invitation(text))
    code, groups = told("--home", "site")
    assert f"The server {server.url}" in groups, "of the study that was joined"
    assert code == 0


def test_what_is_in_the_way_is_said_with_what_to_send(tmp_path: Path) -> None:
    home, port = Home(tmp_path / "site"), free_port()
    home.identity()
    (home.path / "identity.pem").chmod(0o644)
    (tmp_path / "broken.csv").write_text("patient,weight\n" + "".join(f"P{i},{'heavy' if i % 9 == 0 else i}\n" for i in range(40)))
    words = ("--home", "site", "--server", f"https://127.0.0.1:{port}", "broken.csv", "nothing.csv")
    code, groups = told(*words)
    assert code == 1
    assert [about for about, _ in obstacles(groups)] == ["rights", "connection", "table", "file"]
    assert all(ask for _, ask in obstacles(groups))
    shown = CliRunner().invoke(app, ["doctor", *words])
    assert shown.exit_code == 1
    plain = " ".join(shown.output.split())
    assert "4 things in the way: rights, connection, table, file." in plain
    assert "to send Please let this machine open TCP connections to 127.0.0.1" in plain


BARE = """
import sys
from importlib import metadata
from importlib.machinery import PathFinder
GONE = ("argon2", "fastapi", "httpx", "jinja2", "starlette", "uvicorn", "websockets")
class Bare(PathFinder):
    @classmethod
    def find_spec(cls, name, path=None, target=None):
        return None if name.partition(".")[0] in GONE else super().find_spec(name, path, target)
sys.meta_path[sys.meta_path.index(PathFinder)] = Bare
version = metadata.version
def known(name):
    if name.partition("-")[0] in GONE:
        raise metadata.PackageNotFoundError(name)
    return version(name)
metadata.version = known
from consilience.cli import main
main()
"""


def test_without_the_extras_it_says_so_and_looks_at_all_the_rest(server: Server, tmp_path: Path) -> None:
    (tmp_path / "site" / "studies").mkdir(parents=True, mode=0o700)
    words = ["doctor", "--json", "--home", "site", "--server", server.url, "--ca", server.ca]
    done = subprocess.run([sys.executable, "-c", BARE, *words], env=environment(), capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    signs = [sign for group in json.loads(done.stdout)["groups"] for sign in group["signs"]]
    told = [sign["ask"] for sign in signs if sign["about"] == "packages"]
    assert ["pip install 'consilience[service]'" in told[0], "pip install 'consilience[web]'" in told[1]] == [True, True]
    assert [sign["standing"] for sign in signs if sign["about"] == "websocket"] == ["good"]
    joined = subprocess.run([sys.executable, "-c", BARE, *words[:4]], env=environment(), capture_output=True, text=True, check=False)
    assert joined.returncode == 0, joined.stderr


def test_an_invitation_that_is_none(tmp_path: Path) -> None:
    assert isinstance(CliRunner().invoke(app, ["doctor", "--invitation", "nothing.txt"]).exception, InvitationError)
    made = Invitation("https://127.0.0.1:1", "00112233aabbccdd", "one", bytes(32), bytes(32)).text()
    done = CliRunner().invoke(app, ["doctor", "--json", "--invitation", "-"], input=made)
    assert done.exit_code == 1
    assert "https://127.0.0.1:1" in done.output
    del tmp_path

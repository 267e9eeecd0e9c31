"""``consilience doctor``: what it prints, what a program reads, and its exit code."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from consilience.cli.app import app
from consilience.service.agent.home import Home
from consilience.service.errors import InvitationError
from consilience.service.invitation import Invitation, read_invitation
from tests.system.processes import Server, declaration, free_port
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
    FRAME.write_csv(tmp_path / "site.csv")
    code, groups = told("--invitation", "invitation.txt", "site.csv")
    assert (code, obstacles(groups)) == (0, [])
    assert list(groups) == ["This machine", "The folder consilience-site", f"The server {server.url}", "The table site.csv"]
    assert "40 rows; read as: A continuous, C multinomial." in groups["The table site.csv"][0]["words"]
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
    assert [about for about, _ in obstacles(groups)] == ["rights", "connection", "table", "table"]
    assert all(ask for _, ask in obstacles(groups))
    shown = CliRunner().invoke(app, ["doctor", *words])
    assert shown.exit_code == 1
    plain = " ".join(shown.output.split())
    assert "4 things in the way: rights, connection, table, table." in plain
    assert "to send Please let this machine open TCP connections to 127.0.0.1" in plain


def test_an_invitation_that_is_none(tmp_path: Path) -> None:
    assert isinstance(CliRunner().invoke(app, ["doctor", "--invitation", "nothing.txt"]).exception, InvitationError)
    made = Invitation("https://127.0.0.1:1", "00112233aabbccdd", "one", bytes(32), bytes(32)).text()
    done = CliRunner().invoke(app, ["doctor", "--json", "--invitation", "-"], input=made)
    assert done.exit_code == 1
    assert "https://127.0.0.1:1" in done.output
    del tmp_path

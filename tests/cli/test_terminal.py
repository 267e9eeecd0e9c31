"""Nothing that a server or a site has named reaches a terminal as more than text."""

from __future__ import annotations

import ast
import io
import json
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from rich.table import Table

import consilience
from consilience.cli.entry import main
from consilience.cli.terminal import Terminal, json_text
from consilience.secagg import Identity
from consilience.service.invitation import Invitation
from tests.service.hostile import Evil, evil_server

STUDY = "00112233aabbccdd"
ATTACK = "\x1b[2J\x1b]0;owned\x07\x9b31m\u202eevil\r\n[bold green]agreed[/] [/nonsense]"
"""Clears a screen, names a window, colours, turns the writing round, writes over a line, begins another, and styles what is ours."""
SERVER = Identity.generate()
CLI = sorted((Path(consilience.__file__).parent / "cli").glob("*.py"))


@pytest.fixture
def evil() -> Iterator[Evil]:
    with evil_server() as server:
        yield server


def run(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, str, str]:
    """The command line as it is started."""
    monkeypatch.setattr(sys, "argv", ["consilience", *words])
    monkeypatch.setenv("COLUMNS", "1000")
    code = 0
    try:
        main()
    except SystemExit as ended:
        code = int(ended.code or 0)
    return (code, *capsys.readouterr())


def harmless(text: str) -> bool:
    return all(line.isprintable() for line in text.split("\n"))


def test_an_invitation_that_is_refused_with_escapes(
    evil: Evil, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    health = {"status": "ok", "fingerprint": SERVER.fingerprint_text}
    evil.says = {"/health": (200, json.dumps(health).encode()), "/join": (403, json.dumps({"message": ATTACK}).encode())}
    file = tmp_path / "invitation.txt"
    file.write_text(Invitation(evil.url, STUDY, f"site{ATTACK}", bytes(32), SERVER.public_bytes).text())
    words = ("client", "join", str(file), "--home", str(tmp_path / "home"), "--insecure")
    code, out, err = run(monkeypatch, capsys, *words)
    assert code == 2
    assert harmless(out + err)
    assert r"\x1b[2J\x1b]0;owned\x07\x9b31m\u202eevil\r\n[bold green]agreed[/] [/nonsense]" in err
    assert err.count("\n") == 1
    evil.says["/join"] = (200, b"{}")
    code, out, err = run(monkeypatch, capsys, *words)
    assert code == 0, err
    assert harmless(out + err)
    assert "evil" in out


def shown() -> dict[str, object]:
    return {"id": ATTACK, "name": ATTACK, "state": ATTACK, "sites": [], "tests": ATTACK, "rounds": ATTACK}


@pytest.mark.parametrize(
    ("words", "path", "body"),
    [
        ("list", "/studies", [shown()]),
        ("list --json", "/studies", [shown()]),
        (f"show {STUDY}", f"/{STUDY}", shown()),
        (f"open {STUDY}", "/open", shown()),
        (f"invite {STUDY} a", "/invitations", {"invitation": ATTACK}),
        ("login ada --password-stdin", "/login", {"token": ATTACK}),
        (f"watch {STUDY}", "/events", None),
        (f"audit {STUDY} LEDGER", "/received", {"sites": [{"name": ATTACK, "identity": "00" * 32}], "heard": []}),
    ],
)
def test_what_a_server_says_to_its_owner(
    evil: Evil,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    words: str,
    path: str,
    body: object,
) -> None:
    said = json.dumps(body).encode() if body is not None else f"event: \x1b[2J\u202e[/x]\ndata: {json.dumps({'site': ATTACK})}\n\n".encode()
    evil.says = {path: (200, said)}
    monkeypatch.setenv("CONSILIENCE_SERVER_TOKEN", "a token")
    monkeypatch.setattr(sys, "stdin", io.StringIO("secret\n"))
    (tmp_path / "ledger.jsonl").write_text("no ledger\n")
    given = [word.replace("LEDGER", str(tmp_path / "ledger.jsonl")) for word in words.split()]
    _code, out, err = run(monkeypatch, capsys, "server", "study", *given, "--server", evil.url)
    assert harmless(out + err)
    assert "evil" in out
    if "--json" in words:
        assert json.loads(out) == body


def test_a_refusal_of_the_server_is_one_line(evil: Evil, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    evil.says = {"/start": (409, json.dumps({"message": ATTACK}).encode())}
    monkeypatch.setenv("CONSILIENCE_SERVER_TOKEN", "a token")
    code, out, err = run(monkeypatch, capsys, "server", "study", "start", STUDY, "--server", evil.url)
    assert (code, out) == (2, "")
    assert harmless(err)
    assert err.count("\n") == 1


def test_styles_are_ours_and_text_is_anybodys() -> None:
    out = io.StringIO()
    terminal = Terminal(file=out, force_terminal=True, color_system="standard", width=200)
    table = Table()
    table.add_column("\x1b[7mhead")
    table.add_row("\u202ecell\x9b")
    terminal.print(table)
    terminal.print("[bold]mine[/] \x1b[31mtheirs", highlight=False)
    text = out.getvalue()
    assert "\x1b[1mmine\x1b[0m" in text
    assert r"\x1b[31mtheirs" in text
    assert "\x1b[7m" not in text
    assert "\u202e" not in text
    assert "\x9b" not in text


def test_json_for_programs_reads_back_and_shows_nothing_that_moves() -> None:
    value = {"name": ATTACK, "letters": "Größe 中 😀", "beyond": "\U000e0001\ufeff"}
    text = json_text(value)
    assert harmless(text)
    assert json.loads(text) == value
    assert "Größe 中 😀" in text


@pytest.mark.parametrize("file", CLI, ids=lambda file: file.name)
def test_every_command_prints_through_one_place(file: Path) -> None:
    """But for the address of the app and the number of the version, which are our own words and come before rich is loaded."""
    tree = list(ast.walk(ast.parse(file.read_text(encoding="utf-8"))))
    modules = {node.module for node in tree if isinstance(node, ast.ImportFrom)}
    calls = [node.func for node in tree if isinstance(node, ast.Call)]
    prints = [call for call in calls if isinstance(call, ast.Name) and call.id == "print"]
    echoes = [call for call in calls if isinstance(call, ast.Attribute) and call.attr in ("echo", "secho")]
    if file.name != "terminal.py":
        assert "rich.console" not in modules
        assert not echoes
    if file.name not in ("terminal.py", "app_command.py", "commands.py"):
        assert not prints

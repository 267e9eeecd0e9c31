"""One's own account at the command line, with a server that runs."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from typer.testing import CliRunner

from consilience import __version__
from consilience.cli.app import app
from consilience.errors import AccessError, OptionError
from tests.cli.served import Desk, served
from tests.service.helpers import PASSWORD

pytestmark = pytest.mark.slow
NEW = "another horse, another battery"


@pytest.fixture
def home(tmp_path: Path) -> Path:
    return tmp_path / "server"


@pytest.fixture
def server(home: Path) -> Iterator[str]:
    with served(home) as url:
        yield url


def operator(home: Path, *words: str) -> str:
    found = CliRunner().invoke(app, ["server", *words, "--home", str(home)])
    assert found.exit_code == 0, found.output
    return found.stdout.strip()


def test_sessions_are_listed_and_ended(server: str, home: Path) -> None:
    ada, other, third = Desk(server, "ada"), Desk(server, "ada"), Desk(server, "ada")
    assert ada.do("account", "show").strip() == "ada (owner)"
    listed = json.loads(ada.do("account", "sessions", "--json"))
    assert [one["agent"] for one in listed] == [f"consilience/{__version__}"] * 3
    assert {one["address"] for one in listed} == {"127.0.0.1"}
    assert sum(one["this"] for one in listed) == 1
    shown = ada.do("account", "sessions")
    assert time.strftime("%Y-%m", time.gmtime()) in " ".join(shown.split())
    (mine,) = [one["id"] for one in json.loads(other.do("account", "sessions", "--json")) if one["this"]]
    ada.do("account", "end", mine)
    assert isinstance(other.run("account", "show").exception, AccessError)
    assert ada.do("account", "end", "--others").strip() == "1"
    assert isinstance(third.run("account", "show").exception, AccessError)
    assert isinstance(ada.run("account", "end").exception, OptionError)
    assert isinstance(ada.run("account", "end", mine).exception, AccessError)
    assert operator(home, "end-sessions", "ada") == "1"
    assert isinstance(ada.run("account", "show").exception, AccessError)


def test_a_password_is_changed_and_set_anew_and_an_account_is_made(server: str, home: Path) -> None:
    ada, nobody = Desk(server, "ada"), Desk(server, "")
    assert isinstance(ada.run("account", "password", "--stdin", said=f"wrong password here\n{NEW}").exception, AccessError)
    ada.do("account", "password", "--stdin", said=f"{PASSWORD}\n{NEW}")
    link = operator(home, "reset-link", "ada", "--public-url", server)
    nobody.do("account", "reset", "--stdin", said=f"{link}\n{PASSWORD}")
    assert isinstance(nobody.run("account", "reset", "--stdin", said=f"{link}\n{PASSWORD}").exception, AccessError)
    Desk(server, "ada")  # logs in, with the password that the link has set
    link = operator(home, "invite-link", "--role", "observer", "--public-url", server)
    assert nobody.do("account", "accept", "eve", "--stdin", said=f"{link}\n{PASSWORD}").strip() == "eve (observer)"
    assert Desk(server, "eve").do("account", "show").strip() == "eve (observer)"

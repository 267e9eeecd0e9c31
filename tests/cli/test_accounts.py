"""Accounts by whoever operates the server, on its machine."""

from __future__ import annotations

import time
from pathlib import Path

import pytest
from argon2 import PasswordHasher
from typer.testing import CliRunner, Result

from consilience.cli.app import app
from consilience.errors import OptionError
from consilience.service.errors import ConfigurationError
from consilience.service.server import passwords
from consilience.service.store import AccountRole, Database, LinkKind, Principal, Store

PASSWORD = "correct horse battery staple"


@pytest.fixture(autouse=True)
def cheap(monkeypatch: pytest.MonkeyPatch) -> None:
    """Hashes that take no time; what they protect here is a word of the tests."""
    monkeypatch.setattr(passwords, "PasswordHasher", lambda: PasswordHasher(time_cost=1, memory_cost=8, parallelism=1))


def run(home: Path, *words: str, said: str = PASSWORD) -> Result:
    return CliRunner().invoke(app, ["server", *words, "--home", str(home)], input=f"{said}\n")


@pytest.fixture
def home(tmp_path: Path) -> Path:
    assert run(tmp_path, "init", "--owner", "ada", "--password-stdin").exit_code == 0
    return tmp_path


def opened(home: Path) -> Store:
    return Store(Database(home / "studies.sqlite", time.time))


def test_the_operator_sets_another_password_and_sessions_end(home: Path) -> None:
    before = opened(home)
    before.accounts.issue(Principal(owner="ada"), 3600.0)
    key, _ = before.links.make(LinkKind.RESET, 60.0, account="ada")
    before.database.close()
    new = "another horse, another battery"
    assert run(home, "owner-password", "ada", "--password-stdin", said=new).exit_code == 0
    after = opened(home)
    assert after.accounts.sessions("ada") == []
    assert passwords.Passwords().fits(after.accounts.password_of("ada"), new)
    assert [row.action for row in after.audit.of_account("ada")] == ["another password was set"]
    with pytest.raises(Exception, match="not valid, or not any more"):
        after.links.take(LinkKind.RESET, key)
    after.database.close()
    short = run(home, "owner-password", "ada", "--password-stdin", said="short")
    assert isinstance(short.exception, OptionError)


def test_a_reset_link_is_alone_on_standard_output(home: Path) -> None:
    found = run(home, "reset-link", "ada", "--public-url", "https://study.example")
    assert found.exit_code == 0, found.output
    link = found.stdout.strip()
    assert link.startswith("https://study.example/reset#")
    assert "works once" in found.stderr
    store = opened(home)
    assert store.links.take(LinkKind.RESET, link.rpartition("#")[2]).account == "ada"
    store.database.close()
    assert run(home, "reset-link", "ada").stdout.startswith("http://127.0.0.1:8443/reset#")


@pytest.mark.parametrize("command", ["owner-password", "reset-link"])
def test_an_account_or_a_server_that_is_not_there_is_said_to_be(home: Path, command: str) -> None:
    nobody = run(home, command, "bob")
    assert isinstance(nobody.exception, OptionError)
    assert "'bob'" in str(nobody.exception)
    nowhere = run(home / "elsewhere", command, "ada")
    assert isinstance(nowhere.exception, ConfigurationError)
    assert not (home / "elsewhere").exists()


def test_accounts_are_listed_with_what_they_may(home: Path) -> None:
    assert run(home, "observer", "olga", "--password-stdin").exit_code == 0
    assert run(home, "observer", "otto", "--all", "--password-stdin").exit_code == 0
    assert run(home, "account-role", "ada", "observer").exit_code == 0
    listed = run(home, "accounts").output
    store = opened(home)
    assert {row.name: row.role.value for row in store.accounts.all()} == {"ada": "observer", "olga": "observer", "otto": "observer-of-all"}
    assert [row.action for row in store.audit.of_account("ada")] == ["became observer"]
    store.database.close()
    assert all(name in listed for name in ("ada", "olga", "otto", "observer-of-all"))
    wrong = run(home, "account-role", "ada", "emperor")
    assert "owner, observer, observer-of-all; got 'emperor'" in str(wrong.exception)
    assert isinstance(run(home, "account-role", "bob", "owner").exception, OptionError)


def test_an_invitation_of_an_account_is_a_link(home: Path) -> None:
    link = run(home, "invite-link", "--role", "observer-of-all", "--public-url", "https://study.example").stdout.strip()
    assert link.startswith("https://study.example/welcome#")
    store = opened(home)
    assert store.links.take(LinkKind.ACCOUNT, link.rpartition("#")[2]).role is AccountRole.OVERSEER
    store.database.close()
    assert isinstance(run(home, "invite-link", "--role", "emperor").exception, OptionError)


def test_who_logs_in_elsewhere_is_forgotten(home: Path) -> None:
    before = opened(home)
    assert before.subjects.bind("https://login.example", "7f3a", "ada")
    before.accounts.issue(Principal(owner="ada"), 3600.0)
    before.database.close()
    assert run(home, "forget-login", "ada").exit_code == 0
    after = opened(home)
    assert after.subjects.account_of("https://login.example", "7f3a") == ""
    assert after.accounts.sessions("ada") == []
    after.database.close()
    assert "Nobody has logged in to 'ada'" in str(run(home, "forget-login", "ada").exception)

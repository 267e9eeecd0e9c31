"""Sessions and the audit log: made, listed, ended, bounded; and a database from before they were there."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest

from consilience.service.errors import TokenError
from consilience.service.store import Database, Principal, Store, TokenKind
from consilience.service.store.accounts import SEEN_SECONDS
from consilience.service.store.audit import MOST_OF_ACCOUNT
from consilience.service.store.migrations import MIGRATIONS
from consilience.settings import NetworkSettings
from tests.service.helpers import Clock

ADA = Principal(owner="ada")


def a_store(clock: Clock | None = None) -> Store:
    store = Store(Database(":memory:", clock or Clock()))
    for name in ("ada", "bob"):
        store.accounts.add(name, "hash")
    return store


def test_a_database_of_the_first_version_keeps_its_tokens(tmp_path: Path) -> None:
    path = tmp_path / "studies.sqlite"
    with sqlite3.connect(path) as db:
        for statement in MIGRATIONS[0].split(";"):
            db.execute(statement)
        db.execute("pragma user_version = 1")
        db.execute("insert into accounts values ('ada', 'hash', 0)")
        db.execute("insert into tokens values (?, 'ada', null, null, 2e6)", (b"digest",))
    db.close()
    store = Store(Database(path, Clock()))
    (kept,) = store.accounts.sessions("ada")
    assert (kept.kind, kept.created, kept.expires) == (TokenKind.PROGRAM, 0.0, 2e6)
    store.database.close()


def test_each_kind_of_token_is_good_for_its_own() -> None:
    accounts = a_store().accounts
    cookie, _ = accounts.issue(ADA, 10, TokenKind.PAGES)
    bearer, _ = accounts.issue(ADA, 10)
    assert accounts.who(cookie, TokenKind.PAGES) == accounts.who(bearer) == ADA
    for token, kind in ((cookie, TokenKind.PROGRAM), (bearer, TokenKind.PAGES)):
        with pytest.raises(TokenError):
            accounts.who(token, kind)


def test_a_session_says_when_it_was_seen_to_a_minute() -> None:
    clock = Clock()
    accounts = a_store(clock).accounts
    token, _ = accounts.issue(ADA, 3600, TokenKind.PAGES, agent="b" * 1000)
    begin = clock.now
    clock.now += SEEN_SECONDS - 1
    accounts.who(token, TokenKind.PAGES)
    (row,) = accounts.sessions("ada")
    assert (row.seen, row.created, len(row.agent), row.handle) == (begin, begin, 200, accounts.handle(token))
    clock.now += 1
    accounts.who(token, TokenKind.PAGES)
    assert accounts.sessions("ada")[0].seen == clock.now
    clock.now += 3600
    assert accounts.sessions("ada") == []


def test_a_session_is_ended_by_its_owner_alone() -> None:
    accounts = a_store().accounts
    token, _ = accounts.issue(ADA, 10, TokenKind.PAGES)
    handle = accounts.handle(token)
    assert not accounts.end_session("bob", handle)
    assert accounts.end_session("ada", handle)
    assert not accounts.end_session("ada", handle)


def test_a_new_password_ends_tokens_of_this_account_only() -> None:
    accounts = a_store().accounts
    keep, _ = accounts.issue(ADA, 10, TokenKind.PAGES)
    accounts.issue(ADA, 10)
    accounts.issue(Principal(owner="bob"), 10)
    accounts.change_password("ada", "another hash", keep)
    assert accounts.password_of("ada") == "another hash"
    assert [row.handle for row in accounts.sessions("ada")] == [accounts.handle(keep)]
    assert len(accounts.sessions("bob")) == 1


def test_strangers_cannot_fill_the_audit_log() -> None:
    store = a_store()
    store.audit.add("ada", "created", study="00112233aabbccdd")
    for number in range(MOST_OF_ACCOUNT + 50):
        store.audit.add("ada", "failed login", detail=str(number))
        store.audit.add("nobody", "failed login")
    rows = store.audit.of_account("ada", 10_000)
    assert len(rows) == MOST_OF_ACCOUNT + 1
    assert rows[0].detail == str(MOST_OF_ACCOUNT + 49)
    assert [row.action for row in store.audit.of_study("00112233aabbccdd")] == ["created"]
    assert store.audit.of_account("nobody") == store.audit.of_account("bob") == []


def test_the_audit_log_keeps_what_was_deleted() -> None:
    store = a_store()
    study = store.studies.create("ada", "trial", None, None, NetworkSettings())
    store.audit.add("ada", "deleted", study=study, detail="trial")
    store.studies.delete(study)
    assert [row.detail for row in store.audit.of_study(study)] == ["trial"]

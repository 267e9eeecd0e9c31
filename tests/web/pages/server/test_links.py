"""Pages that one-time links lead to."""

from __future__ import annotations

from pathlib import Path

import pytest

from consilience.service.server.linked import make_account_link, make_reset_link
from consilience.service.store import AccountRole
from tests.service.helpers import PASSWORD
from tests.web.pages.server.helpers import HOST, Browser, another, browsing, is_troubled, words

NEW = "another horse, another battery"


def key_for(browser: Browser, name: str = "ada") -> str:
    store = browser.client.app.state.services.store  # type: ignore[attr-defined]
    return make_reset_link(store, HOST, name)[0].rpartition("#")[2]


def test_a_forgotten_password_is_set_anew(ada: Browser) -> None:
    stranger, key = another(ada), key_for(ada)
    assert "Ask whoever operates this server" in words(stranger.get("/login"))
    reply = stranger.post("/reset", "/reset", key=f" {HOST}/reset#{key} ", new=NEW, again=NEW)
    assert (reply.status_code, reply.headers["location"]) == (303, "/login?done=reset")
    assert "The password is set" in words(stranger.get("/login?done=reset"))
    assert ada.get("/studies").status_code == 303
    assert stranger.login(password=PASSWORD).status_code == 401
    assert stranger.login(password=NEW).status_code == 303
    again = another(ada).post("/reset", "/reset", key=key, new=NEW, again=NEW)
    assert again.status_code == 403
    assert "not valid, or not any more" in words(again)


def test_the_form_comes_back_with_what_is_wrong_and_the_link_stays_good(browser: Browser) -> None:
    key = key_for(browser)
    for new, again, said in (("short", "short", "12 to 1024 characters"), (NEW, "other", "not the same both times")):
        reply = browser.post("/reset", "/reset", key=key, new=new, again=again)
        assert is_troubled(reply)
        assert said in words(reply)
        assert f'value="{key}"' in reply.text
        assert new not in reply.text
    assert browser.post("/reset", "/reset", key=key, new=NEW, again=NEW).status_code == 303


@pytest.mark.parametrize("csrf", ["", "0" * 64])
def test_the_form_needs_its_own_token(browser: Browser, csrf: str) -> None:
    key = key_for(browser)
    assert browser.post("/reset", "/reset", csrf=csrf, key=key, new=NEW, again=NEW).status_code == 403
    assert browser.post("/reset", "/reset", origin="https://evil.example", key=key, new=NEW, again=NEW).status_code == 403
    assert browser.login().status_code == 303


def test_wrong_links_are_limited_on_the_page(tmp_path: Path) -> None:
    with browsing(tmp_path, join_burst=2) as browser:
        replies = [browser.post("/reset", "/reset", key="A" * 43, new=NEW, again=NEW) for _ in range(3)]
        assert [reply.status_code for reply in replies] == [403, 403, 429]
        assert int(replies[-1].headers["retry-after"]) > 0


def test_an_account_is_made_with_a_link(ada: Browser) -> None:
    store = ada.client.app.state.services.store  # type: ignore[attr-defined]
    key = make_account_link(store, HOST, AccountRole.OBSERVER)[0].rpartition("#")[2]
    cleo = another(ada)
    for name, new, said in (("ada", NEW, "There is an account"), ("a b", NEW, "letters, digits"), ("cleo", "short", "12 to 1024")):
        reply = cleo.post("/welcome", "/welcome", key=key, name=name, new=new, again=new)
        assert is_troubled(reply)
        assert said in words(reply)
    reply = cleo.post("/welcome", "/welcome", key=key, name="cleo", new=NEW, again=NEW)
    assert reply.headers["location"] == "/login?done=account"
    assert "The account is made" in words(cleo.get("/login?done=account"))
    assert cleo.login("cleo", NEW).status_code == 303
    assert "No study is shown to you yet." in words(cleo.get("/studies"))
    assert cleo.get("/studies/new").status_code == 403
    assert cleo.post("/studies/new", "/account", name="mine", way="ask").status_code == 403
    assert another(ada).post("/welcome", "/welcome", key=key, name="dora", new=NEW, again=NEW).status_code == 403

"""One's own account: another password, and sessions that are listed and ended."""

from __future__ import annotations

from tests.service.helpers import PASSWORD, bearer
from tests.web.pages.server.helpers import Browser, another, words

NEW = "another horse, another battery"


def change(ada: Browser, old: str = PASSWORD, new: str = NEW, again: str = NEW) -> int:
    # 303 is done, 200 the page with what is wrong
    return ada.post("/account/password", "/account", old=old, new=new, again=again).status_code


def test_a_new_password_ends_all_other_sessions(ada: Browser) -> None:
    elsewhere = another(ada)
    elsewhere.login()
    program = bearer(ada.client)
    assert change(ada) == 303
    assert ada.get("/account").status_code == 200
    assert elsewhere.get("/account").status_code == 303
    assert ada.client.get("/api/v1/studies", headers=program).status_code == 401
    assert elsewhere.login().status_code == 401
    assert elsewhere.login(password=NEW).status_code == 303
    assert "changed the password" in words(ada.get("/account"))


def test_a_password_is_not_changed_by_who_does_not_know_it(ada: Browser) -> None:
    assert change(ada, old="not the password") == 401
    assert change(ada, again="something else entirely") == 200
    assert change(ada, new="short", again="short") == 200
    assert change(ada, new=PASSWORD, again=PASSWORD) == 200
    assert another(ada).login().status_code == 303


def test_sessions_are_listed_and_ended(ada: Browser) -> None:
    elsewhere, third = another(ada), another(ada)
    elsewhere.client.headers["User-Agent"] = "a browser at home"
    elsewhere.login()
    third.login()
    page = ada.get("/account")
    assert "a browser at home testclient" in words(page)  # and the address that it came from
    assert page.text.count("this one") == 1
    handles = [part.partition('"')[0] for part in page.text.split('name="session" value="')[1:]]
    assert (len(handles), handles[-1]) == (3, "others")
    assert ada.post("/account/sessions", "/account", session=handles[0]).status_code == 303
    assert sorted(browser.get("/account").status_code for browser in (elsewhere, third)) == [200, 303]
    ada.post("/account/sessions", "/account", session="others")
    assert [browser.get("/account").status_code for browser in (ada, elsewhere, third)] == [200, 303, 303]


def test_nobody_ends_sessions_of_others(ada: Browser) -> None:
    bob = another(ada)
    bob.login("bob")
    accounts = ada.client.app.state.services.store.accounts  # type: ignore[attr-defined]
    handle = accounts.sessions("ada")[0].handle
    bob.post("/account/sessions", "/account", session=handle)
    assert ada.get("/account").status_code == 200


def test_a_token_for_a_program_is_shown_once_and_stands_in_the_list(ada: Browser) -> None:
    reply = ada.post("/account/token", "/account")
    token = reply.text.partition('readonly spellcheck="false">')[2].partition("<")[0]
    headers = {"Authorization": f"Bearer {token}"}
    assert ada.client.get("/api/v1/account", headers=headers).json() == {"name": "ada", "role": "owner"}
    page = ada.get("/account")
    assert token not in page.text
    assert "a program, with a token from the page Account" in words(page)
    ada.post("/account/sessions", "/account", session="others")
    assert ada.client.get("/api/v1/account", headers=headers).status_code == 401
    assert ada.post("/account/token", "", csrf="0" * 64).status_code == 403

"""Who gets in, and who does not: cookies, hosts, origins, tokens of forms, owners, sites, sessions."""

from __future__ import annotations

from pathlib import Path

import pytest
from starlette.testclient import TestClient

from consilience.service.config import ServerConfig
from consilience.service.server import create_app
from consilience.service.store import Principal, TokenKind
from consilience.web.server_app import with_pages
from tests.service.helpers import CHEAP, PASSWORD, SERVER, Clock, make_app
from tests.web.pages.server.helpers import HOST, Browser, another, browsing, words
from tests.web.pages.server.test_life import join

PAGES = ("/studies", "/studies/new", "/account")
OF_A_STUDY = (
    "",
    "/variables",
    "/file",
    "/declaration",
    "/settings",
    "/lobby",
    "/lobby/live",
    "/progress",
    "/live",
    "/audit",
    "/records",
    "/archive.zip",
    "/result",
)
ACTIONS = ("name", "open", "start", "cancel", "again", "delete", "variables", "declaration", "settings", "invite", "withdraw", "remove")


def cookies_of(reply: object) -> list[str]:
    return reply.headers.get_list("set-cookie")  # type: ignore[attr-defined, no-any-return]


@pytest.mark.parametrize("path", PAGES)
def test_without_a_cookie_there_is_the_login(browser: Browser, path: str) -> None:
    reply = browser.get(path)
    assert (reply.status_code, reply.headers["location"]) == (303, f"/login?next={path}")


def test_without_a_cookie_no_page_of_a_study_and_no_action(ada: Browser) -> None:
    study, stranger = ada.new_study(), another(ada)
    for path in OF_A_STUDY:
        reply = stranger.get(f"/studies/{study}{path}")
        assert reply.status_code in (303, 401), path
        assert "trial" not in reply.text
    for action in (*ACTIONS, "file"):
        reply = stranger.post(f"/studies/{study}/{action}", "/login", csrf="x", site="one", name="stolen")
        assert (reply.status_code, reply.headers["location"]) == (303, "/login"), action
    assert "draft" in words(ada.get(f"/studies/{study}"))


def test_a_study_of_another_owner_is_not_found(ada: Browser) -> None:
    study, bob = ada.new_study("a secret name"), another(ada)
    assert bob.login("bob").status_code == 303
    absent = bob.get("/studies/00112233aabbccdd")
    for path in OF_A_STUDY:
        reply = bob.get(f"/studies/{study}{path}")
        assert reply.status_code == 404, path
        assert "secret" not in reply.text
        if not path.endswith("/live"):
            assert words(reply) == words(absent)
    for action in ACTIONS:
        reply = bob.post(f"/studies/{study}/{action}", "/account", site="one", name="stolen", rows="0")
        assert reply.status_code == 404, action
    assert (
        bob.client.post(
            f"/studies/{study}/file", files={"csrf": (None, bob.csrf("/account")), "upload": ("s.toml", b"")}, headers={"Origin": HOST}
        ).status_code
        == 404
    )
    assert "a secret name" in words(ada.get(f"/studies/{study}"))


@pytest.mark.parametrize("host", ["evil.example", "study.example:8443", "study.example.evil.example", "127.0.0.1", ""])
def test_a_foreign_host_gets_nothing(ada: Browser, host: str) -> None:
    reply = ada.get("/studies", Host=host)
    assert reply.status_code == 403
    assert "study" not in reply.text


@pytest.mark.parametrize("origin", ["https://evil.example", "http://study.example", "https://study.example:444", "null"])
def test_a_form_from_another_origin_does_nothing(ada: Browser, origin: str) -> None:
    study = ada.new_study()
    reply = ada.post(f"/studies/{study}/open", f"/studies/{study}", origin=origin)
    assert reply.status_code == 403
    assert "draft" in words(ada.get(f"/studies/{study}"))


def test_a_page_of_another_site_cannot_read_ours_but_may_link_to_it(ada: Browser) -> None:
    fetched = {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "no-cors", "Sec-Fetch-Dest": "image"}
    assert ada.get("/studies", **fetched).status_code == 403
    followed = {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate", "Sec-Fetch-Dest": "document"}
    assert ada.get("/studies", **followed).status_code == 200


@pytest.mark.parametrize("csrf", ["", "0" * 64, "é"])
def test_a_form_without_its_token_does_nothing(ada: Browser, csrf: str) -> None:
    study = ada.new_study()
    for action in ACTIONS:
        assert ada.post(f"/studies/{study}/{action}", "", csrf=csrf, site="one", name="other").status_code == 403, action
    upload = {"csrf": (None, csrf), "upload": ("study.toml", b'variables.age = "continuous"')}
    assert ada.client.post(f"/studies/{study}/file", files=upload, headers={"Origin": HOST}).status_code == 403
    for path in ("/logout", "/account/password", "/account/sessions", "/studies/new", "/login", "/token"):
        assert ada.post(path, "", csrf=csrf, session="others", name="x").status_code == 403, path
    assert "1 variable" not in words(ada.get(f"/studies/{study}"))


def test_a_token_of_another_session_does_nothing(ada: Browser) -> None:
    study, bob = ada.new_study(), another(ada)
    bob.login("bob")
    assert ada.post(f"/studies/{study}/open", "", csrf=bob.csrf("/account")).status_code == 403


def test_actions_are_posts(ada: Browser) -> None:
    study = ada.new_study()
    for action in ("open", "start", "cancel", "again", "delete", "invite", "withdraw", "remove", "name"):
        assert ada.get(f"/studies/{study}/{action}").status_code == 405
    assert ada.get("/logout").status_code == 405


def test_the_cookie_is_only_for_the_server(browser: Browser) -> None:
    (made,) = [text for text in cookies_of(browser.login()) if "-form" not in text]
    assert made.startswith("__Host-consilience-")
    for word in ("HttpOnly", "Secure", "SameSite=strict", "Path=/"):
        assert word in made
    assert "Domain" not in made


def test_without_tls_the_cookie_comes_back_all_the_same(tmp_path: Path) -> None:
    """On one machine, for a trial: a browser keeps no cookie for TLS that came without it."""
    make_app(tmp_path)  # the accounts
    config = ServerConfig(home=str(tmp_path), public_url="http://127.0.0.1:8443")
    with TestClient(with_pages(create_app(config, SERVER, passwords=CHEAP)), base_url="http://127.0.0.1:8443") as client:
        reply = Browser(client).login(origin="http://127.0.0.1:8443")
        (made,) = [text for text in cookies_of(reply) if "-form" not in text]
        assert "Secure" not in made
        assert "HttpOnly" in made
        assert client.get("/studies", follow_redirects=False).status_code == 200


def test_a_login_makes_a_new_session_and_ends_the_old(browser: Browser) -> None:
    """A session that somebody had planted, or had before, is not the one that is logged in."""
    browser.login()
    name = next(name for name in browser.client.cookies if "-form" not in name)
    first = browser.client.cookies[name]
    thief = another(browser)
    thief.client.cookies.set(name, first, domain="study.example")
    assert thief.get("/studies").status_code == 200
    form = browser.csrf("/token")  # a page with the form's cookie, whoever is logged in
    reply = browser.client.post(
        "/login", data={"csrf": form, "name": "ada", "password": PASSWORD}, headers={"Origin": HOST}, follow_redirects=False
    )
    assert reply.status_code == 303
    assert browser.client.cookies[name] != first
    assert thief.get("/studies").status_code == 303


def test_a_planted_cookie_is_no_session(browser: Browser) -> None:
    browser.get("/login")
    form = next(name for name in browser.client.cookies if name.endswith("-form"))
    name = form.removesuffix("-form")
    browser.client.cookies.set(name, "A" * 43, domain="study.example")
    assert browser.login().status_code == 303
    values = [c.value for c in browser.client.cookies.jar if c.name == name]
    assert "A" * 43 not in values


def test_a_session_ends_in_time(tmp_path: Path) -> None:
    clock = Clock()
    with browsing(tmp_path, clock, token_hours=2.0) as browser:
        browser.login()
        study = browser.new_study()
        form = browser.csrf(f"/studies/{study}")
        clock.now += 7199
        assert browser.get("/studies").status_code == 200
        clock.now += 2
        assert browser.get("/studies").status_code == 303
        assert browser.post(f"/studies/{study}/open", "", csrf=form).headers["location"] == "/login"
        assert browser.get(f"/studies/{study}/live").status_code == 401


def test_logging_out_ends_the_session_on_the_server(ada: Browser) -> None:
    name, value = next((c.name, c.value) for c in ada.client.cookies.jar if not c.name.endswith("-form"))
    assert ada.post("/logout", "/account").headers["location"] == "/login"
    kept = another(ada)
    kept.client.cookies.set(name, value or "", domain="study.example")
    assert kept.get("/studies").status_code == 303


def test_a_cookie_is_no_bearer_token_and_a_token_no_cookie(ada: Browser) -> None:
    name, value = next((c.name, c.value) for c in ada.client.cookies.jar if not c.name.endswith("-form"))
    headers = {"Authorization": f"Bearer {value}"}
    assert ada.client.get("/api/v1/studies", headers=headers).status_code == 401
    token = ada.client.post("/api/v1/login", json={"name": "ada", "password": PASSWORD}).json()["token"]
    other = another(ada)
    other.client.cookies.set(name, token, domain="study.example")
    assert other.get("/studies").status_code == 303


@pytest.mark.parametrize(
    "after",
    [
        "https://evil.example",
        "//evil.example/studies",
        "/\\evil.example",
        "/studies/..//evil",
        "javascript:alert(1)",
        "/logout",
        "/studies\r\nX: y",
    ],
)
def test_a_login_leads_to_pages_of_ours_only(browser: Browser, after: str) -> None:
    page = browser.client.get("/login", params={"next": after})
    assert 'name="next" value="/studies"' in page.text
    assert browser.login(next=after).headers["location"] == "/studies"


def test_a_login_leads_back_to_where_one_wanted_to_go(ada: Browser) -> None:
    study = ada.new_study()
    ada.post("/logout", "/account")
    wanted = ada.get(f"/studies/{study}/settings").headers["location"]
    assert wanted == f"/login?next=/studies/{study}/settings"
    assert ada.login(next=f"/studies/{study}/settings").headers["location"] == f"/studies/{study}/settings"


def test_logins_are_limited_together_with_the_rest_interface(tmp_path: Path) -> None:
    with browsing(tmp_path, login_burst=3) as browser:
        for _ in range(2):
            reply = browser.login(password="not the password")
            assert reply.status_code == 401
            assert "The name or the password is not right." in words(reply)
        assert browser.client.post("/api/v1/login", json={"name": "ada", "password": "not it either"}).status_code == 401
        limited = browser.login()
        assert limited.status_code == 429
        assert int(limited.headers["retry-after"]) > 0
        assert "Too many failed logins" in words(limited)
        assert browser.client.post("/api/v1/login", json={"name": "ada", "password": PASSWORD}).status_code == 429


def test_a_site_sees_its_study_and_nothing_else(ada: Browser) -> None:
    study, other = ada.new_study("the site's study"), ada.new_study("another study")
    join(ada, study, "muenster")
    accounts = ada.client.app.state.services.store.accounts  # type: ignore[attr-defined]
    token, _ = accounts.issue(Principal(study=study, site="muenster"), 3600)
    site = another(ada)
    assert site.post("/token", "/token", token="wrong").status_code == 401
    assert site.post("/token", "/token", token=token).headers["location"] == f"/studies/{study}"
    page = site.get(f"/studies/{study}")
    assert page.status_code == 200
    assert "muenster (site)" in words(page)
    assert "Cancel the study" not in words(page)
    assert site.get(f"/studies/{study}/progress").status_code == 200
    assert site.get("/").headers["location"] == f"/studies/{study}"
    for path in ("/variables", "/settings", "/lobby", "/audit", "/records", "/archive.zip", "/file", "/declaration", "/result"):
        assert site.get(f"/studies/{study}{path}").status_code == 404, path
    for path in ("/studies", "/studies/new", "/account", f"/studies/{other}", f"/studies/{other}/progress", f"/studies/{other}/live"):
        assert site.get(path).status_code == 404, path
    for action in ACTIONS:
        assert site.act(study, action, site="muenster", name="x").status_code == 404, action
    ada.post(f"/studies/{study}/remove", f"/studies/{study}/lobby", site="muenster")
    assert site.get(f"/studies/{study}").status_code == 303


def test_an_owners_token_is_not_a_sites(ada: Browser) -> None:
    accounts = ada.client.app.state.services.store.accounts  # type: ignore[attr-defined]
    token, _ = accounts.issue(Principal(owner="ada"), 3600, TokenKind.PROGRAM)
    reply = another(ada).post("/token", "/token", token=token)
    assert reply.status_code == 401
    assert "not the token of a site" in words(reply)

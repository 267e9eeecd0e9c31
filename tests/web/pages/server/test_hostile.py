"""Names that strangers choose are text, wherever they stand; and headers are on every answer."""

from __future__ import annotations

import re
from html.parser import HTMLParser
from pathlib import Path

import pytest

from consilience.protocol.handshake import DeclaredVariable
from consilience.web.security import POLICY
from tests.service.helpers import STUDY, bearer
from tests.web.pages.server.helpers import HOST, Browser, browsing, is_troubled, words

EVIL = "\"><script>alert(1)</script><img src=x onerror=alert(2)>{{ 7 * 7 }}'`"
SHORT = "<img/src=x>"


def hostile_study(ada: Browser, **more: object) -> str:
    """A study whose name, variables and levels are all markup, made over the REST interface, which takes any printable text."""
    body = {
        **STUDY,
        "name": EVIL,
        "variables": [{"name": EVIL, "kind": "ordinal", "levels": [SHORT, EVIL]}, {"name": SHORT, "kind": "continuous"}],
        "datasets": [[EVIL], [SHORT]],
        "settings": {"tiers": [[EVIL], [SHORT]]},
        **more,
    }
    reply = ada.client.post("/api/v1/studies", json=body, headers=bearer(ada.client))
    assert reply.status_code == 201, reply.text
    return str(reply.json()["id"])


class Elements(HTMLParser):
    """What a browser makes of a page: its elements and their attributes."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.found: list[tuple[str, dict[str, str | None]]] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, dict(attrs)))


def harmless(text: str) -> bool:
    """No element that a template has not made: no script in line, no handler, no image, no style in line."""
    for tag, attributes in Elements(text).found:
        if tag in ("img", "style", "iframe", "object", "base") or any(name.startswith("on") or name == "style" for name in attributes):
            return False
        if tag == "script" and not re.fullmatch(r"/static/[a-z]+\.js", attributes.get("src") or ""):
            return False
        if (attributes.get("href") or "/").lower().lstrip().startswith(("javascript:", "data:", "//", "http")):
            return False
    return True


def test_the_check_finds_what_it_looks_for() -> None:
    assert not harmless(f"<p>{EVIL}</p>")
    assert not harmless('<p style="color: red">')


@pytest.mark.parametrize("path", ["", "/variables", "/settings", "/lobby", "/progress", "/audit", "/records", "/file", "/declaration"])
def test_names_of_studies_variables_and_levels_are_text(ada: Browser, path: str) -> None:
    study = hostile_study(ada)
    page = ada.get(f"/studies/{study}{path}")
    assert page.status_code == 200
    assert harmless(page.text)
    assert EVIL in words(page) or path == "/variables"
    assert harmless(ada.get("/studies").text)


def test_what_a_form_was_given_comes_back_as_text(ada: Browser) -> None:
    study = ada.new_study()
    fields = {"rows": "1", "sets": "1", "name-0": EVIL, "kind-0": EVIL, "levels-0": EVIL}
    replies = [
        ada.post(f"/studies/{study}/variables", f"/studies/{study}/variables", **fields),
        ada.post(f"/studies/{study}/settings", f"/studies/{study}/settings", alpha=EVIL, tiers=EVIL, method=EVIL),
        ada.post(f"/studies/{study}/invite", f"/studies/{study}/lobby", site=EVIL),
        ada.post("/studies/new", "/studies/new", name="", way=EVIL),
    ]
    upload = {"csrf": (None, ada.csrf(f"/studies/{study}/file")), "text": (None, EVIL)}
    replies.append(ada.client.post(f"/studies/{study}/file", files=upload, headers={"Origin": HOST}))
    upload = {"csrf": (None, ada.csrf(f"/studies/{study}/file")), "upload": (SHORT, b"\xff\xfe")}
    replies.append(ada.client.post(f"/studies/{study}/file", files=upload, headers={"Origin": HOST}))
    for reply in replies:
        assert is_troubled(reply)
        assert harmless(reply.text)


def test_what_sites_say_is_text(ada: Browser) -> None:
    """A site's own words: its variables, and the reason that it gave for leaving."""
    study = ada.new_study()
    services = ada.client.app.state.services  # type: ignore[attr-defined]
    services.store.database.write("insert into sites (study, name, identity, joined) values (?, ?, ?, 0)", (study, EVIL, bytes(32)))
    declared = (
        DeclaredVariable(EVIL, "continuous", (), False, False, EVIL, EVIL),
        DeclaredVariable("A", "continuous", (), False, False, "", ""),
    )
    services.store.studies.declare(study, EVIL, declared)
    services.runner.event(study, "lost", site=EVIL, reason=EVIL)
    services.runner.event(study, "stage", words=EVIL)
    services.runner.event(study, EVIL[:60])
    for path in ("", "/lobby", "/progress", "/audit", "/records", "/declaration"):
        page = ada.get(f"/studies/{study}{path}")
        assert page.status_code == 200
        assert harmless(page.text), path
        assert SHORT not in page.text.replace("&lt;", "")


def test_what_a_browser_calls_itself_is_text(browser: Browser) -> None:
    browser.client.headers["User-Agent"] = EVIL
    browser.login()
    page = browser.get("/account")
    assert EVIL in words(page)
    assert harmless(page.text)


def test_a_name_of_an_account_that_is_tried_is_text(browser: Browser) -> None:
    assert harmless(browser.login(name=EVIL).text)


@pytest.mark.parametrize(
    ("path", "status"),
    [("/login", 200), ("/studies", 303), ("/static/style.css", 200), ("/static/none", 404), ("/nothing", 404), ("/logout", 405)],
)
def test_headers_are_on_every_answer(browser: Browser, path: str, status: int) -> None:
    reply = browser.get(path)
    assert reply.status_code == status
    assert reply.headers["content-security-policy"] == POLICY
    assert reply.headers["x-frame-options"] == "DENY"
    assert reply.headers["x-content-type-options"] == "nosniff"
    assert reply.headers["cross-origin-opener-policy"] == "same-origin"
    assert reply.headers["cache-control"] == ("no-cache" if path.startswith("/static") else "no-store")


def test_headers_are_on_refusals_and_defects_too(ada: Browser, monkeypatch: pytest.MonkeyPatch) -> None:
    refused = ada.post("/studies/new", "", csrf="", name="x")
    monkeypatch.setattr("consilience.service.store.studies.Studies.seen_by", lambda *_: 1 / 0)
    broken = ada.get("/studies")
    foreign = ada.get("/studies", Host="evil.example")
    assert [reply.status_code for reply in (refused, broken, foreign)] == [403, 500, 403]
    assert {reply.headers["content-security-policy"] for reply in (refused, broken, foreign)} == {POLICY}
    assert "ZeroDivisionError" not in broken.text


def test_a_body_that_is_too_long_is_refused(tmp_path: Path) -> None:
    with browsing(tmp_path, max_body_bytes=10_000) as browser:
        browser.login()
        reply = browser.post("/studies/new", "/studies/new", name="x" * 20_000)
        assert reply.status_code == 413


def test_the_rest_interface_is_as_it_was(browser: Browser) -> None:
    assert browser.get("/health").json()["status"] == "ok"
    assert browser.client.post("/health").status_code == 405
    missing = browser.get("/api/v1/nothing")
    assert (missing.status_code, missing.json()["error"]) == (404, "HTTPError")
    assert browser.get("/api/openapi.json", Host="any.example").status_code == 200

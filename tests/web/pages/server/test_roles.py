"""Role by action on the pages: who sees which, whose forms do something, and that nobody is shown a button that does not work."""

from __future__ import annotations

import re

import pytest

from consilience.service.server import sharing
from consilience.service.server.services import held_study
from consilience.service.store import Principal, Role
from consilience.web.pages.server.follow import may_look
from tests.service.helpers import bearer
from tests.service.server.roles import NO_RESULT, OBSERVERS, STRANGERS, finish, populate, services_of
from tests.web.pages.server.helpers import HOST, Browser, another, is_troubled, words
from tests.web.pages.server.test_access import ACTIONS, OF_A_STUDY

DECIDES = ("share", "transfer", "delete")
FORMS_OF_DRAFTS = ("/file", "/declaration")
"""Pages that are nothing but a form."""
STREAMS = ("/live", "/lobby/live")
OBSERVES = "You are an observer of this study: you see it, and change nothing in it. Ask one of its owners."


def entered(ada: Browser, name: str) -> Browser:
    found = another(ada)
    assert found.login(name).status_code == 303
    return found


def site_of(ada: Browser, study: str) -> Browser:
    token, _ = services_of(ada.client).store.accounts.issue(Principal(study=study, site="one"), 3600.0)
    found = another(ada)
    assert found.post("/token", "/token", token=token).status_code == 303
    return found


def hrefs(text: str) -> set[str]:
    return {href for href in re.findall(r'href="(/[^"#?]*)', text) if not href.startswith("/static")}


def crawl(browser: Browser, start: str) -> tuple[dict[str, int], set[str]]:
    """Every page that links lead to, with its status; and where the forms on them lead."""
    seen, forms, waiting = dict[str, int](), set[str](), [start]
    while waiting:
        path = waiting.pop()
        reply = browser.get(path)
        seen[path] = reply.status_code
        if "/result/" in path or not reply.headers.get("content-type", "").startswith("text/html"):
            continue
        forms |= set(re.findall(r'<form[^>]* action="([^"]+)"', reply.text))
        waiting += [href for href in hrefs(reply.text) if href not in seen and href not in waiting]
    return seen, forms


@pytest.mark.slow
@pytest.mark.parametrize("state", ["draft", "open", "running", "cancelled"])
def test_whatever_is_shown_works_and_observers_are_shown_no_form(ada: Browser, state: str) -> None:
    headers = bearer(ada.client)
    study = populate(ada.client, headers, sites=2)
    for step in ("open", "start", "cancel")[: ("draft", "open", "running", "cancelled").index(state)]:
        assert ada.client.post(f"/api/v1/studies/{study}/{step}", headers=headers).status_code == 200
    for name in ("ada", "cleo", *OBSERVERS):
        browser = ada if name == "ada" else entered(ada, name)
        seen, forms = crawl(browser, f"/studies/{study}")
        broken = {path: status for path, status in seen.items() if status not in (200, 303)}
        assert broken == {}, (name, state)
        of_study = {form for form in forms if form.startswith(f"/studies/{study}")}
        if name in OBSERVERS:
            assert of_study == set(), (name, state)
            assert f"/studies/{study}/lobby" in seen
            assert f"/studies/{study}/audit" in seen
            assert ("/studies/new" in seen) == (name == "wim"), name
        else:
            assert of_study
            assert (f"/studies/{study}/delete" in of_study) == (name == "ada" and state != "running"), (name, state)
            assert (f"/studies/{study}/share" in of_study) == (name == "ada")


@pytest.mark.slow
def test_who_sees_which_page(ada: Browser) -> None:
    study = populate(ada.client, bearer(ada.client))
    site = site_of(ada, study)
    for path in (*OF_A_STUDY, "/people", "/records", "/archive.zip"):
        if path in STREAMS:
            continue
        for name in ("cleo", *OBSERVERS, *STRANGERS, "site"):
            browser = site if name == "site" else entered(ada, name)
            status = browser.get(f"/studies/{study}{path}").status_code
            if path == "/result":  # a draft has none; who must not see it is told that, and not that there is none yet
                expected = 403 if name in NO_RESULT else 404
            elif path == "/archive.zip" and name not in (*STRANGERS, "site"):
                expected = 403 if name in NO_RESULT else 409
            elif name in STRANGERS or (name == "site" and path not in ("", "/progress")):
                expected = 404
            else:
                expected = 403 if name in OBSERVERS and path in FORMS_OF_DRAFTS else 200
            assert status == expected, (name, path)


@pytest.mark.slow
def test_a_form_does_something_for_owners_alone(ada: Browser) -> None:
    study = populate(ada.client, bearer(ada.client))
    site = site_of(ada, study)
    before = words(ada.get(f"/studies/{study}"))
    for name in (*OBSERVERS, *STRANGERS, "site"):
        browser = site if name == "site" else entered(ada, name)
        csrf = browser.csrf(f"/studies/{study}" if name == "site" else "/account")
        for action in (*ACTIONS, "search", "rerun", "without", "share", "unshare", "transfer"):
            reply = browser.post(
                f"/studies/{study}/{action}", "", csrf=csrf, site="one", name="olga", way="observer", rows="0", called="a secret name"
            )
            assert reply.status_code == (403 if name in OBSERVERS else 404), (name, action)
            if name in OBSERVERS:
                assert OBSERVES in words(reply), (name, action)
        upload = {"csrf": (None, csrf), "upload": ("study.toml", b'variables.age = "continuous"')}
        reply = browser.client.post(f"/studies/{study}/file", files=upload, headers={"Origin": HOST}, follow_redirects=False)
        expected = (303,) if name == "site" else (403,) if name in OBSERVERS else (404,)
        assert reply.status_code in expected, name
    cleo = entered(ada, "cleo")
    for action in DECIDES:
        reply = cleo.post(f"/studies/{study}/{action}", "/account", name="bob", way="observer", called="a secret name")
        assert reply.status_code == 403, action
        assert "Only the study's owner, ada, may share it, hand it over and delete it." in words(reply)
    assert words(ada.get(f"/studies/{study}")) == before


@pytest.mark.slow
def test_a_result_is_not_shown_to_observers_without_it(ada: Browser) -> None:
    study = populate(ada.client, bearer(ada.client))
    finish(ada.client, study)
    for name in ("cleo", *OBSERVERS):
        ada.client.cookies.clear()  # the same client: streams belong to the loop that the server runs in
        assert ada.login(name).status_code == 303
        browser, shown = ada, name not in NO_RESULT
        for path in ("", "/progress", "/audit", "/records"):
            reply = browser.get(f"/studies/{study}{path}")
            assert (f"/studies/{study}/result" in reply.text) == shown, (name, path)
            assert path in ("", "/records") or ("A causes B" in reply.text) == shown, (name, path)
            assert path != "/records" or ("/archive.zip" in reply.text) == shown, name
        live = browser.get(f"/studies/{study}/live?after=1").text
        assert "finished" in live
        assert ("A causes B" in live, f"/studies/{study}/result" in live) == (shown, shown), name
        if not shown:
            assert browser.get(f"/studies/{study}/result").status_code == 403
            assert "not shown to you" in words(browser.get(f"/studies/{study}"))


def test_a_page_that_is_open_is_told_when_its_reader_may_not_look_any_more(ada: Browser) -> None:
    """The question that every open page is asked again and again; a page that shows what was found needs more than one that does not."""
    study, services = populate(ada.client, bearer(ada.client)), services_of(ada.client)
    rita = services.store.accounts.issue(Principal(owner="rita"), 60.0, kind="pages")[0]  # type: ignore[arg-type]
    row = held_study(study, Principal(owner="ada"), services)
    assert may_look(services.store, rita, study)
    sharing.share(services, row, "rita", Role.OBSERVER)
    assert not may_look(services.store, rita, study)
    assert may_look(services.store, rita, study, bare=True)
    sharing.take_back(services, row, "rita")
    assert not may_look(services.store, rita, study, bare=True)


def test_a_study_is_shared_handed_over_and_given_up_by_forms(ada: Browser) -> None:
    study, bob = ada.new_study("ours"), entered(ada, "bob")
    page = f"/studies/{study}/people"
    assert ada.post(f"/studies/{study}/share", page, name="bob", way="observer").status_code == 303
    assert "observer; the owner is ada" in words(bob.get("/studies"))
    assert is_troubled(ada.post(f"/studies/{study}/share", page, name="nobody", way="observer"))
    assert is_troubled(ada.post(f"/studies/{study}/share", page, name="bob", way="emperor"))
    assert ada.post(f"/studies/{study}/share", page, name="bob", way="co-owner").status_code == 303
    assert "bob (co-owner)" in words(ada.get(f"/studies/{study}"))
    assert ada.post(f"/studies/{study}/transfer", page, name="bob").status_code == 303
    assert "bob decides who has the study." in words(ada.get(page))
    assert ada.post(f"/studies/{study}/unshare", page, name="bob").status_code == 403
    assert ada.post(f"/studies/{study}/unshare", page, name="ada").headers["location"] == "/studies"
    assert ada.get(page).status_code == 404
    assert bob.post(f"/studies/{study}/unshare", page, name="ada").status_code == 404
    log = words(bob.get(f"/studies/{study}/audit"))
    assert "ada handed the study over: to bob" in log
    assert "ada left the study" in log

"""A study from its draft to its end, by forms alone."""

from __future__ import annotations

import re
import time

import pytest

from consilience.secagg import Identity
from consilience.service.invitation import read_invitation
from consilience.service.server.pace import Pace
from tests.service.helpers import join_body
from tests.web.pages.server.helpers import Browser, words


def join(ada: Browser, study: str, site: str) -> Identity:
    reply = ada.post(f"/studies/{study}/invite", f"/studies/{study}/lobby", site=site)
    assert reply.status_code == 200
    text = reply.text.partition('readonly spellcheck="false">')[2].partition("<")[0]
    identity = Identity.generate()
    assert ada.client.post("/api/v1/join", json=join_body(read_invitation(text), identity)).status_code == 200
    return identity


def test_from_a_new_study_to_a_cancelled_one(ada: Browser) -> None:
    study = ada.new_study("stroke, three hospitals", "form")
    page = f"/studies/{study}"
    fields = {"rows": "3", "sets": "2", "save": "1", "name-0": "age", "kind-0": "continuous", "in-0": ["0", "1"]}
    fields |= {
        "name-1": "stage",
        "kind-1": "ordinal",
        "levels-1": 'I, "II, late"',
        "in-1": "0",
        "name-2": "smoker",
        "kind-2": "binary",
        "in-2": "1",
    }
    assert ada.post(f"{page}/variables", f"{page}/variables", **fields).status_code == 303
    shown = words(ada.get(page))
    assert "3 variables: age, smoker, stage" in shown
    lobby = words(ada.get(f"{page}/lobby"))
    assert "3 variables make 3 pairs" in lobby
    assert "Never tested, since nobody measures both: smoker – stage" in lobby
    assert ada.act(study, "open").status_code == 303
    assert ada.post(f"{page}/variables", page, **fields).status_code == 409
    refused = ada.act(study, "start")
    assert refused.status_code == 409
    assert "A study needs at least 2 sites; 0 have joined" in words(refused)
    for site in ("muenster", "marburg"):
        join(ada, study, site)
    assert "consilience-invitation" not in ada.get(f"{page}/lobby").text
    assert ada.act(study, "start").headers["location"] == f"{page}/progress"
    waiting = words(ada.get(f"{page}/progress"))
    assert "Every site's owner is asked for consent" in waiting
    assert "waiting for 2 of 2 sites to agree: marburg (not connected), muenster (not connected)" in waiting
    assert "2 sites are not connected marburg muenster Nothing is lost: they are asked for consent when they connect." in waiting
    runner = ada.client.app.state.services.runner  # type: ignore[attr-defined]
    runner.event(study, "run", sites=["marburg", "muenster"])
    runner.event(study, "lost", site="marburg", reason="the connection ended")
    begun = words(ada.get(f"{page}/progress"))
    assert re.search(r"marburg ?: the connection is lost, since \d+ \w+ \d{4}, \d\d:\d\d UTC", begun)
    runner.event(study, "lost", site="marburg", reason="its owner has left the study", left=True)
    now = time.monotonic()
    runner._asked[study] = Pace(30, 90, 10, since=now - 200.0, now=now)  # as the run's own thread would say it
    under_way = words(ada.get(f"{page}/progress"))
    assert re.search(r"marburg ?: its owner has left the study, since", under_way)
    assert re.search(r"Of 90 tests that were asked for together, 30 are done; at this pace the rest take about (9|10) min", under_way)
    assert "it waits 15 min at most for these sites to come back, and goes on where it was. After that it stops without a result." in begun
    assert "The study’s owner can ask the sites to come back, or cancel the study. Tests that are done are kept." in begun
    assert ada.act(study, "cancel").status_code == 303
    assert "cancelled One of its owners ended it." in words(ada.get(page))
    ended = words(ada.get(f"{page}/progress"))
    assert "cancelled One of its owners ended it." in ended
    assert "did not consent" in ended
    assert "not yet" not in ended.partition("Latest events")[0].partition("Sites Name")[2]
    log = words(ada.get(f"{page}/audit"))
    by_ada = ("created", "changed the declaration", "invited a site: muenster", "started", "cancelled")
    for entry in (*(f"ada {action}" for action in by_ada), "muenster joined"):
        assert entry in log
    again = ada.act(study, "again").headers["location"]
    assert again != page
    assert "draft It can be changed." in words(ada.get(again))
    assert "3 variables" in words(ada.get(again))
    assert "To delete the study, type its name. Nothing was deleted." in words(ada.act(study, "delete", called="another"))
    assert ada.act(study, "delete", called="stroke, three hospitals").headers["location"] == f"/studies?deleted={study}"
    assert ada.get(page).status_code == 404


@pytest.mark.parametrize("path", ["", "/variables", "/settings", "/lobby", "/progress", "/audit", "/records", "/file", "/declaration"])
def test_every_page_of_a_draft_is_there(ada: Browser, path: str) -> None:
    assert ada.get(f"/studies/{ada.new_study()}{path}").status_code == 200


@pytest.mark.parametrize("path", ["/studies", "/studies/new", "/account"])
def test_every_page_of_an_owner_is_there(ada: Browser, path: str) -> None:
    assert ada.get(path).status_code == 200


def test_a_site_that_does_not_agree_is_waited_for_or_left_out(ada: Browser) -> None:
    study = ada.new_study("trial", "form")
    page = f"/studies/{study}"
    fields = {"rows": "1", "sets": "1", "save": "1", "name-0": "age", "kind-0": "continuous", "in-0": "0"}
    ada.post(f"{page}/variables", f"{page}/variables", **fields)
    for site in ("mainz", "marburg", "muenster"):
        join(ada, study, site)
    ada.act(study, "open")
    ada.act(study, "start")
    store = ada.client.app.state.services.store  # type: ignore[attr-defined]
    store.studies.decline(study, "mainz", "The site's data do not fit the study's schema.")
    shown = words(ada.get(f"{page}/progress"))
    assert "1 site does not agree, or not yet mainz: The site's data do not fit the study's schema. The study waits." in shown
    assert "All others are asked for consent again" in shown
    assert ada.post(f"{page}/without", f"{page}/progress", site="mainz").headers["location"] == f"{page}/progress"
    assert [site.name for site in store.studies.sites(study)] == ["marburg", "muenster"]
    shown = words(ada.get(f"{page}/progress"))
    assert "The study goes on without mainz: asked for consent anew are marburg, muenster" in shown
    assert "does not agree, or not yet" not in shown
    refused = ada.post(f"{page}/without", f"{page}/progress", site="marburg")
    assert refused.status_code == 409
    assert "without 'marburg' there are 1" in words(refused)

"""The site's app before consent: the contract's digest, what the policy says, and what earlier studies and this one tell together."""

from __future__ import annotations

import html
import json
from pathlib import Path

import pytest

import consilience as cs
from consilience.secagg import fingerprint_text
from consilience.service.agent import Home
from consilience.service.agent import join as enter
from consilience.service.agent.earlier.past import Answered, Past, TookPart
from consilience.service.invitation import read_invitation
from tests.system.processes import Server, declaration, until
from tests.web.apps import Browser, running_app, until_page, words_of
from tests.web.test_site_study import invite, prepared

pytestmark = pytest.mark.slow
POLICY = "min_rows = 50\nmax_variables = 3\n"


def earlier(home: Path, server: Server, study: str) -> None:
    """The site has answered a study with one site more than this one."""
    members = {site["name"]: site["fingerprint"].replace(" ", "") for site in server.do("GET", f"/studies/{study}")["sites"]}
    took = TookPart(
        study="0011223344556677",
        name="last year's study",
        server="https://elsewhere.example",
        contract="ab" * 32,
        variables=("A", "B"),
        members={**members, "bonn": "cd" * 32},
        min_contributors=2,
        min_rows=10,
    )
    Past(home).add(took)
    Past(home).add(Answered(contract=took.contract))


def ready(browser: Browser, server: Server, study: str, tmp_path: Path) -> list[str]:
    """Two sites in a study, one of them with the app, up to its dry run; their names."""
    names = ["site1", "site2"]
    prepared(browser, "table.parquet", invite(server, study, names[0]))
    enter(Home(tmp_path / "other"), read_invitation(invite(server, study, names[1])))
    earlier(tmp_path / "app" / "consilience-site", server, study)
    browser.send("/fit", "/fit", -1, **{"continue": "1"})
    browser.send("/leaving", "/leaving")
    until_page(browser, "/leaving", "masked numbers")
    return names


def test_a_consent_names_what_earlier_studies_and_this_one_tell_together(server: Server, tmp_path: Path) -> None:
    frames = dict(list(cs.simulate.mixed_sites(n=600, sites=3, seed=1).items())[:2])
    study = server.do("POST", "/studies", declaration(frames))["id"]
    server.do("POST", f"/studies/{study}/open")
    (tmp_path / "app").mkdir()
    next(iter(frames.values())).write_parquet(tmp_path / "app" / "table.parquet")
    policy = tmp_path / "policy.toml"
    policy.write_text(POLICY)
    with running_app(tmp_path / "app", CONSILIENCE_CLIENT_POLICY=str(policy)) as browser:
        names = ready(browser, server, study, tmp_path)
        digest = server.do("GET", f"/studies/{study}")["contract"]
        document = words_of(browser.http.get("/leaving/document").text)
        for text in (words_of(browser.get("/leaving")), words_of(browser.get("/consent")), document):
            assert "This study is without 'bonn'" in html.unescape(text)
            assert "last year" in text
            assert "A, B" in text
            assert "min_rows must be at least 50" in text
            assert "at most 3 variables" in text
            assert fingerprint_text(bytes.fromhex(digest)) in text or digest in text
        alone = browser.send("/consent", "/consent", name=names[0])
        assert "Tick this box as well" in words_of(alone.text)
        other = browser.send("/consent", "/consent", name=names[0], earlier="on", **{"earlier-mark": "0" * 16})
        assert "has changed while you read" in words_of(other.text)
        given = browser.send("/consent", "/consent", name=names[0], earlier="on")
        assert "You have agreed" in words_of(given.text), words_of(given.text)
        kept = json.loads((tmp_path / "app" / "consilience-site" / "studies" / study / "consent.json").read_text())
        assert kept["digest"] == digest
        assert "'bonn' alone" in kept["named"][0]
        server.do("POST", f"/studies/{study}/start")
        until(lambda: server.do("GET", f"/studies/{study}")["sites"][0]["consented"], 30)  # it is what was named: nobody is asked
    took = [took for took in Past(tmp_path / "app" / "consilience-site").studies() if took.study == study]
    assert [each.by for each in took] == ["its owner"]

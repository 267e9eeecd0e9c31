"""From three files to one result, in a real browser: an owner, three data holders, four processes, and everything that happens on the way.

One holder's file is broken and is repaired, one's levels are spelled another way, one reloads the page during the run, one loses the
connection for a while. All see the same graphs. Listened for throughout: errors in the console, broken policies, requests to other hosts,
rules of accessibility. Looked for at the end: values of the data on a disk.

``CONSILIENCE_PICTURES=1`` takes pictures of every page on the way, into ``build/pictures`` and, for the guide, ``docs/images``.
"""

from __future__ import annotations

import json
import re
import signal
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest
from playwright.sync_api import expect

from tests.system.processes import Server, running, until
from tests.system.proxy import Cable
from tests.web.browser import Street, pictures, street
from tests.web.holder import Holder
from tests.web.owner import Owner
from tests.web.process import App
from tests.web.tables import Hospitals, traces, write_hospitals

SLOW, QUICK = 0.12, 0.0
"""Seconds that every message of one site takes: long enough to see a run, and to lose a connection in it."""
SPELLED = {"None given": "none", "ACE inhibitor": "ace inhibitor", "Beta blocker": "beta blocker"}


class Study:
    """Everybody who takes part, where their files are, and the line to one of the sites."""

    def __init__(self, folder: Path, server: Server, people: Street, cable: Cable) -> None:
        self.folder, self.server, self.people, self.cable = folder, server, people, cable
        self.hospitals: Hospitals = write_hospitals(folder / "data")
        self.owner = Owner(people.person("owner", server.url), server.url)
        self.apps: dict[str, App] = {}
        self.holders: dict[str, Holder] = {}

    @property
    def profile(self) -> Path:
        return self.folder / "profile"

    def start_apps(self) -> None:
        for name, folder in self.hospitals.folders.items():
            proxy = {"https_proxy": f"http://127.0.0.1:{self.cable.port}", "no_proxy": ""} if name == "mainz" else {}
            self.apps[name] = App(name, folder, self.folder / "places").begin(loading=True, **proxy)

    def open_apps(self) -> None:
        """Mainz has a browser that keeps a profile on disk, as most do."""
        for name, app in self.apps.items():
            origin = app.ready().origin
            person = self.people.resident(name, self.profile, origin) if name == "mainz" else self.people.person(name, origin)
            self.holders[name] = Holder(person, app)
            self.holders[name].open()


@contextmanager
def study_in(folder: Path) -> Iterator[Study]:
    with ExitStack() as stack:
        cable = Cable(None, SLOW)
        stack.callback(cable.pull)
        server = stack.enter_context(running(folder, loading=True))
        made = Study(folder, server, stack.enter_context(street(folder)), cable)
        try:
            yield made
        finally:
            for app in made.apps.values():
                app.kill()


@pytest.mark.slow
@pytest.mark.timeout(900)  # four browsers and four processes: minutes where other tests run beside it
def test_from_three_files_to_one_graph(tmp_path: Path) -> None:
    with tempfile.TemporaryDirectory(prefix="hospitals-") as other, study_in(Path(other) if pictures() else tmp_path) as study:
        study.start_apps()
        invitations = _owner_makes_a_study(study)
        study.open_apps()
        muenster, marburg, mainz = study.holders.values()
        _muenster_leaves_out_what_is_no_variable(muenster)
        _marburg_repairs_a_broken_file(marburg, study.hospitals)
        _mainz_opens_a_file_from_elsewhere(mainz, study.hospitals)
        for name, holder in study.holders.items():
            holder.join(invitations[name])
        muenster.person.see("site-joined")
        _mainz_spells_levels_as_the_study_does(mainz)
        _all_read_and_agree(study)
        _the_study_runs(study)
        _all_see_the_same(study)
        _decided_again_at_another_level(study)
        _the_study_is_done_again(study)
        for person in study.people.people:
            assert person.wrong() == [], person.name
            assert person.audited, person.name
        study.people.close()
        codes = {name: app.stop() for name, app in study.apps.items()}
        assert set(codes.values()) <= {0, -signal.SIGTERM}, "each ends by itself when it is asked to"
        _no_data_are_left_on_a_disk(study)


def _owner_makes_a_study(study: Study) -> dict[str, str]:
    owner = study.owner
    owner.page.goto(study.server.url)
    owner.person.see("owner-login")
    owner.log_in()
    owner.person.see("owner-studies-none")
    owner.page.get_by_role("link", name="A new study").click()
    owner.person.see("owner-new-study")
    owner.page.go_back()
    owner.name_study("Stroke, three hospitals")
    owner.declare()
    owner.person.see("owner-variables")
    owner.save_variables()
    owner.order("age", "sbp, stroke, disability, drug")
    for part in ("", "settings", "file", "declaration"):
        owner.go(part)
        owner.person.see(f"owner-{part or 'study'}")
    owner.open()
    found = {name: owner.invite(name) for name in study.hospitals.folders}
    assert len(set(found.values())) == 3
    owner.person.see("owner-lobby")
    return found


def _muenster_leaves_out_what_is_no_variable(holder: Holder) -> None:
    holder.person.see("site-start")
    holder.go("/data")
    holder.person.see("site-data")
    holder.choose("muenster.csv")
    holder.page.wait_for_url("**/columns")
    row = holder.page.get_by_role("row").filter(has=holder.page.get_by_role("link", name="patient", exact=True))
    expect(row.locator(".tag")).to_have_text("excluded")
    expect(holder.page.get_by_role("row").filter(has_text="visit")).to_contain_text("dates or times")
    holder.person.see("site-columns")
    holder.leave_out("patient")
    holder.leave_out("visit")
    holder.columns_are_right()
    holder.page.wait_for_url("**/join")
    holder.person.see("site-join")


def _marburg_repairs_a_broken_file(holder: Holder, hospitals: Hospitals) -> None:
    holder.person.allowed.add(422)
    holder.choose("marburg.csv")
    alert = holder.page.get_by_role("alert")
    expect(alert).to_contain_text("as many fields as the header")
    holder.person.see("site-broken")
    alert.get_by_role("link").click()
    expect(holder.page.locator("#file")).to_be_focused()
    hospitals.marburg.write_text(hospitals.whole, encoding="utf-8")
    holder.choose("marburg.csv")
    holder.page.wait_for_url("**/columns")
    holder.columns_are_right()


def _mainz_opens_a_file_from_elsewhere(holder: Holder, hospitals: Hospitals) -> None:
    holder.upload(hospitals.mainz)
    holder.page.wait_for_url("**/columns")
    expect(holder.page.get_by_role("row").filter(has_text="sbp")).to_contain_text("203")
    holder.columns_are_right()


def _mainz_spells_levels_as_the_study_does(holder: Holder) -> None:
    holder.person.allowed.add(422)
    holder.go("/fit")
    expect(holder.page.get_by_text("2 of 5")).to_be_visible()
    holder.page.get_by_role("button", name="Go on", exact=True).click()
    expect(holder.page.get_by_role("alert")).to_be_visible()  # not before the conflicts are repaired, or the variables withheld
    holder.person.see("site-fit")
    holder.page.get_by_role("link", name="drug", exact=True).click()
    holder.person.see("site-column")
    holder.spell("drug", SPELLED)
    holder.spell("stroke", {"no": "0", "yes": "1"})
    holder.go("/fit")
    expect(holder.page.get_by_text("4 of 5")).to_be_visible()
    expect(holder.page.get_by_text("Conflict", exact=True)).to_have_count(0)


def _all_read_and_agree(study: Study) -> None:
    references = set()
    for name, holder in study.holders.items():
        holder.fits()
        holder.rehearse()
        if name == "muenster":
            holder.person.see("site-leaving")
            document = holder.download(re.compile("Download the document")).decode()
            assert "Stroke, three hospitals" in document
            holder.go("/consent")
            holder.person.see("site-consent")
            holder.person.allowed.add(422)
            holder.page.get_by_label("Type the name of this site to agree").fill("marburg")
            holder.page.get_by_role("button", name=re.compile("I agree")).click()
            expect(holder.page.get_by_role("alert")).to_be_visible()  # the name of another site is no consent
        references.add(holder.consent(name))
        if name == "muenster":
            holder.person.see("site-agreed")
    assert len(references) == 1, "all have agreed to the same"


def _the_study_runs(study: Study) -> None:
    owner, cable = study.owner, study.cable
    muenster, _, mainz = study.holders.values()
    for holder in study.holders.values():
        holder.go("/run")
    expect(muenster.page.get_by_text("waits for the study’s owner to start")).to_be_visible()
    owner.start()
    rows = muenster.page.locator("#ledger tr")
    until(lambda: rows.count() > 1, 60, 0.1)  # by itself: events bring what is new
    before = rows.count()
    muenster.page.reload()
    muenster.person.see("site-run")
    until(lambda: rows.count() > before, 60, 0.1)
    cable.pull()
    expect(owner.page.get_by_role("row").filter(has_text="mainz")).to_contain_text("not connected", timeout=30_000)
    owner.person.see("owner-progress")
    expect(mainz.page.locator("#state")).to_contain_text("The connection to the study’s server is lost")
    mainz.person.see("site-run-cut")
    assert study.server.state(owner.study)[0] == "running"
    cable.plug(QUICK)
    expect(mainz.page.locator("#state")).not_to_contain_text("is lost")
    assert study.server.wait(owner.study, 120) == "finished"
    expect(owner.page.get_by_role("link", name="See the result")).to_be_visible()  # the page has gone on by itself
    for holder in study.holders.values():
        holder.page.wait_for_url("**/result", timeout=60_000)  # so have theirs
    owner.go("audit")
    owner.person.see("owner-audit")
    muenster.go("/run")
    muenster.person.see("site-run-finished")
    muenster.go("/")
    muenster.person.see("site-start-done")


def _edges(holder: Holder | Owner) -> list[str]:
    return holder.page.locator(".edge-table tbody tr").all_inner_texts()


def _all_see_the_same(study: Study) -> None:
    owner = study.owner
    owner.go()
    owner.person.see("owner-study-finished")
    owner.page.get_by_role("link", name="See the result").click()
    expect(owner.page.locator(".edge-table")).to_be_visible()
    owner.person.see("owner-result")
    edges = _edges(owner)
    assert edges
    wanted = study.server.result(owner.study)
    for name, holder in study.holders.items():
        holder.go("/result")
        expect(holder.page.locator(".edge-table")).to_be_visible()
        assert _edges(holder) == edges, name
        if name == "muenster":
            holder.person.see("site-result")
        for tab in ("Tests", "Conflicts", "Data, settings, files"):
            holder.page.get_by_role("link", name=re.compile(f"^{tab}")).click()
            if name == "muenster":
                holder.person.see(f"site-result-{tab.split(',')[0].lower()}")
        report = holder.download(re.compile("Report")).decode()
        assert report.lower().startswith("<!doctype html")
        assert json.loads(holder.download(re.compile(r"Result \(JSON\)"))) == wanted, name


def _decided_again_at_another_level(study: Study) -> None:
    """No site is asked: the same tests, another line between dependent and independent. All who look at it see the same."""
    owner, muenster = study.owner, study.holders["muenster"]
    messages = study.server.state(owner.study), len(study.server.events(owner.study))
    owner.go("result")
    muenster.go("/result")
    shown = []
    for who in (owner, muenster):
        who.page.get_by_label("Level α", exact=True).fill("0.0001")
        who.page.get_by_role("button", name="Decide anew").click()
        expect(who.page.get_by_text("Decided anew at α = 0.0001")).to_be_visible()
        shown.append(_edges(who))
    owner.person.see("owner-another-alpha")
    assert shown[0] == shown[1]
    assert (study.server.state(owner.study), len(study.server.events(owner.study))) == messages


def _the_study_is_done_again(study: Study) -> None:
    """As a new draft at another level: every site is invited, reads, agrees and takes part once more, with the table that it repaired."""
    owner, first = study.owner, study.server.result(study.owner.study)
    owner.again()
    owner.level("0.01")
    owner.open()
    invitations = {name: owner.invite(name) for name in study.hospitals.folders}
    for name, holder in study.holders.items():
        holder.join(invitations[name])
    for name, holder in study.holders.items():  # when all are there: who agrees before is asked again
        holder.fits()
        holder.rehearse()
        holder.consent(name)
        holder.go("/run")
    owner.start()
    assert study.server.wait(owner.study, 120) == "finished"
    expect(owner.page.get_by_role("link", name="See the result")).to_be_visible()
    found = study.server.result(owner.study)
    assert (found["alpha"], first["alpha"]) == (0.01, 0.05)
    assert found["study"]["sites"] == first["study"]["sites"]
    before, after = ({(test["x"], test["y"], *test["given"]): test["p_value"] for test in one["tests"]} for one in (first, found))
    both = before.keys() & after.keys()
    assert len(both) >= 10, "at least every pair, whatever the level"
    assert {key: before[key] for key in both} == pytest.approx({key: after[key] for key in both})  # the same sums, under other keys
    for name, holder in study.holders.items():
        holder.page.wait_for_url("**/result", timeout=60_000)
        holder.page.get_by_role("link", name=re.compile("^Data, settings, files")).click()
        assert json.loads(holder.download(re.compile(r"Result \(JSON\)"))) == found, name


def _no_data_are_left_on_a_disk(study: Study) -> None:
    """The holders' own files have the marker in them; nothing else has: no home, no temporary folder, no log, no profile of a browser."""
    own = {study.hospitals.muenster, study.hospitals.marburg, study.hospitals.mainz}
    assert set(traces(study.folder)) == own

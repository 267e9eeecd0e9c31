"""Names that users give are text on every page: of a study, a site, a variable, a level, a file."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import polars as pl
import pytest
from playwright.sync_api import expect

from tests.system.processes import Agent, Server, declaration, enrol
from tests.web.browser import Street, street
from tests.web.holder import Holder
from tests.web.hostile import FILE, STUDY_NAME, VARIABLES, frames, unharmed
from tests.web.owner import Owner
from tests.web.process import App

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("hostile")


@pytest.fixture(scope="module")
def people(place: Path) -> Iterator[Street]:
    with street(place) as found:
        yield found


@pytest.fixture(scope="module")
def study(server: Server, place: Path) -> Iterator[str]:
    """A study that has run, with every name hostile that can be."""
    data = frames()
    found, agents = enrol(server, place / "sites", data, {**declaration(data), "name": STUDY_NAME})
    try:
        for agent in agents:
            agent.start()
        server.do("POST", f"/studies/{found}/start")
        assert server.wait(found) == "finished"
        for agent in agents:
            agent.wait()
        yield found
    finally:
        _end(agents)


@pytest.fixture(scope="module")
def holder(people: Street, server: Server, place: Path) -> Iterator[Holder]:
    """A site whose file, columns and levels are called so, in a study that is, up to the page of consent."""
    data, folder = frames(), place / "data"
    folder.mkdir()
    mine = data["marburg"].with_columns(pl.Series("<b onclick=window.harmed=1>note", ["<i>x</i>"] * data["marburg"].height))
    mine.write_csv(folder / FILE)
    body = {**declaration(data), "name": STUDY_NAME}
    study = server.do("POST", "/studies", body)["id"]
    app = App("hostile", folder, place)
    try:
        made = Holder(people.person("holder", app.start().origin), app)
        made.open()
        made.choose(FILE)
        made.column(VARIABLES["sbp"])
        made.say(
            rename=VARIABLES["sbp"] + " 2", missing="<svg onload=window.harmed='code'>", unit="<img src=x onerror=window.harmed='unit'>"
        )
        made.column(VARIABLES["sbp"])
        made.say(rename="")
        made.derive("<b onclick=window.harmed=1>new", f'"{VARIABLES["age"]}" + 1')
        made.columns_are_right()
        made.join(server.do("POST", f"/studies/{study}/invitations", {"site": "it.s-so"})["invitation"])
        made.fits()
        made.rehearse()
        yield made
    finally:
        app.kill()


@pytest.mark.parametrize(
    "path",
    [
        *("/", "/data", "/reading", "/columns", "/columns/0", "/columns/4", "/columns/5", "/harmonise", "/join", "/fit", "/check"),
        *("/leaving", "/consent"),
    ],
)
def test_names_are_text_on_every_page_of_a_site(holder: Holder, path: str) -> None:
    holder.go(path)
    expect(holder.page.locator("h1")).to_be_visible()
    unharmed(holder.person)
    assert holder.person.wrong() == []


def test_names_are_text_in_the_document_for_the_data_protection_officer(holder: Holder, people: Street, place: Path) -> None:
    """It is opened from a folder, where no header of ours protects it."""
    holder.go("/leaving")
    document = place / "document.html"
    document.write_bytes(holder.download("Download the document"))
    reader = people.person("officer")
    reader.page.goto(document.as_uri())
    expect(reader.page.locator("h1").first).to_be_visible()
    unharmed(reader)


def test_names_are_text_in_the_report(study: str, server: Server, people: Street, place: Path) -> None:
    report = place / "report.html"
    report.write_bytes(server.call("GET", f"/studies/{study}/documents/report.html").content)
    reader = people.person("reader")
    reader.page.goto(report.as_uri())
    expect(reader.page.locator("h1").first).to_be_visible()
    unharmed(reader)


def _end(agents: list[Agent]) -> None:
    for agent in agents:
        agent.kill()


@pytest.fixture(scope="module")
def owner(people: Street, server: Server, study: str) -> Owner:
    made = Owner(people.person("owner", server.url), server.url)
    made.log_in()
    made.study = study
    return made


@pytest.mark.parametrize("part", ["", "variables", "settings", "lobby", "progress", "audit", "records", "result"])
def test_names_are_text_on_every_page_of_a_study(owner: Owner, part: str) -> None:
    owner.go(part)
    expect(owner.page.locator("h1")).to_be_visible()
    unharmed(owner.person)
    assert owner.person.wrong() == []


def test_names_are_text_in_the_list_of_studies_and_in_a_new_draft(owner: Owner, server: Server) -> None:
    owner.page.goto(f"{server.url}/studies")
    expect(owner.page.get_by_role("link", name=STUDY_NAME).first).to_be_visible()
    unharmed(owner.person)
    owner.name_study(STUDY_NAME)
    owner.page.get_by_label("Name of variable 1", exact=True).fill(VARIABLES["age"])
    owner.page.get_by_label("Name of variable 2", exact=True).fill(VARIABLES["age"])
    owner.person.allowed.add(422)  # a name that is there twice is refused, and named
    owner.page.get_by_role("button", name="Save the variables").click()
    expect(owner.page.get_by_role("alert")).to_be_visible()
    unharmed(owner.person)
    assert owner.person.wrong() == []

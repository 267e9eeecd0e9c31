"""Names that users give are text on every page: of a study, a site, a variable, a level, a file."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import expect

from tests.system.processes import Agent, Server, declaration, enrol, running
from tests.web.browser import Street, street
from tests.web.hostile import STUDY_NAME, VARIABLES, frames, unharmed
from tests.web.owner import Owner

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("hostile")


@pytest.fixture(scope="module")
def server(place: Path) -> Iterator[Server]:
    with running(place) as found:
        yield found


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


def _end(agents: list[Agent]) -> None:
    for agent in agents:
        agent.kill()


@pytest.fixture(scope="module")
def owner(people: Street, server: Server, study: str) -> Owner:
    made = Owner(people.person("owner", server.url), server.url)
    made.log_in()
    made.study = study
    return made


@pytest.mark.parametrize("part", ["", "variables", "settings", "lobby", "progress", "audit", "result"])
def test_names_are_text_on_every_page_of_a_study(owner: Owner, part: str) -> None:
    owner.go(part)
    expect(owner.page.locator("h1")).to_be_visible()
    unharmed(owner.person)
    assert owner.person.wrong() == []


def test_names_are_text_in_the_list_of_studies_and_in_a_new_draft(owner: Owner, server: Server) -> None:
    owner.page.goto(f"{server.url}/studies")
    expect(owner.page.get_by_role("link", name=STUDY_NAME)).to_be_visible()
    unharmed(owner.person)
    owner.name_study(STUDY_NAME)
    owner.page.get_by_label("Name of variable 1", exact=True).fill(VARIABLES["age"])
    owner.page.get_by_label("Name of variable 2", exact=True).fill(VARIABLES["age"])
    owner.person.allowed.add(422)  # a name that is there twice is refused, and named
    owner.page.get_by_role("button", name="Save the variables").click()
    expect(owner.page.get_by_role("alert")).to_be_visible()
    unharmed(owner.person)
    assert owner.person.wrong() == []

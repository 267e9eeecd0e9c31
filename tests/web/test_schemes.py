"""Pages off the main path, and pages of results, in light and in dark: axe finds nothing, also where a form was filled in wrongly."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from consilience.web.security import POLICY
from tests.iod.report.helpers import small
from tests.system.processes import Server
from tests.web.browser import Person, Street, street
from tests.web.holder import Holder
from tests.web.owner import Owner
from tests.web.pages.result.cases import hostile
from tests.web.pages.result.stage import served, stage
from tests.web.process import App
from tests.web.visitor import at_app

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def people(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Street]:
    with street(tmp_path_factory.mktemp("street")) as made:
        yield made


def held_against_axe(person: Person, what: str) -> None:
    """In both schemes; colours do not fade from one to the other while they are looked at."""
    for scheme in ("light", "dark"):
        person.page.emulate_media(color_scheme=scheme)  # type: ignore[arg-type]
        person.audit(f"{what}, {scheme}")
        if folder := os.environ.get("CONSILIENCE_LOOK"):
            person.page.screenshot(path=f"{folder}/{what.replace(' ', '-').replace('/', '_')}-{scheme}.png", full_page=True)


def test_the_pages_of_the_server_off_the_main_path(server: Server, people: Street) -> None:
    person = people.person("ada", server.url)
    person.allowed |= {401, 404}
    page = person.page
    for path in ("/token", "/login", "/nothing"):
        page.goto(server.url + path)
        held_against_axe(person, path)
    page.goto(f"{server.url}/token")
    page.get_by_role("textbox").fill("wrong")
    page.get_by_role("main").get_by_role("button").click()
    page.get_by_role("alert").wait_for()
    held_against_axe(person, "a wrong token")
    Owner(person, server.url).log_in()
    page.goto(f"{server.url}/account")
    held_against_axe(person, "account")
    for label, text in (("The password you have", "x"), ("A new one", "a long enough password"), ("The new one again", "another one")):
        page.get_by_label(label, exact=True).fill(text)
    page.get_by_role("button", name="Change the password").click()
    page.get_by_role("alert").wait_for()
    held_against_axe(person, "a wrong password")
    page.goto(f"{server.url}/studies/0011223344556677")
    held_against_axe(person, "not found")
    assert person.wrong() == []


def test_results_in_both_schemes(people: Street) -> None:
    with served(stage({"small": small(), "hostile": hostile()})) as address:
        person = people.person("reader", address)
        for study in ("small", "hostile"):
            for path in ("?show=summary", "?show=1&pair=0-1", "?show=1&with=2", "/tests", "/conflicts", "/about"):
                person.page.goto(f"{address}/studies/{study}/result{path}")
                held_against_axe(person, f"{study}{path}")
        assert person.wrong() == []


def test_pages_of_the_app_that_are_not_there(people: Street, tmp_path: Path) -> None:
    (tmp_path / "data").mkdir()
    app = App("lost", tmp_path / "data", tmp_path)
    try:
        app.start()
        person = people.person("lost", app.address)
        person.allowed |= {403, 404}
        person.page.goto(f"{app.origin}/")
        held_against_axe(person, "locked")
        person.page.goto(app.address)
        person.page.wait_for_url(f"{app.origin}/")
        for path in ("/nothing", "/result", "/data"):
            person.page.goto(app.origin + path)
            held_against_axe(person, f"app{path}")
        assert person.wrong() == []
    finally:
        app.kill()


def test_the_pages_of_a_table_with_much_to_say(people: Street, tmp_path: Path) -> None:
    """What is refused, doubted, left out and noticed, and the report on it."""
    folder = tmp_path / "data"
    folder.mkdir()
    lines = [f"{61.5 + i};{0 if i % 7 == 0 else 180 + i};{'yes' if i % 2 else 'Yes '};P{i:04d};{i} mg/dl;{1 + i % 3}" for i in range(60)]
    (folder / "much.csv").write_text("age;chol;smoker;patient_id;crp;stage\n" + "\n".join(lines) + "\n", encoding="utf-8")
    app = App("much", folder, tmp_path)
    try:
        app.start()
        person = people.person("much", app.address)
        holder = Holder(person, app)
        holder.open()
        holder.choose("much.csv")
        for path in ("/columns", "/check", "/harmonise", "/reading"):
            person.page.goto(app.origin + path)
            held_against_axe(person, f"much{path}")
        person.page.goto(f"{app.origin}/check")
        for word in ("chol", "smoker", "crp"):
            assert word in person.page.get_by_role("main").inner_text()
        assert person.wrong() == []
    finally:
        app.kill()


def test_what_is_not_there_is_a_page_like_others(server: Server, tmp_path: Path) -> None:
    """With the policy, the style sheet and a way back; also where it is no page at all."""
    (tmp_path / "data").mkdir()
    app = App("lost", tmp_path / "data", tmp_path)
    try:
        app.start()
        visitor = at_app(app.address)
        replies = [
            visitor.get(path) for path in ("/nothing", "/columns/99", "/static/nothing.css", "/%00", "/..%2f..%2fetc/passwd", "/result/x")
        ]
        visitor.client.close()
    finally:
        app.kill()
    paths = ("/nothing", "/studies/x/y/z", "/static/nothing.css", "/static/%2e%2e/rendering.py", "/%00", "/Login")
    replies += [server.http.get(path, follow_redirects=False) for path in paths]
    for reply in replies:
        assert reply.status_code in (303, 404, 409), (reply.url, reply.status_code)
        assert reply.headers["content-security-policy"] == POLICY, reply.url
        assert reply.status_code != 404 or "/static/style.css" in reply.text, (reply.url, reply.text[:200])

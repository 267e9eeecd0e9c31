"""The whole path of a data holder without a mouse: all can be reached by Tab, is seen to have the focus, and answers to keys."""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path

import pytest
from playwright.sync_api import Locator, Page, expect

from consilience.web.trial_tables import synthetic_tables
from tests.system.processes import Server, declaration, enrol
from tests.web.browser import street
from tests.web.process import App

SEEN = """(element) => {
  const style = getComputedStyle(element);
  const outlined = style.outlineStyle !== "none" && parseFloat(style.outlineWidth) >= 2;
  const shape = element.ownerSVGElement && element.querySelector("rect, ellipse, path");
  return outlined || style.boxShadow !== "none" || (shape && parseFloat(getComputedStyle(shape).strokeWidth) >= 2);
}"""


class Keys:
    """A keyboard, and eyes for where the focus is."""

    def __init__(self, page: Page) -> None:
        self.page = page

    def reach(self, wanted: Locator, *, most: int = 80) -> None:
        """Press Tab until something has the focus, and see that it has."""
        expect(wanted).to_be_visible()
        for _ in range(most):
            self.page.keyboard.press("Tab")
            if wanted.evaluate("(element) => element === document.activeElement"):
                assert wanted.evaluate(SEEN), f"{wanted} does not show that it has the focus"
                return
        raise AssertionError(f"{wanted} cannot be reached by Tab on {self.page.url}")

    def to(self, role: str, name: str) -> None:
        self.reach(self.page.get_by_role(role, name=name, exact=True).first)  # type: ignore[arg-type]

    def press(self, role: str, name: str, key: str = "Enter") -> None:
        self.to(role, name)
        self.page.keyboard.press(key)

    def write(self, name: str, text: str) -> None:
        self.to("textbox", name)
        self.page.keyboard.insert_text(text)

    def title(self, words: str) -> None:
        expect(self.page.get_by_role("heading", level=1)).to_have_text(words)


@pytest.mark.slow
def test_a_data_holder_needs_no_mouse(server: Server, tmp_path: Path) -> None:
    tables = synthetic_tables(600).frames
    data = tmp_path / "data"
    data.mkdir()
    mine = tables["muenster"]
    mine.write_csv(data / "muenster.csv")
    body = declaration(tables)
    with ExitStack() as stack:
        study, agents = enrol(server, tmp_path / "others", {name: tables[name] for name in ("marburg", "mainz")}, body)
        for agent in agents:
            stack.callback(agent.kill)
            agent.start()
        invitation = server.do("POST", f"/studies/{study}/invitations", {"site": "muenster"})["invitation"]
        app = App("muenster", data, tmp_path)
        stack.callback(app.kill)
        people = stack.enter_context(street(tmp_path))
        person = people.person("holder", app.start().origin)
        keys = Keys(person.page)
        keys.page.goto(app.address)
        _table(keys)
        _study(keys, invitation)
        server.do("POST", f"/studies/{study}/start")
        assert server.wait(study) == "finished"
        _result(keys)
        assert person.wrong() == []


def _table(keys: Keys) -> None:
    keys.title("Take part in a study")
    keys.page.wait_for_load_state()
    keys.page.keyboard.press("Tab")  # the first stop leads past the navigation
    assert keys.page.evaluate("document.activeElement.textContent") == "Skip to the content"
    keys.page.keyboard.press("Enter")
    assert keys.page.evaluate("document.activeElement.id") == "main"
    keys.press("link", "Data")
    keys.title("Choose your data")
    keys.reach(keys.page.get_by_role("radio").first)
    keys.page.keyboard.press("Space")
    keys.press("button", "Use this file")
    keys.title("Check the columns")
    keys.press("link", "age")
    keys.title("Column age")
    keys.to("radio", "Decide from the values")
    keys.page.keyboard.press("ArrowDown")
    expect(keys.page.get_by_role("radio", name="Continuous")).to_be_checked()
    keys.press("button", "Save")
    keys.title("Check the columns")
    keys.press("button", "The columns are right: go on")


def _study(keys: Keys, invitation: str) -> None:
    keys.page.wait_for_url("**/join")
    keys.write("Paste the invitation", invitation)
    keys.press("button", "Join")
    keys.press("link", "Go on: does your table fit?")
    keys.title("Does your table fit the study?")
    keys.to("checkbox", "sbp")
    keys.page.keyboard.press("Space")
    keys.press("button", "Show what withholding does")
    expect(keys.page.get_by_text("Withheld", exact=True)).to_be_visible()
    keys.to("checkbox", "sbp")
    keys.page.keyboard.press("Space")
    keys.press("button", "Go on")
    keys.title("What will leave this site")
    keys.press("button", "Do the dry run")
    expect(keys.page.get_by_role("link", name="Go on to consent")).to_be_visible(timeout=60_000)
    keys.press("link", "Go on to consent")
    keys.write("Type the name of this site to agree", "muenster")
    keys.press("button", "I agree, and masked sums may leave this site")
    expect(keys.page.locator(".reference")).to_be_visible()
    keys.press("link", "Watch the run")
    keys.title("The run")


def _result(keys: Keys) -> None:
    """An edge is read and a variable moved; the way on leads to the tests."""
    keys.page.wait_for_url("**/result", timeout=60_000)
    node = keys.page.locator('[aria-label^="age. Arrow keys move it"]')
    keys.reach(node)
    before = node.bounding_box()
    keys.page.keyboard.press("Shift+ArrowRight")
    after = node.bounding_box()
    assert before is not None
    assert after is not None
    assert after["x"] > before["x"]
    keys.reach(keys.page.locator(".edge-table tbody a").first)
    keys.page.keyboard.press("Enter")
    expect(keys.page.locator("#details")).to_contain_text("p =")
    keys.reach(keys.page.get_by_label("Level α", exact=True))
    keys.page.keyboard.press("Control+A")
    keys.page.keyboard.insert_text("0.001")
    keys.page.keyboard.press("Enter")
    expect(keys.page.get_by_text("Decided anew at α = 0.001")).to_be_visible()

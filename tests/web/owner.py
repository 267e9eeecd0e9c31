"""What the owner of a study does on the server's pages, by the words on them."""

from __future__ import annotations

import re

from playwright.sync_api import expect

from consilience.data.kinds import Variable
from tests.system.processes import OWNER, PASSWORD
from tests.web.browser import Person
from tests.web.tables import STUDY

__all__ = ["Owner"]

SETS = [["age", "sbp", "stroke", "disability"], ["age", "sbp", "stroke", "disability", "drug"], ["age", "sbp", "stroke", "drug"]]


class Owner:
    """Somebody who knows the password of the server's first account."""

    def __init__(self, person: Person, server: str) -> None:
        self.person, self.page, self._server = person, person.page, server
        self.study = ""

    def log_in(self) -> None:
        self.page.goto(self._server)
        self.page.get_by_label("Name of the account").fill(OWNER)
        self.page.get_by_label("Password").fill(PASSWORD)
        self.page.get_by_role("button", name="Log in").click()
        expect(self.page.get_by_role("heading", name="Studies", level=1)).to_be_visible()

    def name_study(self, name: str) -> None:
        """A draft with a name, on the way to its variables by a form."""
        self.page.get_by_role("link", name="A new study").click()
        self.page.get_by_label("What is it called?").fill(name)
        self.page.get_by_label("By filling in a form").check()
        self.page.get_by_role("button", name="Make a draft").click()
        expect(self.page.get_by_role("heading", name="Variables", level=1)).to_be_visible()
        found = re.search(r"/studies/([0-9a-f]+)", self.page.url)
        assert found
        self.study = found[1]

    def declare(self) -> None:
        """The variables of the three hospitals, and which of them are measured together."""
        while self.page.get_by_label(f"Variable 1 is in set {len(SETS)}").count() == 0:
            self.page.get_by_role("button", name="One more set").click()
        while self.page.get_by_label(f"Name of variable {len(STUDY)}", exact=True).count() == 0:
            self.page.get_by_role("button", name="More rows").click()
        for i, variable in enumerate(STUDY.values(), start=1):
            self._declare_one(i, variable)

    def _declare_one(self, i: int, variable: Variable) -> None:
        self.page.get_by_label(f"Name of variable {i}", exact=True).fill(variable.name)
        self.page.get_by_label(f"Kind of variable {i}", exact=True).select_option(variable.kind.value)
        self.page.get_by_label(f"Levels of variable {i}", exact=True).fill(", ".join(variable.levels))
        for j, names in enumerate(SETS, start=1):
            self.page.get_by_label(f"Variable {i} is in set {j}", exact=True).set_checked(variable.name in names)

    def save_variables(self) -> None:
        self.page.get_by_role("button", name="Save the variables").click()
        expect(self.page.get_by_role("alert")).to_have_count(0)

    def order(self, *tiers: str) -> None:
        """What is known before the data: which variables come first."""
        self.go("settings")
        self.page.get_by_label("Tiers", exact=True).fill("\n".join(tiers))
        self.page.get_by_role("button", name="Save the settings").click()
        expect(self.page.get_by_role("alert")).to_have_count(0)

    def go(self, part: str = "") -> None:
        """To a page of the study: ``lobby``, ``settings``, ``progress``, ``audit``, ``result`` …"""
        self.page.goto(f"{self._server}/studies/{self.study}{'/' + part if part else ''}")

    def open(self) -> None:
        self.go()
        self.page.get_by_role("button", name="Open the study").click()
        expect(self.page.get_by_role("heading", name="Sites", level=1)).to_be_visible()

    def again(self) -> None:
        """A new draft of the study, which is the owner's study from then on."""
        self.go()
        self.page.get_by_text("Make a copy").click()
        self.page.get_by_role("button", name="Make a new draft").click()
        expect(self.page.get_by_role("button", name="Open the study")).to_be_visible()
        self.study = self.page.url.rpartition("/")[2]

    def level(self, alpha: str) -> None:
        """Another level of significance."""
        self.go("settings")
        self.page.get_by_label("Alpha", exact=True).fill(alpha)
        self.page.get_by_role("button", name="Save the settings").click()
        expect(self.page.get_by_role("alert")).to_have_count(0)

    def invite(self, site: str) -> str:
        self.go("lobby")
        self.page.get_by_label("Its name in the study").fill(site)
        self.page.get_by_role("button", name="Make an invitation").click()
        return self.page.get_by_label("The invitation", exact=True).input_value()

    def start(self) -> None:
        self.go("lobby")
        self.page.get_by_role("button", name=re.compile("Start with 3 sites")).click()
        expect(self.page.get_by_role("heading", name="Run", level=1)).to_be_visible()

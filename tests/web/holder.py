"""What a data holder does in the site's app, by the words on its pages."""

from __future__ import annotations

import re
from pathlib import Path

from playwright.sync_api import expect

from tests.web.browser import Person
from tests.web.process import App

__all__ = ["Holder"]


class Holder:
    """Somebody with a table, a browser and the app on their own machine."""

    def __init__(self, person: Person, app: App) -> None:
        self.person, self.page, self.app = person, person.page, app

    def open(self) -> None:
        """With the address that the app printed."""
        self.page.goto(self.app.address)
        expect(self.page.get_by_role("heading", level=1)).to_be_visible()
        self.page.wait_for_url(f"{self.app.origin}/")

    def go(self, path: str) -> None:
        self.page.goto(f"{self.app.origin}{path}")

    def title(self, words: str | re.Pattern[str]) -> None:
        """Wait for a page's heading."""
        expect(self.page.get_by_role("heading", level=1)).to_have_text(words)

    def choose(self, name: str) -> None:
        """A file of the folder."""
        self.go("/data")
        self.page.get_by_role("radio", name=name).check()
        self.page.get_by_role("button", name="Use this file").click()

    def upload(self, path: Path) -> None:
        """A file from elsewhere."""
        self.go("/data")
        self.page.get_by_label("A table", exact=True).set_input_files(path)
        self.page.get_by_role("button", name="Open this file").click()

    def leave_out(self, column: str) -> None:
        self.go("/columns")
        self.page.get_by_role("link", name=column, exact=True).click()
        self.page.get_by_label("Leave this column out").check()
        self.page.get_by_role("button", name="Save", exact=True).click()

    def spell(self, column: str, levels: dict[str, str]) -> None:
        """Give levels the study's spelling, on the column's own page."""
        self.go("/columns")
        self.page.get_by_role("link", name=column, exact=True).click()
        for label, spelling in levels.items():
            self.page.get_by_label(f"Spelling of {label}", exact=True).fill(spelling)
        self.page.get_by_role("button", name="Save", exact=True).click()
        expect(self.page.get_by_role("alert")).to_have_count(0)

    def column(self, name: str) -> None:
        """To the page of a column."""
        self.go("/columns")
        self.page.get_by_role("link", name=name, exact=True).click()
        self.title(f"Column {name}")

    def say(self, **fields: str) -> None:
        """Fill in fields of a column's page by their ids, and save."""
        numbers = self.page.locator("details:has(#unit)")
        if (
            numbers.count()
            and numbers.get_attribute("open") is None
            and set(fields) & {"strip", "decimal", "unit", "unit_to", "low", "high"}
        ):
            numbers.locator("summary").click()
        for field, value in fields.items():
            found = self.page.locator(f"#{field}")
            found.select_option(value) if field in ("date", "decimal", "analyte") else found.fill(value)
        self.page.get_by_role("button", name="Save", exact=True).click()

    def derive(self, name: str, expression: str) -> None:
        """A variable that is computed from others."""
        self.go("/harmonise")
        self.page.get_by_label("Name of the new variable").fill(name)
        self.page.get_by_label("Expression", exact=True).fill(expression)
        self.page.get_by_role("button", name="Add this variable").click()
        expect(self.page.get_by_role("alert")).to_have_count(0)

    def columns_are_right(self) -> None:
        self.go("/columns")
        self.page.get_by_role("button", name=re.compile("The columns are right")).click()

    def join(self, invitation: str) -> None:
        self.go("/join")
        self.page.get_by_label("Paste the invitation").fill(invitation)
        self.page.get_by_role("button", name="Join", exact=True).click()
        expect(self.page.get_by_text("Nothing of your data has been sent.")).to_be_visible()

    def fits(self) -> None:
        """Go on from the page on which the study's variables stand beside the columns."""
        self.go("/fit")
        self.page.get_by_role("button", name="Go on", exact=True).click()
        self.page.wait_for_url("**/leaving")

    def rehearse(self) -> None:
        self.go("/leaving")
        self.page.get_by_role("button", name="Do the dry run").click()
        expect(self.page.get_by_role("link", name="Download the document")).to_be_visible(timeout=60_000)

    def consent(self, site: str) -> str:
        """Agree, by typing the site's name; the reference."""
        self.go("/consent")
        self.page.get_by_label("Type the name of this site to agree").fill(site)
        self.page.get_by_role("button", name=re.compile("I agree")).click()
        return self.page.locator(".reference").inner_text()

    def download(self, words: str | re.Pattern[str]) -> bytes:
        """What a link on the page downloads."""
        with self.page.expect_download() as waiting:
            self.page.get_by_role("link", name=words).first.click()
        return waiting.value.path().read_bytes()

    def download_from(self, path: str, words: str | re.Pattern[str]) -> bytes:
        """What a link on another page downloads."""
        self.go(path)
        return self.download(words)

"""How sure and what would change, in a real browser: plots on hover under the policy of the pages, accessible, on a phone, dark as well."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser

from tests.iod.report.effected import effected
from tests.iod.report.sured import by_site, sured
from tests.iod.report.test_how_sure import SURE
from tests.web.pages.result.stage import served, stage
from tests.web.pages.result.test_browser import browser, opened

__all__ = ["browser"]

pytestmark = pytest.mark.slow
PAGES = ("?show=1", "/sure", "/effects")


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    found = replace(sured(**by_site()), effects=effected().effects)
    with served(stage({"s": found})) as at:
        yield f"{at}/studies/s/result"


def test_pointing_at_an_edge_shows_share_and_interval(browser: Browser, address: str) -> None:
    with opened(browser, f"{address}?show=1") as page:
        page.hover('.edge-table tr[data-pair="0-1"]')
        details = page.locator("#details")
        assert SURE in details.inner_text()
        plot = details.locator("dd svg.interval")
        assert plot.count() == 1
        box = plot.bounding_box()
        assert box is not None
        assert (round(box["width"]), round(box["height"])) == (110, 14)
        alive = details.locator("dd").all_inner_texts()
    with opened(browser, f"{address}?show=1&pair=0-1", script=False) as page:
        assert page.locator("#details dd").all_inner_texts() == alive
        assert page.locator("#details dd svg.interval").count() == 1


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("path", PAGES)
def test_no_violation_of_accessibility_and_nothing_wider_than_a_phone(browser: Browser, address: str, path: str, scheme: str) -> None:
    with opened(browser, f"{address}{path}", alive=path.startswith("?"), width=390) as page:
        page.emulate_media(color_scheme=scheme)
        assert page.evaluate("document.documentElement.scrollWidth") <= 390
        found = Axe().run(page)
        assert found.violations_count == 0, found.generate_report()

"""Headless Chromium, driven by Playwright, with ears: console errors, broken policies, requests to other hosts are what a test hears of."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import urlsplit

from axe_playwright_python.sync_playwright import Axe
from PIL import Image
from playwright.sync_api import BrowserContext, ConsoleMessage, Page, Playwright, Request, expect, sync_playwright

from tests.chromium import browser

expect.set_options(timeout=30_000)

__all__ = ["OPTIONS", "Person", "Street", "pictures", "street"]

OPTIONS = [
    *("--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-component-update", "--disable-sync", "--no-first-run"),
    *("--disable-dev-shm-usage", "--disable-extensions", "--no-proxy-server", "--force-color-profile=srgb", "--hide-scrollbars"),
]
LISTEN = """document.addEventListener("securitypolicyviolation", (event) =>
  console.error("policy broken: " + event.violatedDirective + " by " + event.blockedURI + " " + event.sample));"""
_STATUS = re.compile(r"Failed to load resource: the server responded with a status of (\d+)")
IMAGES = Path(__file__).parents[2] / "docs" / "images"
GUIDE = {
    **dict.fromkeys(("owner-variables", "owner-lobby", "owner-progress", "owner-result", "owner-another-alpha"), "wide-light"),
    **dict.fromkeys(("site-start", "site-broken", "site-columns", "site-column", "site-fit", "site-leaving", "site-consent"), "wide-light"),
    **dict.fromkeys(("site-reading", "site-column-ways", "site-harmonise", "site-check"), "wide-light"),
    "site-run": "tablet-dark",
    "site-result": "wide-dark",
}
"""The pictures that the guide shows, each in one of its four shapes."""
TALLEST = 1500
WIDTHS = {"wide": (1280, 900), "tablet": (820, 1100)}


def pictures() -> Path | None:
    """Where pictures of all pages go, if they are asked for (``CONSILIENCE_PICTURES=1``)."""
    return Path(__file__).parents[2] / "build" / "pictures" if os.environ.get("CONSILIENCE_PICTURES") else None


class Person:
    """Somebody at a browser of their own: a page, and everything that went wrong on it."""

    def __init__(self, name: str, context: BrowserContext, hosts: set[str]) -> None:
        self.name, self.context, self._hosts = name, context, hosts
        self.heard: list[str] = []
        self.elsewhere: list[str] = []
        self.allowed: set[int] = set()
        self.audited: dict[str, list[str]] = {}
        context.add_init_script(LISTEN)
        context.on("request", self._request)
        context.set_default_timeout(60_000)  # a machine that is busy with other tests is no failure
        self.page: Page = context.pages[0] if context.pages else context.new_page()
        self._listen(self.page)
        context.on("page", self._listen)

    def _listen(self, page: Page) -> None:
        page.on("console", self._console)
        page.on("pageerror", lambda error: self.heard.append(f"{page.url}: {error}"))

    def _console(self, message: ConsoleMessage) -> None:
        if message.type not in ("error", "warning"):
            return
        status = _STATUS.search(message.text)
        if status and int(status[1]) in self.allowed:
            return
        self.heard.append(f"{message.page.url if message.page else ''}: {message.text} ({message.location})")

    def _request(self, request: Request) -> None:
        parts = urlsplit(request.url)
        if parts.scheme in ("data", "blob", "about"):
            return
        if parts.netloc not in self._hosts:
            self.elsewhere.append(request.url)

    def may_visit(self, address: str) -> None:
        self._hosts.add(urlsplit(address).netloc)

    def audit(self, what: str) -> None:
        """Hold the page as it is against axe's rules (WCAG 2.1 AA and best practices)."""
        found = Axe().run(self.page)
        told = [
            f"{one['id']} ({one['impact']}): {one['help']}: " + "; ".join(node["html"][:160] for node in one["nodes"][:3])
            for one in found.response["violations"]
        ]
        self.audited[what] = told

    def see(self, what: str) -> None:
        """Look at a page once it is there: hold it against axe's rules, and take its pictures if they are asked for."""
        expect(self.page.get_by_role("heading", level=1)).to_be_visible()
        self.audit(what)
        folder = pictures()
        if folder is None:
            return
        folder.mkdir(parents=True, exist_ok=True)
        for shade in ("dark", "light"):
            self.page.emulate_media(color_scheme=shade)
            for width, (x, y) in WIDTHS.items():
                self.page.set_viewport_size({"width": x, "height": y})
                path = folder / f"{what}-{width}-{shade}.png"
                self.page.screenshot(path=path, full_page=True, animations="disabled")
                if GUIDE.get(what) == f"{width}-{shade}":
                    _shrink(path, IMAGES / f"{what}.png")
        self.page.set_viewport_size({"width": 1280, "height": 900})

    def wrong(self) -> list[str]:
        """Everything that went wrong in this browser."""
        audits = [f"{what}: {told}" for what, found in self.audited.items() for told in found]
        return [*self.heard, *(f"request to {url}" for url in self.elsewhere), *audits]


def _shrink(path: Path, to: Path) -> None:
    """A picture for a page of the documentation: the upper part of a long one, with as many colours as it needs."""
    with Image.open(path) as image:
        cut = image.convert("RGB").crop((0, 0, image.width, min(image.height, TALLEST)))
        to.parent.mkdir(parents=True, exist_ok=True)
        cut.quantize(64, method=Image.Quantize.MEDIANCUT, dither=Image.Dither.NONE).save(to, optimize=True)


class Street:
    """Many people, one browser program; each has a context of their own, which shares no cookie with another's."""

    def __init__(self, driver: Playwright, folder: Path) -> None:
        self._folder, self._driver = folder, driver
        self._browser = driver.chromium.launch(executable_path=browser(), args=OPTIONS)
        self.people: list[Person] = []
        self._kept: list[BrowserContext] = []

    def person(self, name: str, *addresses: str, **options: object) -> Person:
        """Somebody who may visit these addresses."""
        context = self._browser.new_context(ignore_https_errors=True, accept_downloads=True, reduced_motion="reduce", **options)  # type: ignore[arg-type]
        return self._added(name, context, addresses)

    def resident(self, name: str, profile: Path, *addresses: str) -> Person:
        """Somebody whose browser keeps a profile on disk, as most do; it can be searched when :meth:`leave` is over."""
        context = self._driver.chromium.launch_persistent_context(
            str(profile), executable_path=browser(), args=OPTIONS, ignore_https_errors=True, accept_downloads=True, reduced_motion="reduce"
        )
        self._kept.append(context)
        return self._added(name, context, addresses)

    def _added(self, name: str, context: BrowserContext, addresses: tuple[str, ...]) -> Person:
        found = Person(name, context, {urlsplit(address).netloc for address in addresses})
        self.people.append(found)
        return found

    def close(self) -> None:
        for context in self._kept:
            context.close()
        self._browser.close()


@contextmanager
def street(folder: Path) -> Iterator[Street]:
    """A browser for a while; nothing of it runs afterwards."""
    browser()
    with sync_playwright() as driver:
        made = Street(driver, folder)
        try:
            yield made
        finally:
            made.close()

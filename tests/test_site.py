"""The documentation as a site: built as ``make docs`` does, and looked at."""

from __future__ import annotations

import re
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
LOADS = {"script": "src", "link": "href", "img": "src", "iframe": "src", "source": "src", "video": "src"}
"""What a browser loads by itself, by the attribute that says from where."""

pytestmark = pytest.mark.slow


class Page(HTMLParser):
    """Links of a page, and what it loads."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.links, self.loaded, self.without_words = list[str](), list[str](), 0
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        said = dict(attrs)
        if tag == "a" and said.get("href"):
            self.links.append(str(said["href"]))
        if tag in LOADS and said.get(LOADS[tag]) and said.get("rel") not in ("index", "search", "next", "prev", "canonical"):
            self.loaded.append(str(said[LOADS[tag]]))
        if tag == "img" and not said.get("alt"):
            self.without_words += 1


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("site")
    command = [sys.executable, "-m", "sphinx", "-q", "-W", "--keep-going", "-b", "html", str(DOCS), str(folder)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return folder


@pytest.fixture(scope="module")
def pages(site: Path) -> dict[Path, Page]:
    return {path: Page(path.read_text(encoding="utf-8")) for path in sorted(site.rglob("*.html"))}


def test_nothing_is_loaded_from_elsewhere(site: Path, pages: dict[Path, Page]) -> None:
    assert len(pages) > 40
    for path, page in pages.items():
        for address in page.loaded:
            assert not urlsplit(address).scheme or address.startswith("data:"), (path.name, address)
            if not address.startswith("data:"):
                assert (path.parent / unquote(urlsplit(address).path)).exists(), (path.name, address)
    for sheet in site.rglob("*.css"):
        assert not re.search(r"url\(\s*['\"]?https?:|@import", sheet.read_text(encoding="utf-8")), sheet


def test_every_page_is_two_clicks_from_the_first(site: Path, pages: dict[Path, Page]) -> None:
    def reached(start: set[Path]) -> set[Path]:
        found = {
            (path.parent / unquote(urlsplit(link).path)).resolve()
            for path in start
            for link in pages[path].links
            if not urlsplit(link).scheme
        }
        return {path for path in found if path in pages}

    once = reached({site / "index.html"})
    of_markdown = {(site / path.relative_to(DOCS)).with_suffix(".html") for path in DOCS.rglob("*.md")}
    assert of_markdown <= set(pages)
    assert of_markdown - {site / "index.html"} <= once | reached(once)


def test_links_lead_somewhere(site: Path, pages: dict[Path, Page]) -> None:
    """Sphinx checks pages and headings; what it takes as it is are files and anchors in HTML."""
    for path, page in pages.items():
        for link in page.links:
            parts = urlsplit(link)
            if parts.scheme or not parts.path:
                continue
            assert (path.parent / unquote(parts.path)).exists(), (path.relative_to(site).as_posix(), link)


def test_pictures_have_words(pages: dict[Path, Page]) -> None:
    assert {path.name: page.without_words for path, page in pages.items() if page.without_words} == {}


def test_the_search_works_without_a_server(site: Path) -> None:
    """The index is a script, which a browser also loads from a folder; and it knows the words of the pages."""
    index = (site / "searchindex.js").read_text(encoding="utf-8")
    assert index.startswith("Search.setIndex(")
    assert "isol" in index, "isolation, as it is stemmed"
    assert 'src="searchindex.js"' in (site / "search.html").read_text(encoding="utf-8")

"""The pages as they stand in the repository, before a site is made of them: links, contents, pictures."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from urllib.parse import unquote, urlsplit

from markdown_it import MarkdownIt
from markdown_it.token import Token

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
BESIDE = [*sorted(ROOT.glob("*.md")), *sorted((ROOT / ".github").rglob("*.md")), ROOT / "tests" / "reference" / "README.md"]
PAGES = [*BESIDE, *sorted(DOCS.rglob("*.md"))]
LONG = 1500
"""Words, as ``wc -w`` counts them: what stands in tables and code, too."""
NAMED = {path.relative_to(ROOT).as_posix(): path for path in PAGES}


@cache
def tokens_of(text: str) -> tuple[Token, ...]:
    return tuple(MarkdownIt("commonmark").enable("table").parse(text))


def headings(text: str) -> list[tuple[int, str]]:
    """Level and words of each heading; what stands in code is none."""
    found = tokens_of(text)
    return [(int(token.tag[1]), found[at + 1].content) for at, token in enumerate(found) if token.type == "heading_open"]


@cache
def anchors(text: str) -> set[str]:
    """What headings are called in addresses, as forges do it and the site does.

    >>> sorted(anchors("# One test: `all` of it\\n\\n## Why?\\n\\n## Why?\\n"))
    ['one-test-all-of-it', 'why', 'why-1']
    """
    names: list[str] = []
    for _, words in headings(text):
        said = re.sub(r"!?\[([^\]]*)\](\([^)]*\))?", r"\1", words)
        name = re.sub(r"[^\w\- ]", "", said.lower()).replace(" ", "-")
        names.append(f"{name}-{names.count(name)}" if name in names else name)
    return set(names)


def addresses(text: str) -> Iterator[str]:
    """Where links lead and pictures come from, also those that are written in HTML."""
    for token in tokens_of(text):
        for child in (token, *(token.children or ())):
            yield from (str(value) for name in ("href", "src") if (value := child.attrGet(name)))
            if child.type in ("html_inline", "html_block"):
                yield from re.findall(r"(?:href|src)=[\"']([^\"']+)[\"']", child.content)


def leads_nowhere(text: str, page: Path) -> list[str]:
    """Relative links of a page that end at no file, or at no heading of it."""
    wrong = []
    for address in addresses(text):
        parts = urlsplit(address)
        if parts.scheme or parts.netloc:
            continue
        target = (page.parent / unquote(parts.path)).resolve() if parts.path else page
        if target != page and not (target.exists() and target.is_relative_to(ROOT)):
            wrong.append(address)
        elif parts.fragment and target.suffix == ".md":
            there = text if target == page else target.read_text(encoding="utf-8")
            wrong += [address] if unquote(parts.fragment) not in anchors(there) else []
    return wrong


def badly_formed(text: str) -> list[str]:
    """Links to elsewhere that no browser should follow; whether somebody answers there, nobody can see without a network."""
    wrong = []
    for address in addresses(text):
        parts = urlsplit(address)
        if not parts.scheme and not parts.netloc:
            continue
        host = parts.hostname or ""
        named = re.fullmatch(r"([a-z0-9]([a-z0-9-]*[a-z0-9])?\.)+[a-z]{2,}", host) is not None and not host.endswith(
            (".example", ".invalid")
        )
        if parts.scheme != "https" or not named or parts.username or re.search(r"[\s<>\"{}|\\^`]|%(?![0-9A-Fa-f]{2})", address):
            wrong.append(address)
    return wrong


def missing_contents(text: str) -> list[str]:
    """What a list of the sections, above the first of them, lacks; or has, and there is none."""
    sections = [words for level, words in headings(text) if level == 2]
    if len(text.split()) <= LONG:
        return []
    lines = text.splitlines()
    first = next(token.map[0] for token in tokens_of(text) if token.type == "heading_open" and token.tag == "h2" and token.map)
    above = "\n".join(lines[:first])
    linked = {
        address.removeprefix("#")
        for line in above.splitlines()
        if re.match(r"\s*[-*] ", line)
        for address in addresses(line)
        if address[0] == "#"
    }
    wanted = anchors("\n\n".join(f"## {words}" for words in sections))
    return sorted(wanted - linked) + sorted(f"no heading: {name}" for name in linked - anchors(text))


def wrong(look: Callable[[str], list[str]]) -> dict[str, list[str]]:
    """What is found on the pages, by page."""
    return {name: found for name, path in NAMED.items() if (found := look(path.read_text(encoding="utf-8")))}


def test_no_link_leads_nowhere() -> None:
    assert {name: found for name, path in NAMED.items() if (found := leads_nowhere(path.read_text(encoding="utf-8"), path))} == {}


def test_links_to_elsewhere_are_whole_and_encrypted() -> None:
    assert wrong(badly_formed) == {}


def test_long_pages_begin_with_their_contents() -> None:
    assert wrong(missing_contents) == {}


def test_pages_have_one_title_and_it_comes_first() -> None:
    of_docs = {path: headings(path.read_text(encoding="utf-8")) for path in DOCS.rglob("*.md") if path.name != "changelog.md"}
    assert [
        path.name for path, found in of_docs.items() if [level for level, _ in found[:1]] != [1] or [one for one, _ in found].count(1) != 1
    ] == []


def test_the_marks_are_explained_on_one_page() -> None:
    explained = [
        name
        for name, path in NAMED.items()
        if re.search(r"^\| *(arrowhead|`A <-> B` \| neither)", path.read_text(encoding="utf-8"), re.MULTILINE)
    ]
    assert explained == ["docs/pags.md"]


def test_what_is_wrong_is_found() -> None:
    page = DOCS / "page.md"
    links = (
        "[this](#that), [that](nothing.md), ![a picture](images/none.png), [it](index.md#no-such), <img src='none.svg'>, [right](#a-page)"
    )
    assert leads_nowhere(f"# A page\n\n{links}\n", page) == ["#that", "nothing.md", "images/none.png", "index.md#no-such", "none.svg"]
    assert leads_nowhere("```\n[code](none.md)\n```\n`[code](none.md)`\n", page) == []
    assert leads_nowhere("[out](../../elsewhere.md)\n", page) == ["../../elsewhere.md"]
    bad = [
        "http://python.org",
        "https://study.example/",
        "https://localhost/",
        "https://me@python.org/",
        "//python.org/x",
        "ftp://python.org/",
    ]
    assert badly_formed("\n".join(f"[x]({one})" for one in [*bad, "https://python.org/a%20b", "page.md"])) == bad
    long = "word " * LONG
    assert missing_contents(f"# T\n\n## One\n\n## Two `x`\n\n{long}") == ["one", "two-x"]
    assert missing_contents(f"# T\n\nFirst.\n\n- [1](#one), [2](#two-x)\n- [three](#three)\n\n## One\n\n## Two `x`\n\n{long}") == [
        "no heading: three"
    ]
    assert missing_contents(f"# T\n\n- [1](#one)\n- [2](#two)\n\n## One\n\n{long}\n\n## Two\n") == []
    assert missing_contents("# T\n\n## One\n\nshort\n") == []

"""The code of the pages: every block, what the comment above it says, and the commands that stand in blocks and in sentences."""

from __future__ import annotations

import ast
import re
import shlex
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from importlib.util import find_spec
from pathlib import Path

from markdown_it import MarkdownIt
from markdown_it.token import Token

ROOT = Path(__file__).parents[1]
BESIDE = ("README.md", "CONTRIBUTING.md", "SECURITY.md", "CHANGELOG.md")
DRAWN = ("text", "mermaid")
"""What is looked at and not run: drawings, and what programs print."""
DIRECTIVES = ("eval-rst", "include", "toctree", "image", "figure", "contents", "admonition", "note", "warning", "tip", "math")
"""Markup of the site, which its build runs (``tests/test_site.py``); a directive that shows code is none of these."""
PUNCTUATION = re.compile(r"[();<>|&]+")


@dataclass(frozen=True)
class Block:
    """A block of code.

    Attributes
    ----------
    page : str
        The page, from the root of the project.
    line : int
        Its first line, counted from 1.
    language : str
        What the fence says; ``indented`` for a block without a fence.
    text : str
        What stands in it.
    comment : str
        What the HTML comment directly above says; empty if there is none.
    """

    page: str
    line: int
    language: str
    text: str
    comment: str = ""

    @property
    def where(self) -> str:
        return f"{self.page}:{self.line}"

    @property
    def prompts(self) -> bool:
        return self.language in ("python", "pycon") and ">>>" in self.text

    @property
    def reason(self) -> str:
        """Why it is not run; empty if it is."""
        said = re.fullmatch(r"not run: (.+)", self.comment, re.DOTALL)
        return " ".join(said[1].split()) if said else ""

    @property
    def runner(self) -> str:
        """The test that runs it; empty if none is named."""
        said = re.fullmatch(r"run by (\S+)", self.comment)
        return said[1] if said else ""


def pages() -> list[Path]:
    return [*(ROOT / name for name in BESIDE), *sorted((ROOT / "docs").rglob("*.md"))]


@cache
def tokens_of(page: Path) -> list[Token]:
    return MarkdownIt("commonmark").parse(page.read_text(encoding="utf-8"))


def blocks_in(text: str, page: str = "") -> Iterator[Block]:
    """The blocks of a page.

    >>> [(block.line, block.language, block.reason) for block in blocks_in("<!-- not run: it needs root -->\\n```sh\\nls\\n```\\n")]
    [(2, 'sh', 'it needs root')]
    """
    yield from _blocks(MarkdownIt("commonmark").parse(text), page)


def _blocks(tokens: list[Token], page: str) -> Iterator[Block]:
    above: Token | None = None
    for token in tokens:
        if token.type in ("fence", "code_block"):
            assert token.map is not None
            begin = token.map[0]
            comment = ""
            if above is not None and above.type == "html_block" and above.map is not None and above.map[1] == begin:
                said = re.search(r"<!--\s*((?:(?!-->).)*?)\s*-->\s*\Z", above.content, re.DOTALL)
                comment = said[1] if said else ""
            yield Block(page, begin + 1, token.info.strip() if token.type == "fence" else "indented", token.content, comment)
        above = token


@cache
def blocks() -> tuple[Block, ...]:
    """All blocks of all pages."""
    return tuple(block for page in pages() for block in _blocks(tokens_of(page), page.relative_to(ROOT).as_posix()))


def lines_on(page: str, first: str) -> list[str]:
    """What is typed of the one block of a page whose first line begins so."""
    (found,) = (lines for block in blocks() if block.page == page and (lines := lines_of(block.text))[:1] and lines[0].startswith(first))
    return found


def spans() -> Iterator[tuple[str, str]]:
    """What stands as code in sentences and tables, each with its page."""
    for page in pages():
        for token in tokens_of(page):
            for child in token.children or ():
                if child.type == "code_inline":
                    yield page.relative_to(ROOT).as_posix(), " ".join(child.content.split())


def lines_of(text: str) -> list[str]:
    """The lines of a shell that do something, without their comments; one that ends in a backslash goes on in the next.

    >>> lines_of("# first\\nls \\\\\\n  -l  # all\\n")
    ['ls -l']
    """
    return [words for line in re.sub(r" *\\\n *", " ", text).splitlines() if (words := re.sub(r"(^|\s+)#( .*)?$", "", line).strip())]


def commands_of(line: str) -> Iterator[list[str]]:
    """The simple commands of a line, as words: without what is assigned before them, and where their output goes.

    >>> list(commands_of('study=$(consilience server study create "my study.toml" | tail -n 1) > there'))
    [['consilience', 'server', 'study', 'create', 'my study.toml'], ['tail', '-n', '1']]
    """
    split = shlex.shlex(line, posix=True, punctuation_chars=True)
    split.whitespace_split, split.commenters = True, ""
    found: list[list[str]] = [[]]
    redirected = False
    for word in split:
        if PUNCTUATION.fullmatch(word):
            redirected = "<" in word or ">" in word
            if not redirected:
                found.append([])
        elif redirected:
            redirected = False
        elif found[-1] or not re.fullmatch(r"(export|\w+=.*)", word):
            found[-1].append(word)
    return (words for words in found if words)


def reads(test: Path, page: str, seen: frozenset[Path] = frozenset()) -> bool:
    """Whether a test names a page's file, or a module of the tests that it imports does: who does not, runs nothing of it."""
    tree = ast.parse(test.read_text(encoding="utf-8"))
    name, docstrings = page.rpartition("/")[2], {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in docstrings and name in node.value.split("/"):
            return True
    imported = [node.module or "" for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)]
    for module in imported:
        found = find_spec(module) if module.startswith("tests.") else None
        place = Path(found.origin) if found is not None and found.origin is not None else test
        if place not in seen | {test} and reads(place, page, seen | {test}):
            return True
    return False

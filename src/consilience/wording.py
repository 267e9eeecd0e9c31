"""Small words that many sentences need."""

from __future__ import annotations

import re

__all__ = ["counted", "printable", "with_contents"]


def counted(count: int, noun: str) -> str:
    """A number of things.

    >>> counted(2, "variable"), counted(0, "test"), counted(1, "model")
    ('2 variables', '0 tests', '1 model')
    """
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"


def printable(text: str) -> str:
    r"""The text with everything escaped that would move a cursor, turn the writing round or end a line.

    >>> print(printable("Größe\x1b[2J\u2028"))
    Größe\x1b[2J\u2028
    """
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode("ascii") for c in text)


def with_contents(page: str) -> str:
    r"""A page in Markdown with links to its sections under its first paragraph, for pages that programs write and that are long.

    Anchors are those that forges and the documentation's site give to headings: small letters, without punctuation, hyphens for blanks.

    >>> print(with_contents("# Tea\n\nTwo kinds.\n\n## Green: cold\n\nYes.\n\n## `Black`\n"))
    # Tea
    <BLANKLINE>
    Two kinds.
    <BLANKLINE>
    - [Green: cold](#green-cold)
    - [`Black`](#black)
    <BLANKLINE>
    ## Green: cold
    <BLANKLINE>
    Yes.
    <BLANKLINE>
    ## `Black`
    <BLANKLINE>
    """
    title, first, rest = page.split("\n\n", 2)
    sections = {words: re.sub(r"[^\w -]", "", words.lower()).replace(" ", "-") for words in re.findall(r"^## (.+)$", rest, re.MULTILINE)}
    return "\n\n".join([title, first, "\n".join(f"- [{words}](#{anchor})" for words, anchor in sections.items()), rest])

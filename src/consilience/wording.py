"""Small words that many sentences need."""

from __future__ import annotations

__all__ = ["counted", "printable"]


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

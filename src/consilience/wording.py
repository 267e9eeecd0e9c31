"""Small words that many sentences need."""

from __future__ import annotations

__all__ = ["counted"]


def counted(count: int, noun: str) -> str:
    """A number of things.

    >>> counted(2, "variable"), counted(0, "test"), counted(1, "model")
    ('2 variables', '0 tests', '1 model')
    """
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"

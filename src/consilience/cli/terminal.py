"""What reaches a terminal. Names, messages and reasons come from servers, sites and files: none of them moves the cursor, turns the writing
round, hides a line or colours one. Styles are ours alone.

Every command prints through here, and a test holds it to that: whoever adds a command need not know which words are whose.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from typing import Any

from rich.console import Console, ConsoleOptions, RenderableType
from rich.segment import Segment

from consilience.wording import printable

__all__ = ["Terminal", "json_text", "say", "say_json", "say_lines"]

_NOT_PRINTABLE = re.compile(r"[^ -~\n]")


def _clean(text: str) -> str:
    return "\n".join(printable(line) for line in text.split("\n"))


class Terminal(Console):
    r"""A console of rich's that writes printable text, line ends, and the styles that were asked for.

    >>> import io
    >>> out = io.StringIO()
    >>> Terminal(file=out).print("Größe\x1b[2J", highlight=False)
    >>> print(out.getvalue(), end="")
    Größe\x1b[2J
    """

    def render(self, renderable: RenderableType, options: ConsoleOptions | None = None) -> Iterable[Segment]:
        """The parts of something to print, with what is not printable escaped."""
        for text, style, control in super().render(renderable, options):
            yield Segment(text if control else _clean(text), style, control)


def say(text: object) -> None:
    """Print one line for a program to read: no styles, no wrapping, and no second line."""
    print(printable(str(text)))


def say_lines(text: str) -> None:
    """Print lines that end as they end, without styles."""
    print(_clean(text), end="")


def json_text(value: Any) -> str:
    r"""JSON that can be shown: letters of all scripts as they are, what is not printable by its number, so that it reads back the same.

    >>> print(json_text({"name": "Größe\x9b2J"}))
    {
      "name": "Größe\u009b2J"
    }
    """
    return _NOT_PRINTABLE.sub(_numbered, json.dumps(value, indent=2, ensure_ascii=False))


def _numbered(found: re.Match[str]) -> str:
    return found[0] if found[0].isprintable() else json.dumps(found[0])[1:-1]


def say_json(value: Any) -> None:
    """Print a value as JSON."""
    print(json_text(value))

"""Reading forms. The framework's own parser writes large parts to disk; this one reads so much and no more, and writes nothing."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from urllib.parse import parse_qsl

from starlette.exceptions import HTTPException
from starlette.requests import Request

__all__ = ["Form", "Trouble", "read_form"]

MOST_BYTES = 1 << 20
MOST_FIELDS = 20_000
"""A table of 200 columns with 50 levels each is corrected in one form."""


@dataclass(frozen=True, slots=True)
class Trouble:
    """What is wrong with a field: its name, which is its id on the page, and a sentence with the way out. ``""`` is the form as a whole."""

    field: str
    words: str


class Form:
    """The fields of a form, as texts without space around them.

    >>> form = Form([("name", " Ada "), ("site", "a"), ("site", "b"), ("agree", "on")])
    >>> form.text("name"), form.text("nothing"), form.many("site"), form.flag("agree")
    ('Ada', '', ['a', 'b'], True)
    """

    def __init__(self, fields: Iterable[tuple[str, str]]) -> None:
        self._fields: dict[str, list[str]] = {}
        for name, value in fields:
            self._fields.setdefault(name, []).append(value)

    def text(self, name: str, most: int = 10_000) -> str:
        """The first value of a field, cut at ``most`` characters; empty if there is none."""
        return self.raw(name)[:most].strip()

    def raw(self, name: str) -> str:
        """The first value of a field as it came, with the space around it."""
        return self._fields.get(name, [""])[0]

    def many(self, name: str) -> list[str]:
        """All values of a field."""
        return [value.strip() for value in self._fields.get(name, [])]

    def flag(self, name: str) -> bool:
        """Whether a box is ticked, or a button of this name was the one that sent the form."""
        return name in self._fields

    def names(self) -> Sequence[str]:
        """The names of all fields."""
        return tuple(self._fields)


async def read_form(request: Request, most: int = MOST_BYTES) -> Form:
    """The form of a request; answers 413 or 415 if it is too long or none.

    >>> import asyncio
    >>> async def receive():
    ...     return {"type": "http.request", "body": b"site=M%C3%BCnster&agree=on", "more_body": False}
    >>> headers = [(b"content-type", b"application/x-www-form-urlencoded")]
    >>> form = asyncio.run(read_form(Request({"type": "http", "method": "POST", "headers": headers}, receive)))
    >>> form.text("site")
    'Münster'
    """
    if request.headers.get("content-type", "").partition(";")[0].strip().lower() != "application/x-www-form-urlencoded":
        raise HTTPException(415, "This page takes forms only.")
    body = b""
    async for part in request.stream():
        body += part
        if len(body) > most:
            raise HTTPException(413, f"A form may have {most:,} bytes; this one has more.")
    try:
        return Form(parse_qsl(body.decode("utf-8"), keep_blank_values=True, max_num_fields=MOST_FIELDS, errors="strict"))
    except ValueError:  # which is also what a text that is not UTF-8 raises
        raise HTTPException(400, "The form cannot be read. Load the page again and repeat it.") from None

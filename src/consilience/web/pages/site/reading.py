"""How the file was read: what was found out, and what its owner can say instead."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass, replace

from starlette.requests import Request
from starlette.responses import Response

from consilience.data.sources import Reading
from consilience.errors import ConsilienceError
from consilience.web.desk.origin import options_of
from consilience.web.desk.table import SiteTable
from consilience.web.desk.words import page_words
from consilience.web.forms import Form, Trouble
from consilience.web.pages.site.common import desk_of, form_of, page, see

__all__ = ["FIELDS", "change", "given_of", "reading_of", "show"]

FOUND_OUT = ("", "find it out")


@dataclass(frozen=True, slots=True)
class Field:
    """One thing that can be said of how a source is read. ``choices`` are (what a form sends, words); none for free text."""

    name: str
    label: str
    hint: str = ""
    choices: tuple[tuple[str, str], ...] = ()
    long: bool = False


_MARKS = (("point", "point"), ("comma", "comma"))
FIELDS = {
    field.name: field
    for field in (
        Field(
            "separator",
            "Between fields stands",
            choices=(
                FOUND_OUT,
                ("comma", "a comma"),
                ("semicolon", "a semicolon"),
                ("tab", "a tab"),
                ("bar", "a bar |"),
                ("space", "a space"),
            ),
        ),
        Field("decimal", "Decimal mark", choices=(FOUND_OUT, *_MARKS)),
        Field(
            "thousands",
            "Between thousands stands",
            choices=(FOUND_OUT, ("none", "nothing"), *_MARKS, ("apostrophe", "an apostrophe"), ("space", "a space")),
        ),
        Field("encoding", "Encoding", "Such as UTF-8 or windows-1252. Empty: it is found out."),
        Field(
            "missing",
            "Words and codes for “missing”",
            "In every column, besides the usual ones; several with semicolons between: k.A.; -9. A code of one column belongs on its page.",
        ),
        Field("sheet", "Sheet", "Of an Excel file: its name, or its number from 1."),
        Field("table", "Table", "Of a database, with its schema if it has one: cdm.person."),
        Field("query", "Or a query", "SQL that reads, one statement. It is asked as it stands.", long=True),
    )
}
_SIGNS = {
    "comma": ",",
    "semicolon": ";",
    "tab": "\t",
    "bar": "|",
    "space": " ",
    "point": ".",
    "apostrophe": "'",
    "none": "",
}
_WORDS = {sign: word for word, sign in _SIGNS.items()}


def reading_of(form: Form) -> Reading:
    r"""What a form says of how a source is read; what is left empty is found out.

    >>> found = reading_of(Form([("separator", "tab"), ("thousands", "none"), ("missing", "k.A.; -9")]))
    >>> found.separator, found.decimal, found.thousands, found.missing
    ('\t', None, '', ('k.A.', '-9'))
    """
    marks = {name: _SIGNS.get(form.text(name)) for name in ("separator", "decimal", "thousands")}
    texts = {name: form.text(name) or None for name in ("encoding", "sheet", "table", "query")}
    words = tuple(word.strip() for word in form.text("missing").split(";") if word.strip())
    return Reading(**marks, **texts, missing=words)


def given_of(form: Form) -> dict[str, str]:
    """What a form said, to be shown in it again."""
    return {name: form.text(name) for name in FIELDS}


def _given(reading: Reading) -> dict[str, str]:
    marks = {
        name: "" if (sign := getattr(reading, name)) is None else _WORDS.get(sign, "") for name in ("separator", "decimal", "thousands")
    }
    texts = {name: getattr(reading, name) or "" for name in ("encoding", "sheet", "table", "query")}
    return {**marks, **texts, "missing": "; ".join(reading.missing)}


async def show(request: Request) -> Response:
    """What was found out."""
    table = desk_of(request).table
    return see("/data") if table is None else _page(request, table, _given(table.origin.reading))


def _page(request: Request, table: SiteTable, given: Mapping[str, str], *troubles: Trouble) -> Response:
    fields = [FIELDS[name] for name in options_of(table.origin)]
    return page(request, "reading.html", "How the file was read", troubles=list(troubles), table=table, given=given, fields=fields)


async def change(request: Request) -> Response:
    """Read it again, as its owner says. What was decided about its columns is kept where it still fits."""
    form = await form_of(request)
    desk = desk_of(request)
    table = desk.table
    if table is None:
        return see("/data")
    origin = replace(table.origin, reading=reading_of(form))
    first = next(iter(options_of(origin)), "")
    try:
        desk.set_table(await asyncio.to_thread(SiteTable.of, origin, table.plan))
    except OSError as error:
        return _page(request, table, given_of(form), Trouble(first, f"{table.name} cannot be opened: {error.strerror}."))
    except ConsilienceError as error:
        words = page_words(error).replace(str(origin.path), table.name) if origin.path is not None else page_words(error)
        return _page(request, table, given_of(form), Trouble(first, words))
    return see("/reading")

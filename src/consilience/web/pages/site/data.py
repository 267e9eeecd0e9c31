"""Choosing the table: a file of the folder, which is read where it is, an upload, which stays in memory, or a database."""

from __future__ import annotations

import asyncio
from pathlib import Path
from urllib.parse import parse_qsl, urlsplit

from starlette.requests import Request
from starlette.responses import Response

from consilience.data.sources import SUFFIXES, suffix_of
from consilience.errors import ConsilienceError
from consilience.web.desk.origin import MOST_BYTES, Origin, listed_files
from consilience.web.desk.table import SiteTable
from consilience.web.desk.words import page_words
from consilience.web.forms import Form, Trouble
from consilience.web.pages.site.common import check, desk_of, form_of, page, see
from consilience.web.pages.site.reading import FIELDS, given_of, reading_of
from consilience.web.uploads import TooLargeError, read_upload

__all__ = ["ask", "choose", "forget", "show", "upload"]

ENDINGS = tuple(suffix for suffix in SUFFIXES if suffix != ".duckdb")
"""Of files that can be read from memory; the others say themselves that they cannot."""


async def show(request: Request) -> Response:
    """The files of the folder, a place for another, and one for a database."""
    return _page(request)


def _page(request: Request, *troubles: Trouble, form: Form | None = None, chosen: str = "", address: str = "") -> Response:
    desk = desk_of(request)
    files = [(path.name, path.stat().st_size, path.stat().st_mtime, path.is_dir()) for path in listed_files(desk.folder)]
    if not chosen and desk.table is not None and desk.table.origin.path is not None:
        chosen = desk.table.name
    return page(
        request,
        "data.html",
        "Choose your data",
        troubles=list(troubles),
        files=files,
        most=MOST_BYTES,
        given=given_of(form) if form is not None else {},
        where=troubles[0].field if troubles else "",
        fields=FIELDS,
        chosen=chosen,
        address=address,
        accept=",".join(ENDINGS),
    )


async def choose(request: Request) -> Response:
    """A file of the folder."""
    desk = desk_of(request)
    form = await form_of(request)
    wanted = form.raw("file")
    # by comparison with what is there, never by joining a path from what was sent
    found: Path | None = next((path for path in listed_files(desk.folder) if path.name == wanted), None)
    if found is None:
        return _page(request, Trouble("file", "Choose one of the files."), form=form)
    try:
        await _take(request, Origin(found.name, path=found, reading=reading_of(form)))
    except OSError as error:
        return _page(request, Trouble("file", f"{found.name} cannot be opened: {error.strerror}."), form=form, chosen=wanted)
    except ConsilienceError as error:
        return _page(request, Trouble("file", page_words(error).replace(str(found), found.name)), form=form, chosen=wanted)
    return see("/columns")


async def upload(request: Request) -> Response:
    """A file from elsewhere, streamed into memory."""
    form = Form(())
    try:
        found = await read_upload(request, most=MOST_BYTES, check=lambda sent: check(request, sent))
        form = found.form
        if not found.name:
            return _page(request, Trouble("upload", "Choose a file first."), form=form)
        if suffix_of(found.name) not in SUFFIXES:
            words = f"{found.name} is no table that this app reads: it must end in one of {', '.join(SUFFIXES)}."
            return _page(request, Trouble("upload", words), form=form)
        origin = Origin(found.name, content=found.content, reading=reading_of(form))
        del found
        await _take(request, origin)
    except TooLargeError as error:
        words = f"The file is larger than {error.most:,} bytes. Leave out columns that no study needs."
        return _page(request, Trouble("upload", words), form=form)
    except ConsilienceError as error:
        return _page(request, Trouble("upload", page_words(error)), form=form)
    return see("/columns")


async def ask(request: Request) -> Response:
    """A table or a query of a database."""
    form = await form_of(request)
    address = form.text("address", 2000)
    if not address:
        return _page(request, Trouble("address", "Give the address of the database, as in postgresql://user@host/name."), form=form)
    try:
        await _take(request, Origin(_called(address), address=address, reading=reading_of(form)))
    except ConsilienceError as error:
        # an address with a password in it is not even shown again
        return _page(request, Trouble("address", page_words(error)), form=form, address="" if _secret(address) else address)
    return see("/columns")


async def _take(request: Request, origin: Origin) -> None:
    desk = desk_of(request)
    desk.set_table(await asyncio.to_thread(SiteTable.of, origin, desk.configured_plan()))


def _called(address: str) -> str:
    """A database without whoever asks it."""
    try:
        parts = urlsplit(address)
        return f"{parts.scheme}://{parts.hostname or ''}{parts.path}"
    except ValueError:
        return "the database"


def _secret(address: str) -> bool:
    try:
        parts = urlsplit(address)
        return (
            parts.password is not None or any("pass" in key.lower() for key, _ in parse_qsl(parts.query)) or "@" in (parts.hostname or "")
        )
    except ValueError:
        return True


async def forget(request: Request) -> Response:
    """Take the table out of memory."""
    await form_of(request)
    desk_of(request).set_table(None)
    return see("/data")

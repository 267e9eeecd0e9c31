"""Choosing the table: a file of the folder, which is read where it is, or an upload, which stays in memory."""

from __future__ import annotations

import asyncio
from pathlib import Path

from starlette.requests import Request
from starlette.responses import Response

from consilience.errors import ConsilienceError
from consilience.web.desk.table import MOST_BYTES, SiteTable, listed_files, read_file, read_upload_bytes
from consilience.web.forms import Trouble
from consilience.web.pages.site.common import check, desk_of, form_of, page, see
from consilience.web.uploads import TooLargeError, read_upload

__all__ = ["choose", "forget", "show", "upload"]


async def show(request: Request) -> Response:
    """The files of the folder, and a place for another."""
    return _page(request)


def _page(request: Request, *troubles: Trouble) -> Response:
    desk = desk_of(request)
    files = [(path.name, path.stat().st_size, path.stat().st_mtime) for path in listed_files(desk.folder)]
    return page(request, "data.html", "Choose your data", troubles=list(troubles), files=files, most=MOST_BYTES)


async def choose(request: Request) -> Response:
    """A file of the folder."""
    desk = desk_of(request)
    wanted = (await form_of(request)).raw("file")
    # by comparison with what is there, never by joining a path from what was sent
    found: Path | None = next((path for path in listed_files(desk.folder) if path.name == wanted), None)
    if found is None:
        return _page(request, Trouble("file", "Choose one of the files."))
    try:
        frame = await asyncio.to_thread(read_file, found)
        desk.set_table(SiteTable(found.name, frame))
    except OSError as error:
        return _page(request, Trouble("file", f"{found.name} cannot be opened: {error.strerror}."))
    except ConsilienceError as error:
        return _page(request, Trouble("file", str(error).replace(str(found), found.name)))
    return see("/columns")


async def upload(request: Request) -> Response:
    """A file from elsewhere, streamed into memory."""
    desk = desk_of(request)
    try:
        found = await read_upload(request, most=MOST_BYTES, check=lambda form: check(request, form))
        if not found.name:
            return _page(request, Trouble("upload", "Choose a file first."))
        if not found.name.lower().endswith((".csv", ".parquet")):
            return _page(request, Trouble("upload", f"{found.name} is no table that this app reads: it must end in .csv or .parquet."))
        frame = await asyncio.to_thread(read_upload_bytes, found.content, found.name)
        desk.set_table(SiteTable(found.name, frame, copied=True))
    except TooLargeError as error:
        return _page(request, Trouble("upload", f"The file is larger than {error.most:,} bytes. Leave out columns that no study needs."))
    except ConsilienceError as error:
        return _page(request, Trouble("upload", str(error)))
    return see("/columns")


async def forget(request: Request) -> Response:
    """Take the table out of memory."""
    await form_of(request)
    desk_of(request).set_table(None)
    return see("/data")

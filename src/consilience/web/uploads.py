"""A file that comes with a form, into memory and never to disk.

The parsers at hand spool large files into a temporary folder, and then a hospital's data are on a disk that nobody thought of. This one
reads ``multipart/form-data`` (RFC 7578) as it comes: small fields first, one file, and no more than was allowed.
"""

from __future__ import annotations

import io
import re
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, field

from starlette.exceptions import HTTPException
from starlette.requests import Request

from consilience.web.forms import Form

__all__ = ["TooLargeError", "Upload", "read_upload"]

MOST_HEAD = 16 << 10
MOST_FIELD = 64 << 10
MOST_PARTS = 50
MOST_AROUND = MOST_PARTS * (MOST_FIELD + MOST_HEAD)
MOST_UNTOLD = 64 << 20
"""So much is kept of a file whose length was not said in front. Every browser says it; whoever does not cannot make us hold much."""
MOST_DISCARDED = 8 << 30
"""So much of a body that is too long is read and thrown away, so that the browser gets to see the answer: it does not look for one before
it has sent everything."""
_BOUNDARY = re.compile(r'boundary=(?:"([^"]{1,70})"|([^\s;]{1,70}))', re.IGNORECASE)
_NAME = re.compile(r'[;\s]name="([^"]*)"')
_FILE = re.compile(r'[;\s]filename="([^"]*)"')


class TooLargeError(Exception):
    """The file is larger than ``most`` bytes."""

    def __init__(self, most: int) -> None:
        super().__init__(f"The file is larger than {most:,} bytes.")
        self.most = most


@dataclass(slots=True)
class Upload:
    """The file's name as the browser says it (text to show, never a path to open), its bytes, and the fields that came before it."""

    name: str = ""
    content: bytes = field(default=b"", repr=False)  # data have no place in a message about an error
    form: Form = field(default_factory=lambda: Form(()))


async def read_upload(request: Request, *, most: int, check: Callable[[Form], None]) -> Upload:
    """The one file of a form. ``check`` sees the fields before the first byte of the file is kept: the token must be in front of it.

    :class:`TooLargeError` says that the file is too large; what is no such form is answered with 400 or 415.
    """
    kind = request.headers.get("content-type", "")
    found = _BOUNDARY.search(kind)
    if kind.partition(";")[0].strip().lower() != "multipart/form-data" or found is None:
        raise HTTPException(415, "This page takes a form with a file.")
    body = _Body(request.stream(), (found[1] or found[2]).encode("latin-1"))
    length = request.headers.get("content-length", "")
    if not length.isdecimal():
        most = min(most, MOST_UNTOLD)
    try:
        if length.isdecimal() and int(length) > most + MOST_AROUND:  # it says so itself: nothing of it is kept, not even for a moment
            raise TooLargeError(most)
        return await _read(body, most, check)
    except TooLargeError:
        await body.discard()
        raise


async def _read(body: _Body, most: int, check: Callable[[Form], None]) -> Upload:
    upload, fields = Upload(), list[tuple[str, str]]()
    await body.open()
    for _ in range(MOST_PARTS):
        head = (await body.head()).decode("utf-8", "replace")
        called, file = _NAME.search(head), _FILE.search(head)
        if called is None:
            raise HTTPException(400, "A part of the form has no name.")
        if file is None:
            value, last = await body.part(MOST_FIELD)
            fields.append((called[1], value.decode("utf-8", "replace")))
        else:
            upload.form = Form(fields)
            check(upload.form)
            upload.name = file[1].replace("\\", "/").rpartition("/")[2][:255]
            upload.content, _ = await body.part(most)
            return upload
        if last:
            upload.form = Form(fields)
            check(upload.form)
            return upload
    raise HTTPException(400, f"A form may have {MOST_PARTS} parts.")


class _Body:
    """A multipart body, read part by part. At most a boundary's length of it is held back beside what was kept."""

    def __init__(self, stream: AsyncIterator[bytes], boundary: bytes) -> None:
        self._stream, self._mark = stream, b"\r\n--" + boundary
        self._buffer = bytearray(b"\r\n")  # the first boundary has no line end before it

    async def _more(self) -> None:
        async for chunk in self._stream:
            if chunk:
                self._buffer += chunk
                return
        raise HTTPException(400, "The form ended before its end; the connection was cut.")

    async def _until(self, mark: bytes, most: int) -> bytes:
        """What comes before ``mark``, which is taken away as well."""
        while (at := self._buffer.find(mark)) < 0:
            if len(self._buffer) > most:
                raise HTTPException(400, "The form is not one that a browser sends.")
            await self._more()
        found = bytes(self._buffer[:at])
        del self._buffer[: at + len(mark)]
        return found

    async def open(self) -> None:
        """Go to the first part."""
        await self._until(self._mark, MOST_HEAD)
        await self._until(b"\r\n", MOST_HEAD)

    async def head(self) -> bytes:
        """The headers of a part."""
        return await self._until(b"\r\n\r\n", MOST_HEAD)

    async def part(self, most: int) -> tuple[bytes, bool]:
        """A part's content, and whether it was the last one."""
        # this kind of buffer hands its bytes over at the end, where others would copy them: a file is held once, however large
        into = io.BytesIO()
        while (at := self._buffer.find(self._mark)) < 0:
            # the end of the buffer may be the beginning of a boundary
            self._move(into, max(0, len(self._buffer) - len(self._mark) + 1), most)
            await self._more()
        self._move(into, at, most)
        del self._buffer[: len(self._mark)]
        last = (await self._until(b"\r\n", MOST_HEAD)).startswith(b"--")
        return into.getvalue(), last

    def _move(self, into: io.BytesIO, count: int, most: int) -> None:
        with memoryview(self._buffer) as view:
            into.write(view[:count])
        del self._buffer[:count]
        if into.tell() > most:
            raise TooLargeError(most)

    async def discard(self) -> None:
        """Read the rest and keep nothing of it."""
        self._buffer.clear()
        seen = 0
        async for chunk in self._stream:
            seen += len(chunk)
            if seen > MOST_DISCARDED:
                return

"""A study's result, as whoever takes it from a server reads it: data, and the report and the tables are made of it where they are opened.

A server that lies has the reader's screen otherwise: a page of its own making, opened from the reader's own disk, with whatever it likes in
it. So nothing is written as it came but the JSON, and that only if it is a result. A site holds it against its contract besides
(:mod:`consilience.service.agent.result`).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from consilience.iod import Discovery
from consilience.service.errors import ResultError
from consilience.service.fetching import MOST_WORDS, read_json
from consilience.service.result_files import marked
from consilience.sheets import frame_csv
from consilience.wording import printable

__all__ = ["MOST_BYTES", "files_of", "read_told", "readable"]

MOST_BYTES = 256 << 20
"""The largest document taken, the same bound as for messages: a server cannot fill the reader's memory."""


def read_told(body: bytes, study: str, way_out: str) -> dict[str, Any]:
    """What the JSON of a result says, if it is one of this study; ``way_out`` is whom to ask if not.

    >>> read_told(b'{"study": {"id": "1"}}', "2", "Ask its owner.")
    Traceback (most recent call last):
    consilience.service.errors.ResultError: The server's result must be that of the study 2; it is not. Nothing was written. Ask its owner.
    """
    try:
        told = read_json(body)
    except (ValueError, UnicodeDecodeError) as error:
        raise ResultError(f"The server's result must be JSON; it cannot be read: {_short(error)}. Nothing was written. {way_out}") from None
    head = told.get("study") if isinstance(told, dict) else None
    if not isinstance(told, dict) or not isinstance(head, Mapping) or head.get("id") != study:
        raise ResultError(f"The server's result must be that of the study {printable(study)}; it is not. Nothing was written. {way_out}")
    return told


@contextmanager
def readable(way_out: str) -> Iterator[None]:
    """Whatever breaks on data from outside says that they are no result."""
    try:
        yield
    except MemoryError:  # the reader's room
        raise
    except Exception as error:
        raise ResultError(
            f"The server's result is not one ({type(error).__name__}: {_short(error)}). Nothing was written. {way_out}"
        ) from error


def files_of(body: bytes, told: Mapping[str, Any], found: Discovery) -> dict[str, bytes]:
    """The files of a result: the JSON as it came; its tests and its report, made here. At the report's head stands who has withdrawn."""
    withdrawn = [printable(one[:MOST_WORDS]) for one in told["study"].get("withdrawn", [])]
    page, table = found.to_html().encode("utf-8", "replace"), frame_csv(found.tests).encode("utf-8", "replace")
    return {"result.json": body, "tests.csv": table, "report.html": marked("report.html", page, withdrawn) if withdrawn else page}


def _short(error: Exception) -> str:
    return printable(" ".join(str(error).split())).rstrip(".")[:300]

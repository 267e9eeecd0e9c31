"""What a server says over REST, read up to a bound: how long it is, is the server's word, and so is what a packed body unpacks to."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Iterator
from typing import Any

import httpx

from consilience.service.errors import UnreachableError
from consilience.wording import printable

__all__ = ["MOST_ANSWER", "MOST_WORDS", "bounded", "bounded_async", "get_json", "message_of", "read_json"]

MOST_ANSWER = 4 << 20
"""Bytes of an answer that is no document: a study, or why something was not done. A study is declared with a quarter of it at most."""
MOST_WORDS = 1000
"""Characters of what a server says that are shown."""
MOST_BRACKETS = 1 << 22
"""Lists and objects in JSON. Each takes some hundred bytes once it is read, and two to be sent: they are counted before."""
MOST_COMMAS = 1 << 26


def bounded(parts: Iterator[bytes], where: str, most: int = MOST_ANSWER) -> bytes:
    """The parts put together, counted as they come.

    >>> bounded(iter([b"ab", b"c"]), "it")
    b'abc'
    >>> bounded(iter([b"ab", b"c"]), "it", 2)
    Traceback (most recent call last):
    consilience.service.errors.UnreachableError: it has more than 2 bytes, which no answer of a study server has.
    """
    found = bytearray()
    for part in parts:
        found += part
        if len(found) > most:
            raise _too_long(where, most)
    return bytes(found)


async def bounded_async(parts: AsyncIterator[bytes], where: str, most: int = MOST_ANSWER) -> bytes:
    """As :func:`bounded`, for parts that are waited for."""
    found = bytearray()
    async for part in parts:
        found += part
        if len(found) > most:
            raise _too_long(where, most)
    return bytes(found)


def _too_long(where: str, most: int) -> UnreachableError:
    return UnreachableError(f"{where} has more than {most} bytes, which no answer of a study server has.")


def read_json(body: bytes) -> Any:
    """JSON whose parts are counted before any is made; ValueError if it is none, or has more than any answer.

    >>> read_json(b'{"a": [1]}')
    {'a': [1]}
    >>> read_json(b"[" * 100_000)
    Traceback (most recent call last):
    ValueError: it is nested too deeply
    """
    brackets, commas = body.count(b"[") + body.count(b"{"), body.count(b",")
    if brackets > MOST_BRACKETS or commas > MOST_COMMAS:
        raise ValueError(f"it has {max(brackets, commas):,} parts; up to {MOST_BRACKETS:,} lists and objects are read")
    try:
        return json.loads(body)
    except RecursionError:
        raise ValueError("it is nested too deeply") from None


def get_json(client: httpx.Client, url: str, token: str = "") -> Any:
    """What stands at an address; :class:`UnreachableError` if that is not what a study server says."""
    headers = {"Authorization": f"Bearer {token}"} if token else {}
    try:
        with client.stream("GET", url, headers=headers) as reply:
            reply.raise_for_status()
            return read_json(bounded(reply.iter_bytes(), url))
    except (httpx.HTTPError, ValueError) as error:
        raise UnreachableError(
            f"{url} does not answer as a study server: {printable(str(error))}. Check the network, and try again."
        ) from None


def message_of(status: int, body: bytes) -> str:
    r"""What a server says of why it does not do something, printable; its status if it says nothing that can be read.

    >>> message_of(403, b'{"message": "no\\u001b[2J"}'), message_of(502, b"<html>")
    ('no\\x1b[2J', 'status 502')
    """
    try:
        return printable(str(read_json(body)["message"])[:MOST_WORDS])
    except (ValueError, KeyError, TypeError):
        return f"status {status}"

"""What a worker is asked for and what it tells, as bytes on a pipe: a length, then MessagePack. No code travels."""

from __future__ import annotations

from typing import IO, TypeAlias

import msgspec

from consilience.service.tests_done import TestsDone
from consilience.typed import msgpack_decoder

__all__ = ["Complete", "Found", "Order", "Problem", "Redecide", "Redecided", "Search", "Stage", "Told", "Wanted", "read", "write"]

LENGTH_BYTES = 8


class Search(msgspec.Struct, frozen=True, tag="search"):
    """Graphs for a study, and its documents. Where ``asking``, what was not tested is asked for; else it counts as unknown.

    ``results`` are the study's results as the store has them.
    """

    contract: bytes
    results: list[bytes]
    done: TestsDone
    asking: bool


class Complete(msgspec.Struct, frozen=True, tag="complete"):
    """A result (``result.json``) with the effects that its study asks for, from the estimates that are there, and its documents."""

    contract: bytes
    result: bytes
    done: TestsDone
    asking: bool


class Redecide(msgspec.Struct, frozen=True, tag="redecide"):
    """A result (``result.json``) at another level, in so many seconds at most."""

    result: bytes
    alpha: float
    seconds: float


class Stage(msgspec.Struct, frozen=True, tag="stage"):
    """What is being done, in words."""

    words: str


class Found(msgspec.Struct, frozen=True, tag="found"):
    """The documents of a result, and what is said of it in events. ``tired``: something of the work still goes on in this process."""

    documents: list[tuple[str, bytes]]
    graphs: int
    tests: int
    headline: str
    tired: bool


class Redecided(msgspec.Struct, frozen=True, tag="redecided"):
    """A result decided again, as JSON."""

    result: bytes
    tired: bool


class Wanted(msgspec.Struct, frozen=True, tag="wanted"):
    """Tests without which the search does not go on; or, with a ``result`` that lacks nothing else, estimates of effects."""

    questions: list[tuple[str, str, tuple[str, ...]]]
    tired: bool
    result: bytes = b""


class Problem(msgspec.Struct, frozen=True, tag="problem"):
    """Why there is nothing: in words for people, and where in the program it was if that is a defect."""

    words: str
    trace: str = ""


Order: TypeAlias = Search | Complete | Redecide
Told: TypeAlias = Stage | Found | Redecided | Wanted | Problem

_order: msgspec.msgpack.Decoder[Order] = msgpack_decoder(Order)
_told: msgspec.msgpack.Decoder[Told] = msgpack_decoder(Told)


def write(stream: IO[bytes], message: Order | Told) -> None:
    """One message, whole."""
    body = msgspec.msgpack.encode(message)
    stream.write(len(body).to_bytes(LENGTH_BYTES, "big"))
    stream.write(body)
    stream.flush()


def read(stream: IO[bytes], *, order: bool = False) -> Order | Told | None:
    """The next message; None at the end of the stream, also where it ends within a message.

    >>> import io
    >>> pipe = io.BytesIO()
    >>> write(pipe, Stage("solving"))
    >>> _ = pipe.seek(0)
    >>> read(pipe), read(pipe)
    (Stage(words='solving'), None)
    """
    head = stream.read(LENGTH_BYTES)
    if len(head) < LENGTH_BYTES:
        return None
    size = int.from_bytes(head, "big")
    body = stream.read(size)
    if len(body) < size:
        return None
    return _order.decode(body) if order else _told.decode(body)

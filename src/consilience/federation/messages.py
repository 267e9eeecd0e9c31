"""What travels between the server and a site, as typed, versioned messages."""

from __future__ import annotations

import msgspec

from consilience.citest.requests import Evaluate, LocalTests, Locate, Products, Survey

__all__ = ["VERSION", "Announced", "RoundRequest", "encode_message"]

VERSION = 1
_encoder = msgspec.msgpack.Encoder()


class Announced(msgspec.Struct, frozen=True, array_like=True):
    """What the survey said of a variable set: how many sites contribute, how many rows there are."""

    variables: tuple[str, ...]
    contributors: int
    rows: int


class RoundRequest(msgspec.Struct, frozen=True):
    """One round: its run and number, the digest of the roster it is for, and the question itself.

    ``announced`` repeats the survey's sums for the variable sets that this round first touches, so that a site can hold them
    against the study's limits.
    """

    run: bytes
    round: int
    roster: bytes
    body: Survey | Locate | Products | Evaluate | LocalTests
    announced: tuple[Announced, ...] = ()
    version: int = VERSION


def encode_message(message: msgspec.Struct) -> bytes:
    """A message as it travels (MessagePack).

    >>> len(encode_message(Announced(("A", "C"), 3, 120)))
    8
    """
    return _encoder.encode(message)

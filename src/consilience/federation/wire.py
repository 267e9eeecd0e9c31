"""What is said between a study server and a site during a run, as bytes and back. No sockets in here.

A message is a MessagePack map with a tag, checked against its type when it is decoded. It travels in frames: one byte that says
whether more follow, then at most :data:`FRAME_BYTES` of the message. So a WebSocket never has to accept more than a frame at a time,
however long an answer is, and each side stops reading when a message grows longer than what it has asked for.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import msgspec

from consilience.federation.messages import RoundRequest
from consilience.protocol.errors import MessageFormatError, MessageSizeError
from consilience.secagg import SignedKey

__all__ = [
    "FRAME_BYTES",
    "Answer",
    "Assembler",
    "Entered",
    "KeyAsk",
    "KeyOffer",
    "KeySet",
    "Refused",
    "Round",
    "RunMessage",
    "RunReply",
    "decode_wire",
    "encode_wire",
    "frames",
]

FRAME_BYTES = 1 << 20
"""Payload of a frame."""
_LAST, _MORE = b"\x00", b"\x01"
_encoder = msgspec.msgpack.Encoder()


class KeyAsk(msgspec.Struct, frozen=True, tag="key?", forbid_unknown_fields=True):
    """To a site: offer a fresh key for this run."""

    run: bytes


class KeyOffer(msgspec.Struct, frozen=True, tag="key", forbid_unknown_fields=True):
    """From a site: the public half of its key for a run, signed by its identity."""

    run: bytes
    identity: bytes
    x25519: bytes
    signature: bytes

    def signed(self) -> SignedKey:
        """The key; ``KeyFormatError`` if a part has the wrong length."""
        return SignedKey(self.identity, self.x25519, self.run, self.signature)


class KeySet(msgspec.Struct, frozen=True, tag="keys", forbid_unknown_fields=True):
    """To a site: the keys of all sites of a run."""

    run: bytes
    keys: tuple[KeyOffer, ...]


class Entered(msgspec.Struct, frozen=True, tag="entered", forbid_unknown_fields=True):
    """From a site: it shares a secret with each of the others."""

    run: bytes


class Round(msgspec.Struct, frozen=True, tag="round", forbid_unknown_fields=True):
    """To a site: a question."""

    request: RoundRequest


class Answer(msgspec.Struct, frozen=True, tag="answer", forbid_unknown_fields=True):
    """From a site: its masked part of a sum."""

    run: bytes
    round: int
    data: bytes


class Refused(msgspec.Struct, frozen=True, tag="refused", forbid_unknown_fields=True):
    """From a site: why it does not do what it was asked; ``error`` is the name of the exception."""

    error: str
    message: str


RunMessage = KeyAsk | KeySet | Round
RunReply = KeyOffer | Entered | Answer | Refused


def encode_wire(message: msgspec.Struct) -> bytes:
    r"""A message as bytes.

    >>> encode_wire(KeyAsk(b"r"))
    b'\x82\xa4type\xa4key?\xa3run\xc4\x01r'
    """
    return _encoder.encode(message)


def decode_wire(data: bytes, decoder: msgspec.msgpack.Decoder[Any]) -> Any:
    """A message from bytes, or :class:`MessageFormatError`.

    >>> decode_wire(encode_wire(KeyAsk(b"r")), msgspec.msgpack.Decoder(RunMessage))
    KeyAsk(run=b'r')
    """
    try:
        return decoder.decode(data)
    except (msgspec.DecodeError, RecursionError, ValueError, OverflowError) as error:
        detail = str(error)[:200]
        raise MessageFormatError(f"A message must be MessagePack of a known type and version; got {len(data)} bytes: {detail}.") from None


def frames(data: bytes) -> Iterator[bytes]:
    """The frames of a message, in order.

    >>> [len(f) for f in frames(bytes(FRAME_BYTES + 1))]
    [1048577, 2]
    """
    for start in range(0, max(len(data), 1), FRAME_BYTES):
        last = start + FRAME_BYTES >= len(data)
        yield (_LAST if last else _MORE) + data[start : start + FRAME_BYTES]


class Assembler:
    r"""Puts frames together again, up to ``limit`` bytes a message.

    >>> assembler = Assembler(limit=10)
    >>> assembler.feed(b"\x01hello ") is None, assembler.feed(b"\x00you")
    (True, b'hello you')
    >>> assembler.feed(b"\x00" + bytes(11))
    Traceback (most recent call last):
    consilience.protocol.errors.MessageSizeError: A message may have 10 bytes here; got 11 or more.
    """

    def __init__(self, limit: int) -> None:
        self.limit = limit
        self._parts: list[bytes] = []
        self._size = 0

    def feed(self, frame: bytes) -> bytes | None:
        """Take a frame; the whole message if it was the last one."""
        if frame[:1] not in (_LAST, _MORE) or (frame[:1] == _MORE and len(frame) == 1):
            raise MessageFormatError("A frame must begin with 0 (last) or 1 (more follow) and, if more follow, hold something.")
        self._size += len(frame) - 1
        if self._size > self.limit:
            raise MessageSizeError(f"A message may have {self.limit} bytes here; got {self._size} or more.")
        self._parts.append(frame[1:])
        if frame[:1] == _MORE:
            return None
        message = b"".join(self._parts)
        self._parts, self._size = [], 0
        return message

"""Messages as bytes, in frames, and back. No sockets in here.

A message is a MessagePack map with a tag, checked against its type when it is decoded. It travels in frames: one byte that says
whether more follow, then at most :data:`FRAME_BYTES` of the message. So a WebSocket never has to accept more than a frame at a time,
however long an answer is, and each side stops reading when a message grows longer than what it has asked for.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import msgspec

from consilience.protocol.errors import MessageFormatError, MessageSizeError

__all__ = ["FRAME_BYTES", "Assembler", "decode", "encode", "frames"]

FRAME_BYTES = 1 << 20
"""Payload of a frame: the most that a socket takes in before anybody has looked at it."""
# Frames of our own, though WebSockets have fragments: libraries put fragments together before anybody can look, up to one limit for all
# messages, while the length that may come here differs from question to question.
_LAST, _MORE = b"\x00", b"\x01"
_encoder = msgspec.msgpack.Encoder()


def encode(message: msgspec.Struct) -> bytes:
    r"""A message as bytes (MessagePack).

    >>> class Greeting(msgspec.Struct, tag="hi"):
    ...     name: str
    >>> encode(Greeting("a"))
    b'\x82\xa4type\xa2hi\xa4name\xa1a'
    """
    return _encoder.encode(message)


def decode(data: bytes, decoder: msgspec.msgpack.Decoder[Any]) -> Any:
    r"""A message from bytes, or :class:`MessageFormatError`.

    >>> decode(b"\x93", msgspec.msgpack.Decoder(dict))  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    consilience.protocol.errors.MessageFormatError: A message must be MessagePack of a known type and version; got 1 bytes: ...
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

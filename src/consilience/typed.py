"""Data of a declared type, from bytes and from plain values: the one place that asks msgspec for it.

The first time that msgspec reads a type, it works out a plan for it and keeps it with the type. While that goes on in one thread, another
that reads the same type finds half a plan, and the process ends with a segmentation fault (msgspec 0.22, and those before). So plans are
worked out here, one at a time, before anything is read with them; a type that was read before costs a look into a dictionary.
"""

from __future__ import annotations

from threading import RLock
from typing import Any, TypeVar

import msgspec

__all__ = ["from_json", "from_msgpack", "from_plain", "json_decoder", "msgpack_decoder"]

T = TypeVar("T")
_lock = RLock()
_json: dict[Any, msgspec.json.Decoder[Any]] = {}
_msgpack: dict[Any, msgspec.msgpack.Decoder[Any]] = {}


def json_decoder(kind: Any) -> msgspec.json.Decoder[Any]:
    """The decoder of a type from JSON, one for all threads.

    >>> json_decoder(tuple[int, ...]).decode(b"[1, 2]")
    (1, 2)
    """
    if kind not in _json:
        with _lock:
            if kind not in _json:
                _json[kind] = msgspec.json.Decoder(kind)
    return _json[kind]


def msgpack_decoder(kind: Any) -> msgspec.msgpack.Decoder[Any]:
    """The decoder of a type from MessagePack, one for all threads.

    >>> msgpack_decoder(tuple[int, ...]).decode(bytes([0x92, 1, 2]))
    (1, 2)
    """
    if kind not in _msgpack:
        with _lock:
            if kind not in _msgpack:
                _msgpack[kind] = msgspec.msgpack.Decoder(kind)
    return _msgpack[kind]


def from_json(data: bytes | str, kind: type[T]) -> T:
    """What JSON says, of a type; msgspec's errors if it says something else.

    >>> from_json("[0.5, 2]", tuple[float, float])
    (0.5, 2.0)
    """
    found: T = json_decoder(kind).decode(data)
    return found


def from_msgpack(data: bytes, kind: type[T]) -> T:
    """What MessagePack says, of a type; msgspec's errors if it says something else."""
    found: T = msgpack_decoder(kind).decode(data)
    return found


def from_plain(value: Any, kind: type[T], *, strict: bool = True) -> T:
    """A value of lists, dictionaries and the like as one of a type. Not ``strict``: texts stand for numbers, as in an environment.

    >>> from_plain([1, 2.5], tuple[float, float]), from_plain("9000", int, strict=False)
    ((1.0, 2.5), 9000)
    """
    json_decoder(kind)  # for the plan, which is the same for all ways of reading
    return msgspec.convert(value, kind, strict=strict)

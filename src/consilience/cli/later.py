"""Packages that are loaded when they are first used: a command without them does not wait, an app shows its first page before."""

from __future__ import annotations

import gc
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from importlib import import_module
from importlib.machinery import ModuleSpec
from importlib.util import find_spec
from threading import Lock, Timer
from types import ModuleType
from typing import Any

__all__ = ["load_later", "load_now", "load_soon", "loading"]

WAKING_SECONDS = 2.0
_lock = Lock()
_waiting: dict[str, _Later] = {}


class _Later(ModuleType):
    """Stands for a package until something of it is asked for. Python's own ``LazyLoader`` loads as soon as somebody imports it."""

    def __init__(self, name: str) -> None:
        super().__init__(name)
        self.__spec__ = ModuleSpec(name, None)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):  # asked for by whoever looks at modules, such as a reloader or a debugger
            raise AttributeError(name)
        return getattr(_load(self), name)


def load_later(names: Iterable[str]) -> None:
    """Let each of these packages wait until it is used. Those that were imported before stay as they are; those that are not installed
    are not there, as always.

    >>> load_later(["json", "colorsys"])
    >>> import colorsys
    >>> colorsys.rgb_to_hsv(1.0, 1.0, 1.0)
    (0.0, 0.0, 1.0)
    """
    for name in names:
        if name not in sys.modules and find_spec(name.partition(".")[0]) is not None:  # of a part, python would load the whole to find it
            sys.modules[name] = _waiting[name] = _Later(name)


def load_now() -> None:
    """Load all that still wait.

    >>> load_now()
    """
    for later in list(_waiting.values()):
        _load(later)


@contextmanager
def loading() -> Iterator[None]:
    """Around imports of much: what is imported stays, and to look through it for garbage takes a tenth of the start.

    >>> with loading():
    ...     import colorsys
    """
    gc.disable()
    try:
        yield
    finally:
        gc.freeze()
        gc.enable()


def load_soon() -> None:
    """Load all that still wait in a moment, in a thread beside: while somebody reads the first page, or before the first study."""
    waking = Timer(WAKING_SECONDS, load_now)
    waking.daemon = True
    waking.start()


def _load(later: _Later) -> ModuleType:
    name = later.__name__
    with _lock:  # not around the import, which waits for others in its own way: two threads that come here at once import once
        if sys.modules.get(name) is later:
            del sys.modules[name]
    found = import_module(name)
    later.__dict__.update({key: value for key, value in vars(found).items() if key != "__name__"})
    _waiting.pop(name, None)
    return found

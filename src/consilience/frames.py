"""``pl``: polars, which is loaded when something of it is first used.

It takes as long to load as numpy and half of this package together, and whoever looks at graphs or asks for help has no table.
Modules write ``from consilience.frames import pl`` where they would write ``import polars as pl``, and use it inside of functions.

polars in turn loads numpy when something of it is first used, and two threads that come there at once are one too many: the second finds
numpy's own ``_globals`` where polars has put its own, and has a TypeError. So numpy is loaded there before anybody has ``pl``.
"""

from __future__ import annotations

from importlib import import_module
from threading import Lock
from types import ModuleType
from typing import TYPE_CHECKING, Any

__all__ = ["load", "pl"]

_lock = Lock()


class _Later(ModuleType):
    """Stands for a package in this program's own modules; whoever imports it elsewhere has the package itself."""

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):  # asked for by whoever looks at modules, such as doctest or a debugger
            raise AttributeError(name)
        package = load()
        found = getattr(package, name)
        self.__dict__.update({key: value for key, value in vars(package).items() if not key.startswith("__")})
        return found


def load() -> ModuleType:
    """polars, now: a server has it before the first request, which would wait for it."""
    package = import_module("polars")
    with _lock:  # not around the import, which waits for others in its own way
        package.Series("", import_module("numpy").empty(0))
    return package


if TYPE_CHECKING:
    import polars as pl
else:
    pl = _Later("polars")

"""``pl``: polars, which is loaded when something of it is first used.

It takes as long to load as numpy and half of this package together, and whoever looks at graphs or asks for help has no table.
Modules write ``from consilience.frames import pl`` where they would write ``import polars as pl``, and use it inside of functions.
"""

from __future__ import annotations

from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING, Any

__all__ = ["pl"]


class _Later(ModuleType):
    """Stands for a package in this program's own modules; whoever imports it elsewhere has the package itself."""

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):  # asked for by whoever looks at modules, such as doctest or a debugger
            raise AttributeError(name)
        package = import_module(self.__name__)
        found = getattr(package, name)
        self.__dict__.update({key: value for key, value in vars(package).items() if not key.startswith("__")})
        return found


if TYPE_CHECKING:
    import polars as pl
else:
    pl = _Later("polars")

"""Packages that a format needs and that need not be there: imported when it is used, not before."""

from __future__ import annotations

import importlib
from typing import Any

from consilience.errors import MissingPackageError

__all__ = ["import_optional"]


def import_optional(module: str, package: str) -> Any:
    """A module of a package that may not be installed; ``MissingPackageError`` if it is not."""
    try:
        return importlib.import_module(module)
    except ImportError:
        raise MissingPackageError(
            f"This needs the package {package}, which is not installed. Install it with: pip install {package}"
        ) from None

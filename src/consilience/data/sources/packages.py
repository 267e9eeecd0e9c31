"""Packages that a source needs and that need not be there: imported when it is read, not before."""

from __future__ import annotations

import importlib
from typing import Any

from consilience.errors import MissingPackageError

__all__ = ["needed"]


def needed(module: str, package: str, extra: str, what: str) -> Any:
    """A module that reads a kind of source; ``MissingPackageError`` with the extra to install if it is not there.

    >>> needed("json", "json", "files", "JSON files").__name__
    'json'
    >>> needed("no_such_module", "some-package", "files", "Such files")
    Traceback (most recent call last):
    consilience.errors.MissingPackageError: Such files are read by the package some-package, which is not installed. Install it with: pip install 'consilience[files]'
    """  # noqa: E501  (the message is one line)
    try:
        return importlib.import_module(module)
    except ImportError:
        raise MissingPackageError(
            f"{what} are read by the package {package}, which is not installed. Install it with: pip install 'consilience[{extra}]'"
        ) from None

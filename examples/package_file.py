"""Files that packages on PyPI ship. The packages are only carriers: nothing of theirs is imported, and nothing has to fit them."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path

__all__ = ["package_file"]


def package_file(package: str, *path: str) -> Path:
    """A file of an installed package.

    Parameters
    ----------
    package : str
        As it is imported.
    *path : str
        Folders and file within it.

    Returns
    -------
    Path

    Raises
    ------
    FileNotFoundError
        If the package is not installed.

    Examples
    --------
    >>> package_file("numpy", "version.py").name
    'version.py'
    """
    spec = find_spec(package)
    if spec is None or spec.origin is None:
        raise FileNotFoundError(
            f"The table comes with the package {package}; install it (make test does), or: pip install --no-deps {package}"
        )
    return Path(spec.origin).parent.joinpath(*path)

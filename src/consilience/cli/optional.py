"""Commands that need an extra say so, instead of failing on an import."""

from __future__ import annotations

from importlib.util import find_spec

from consilience.errors import MissingPackageError

__all__ = ["need_service"]

_PACKAGES = ("fastapi", "uvicorn", "websockets", "httpx", "argon2")


def need_service() -> None:
    """Raise :class:`MissingPackageError` unless the packages of ``consilience[service]`` are there.

    >>> need_service()
    """
    missing = [name for name in _PACKAGES if find_spec(name) is None]
    if missing:
        raise MissingPackageError(
            f"This command needs the package {missing[0]!r}, which is not installed: pip install 'consilience[service]'."
        )

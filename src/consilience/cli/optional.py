"""Commands that need an extra say so, instead of failing on an import."""

from __future__ import annotations

from importlib.util import find_spec

from consilience.errors import MissingPackageError

__all__ = ["need_flare", "need_service", "need_web"]

_PACKAGES = ("fastapi", "uvicorn", "websockets", "httpx", "argon2")
_PAGES = (*_PACKAGES, "jinja2")


def need_service() -> None:
    """Raise :class:`MissingPackageError` unless the packages of ``consilience[service]`` are there.

    >>> need_service()
    """
    _need(_PACKAGES, "service")


def need_web() -> None:
    """Raise :class:`MissingPackageError` unless the packages of ``consilience[web]`` are there.

    >>> need_web()
    """
    _need(_PAGES, "web")


def need_flare() -> None:
    """Raise :class:`MissingPackageError` unless the packages of ``consilience[nvflare]`` are there.

    >>> need_flare()
    """
    _need((*_PACKAGES, "nvflare"), "nvflare")


def _need(packages: tuple[str, ...], extra: str) -> None:
    missing = [name for name in packages if find_spec(name) is None]
    if missing:
        raise MissingPackageError(
            f"This command needs the package {missing[0]!r}, which is not installed: pip install 'consilience[{extra}]'."
        )

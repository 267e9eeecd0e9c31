"""Checks of single options: the value, or an :class:`OptionError` that names the rule, the value and what is allowed."""

from __future__ import annotations

import os
import re

from consilience.errors import OptionError

__all__ = ["check_bytes", "check_flag", "check_number", "check_option", "check_whole", "quarter_of_memory"]

_UNITS = {
    "": 1,
    "b": 1,
    "kb": 10**3,
    "mb": 10**6,
    "gb": 10**9,
    "tb": 10**12,
    "kib": 1 << 10,
    "mib": 1 << 20,
    "gib": 1 << 30,
    "tib": 1 << 40,
}
_SIZE = re.compile(r"\s*(\d+(?:\.\d+)?)\s*([a-z]*)\s*", re.IGNORECASE)
UNKNOWN_MACHINE = 4 << 30
"""The memory of a computer that does not say how much it has."""


def check_option(name: str, value: str, allowed: tuple[str, ...]) -> str:
    """Return ``value`` if it is one of ``allowed``, else raise :class:`OptionError` with the list.

    >>> check_option("method", "fedci", ("fedci", "fisher"))
    'fedci'
    """
    if value not in allowed:
        raise OptionError(f"{name} must be one of {', '.join(allowed)}; got {value!r}.")
    return value


def check_flag(name: str, value: object) -> bool:
    """Return ``value`` if it is True or False, else raise :class:`OptionError`: ``"no"`` would count as yes.

    >>> check_flag("selection_bias", False)
    False
    """
    if isinstance(value, bool):
        return value
    raise OptionError(f"{name} must be true or false; got {value!r}.")


def check_whole(name: str, value: object, least: int, most: float | None = None) -> int:
    """Return ``value`` if it is a whole number from ``least`` to ``most``, else raise :class:`OptionError`.

    >>> check_whole("limit", 10, least=1)
    10
    """
    if isinstance(value, int) and not isinstance(value, bool) and least <= value and (most is None or value <= most):
        return value
    raise OptionError(f"{name} must be a whole number of at least {least}{_at_most(most)}; got {value!r}.")


def check_number(name: str, value: object, least: float, most: float | None = None) -> float:
    """Return ``value`` if it is a finite number from ``least`` to ``most``, else raise :class:`OptionError`.

    >>> check_number("ridge", 0.1, least=0.0)
    0.1
    """
    if isinstance(value, int | float) and not isinstance(value, bool) and least <= value < float("inf") and (most is None or value <= most):
        return value
    raise OptionError(f"{name} must be a number of at least {least:g}{_at_most(most)}; got {value!r}.")


def check_bytes(name: str, value: object) -> int:
    """A number of bytes, or a text such as ``"2 GB"`` or ``"512 MiB"``, as a number of bytes, else :class:`OptionError`.

    >>> check_bytes("memory", "1.5 GiB"), check_bytes("memory", 1000)
    (1610612736, 1000)
    """
    if isinstance(value, int) and not isinstance(value, bool) and value > 0:
        return value
    match = _SIZE.fullmatch(value) if isinstance(value, str) else None
    if match is not None and match[2].lower() in _UNITS and float(match[1]) > 0:
        return int(float(match[1]) * _UNITS[match[2].lower()])
    raise OptionError(f"{name} must be a number of bytes, or a text such as '2 GB' or '512 MiB'; got {value!r}.")


def quarter_of_memory() -> int:
    """A quarter of the memory of this computer, in bytes: what a site's table takes at most unless its owner says otherwise.

    >>> quarter_of_memory() > 1 << 20
    True
    """
    names = getattr(os, "sysconf_names", {})
    if "SC_PHYS_PAGES" not in names or "SC_PAGE_SIZE" not in names:
        return UNKNOWN_MACHINE // 4
    return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") // 4


def _at_most(most: float | None) -> str:
    return "" if most is None else f" and at most {most:.12g}"

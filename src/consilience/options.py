"""Checks of single options: the value, or an :class:`OptionError` that names the rule, the value and what is allowed."""

from __future__ import annotations

from consilience.errors import OptionError

__all__ = ["check_number", "check_option", "check_whole"]


def check_option(name: str, value: str, allowed: tuple[str, ...]) -> str:
    """Return ``value`` if it is one of ``allowed``, else raise :class:`OptionError` with the list.

    >>> check_option("method", "fedci", ("fedci", "fisher"))
    'fedci'
    """
    if value not in allowed:
        raise OptionError(f"{name} must be one of {', '.join(allowed)}; got {value!r}.")
    return value


def check_whole(name: str, value: object, least: int) -> int:
    """Return ``value`` if it is a whole number of at least ``least``, else raise :class:`OptionError`.

    >>> check_whole("limit", 10, least=1)
    10
    """
    if isinstance(value, int) and not isinstance(value, bool) and value >= least:
        return value
    raise OptionError(f"{name} must be a whole number of at least {least}; got {value!r}.")


def check_number(name: str, value: object, least: float) -> float:
    """Return ``value`` if it is a finite number of at least ``least``, else raise :class:`OptionError`.

    >>> check_number("ridge", 0.1, least=0.0)
    0.1
    """
    if isinstance(value, int | float) and not isinstance(value, bool) and least <= value < float("inf"):
        return value
    raise OptionError(f"{name} must be a number of at least {least:g}; got {value!r}.")

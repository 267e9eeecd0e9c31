"""Checks of single options: the value, or an :class:`OptionError` that names the rule, the value and what is allowed."""

from __future__ import annotations

from consilience.errors import OptionError

__all__ = ["check_flag", "check_number", "check_option", "check_whole"]


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


def _at_most(most: float | None) -> str:
    return "" if most is None else f" and at most {most:.12g}"

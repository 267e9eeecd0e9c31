"""A plan as the text of a ``site.toml``, such that reading it gives the same plan, digest and all."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from consilience.data.harmonise.plan import Plan

__all__ = ["as_toml"]


def as_toml(plan: Plan) -> str:
    """The text of a plan's file.

    Parameters
    ----------
    plan : Plan

    Returns
    -------
    str
        TOML; empty for a plan that does nothing.

    Examples
    --------
    >>> from consilience.data.harmonise.plan import Plan
    >>> plan = Plan.of({"columns": {"chol": {"missing": [-9], "range": [0.5, 30]}}, "derived": {"old": "age > 60"}})
    >>> print(as_toml(plan), end="")
    [columns."chol"]
    missing = ["-9"]
    range = [0.5, 30.0]
    <BLANKLINE>
    [derived]
    "old" = { expression = "age > 60" }
    >>> Plan.parse(as_toml(plan)).digest == plan.digest
    True
    """
    written = plan.plain()
    parts = [
        "\n".join([f"[columns.{_text(name)}]", *(f"{key} = {_value(value)}" for key, value in steps.items())])
        for name, steps in written["columns"].items()
    ]
    if written["derived"]:
        lines = [
            f"{_text(one['name'])} = {_value({key: value for key, value in one.items() if key != 'name'})}" for one in written["derived"]
        ]
        parts.append("\n".join(["[derived]", *lines]))
    return "".join(f"{part}\n" for part in "\n\n".join(parts).splitlines())


def _text(text: str) -> str:
    # JSON's strings are TOML's basic strings, but for a character that TOML wants escaped and JSON does not
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")


def _value(value: Any) -> str:
    if isinstance(value, str):
        return _text(value)
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, Mapping):
        return (
            f"{{ {', '.join(f'{key if key.isidentifier() and key.isascii() else _text(key)} = {_value(v)}' for key, v in value.items())} }}"
        )
    if isinstance(value, Sequence):
        return f"[{', '.join(_value(one) for one in value)}]"
    return repr(float(value))  # repr keeps every digit; inf is the same word in TOML

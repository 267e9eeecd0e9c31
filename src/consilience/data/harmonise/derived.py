"""Variables that are computed from others, as a site's file names them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from consilience.data.errors import HarmoniseError, nearest
from consilience.data.harmonise.expression import Expression
from consilience.data.kinds import as_kind, level_label
from consilience.errors import OptionError

__all__ = ["Derived", "read_derived"]

KEYS = ("expression", "kind", "levels")


@dataclass(frozen=True, slots=True)
class Derived:
    """A derived variable: its name, its expression, and its kind and levels if they are declared."""

    name: str
    expression: Expression
    kind: str = ""
    levels: tuple[str, ...] = ()

    def plain(self) -> dict[str, Any]:
        """What it says, in the types of JSON."""
        found = {"name": self.name, "expression": self.expression.text, "kind": self.kind, "levels": list(self.levels)}
        return {key: value for key, value in found.items() if value}


def read_derived(name: str, entry: Any) -> Derived:
    """A derived variable from its expression, or from a table with the keys ``expression``, ``kind`` and ``levels``.

    >>> read_derived("old", {"expression": "age > 60", "kind": "binary"}).plain()
    {'name': 'old', 'expression': 'age > 60', 'kind': 'binary'}
    """
    entry = {"expression": entry} if isinstance(entry, str) else entry
    if not isinstance(entry, Mapping) or not isinstance(entry.get("expression"), str):
        raise HarmoniseError(
            f"A derived variable is an expression, as in bmi = 'weight / height ** 2'; {name!r} of [derived] is {entry!r}."
        )
    for key in entry:
        if key not in KEYS:
            raise HarmoniseError(f"[derived.{name}] has no key {key!r}.{nearest(str(key), KEYS)}")
    levels = entry.get("levels", [])
    if not isinstance(levels, list | tuple) or not isinstance(entry.get("kind", ""), str):
        raise HarmoniseError(f"[derived.{name}] has a kind (text) and perhaps levels (a list); got {dict(entry)!r}.")
    try:
        kind = as_kind(entry["kind"], name).value if entry.get("kind") else ""
        return Derived(name, Expression(entry["expression"]), kind, tuple(level_label(level) for level in levels))
    except (OptionError, HarmoniseError) as error:
        raise HarmoniseError(f"{name!r} of [derived]: {error}") from None

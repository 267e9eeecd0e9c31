"""What is missing from the numpydoc sections of a public name."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable
from typing import Any


def sections(text: str) -> dict[str, str]:
    """The sections of a docstring by their heading, which is underlined."""
    parts = re.split(r"^([A-Z][A-Za-z ]+)\n-{4,}\n", inspect.cleandoc(text), flags=re.MULTILINE)
    return dict(zip(parts[1::2], parts[2::2], strict=True))


def missing(name: str, thing: Any) -> list[str]:
    """Parameters, results and fields of a function, or of a class and its public methods, about which its docstring says nothing."""
    if not inspect.isclass(thing):
        return _missing_of_function(name, thing)
    found = _missing_of_class(name, thing)
    for key, value in inspect.getmembers(thing, lambda one: inspect.isfunction(one) or inspect.ismethod(one)):
        own = value.__module__.split(".")[:2] == thing.__module__.split(".")[:2]  # what another room hands down, it explains
        if own and not key.startswith("_"):
            found += _missing_of_function(f"{name}.{key}", value)
    return found


def _named(text: str) -> set[str]:
    """The names that a section explains: ``a, b : type`` at the beginning of a line."""
    lines = [line.split(" :")[0] for line in text.splitlines() if line and not line.startswith(" ")]
    return {name.strip(" *") for line in lines for name in line.split(",")}


def _missing_of_function(name: str, function: Callable[..., Any]) -> list[str]:
    told = sections(function.__doc__ or "")
    signature = inspect.signature(function)
    wanted = {key for key in signature.parameters if key not in ("self", "cls")}
    found = [f"{name}: {key}" for key in sorted(wanted - _named(told.get("Parameters", "")))]
    gives = signature.return_annotation not in (None, "None", inspect.Signature.empty)
    return found + ([f"{name}: what it returns"] if gives and not {"Returns", "Yields"} & set(told) else [])


def _missing_of_class(name: str, thing: type) -> list[str]:
    told = sections(thing.__doc__ or "")
    explained = _named(told.get("Parameters", "")) | _named(told.get("Attributes", ""))
    wanted = {key for key in inspect.signature(thing).parameters if not key.startswith("_")}
    return [f"{name}: {key}" for key in sorted(wanted - explained)]

"""Whatever a user can reach says what it takes, what it gives and how it is used, in numpydoc's sections."""

from __future__ import annotations

import dataclasses
import enum
import inspect
import re
from collections.abc import Callable, Iterator
from typing import Any

import pytest

import consilience
from consilience import simulate

SECTION = re.compile(r"^(\w+)\n-{3,}$", re.MULTILINE)
ENTRY = re.compile(r"^(\*{0,2}\w+(?:, \*{0,2}\w+)*)(?: :.*)?$", re.MULTILINE)
IMPLIED = {"self", "cls"}


def sections(text: str) -> dict[str, str]:
    """The body of each section by its heading."""
    parts = SECTION.split(inspect.cleandoc(text))
    return dict(zip(parts[1::2], parts[2::2], strict=True))


def documented(text: str, *headings: str) -> set[str]:
    """Names that stand at the margin of the sections: one entry may name several."""
    found = sections(text)
    return {
        name.strip().lstrip("*") for heading in headings for entry in ENTRY.findall(found.get(heading, "")) for name in entry.split(",")
    }


def public() -> dict[str, Any]:
    """Functions and classes by the name a user types. Modules, versions and exceptions are told of elsewhere."""
    found: dict[str, Any] = {}
    for module in (consilience, simulate):
        for name in module.__all__:
            value = getattr(module, name)
            if inspect.isclass(value) or inspect.isfunction(value):
                found[f"{module.__name__.replace('consilience', 'cs', 1)}.{name}"] = value
    return found


PUBLIC = public()
CLASSES = {name: value for name, value in PUBLIC.items() if inspect.isclass(value)}
FUNCTIONS = {name: value for name, value in PUBLIC.items() if not inspect.isclass(value)}


def methods() -> Iterator[tuple[str, Callable[..., Any]]]:
    """Public methods that the package itself defines, with those of bases in it, by the classes a user meets."""
    for owner, kind in CLASSES.items():
        for name, _ in inspect.getmembers(kind, callable):
            home = next(base for base in kind.__mro__ if name in vars(base))
            if not name.startswith("_") and home.__module__.startswith("consilience"):
                yield f"{owner}.{name}", getattr(kind, name)


METHODS = dict(methods())
CALLED = FUNCTIONS | METHODS


def text_of(value: Any) -> str:
    return inspect.getdoc(value) or ""


def parameters(value: Callable[..., Any]) -> set[str]:
    return set(inspect.signature(value).parameters) - IMPLIED


def gives(value: Callable[..., Any]) -> bool:
    return inspect.signature(value).return_annotation not in ("None", None, "Never", "NoReturn")


@pytest.mark.parametrize("name", CALLED)
def test_every_parameter_is_documented(name: str) -> None:
    value = CALLED[name]
    assert parameters(value) - documented(text_of(value), "Parameters") == set()


@pytest.mark.parametrize("name", CALLED)
def test_no_parameter_is_documented_that_is_not_there(name: str) -> None:
    value = CALLED[name]
    assert documented(text_of(value), "Parameters") - parameters(value) == set()


@pytest.mark.parametrize("name", CALLED)
def test_what_is_returned_is_documented(name: str) -> None:
    value = CALLED[name]
    if gives(value):
        assert {"Returns", "Yields"} & sections(text_of(value)).keys(), f"{name} has no Returns"


@pytest.mark.parametrize("name", FUNCTIONS)
def test_a_function_has_an_example(name: str) -> None:
    assert ">>>" in text_of(FUNCTIONS[name])


@pytest.mark.parametrize("name", CLASSES)
def test_a_class_documents_what_it_is_made_of(name: str) -> None:
    """Parameters of its constructor; fields of a dataclass or members of an enumeration may be attributes instead."""
    kind = CLASSES[name]
    text = kind.__doc__ or ""
    if issubclass(kind, enum.Enum):
        wanted = set(kind.__members__)
    elif dataclasses.is_dataclass(kind) and "__init__" in kind.__dict__:
        wanted = {field.name for field in dataclasses.fields(kind) if field.init and not field.name.startswith("_")}
    else:
        wanted = set() if inspect.isabstract(kind) else parameters(kind)
    assert wanted - documented(text, "Parameters", "Attributes") == set()


@pytest.mark.parametrize("name", CLASSES)
def test_a_class_has_an_example(name: str) -> None:
    """In its own words, or with one of its methods."""
    texts = [CLASSES[name].__doc__ or "", *(text_of(value) for full, value in METHODS.items() if full.startswith(f"{name}."))]
    assert any(">>>" in text for text in texts)


def test_the_checks_see_what_is_missing() -> None:
    text = """One line.

    Parameters
    ----------
    a : int
        The first.
    b, c : str
        Two: with a colon.
    *rest
        All others.

    Returns
    -------
    int
    """
    assert documented(text, "Parameters") == {"a", "b", "c", "rest"}
    assert sections(text).keys() == {"Parameters", "Returns"}
    assert documented("One line.\n\nParameters of nothing.", "Parameters") == set()

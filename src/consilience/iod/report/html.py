"""Elements of HTML. Whatever is not one is text, and is escaped: the user's words cannot become part of the page's code."""

from __future__ import annotations

from collections.abc import Iterable

from consilience.graph.drawing.lettering import escaped

__all__ = ["Html", "el", "join", "label", "labels", "listed"]

_VOID = {"input", "meta"}
LONG, LONGEST = 30, 80
"""Longer words may be broken anywhere, lest they make a table too wide; longer names are cut off, and shown in full by a pointer."""


class Html(str):
    """Text that is HTML already."""

    __slots__ = ()


def el(name: str, /, *children: str | None, **attributes: str | int | float | bool | None) -> Html:
    """An element. Names of attributes are written with underscores; those that are None or False are left out.

    >>> el("p", "a < b & ", el("b", "c"), class_="lead", data_value=1)
    '<p class="lead" data-value="1">a &lt; b &amp; <b>c</b></p>'
    """
    given = ""
    for key, value in attributes.items():
        if value is not None and value is not False:
            attribute = key.rstrip("_").replace("_", "-")
            given += f" {attribute}" if value is True else f' {attribute}="{escaped(str(value))}"'
    return Html(f"<{name}{given}>" if name in _VOID else f"<{name}{given}>{join(children)}</{name}>")


def join(children: Iterable[str | None], between: str = "") -> Html:
    """Elements and texts one after the other.

    >>> join(["<", el("i", "x"), None], " ")
    '&lt; <i>x</i>'
    """
    return Html(between.join(child if isinstance(child, Html) else escaped(child) for child in children if child))


def label(name: str) -> Html:
    """The name of a variable; text that runs from right to left does not turn its surroundings around.

    >>> label("<x>")
    '<bdi>&lt;x&gt;</bdi>'
    """
    shown = name if len(name) <= LONGEST else f"{name[: LONGEST - 1]}…"
    unbroken = max(map(len, shown.split()), default=0) > LONG
    return el("bdi", shown, class_="long" if unbroken else None, title=name if shown != name else None)


def labels(names: Iterable[str]) -> Html:
    """Names of variables, with commas."""
    return join((label(name) for name in names), ", ")


def listed(items: Iterable[str], *, ordered: bool = False, **attributes: str | int | None) -> Html:
    """A list.

    >>> listed(["a", "b"])
    '<ul><li>a</li><li>b</li></ul>'
    """
    return el("ol" if ordered else "ul", *(el("li", item) for item in items), **attributes)

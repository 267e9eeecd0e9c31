"""What objects show in a notebook, as far as it needs no drawing: tables. Names, levels and reasons are others' text, and escaped.

A class says what it shows in ``_repr_html_``, which Jupyter looks for. What has graphs in it is made of the parts of ``iod/report``.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

__all__ = ["escaped", "first", "legible", "table"]

MOST_ROWS = 60
"""Rows of a table in a notebook; of more, the last row says how many there are."""
_LEFT = 'style="text-align:left"'
"""Text begins at the left; Jupyter would put it at the right of every cell, as if all cells were numbers."""
MOST_NAMED = 12
"""Levels and names in a cell; of more, it says how many there are."""

_ENTITIES = str.maketrans({"&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&#39;", "\t": "&#9;", "\n": "&#10;", "\r": "&#13;"})
"""As :mod:`xml.sax.saxutils` has it, which loads the parts of Python that talk to web servers."""
_HARMLESS = re.compile(r"[ !#-%(-;=?-~–…]*")
"""What stays as it is: printable, and neither & < > nor quotes."""


def legible(text: str) -> str:
    r"""Text without the characters that XML cannot hold: control characters become their pictures.

    >>> legible("a\x00b")
    'a␀b'
    """
    shown = re.sub(r"[\x00-\x08\x0b\x0c\x0e-\x1f]", lambda found: chr(0x2400 + ord(found[0])), text)
    return re.sub("[\ud800-\udfff\ufffe\uffff]", "\ufffd", shown)


def escaped(text: str) -> str:
    r"""Text for an element or an attribute of XML or HTML.

    >>> escaped("<b> & \x07")
    '&lt;b&gt; &amp; ␇'
    """
    if _HARMLESS.fullmatch(text):  # nearly all there is, a hundred thousand times in a page of tests
        return text
    return legible(text).translate(_ENTITIES)


def first(names: Sequence[str], between: str = ", ") -> str:
    """The first of many names, and how many more there are.

    >>> first(["a", "b"], " < "), first([str(k) for k in range(20)])
    ('a < b', '0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11 and 8 more')
    """
    shown = between.join(names[:MOST_NAMED])
    return f"{shown} and {len(names) - MOST_NAMED} more" if len(names) > MOST_NAMED else shown


def table(caption: str, heads: Sequence[str] = (), rows: Iterable[Sequence[str]] = ()) -> str:
    """A table of text; without rows, its caption alone.

    >>> table("Nothing, <x>")
    '<p>Nothing, &lt;x&gt;</p>'
    >>> table("Something", ["a"], [["<1>"]]).count("&lt;1&gt;")
    1
    """
    told = [list(row) for row in rows]
    if not told:
        return f"<p>{escaped(caption)}</p>"
    above = f"<caption {_LEFT}>{escaped(caption)}</caption>"
    head = "".join(f"<th {_LEFT}>{escaped(name)}</th>" for name in heads)
    body = "".join("<tr>" + "".join(f"<td {_LEFT}>{escaped(cell)}</td>" for cell in row) + "</tr>" for row in told[:MOST_ROWS])
    if len(told) > MOST_ROWS:
        body += f'<tr><td colspan="{len(heads)}">and {len(told) - MOST_ROWS:,} more</td></tr>'
    return f"<table>{above}<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"

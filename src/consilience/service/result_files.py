"""A study's result as files: JSON for programs, CSV for tables, HTML for people."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from html import escape
from typing import Any

from consilience.citest.rounding import PUBLISHED_DIGITS, significant
from consilience.frames import pl
from consilience.graph.drawing.svg import Positions
from consilience.iod import Discovery
from consilience.iod.report.graphs import common_positions
from consilience.iod.report.page import render
from consilience.service.contract import Contract
from consilience.sheets import frame_csv

__all__ = ["DOCUMENTS", "documents_of", "marked", "plain", "published", "result_json"]

DOCUMENTS = {"result.json": "application/json", "tests.csv": "text/csv; charset=utf-8", "report.html": "text/html; charset=utf-8"}
"""What may be downloaded, and its type."""


def documents_of(
    found: Discovery, contract: Contract, sites: tuple[str, ...], rounds: int, size: int, *, origin: str = ""
) -> list[tuple[str, bytes]]:
    """The documents of a result. ``sites`` are those that took part to the end, ``origin`` the study whose tests were decided again.

    All participants get the same: the server does not know which variable set is whose, so a site looks up its own local PAG at home.
    Numbers of tests have six significant digits: whoever has more could work out what they were made of
    (:mod:`consilience.citest.rounding`). The run has rounded its results before it decided by them; what follows from them is rounded here.
    """
    found = replace(found, tests=published(found.tests))  # the report too: its tables sort by the numbers behind the words
    settings = contract.settings
    study: dict[str, Any] = {"id": contract.study, "name": contract.name, "sites": list(sites), "rounds": rounds, "bytes": size}
    study |= {"origin": origin} if origin else {}
    head = {"study": study, "method": settings.method.value, "site_effects": settings.site_effects.value}
    positions = common_positions(found)
    body = _json({**head, **found.to_dict(), "layout": _layout(positions)})
    report = render(found, positions).encode()
    return [("result.json", body), ("tests.csv", frame_csv(found.tests).encode()), ("report.html", report)]


def result_json(found: Discovery) -> bytes:
    """A discovery as the bytes of a file ``result.json``, without what a study adds to it.

    >>> import consilience as cs
    >>> found = cs.discover(cs.Oracle(cs.PAG.parse("A o-> C, B o-> C"), datasets=["ABC"]))
    >>> Discovery.from_dict(json.loads(result_json(found))).headline == found.headline
    True
    """
    return _json(found.to_dict())


def marked(name: str, content: bytes, sentences: list[str]) -> bytes:
    """A document of a result with what everybody who reads it must know, such as that a site has withdrawn: in its head, for programs
    and for people.

    >>> json.loads(marked("result.json", b'{"study": {"id": "s"}}', ["mainz withdrew on 1970-01-01."]))["study"]["withdrawn"]
    ['mainz withdrew on 1970-01-01.']
    """
    if name == "result.json":
        told = json.loads(content)
        told["study"]["withdrawn"] = sentences
        return json.dumps(told, indent=1, ensure_ascii=False, allow_nan=False).encode()
    if name == "report.html":
        page = content.decode()
        start = page.find('<p class="withdrawn">')
        if start >= 0:  # of a site that withdrew before
            page = page[:start] + page[page.index("</p>", start) + len("</p>") :]
        head, mark, rest = page.partition("</h1>")
        words = " ".join(map(escape, sentences))
        return f'{head}{mark}<p class="withdrawn"><strong>{words}</strong></p>{rest}'.encode() if mark else content
    return content


def _layout(positions: Positions) -> dict[str, list[float]]:
    """Where the variables stand in drawings takes longest to find: it is found once, and whoever opens the result need not wait for it."""
    return {name: list(point) for name, point in positions.items()}


def _json(told: dict[str, Any]) -> bytes:
    # allow_nan: JSON has no NaN, and Python would write one that no other program reads; plain() has replaced them
    return json.dumps(plain(told), indent=1, ensure_ascii=False, allow_nan=False).encode()


def published(tests: pl.DataFrame) -> pl.DataFrame:
    """A table of tests as it is published, with six significant digits.

    >>> published(pl.DataFrame({"p_value": [0.123456789], "n": [12345678]})).rows()
    [(0.123457, 12345678)]
    """
    # not polars' round_sig_figs: 4.60859e-45 becomes 4.6085899999999994e-45 there, and what was decided by must be what is published
    return tests.with_columns(
        pl.Series(column.name, [None if value is None else significant(value, PUBLISHED_DIGITS) for value in column], dtype=column.dtype)
        for column in tests.select(pl.selectors.float())
    )


def plain(value: Any, digits: int | None = None) -> Any:
    """The value with null for numbers that JSON does not have; with ``digits``, floats are rounded to so many significant ones.

    >>> plain({"p": float("nan"), "n": (1, 2.5)})
    {'p': None, 'n': [1, 2.5]}
    >>> plain([0.123456789], 6)
    [0.123457]
    """
    if isinstance(value, float):
        known = value if digits is None else significant(value, digits)
        return known if math.isfinite(known) else None
    if isinstance(value, dict):
        return {key: plain(item, digits) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [plain(item, digits) for item in value]
    return value

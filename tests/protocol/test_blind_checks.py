"""What a site refuses before it computes does not depend on its data, but for counts that cannot be true.

So such a refusal tells nothing, however often it is asked for; what fails later closes the study (:mod:`consilience.federation.site.half`).
"""

from __future__ import annotations

from itertools import combinations
from pathlib import Path
from typing import Any, cast, get_args

import msgspec
import pytest

from consilience import errors
from consilience.data.schema import Schema
from consilience.data.table import Table
from consilience.glm.layout import Ordinal, SiteEffects
from consilience.protocol.catalogue import AnyRequest
from consilience.protocol.guard import Guard
from consilience.protocol.history import History
from consilience.protocol.request import Request
from consilience.protocol.resampled import Resampled
from consilience.settings.choices import Alternatives, Method
from consilience.settings.terms import Terms
from tests.protocol.messages import REQUESTS

SCHEMA = Schema({"A": "continuous", "C": "binary", "E": ("multinomial", ["p", "q", "r", "s"])})
NAMES = tuple(SCHEMA)


class SchemaOnly:
    """A table that has no data to look at: whoever does finds an ``AttributeError``."""

    schema = SCHEMA


def guard_of(rows: int, **terms: Any) -> Guard:
    """A guard without data, after every set was announced."""
    guard = Guard(cast(Table, SchemaOnly()), Terms(**terms), History())
    guard.members = frozenset({b"a", b"b", b"c", b"d"})
    for size in range(1, len(NAMES) + 1):
        guard._announced |= dict.fromkeys(combinations(NAMES, size), (3, rows))
    return guard


TERMS: list[dict[str, Any]] = [
    {"method": method, "effects": effects, "ordinal": ordinal, "ridge": ridge, "alternatives": alternatives, "cluster": cluster}
    for method in (Method.FEDCI, Method.FISHER, Method.RESIDUAL)
    for effects in (SiteEffects.PROFILED, SiteEffects.NONE, SiteEffects.JOINT)
    for ordinal, ridge in ((Ordinal.PROPORTIONAL, 0.0), (Ordinal.GENERALIZED, 0.5))
    for alternatives, cluster in ((Alternatives.LINEAR, None), (Alternatives.SMOOTH, "ward"))
]


def outcome(request: Request, rows: int, terms: dict[str, Any]) -> str:
    if isinstance(request, Resampled):  # counts that are announced for a replicate are looked at, as all are
        request = Resampled(tuple(msgspec.structs.replace(part, announced=()) for part in request.parts))
    try:
        request.check(guard_of(rows, **terms))
    except errors.RefusalError as error:
        return type(error).__name__
    return ""


@pytest.mark.parametrize("name", REQUESTS)
def test_checks_do_not_look_at_data(name: str) -> None:
    """Whole, and with each field left empty, under all terms: passed or refused, and never by a look at the table."""
    request = REQUESTS[name]
    empty = [f.name for f in msgspec.structs.fields(request) if isinstance(getattr(request, f.name), tuple | dict)]
    asked = [request, *(msgspec.structs.replace(request, **{field: type(getattr(request, field))()}) for field in empty)]
    for rows in (0, 90, 10_000):
        for terms in TERMS:
            for each in asked:
                assert outcome(each, rows, terms) != "FalseCountsError"


def test_every_kind_of_request_is_tried_and_most_pass_somewhere() -> None:
    """Or a check that refuses at its first line would hide the others."""
    assert {type(request) for request in REQUESTS.values()} == set(get_args(AnyRequest))
    passed = {type(r).__name__ for r in REQUESTS.values() if any(not outcome(r, 10_000, terms) for terms in TERMS)}
    assert passed >= {"Survey", "Locate", "Products", "Refit", "Evaluate", "Diagnose", "LocalTests", "Place", "Grid", "MeanProducts"}
    assert "Standardise" in passed


def test_the_documentation_has_a_line_for_every_kind_of_request() -> None:
    page = (Path(__file__).parents[2] / "docs" / "protocol.md").read_text(encoding="utf-8")
    part = page.split("## What a refusal tells")[1].split("\n## ")[0]
    for kind in get_args(AnyRequest):
        assert f"| {kind.__name__} |" in part

"""A result may bring its layout with it; one that is no layout is not believed."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest

from consilience.iod.report.graphs import common_positions
from consilience.service.result_files import plain
from consilience.web.pages.result import ResultSource
from consilience.web.pages.result.prepared import FARTHEST, Desk
from consilience.web.rendering import Shell
from tests.web.pages.result.cases import oracle

FOUND = oracle(3)
NAMES = FOUND.summary.labels


def positions(layout: Any) -> dict[str, tuple[float, float]]:
    body = json.dumps(plain(FOUND.to_dict()) | {"layout": layout}).encode()
    source = ResultSource("one", "one", "one", {"result.json": body}.get, Shell("c"))
    return dict(asyncio.run(Desk().get(source)).positions)


def test_the_layout_of_the_result_is_taken() -> None:
    layout = {name: [150.0 * k, 200.0] for k, name in enumerate(NAMES)}
    assert positions(layout) == {name: tuple(place) for name, place in layout.items()}


@pytest.mark.parametrize(
    "layout",
    [
        None,
        [],
        {},
        {name: [0.0, 0.0] for name in NAMES[1:]},
        {name: [0.0, 0.0] for name in (*NAMES, "more")},
        {name: [1.0] for name in NAMES},
        dict.fromkeys(NAMES, "ab"),
        {name: ["<b>", 0.0] for name in NAMES},
        {name: [float("nan"), 0.0] for name in NAMES},
        {name: [2.0 * FARTHEST, 0.0] for name in NAMES},
    ],
)
def test_what_is_no_layout_is_found_anew(layout: Any) -> None:
    assert positions(layout) == dict(common_positions(FOUND))

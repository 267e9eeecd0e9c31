"""A recorded study is asked the same, request by request."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.protocol.recorded_study import record

RECORDED: dict[str, Any] = json.loads((Path(__file__).parent / "study.json").read_text(encoding="utf-8"))


@pytest.mark.slow
@pytest.mark.parametrize("name", RECORDED)
def test_a_study_is_asked_what_it_was_asked_when_it_was_recorded(name: str) -> None:
    method, effects = name.split()
    assert record(method=method, site_effects=effects) == RECORDED[name]

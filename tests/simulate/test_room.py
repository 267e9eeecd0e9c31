"""Rules of the room: what it exports is explained."""

from __future__ import annotations

import pytest

from consilience import simulate
from tests.docstrings import missing


@pytest.mark.parametrize("name", sorted({*simulate.__all__} - {"write_files"}))
def test_help_explains_every_parameter_and_result(name: str) -> None:
    assert missing(name, getattr(simulate, name)) == []

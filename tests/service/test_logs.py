"""Lines of the log: a flood of them is cut short, and says by how much."""

from __future__ import annotations

import io
import json
import logging
from collections.abc import Iterator

import pytest

from consilience.service.logs import BURST, set_up_logs

FLOOD = 3 * BURST


@pytest.fixture
def written(monkeypatch: pytest.MonkeyPatch) -> Iterator[io.StringIO]:
    """What a process that has set up its logs writes."""
    root, stream = logging.getLogger(), io.StringIO()
    before = (list(root.handlers), root.level, {name: logging.getLogger(name).level for name in ("uvicorn.error", "asyncio")})
    monkeypatch.setattr("sys.stderr", stream)
    set_up_logs()
    yield stream
    root.handlers[:], root.level = before[0], before[1]
    for name, level in before[2].items():
        logging.getLogger(name).setLevel(level)


def test_a_flood_of_lines_does_not_fill_the_disk(written: io.StringIO) -> None:
    for number in range(FLOOD):
        logging.getLogger("asyncio").error("socket.accept() out of system resource", extra={"number": number})
    logging.getLogger("consilience.server").warning("something else")
    lines = [json.loads(line) for line in written.getvalue().splitlines()]
    assert BURST <= len(lines) < BURST + 100
    assert lines[-1]["event"] == "something else", "a flood of one kind leaves the others"
    assert "left_out" not in lines[0]

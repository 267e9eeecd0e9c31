"""The page on FLARE has the knobs as the job sets them."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from consilience.flare.names import CLIENT_KNOBS, SERVER_KNOBS, TASK_CHECK_PERIOD

PAGE = Path(__file__).parents[2] / "docs" / "nvflare.md"


def flat(knobs: dict[str, Any]) -> dict[str, float]:
    return {key: value for key, value in knobs.items() if key != "server"} | {f"server.{k}": v for k, v in knobs.get("server", {}).items()}


def test_the_page_has_every_knob_with_its_file_and_value() -> None:
    rows = re.findall(r"^\| `([\w.]+)` \| `?([\w. ]+?)`? \| [\d.]+ s \| ([\d.]+) s \|", PAGE.read_text(encoding="utf-8"), re.MULTILINE)
    told = {(where, name): float(value) for name, where, value in rows}
    wanted = {("config_fed_server.json", name): value for name, value in flat(SERVER_KNOBS).items()}
    wanted |= {("config_fed_client.json", name): value for name, value in flat(CLIENT_KNOBS).items()}
    assert told == wanted | {("the controller", "task_check_period"): TASK_CHECK_PERIOD}

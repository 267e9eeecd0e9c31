"""The page on the architecture is true: every step of its drawings is a function, every file it names is there, every room is on it."""

from __future__ import annotations

import importlib
import re
from pathlib import Path

import pytest

import consilience

ROOT = Path(consilience.__file__).parent
PAGE = (Path(__file__).parents[1] / "docs" / "architecture.md").read_text(encoding="utf-8")
STEPS = sorted(
    set(re.findall(r"^ *([a-z_.]+:[A-Za-z_.]+)(?= )", PAGE, flags=re.MULTILINE)) | set(re.findall(r"; ([a-z_.]+:[A-Za-z_.]+) ", PAGE))
)
FILES = sorted(set(re.findall(r"`([a-z_/]+\.py)`", PAGE)))
ROOMS = {path.name for path in ROOT.iterdir() if (path / "__init__.py").exists()}


def test_there_are_three_drawings() -> None:
    assert len(re.findall(r"^```$", PAGE, flags=re.MULTILINE)) == 6
    assert len(STEPS) > 35


@pytest.mark.parametrize("step", STEPS)
def test_every_step_is_a_function_or_a_class(step: str) -> None:
    module, _, name = step.partition(":")
    found = importlib.import_module(f"consilience.{module}")
    for part in name.split("."):
        found = getattr(found, part)
    assert callable(found)


@pytest.mark.parametrize("file", FILES)
def test_every_file_is_there(file: str) -> None:
    assert (ROOT / file).exists() or (ROOT / "protocol" / file).exists()


def test_every_room_is_on_the_page() -> None:
    assert {room for room in ROOMS if f"`{room}/`" not in PAGE} == set()


def test_a_site_can_be_audited_without_the_servers_half() -> None:
    """Of the server's half a site uses its own tests, in one module; nothing of the protocol uses either half."""
    for folder, forbidden in (("federation/site", "federation.exchange"), ("protocol", "consilience.federation")):
        for file in (ROOT / folder).glob("*.py"):
            if file.name != "own_tests.py":
                assert forbidden not in file.read_text(encoding="utf-8").replace(":mod:`consilience.federation", "")

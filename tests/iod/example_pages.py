"""The example studies that write pages, imported as their scripts are run; and the pages they wrote."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from types import ModuleType

import pytest

from consilience.iod import clock

ROOT = Path(__file__).parents[2]


def script(name: str, monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """A module of the examples, which import each other by their names. What a script sets for its process is undone after the test."""
    monkeypatch.setattr(clock, "time", clock.time)
    monkeypatch.syspath_prepend(str(ROOT / "examples"))
    return import_module(name)


def sections_of(page: str) -> dict[str, str]:
    """The text of a page, by its headings."""
    parts = [part.partition("\n") for part in page.split("\n## ")[1:]]
    return {title: text.strip() for title, _, text in parts}


def command_of(page: str) -> list[str]:
    """The command by which a page says that it is made, without the program."""
    return shlex.split(page.partition("```sh\n")[2].partition("\n```")[0])[1:]


def run(arguments: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """Run a script as a page says."""
    module = script(Path(arguments[0]).stem, monkeypatch)
    monkeypatch.setattr(sys, "argv", arguments)
    module.main()


def cells(table: str) -> Iterator[list[str]]:
    """The rows of a table in Markdown, without its head."""
    for line in table.splitlines():
        if line.startswith("| "):
            yield [cell.strip() for cell in line.strip("|").split("|")]

"""The tutorial, typed as it stands: its tables, its commands, what it says that they print, and what it says of the result."""

from __future__ import annotations

import json
import os
import resource
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from tests.code_blocks import ROOT, Block, blocks, lines_of
from tests.system.processes import PROGRAM

pytestmark = pytest.mark.slow
PAGE = "docs/tutorial.md"
HERE = "tests/system/test_tutorial.py"
FILES = iter(("split.py", "known.toml", "again.py"))
MOST_SECONDS = 60
"""Of processor time, for all that is typed."""


def run(block: Block, folder: Path) -> str:
    """Do what a block says; what was printed, in one line."""
    settings = os.environ | {"COLUMNS": "100", "NO_COLOR": "1", "PYTHONWARNINGS": "ignore"}
    said = []
    if block.language != "sh":
        file = folder / next(FILES)
        file.write_text(block.text, encoding="utf-8")
    typed = {"sh": lines_of(block.text), "python": [f"python {folder / 'again.py'}"] if "import consilience" in block.text else []}
    for line in typed.get(block.language, []):
        program, *words = shlex.split(line)
        command = [*(PROGRAM if program == "consilience" else [sys.executable]), *words]
        done = subprocess.run(command, cwd=folder, env=settings, capture_output=True, text=True, check=False)
        assert done.returncode == 0, f"{line}\n{done.stdout}\n{done.stderr}"
        said.append(done.stdout)
    return " ".join(" ".join(said).split())


@pytest.mark.timeout(900)  # on a machine that does much else
def test_the_tutorial_does_what_it_says(tmp_path: Path) -> None:
    begun = resource.getrusage(resource.RUSAGE_CHILDREN)
    printed, compared = "", 0
    for block in blocks():
        if block.page == PAGE and block.runner == HERE:
            printed = run(block, tmp_path) or printed
        elif block.page == PAGE and block.language == "text":
            for line in block.text.splitlines():
                assert " ".join(line.split()) in printed, f"{block.where}: {line}"
                compared += 1
    assert compared > 4
    assert json.loads((tmp_path / "stricter" / "result.json").read_text())["alpha"] == 0.01
    result = json.loads((tmp_path / "result" / "result.json").read_text())
    assert result["headline"] in printed, "the same in Python"
    (edge,) = [edge for edge in result["stability"]["edges"] if {edge["x"], edge["y"]} == {"bmi", "pressure"}]
    # copies are drawn anew: when the page was written the edge was in twenty of twenty, and the tail in twelve
    assert edge["share"] > 0.6, "the edge is sure"
    assert edge["y_tail"] < edge["share"], "its direction is not"
    assert "</html>" in (tmp_path / "report.html").read_text(encoding="utf-8")
    assert (tmp_path / "result" / "report.html").exists()
    patients = sum(len((tmp_path / f"{site}.csv").read_text().splitlines()) - 1 for site in ("north", "south", "west"))
    assert f"{patients} people with diabetes" in (ROOT / PAGE).read_text(encoding="utf-8")
    ended = resource.getrusage(resource.RUSAGE_CHILDREN)
    assert ended.ru_utime + ended.ru_stime - begun.ru_utime - begun.ru_stime < MOST_SECONDS

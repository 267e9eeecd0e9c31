"""Habits that hold by themselves: tests mirror the rooms and stay short, pages are listed, versions agree."""

from __future__ import annotations

from pathlib import Path

import pytest

import consilience
from tests.test_exports import ROOMS

TESTS = Path(__file__).parent
PROJECT = TESTS.parent
FILES = sorted(TESTS.rglob("*.py"))
BESIDES = {"reference", "system"}
"""Folders of tests that are no room: values from other software, and whole processes."""
LONGEST = 400


def test_folders_of_tests_are_rooms() -> None:
    folders = {path.name for path in TESTS.iterdir() if path.is_dir() and path.name != "__pycache__"}
    assert folders <= {*ROOMS, *BESIDES}


def test_every_room_has_tests_of_its_own() -> None:
    modules = [path for path in Path(consilience.__file__).parent.glob("*/*.py") if path.name not in ("__init__.py", "errors.py")]
    rooms = {path.parent.name for path in modules}
    tested = {path.parent.name for path in TESTS.glob("*/test_*.py")}
    assert rooms <= tested


@pytest.mark.parametrize("file", FILES, ids=lambda file: str(file.relative_to(TESTS)))
def test_no_file_of_tests_is_too_long(file: Path) -> None:
    lines = len(file.read_text(encoding="utf-8").splitlines())
    assert lines <= LONGEST, f"{file.name} has {lines} lines; split it by subject"


def test_the_citation_is_of_this_version() -> None:
    assert f"version: {consilience.__version__}" in (PROJECT / "CITATION.cff").read_text(encoding="utf-8").splitlines()


def test_every_decision_is_in_the_list_and_has_its_parts() -> None:
    folder = PROJECT / "docs" / "decisions"
    pages = sorted(path for path in folder.glob("*.md") if path.name != "README.md")
    index = (folder / "README.md").read_text(encoding="utf-8")
    assert pages
    for page in pages:
        assert f"({page.name})" in index
        heads = [line[3:].split()[0] for line in page.read_text(encoding="utf-8").splitlines() if line.startswith("## ")]
        assert heads == ["Context", "Decision", "Consequences", "Rejected"], page.name


def test_hooks_are_the_tools_of_this_project() -> None:
    """Nothing is downloaded before a commit."""
    text = (PROJECT / ".pre-commit-config.yaml").read_text(encoding="utf-8")
    assert "://" not in text
    assert {line.split()[-1] for line in text.splitlines() if "repo:" in line} == {"local"}

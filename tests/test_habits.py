"""Habits that hold by themselves: tests mirror the rooms and stay short, pages are listed, versions agree."""

from __future__ import annotations

import subprocess
import tomllib
from importlib.metadata import PackageNotFoundError, metadata
from pathlib import Path

import pytest
from packaging.specifiers import SpecifierSet

import consilience
from tests.test_exports import ROOMS

TESTS = Path(__file__).parent
PROJECT = TESTS.parent
FILES = sorted(TESTS.rglob("*.py"))
BESIDES = {"reference", "system"}
"""Folders of tests that are no room: values from other software, and whole processes."""
LONGEST = 400
OLDEST_PYTHON = "3.11.2"


def test_folders_of_tests_mirror_the_source() -> None:
    root = Path(consilience.__file__).parent
    folders = {path.relative_to(TESTS) for path in TESTS.rglob("*") if path.is_dir() and path.name != "__pycache__"}
    strange = [str(folder) for folder in folders if folder.parts[0] not in BESIDES and not (root / folder).is_dir()]
    assert strange == []
    assert {folder.parts[0] for folder in folders} <= {*ROOMS, *BESIDES}


def test_every_room_has_tests_of_its_own() -> None:
    modules = [path for path in Path(consilience.__file__).parent.glob("*/*.py") if path.name not in ("__init__.py", "errors.py")]
    rooms = {path.parent.name for path in modules}
    tested = {path.relative_to(TESTS).parts[0] for path in TESTS.glob("*/**/test_*.py")}
    assert rooms <= tested


@pytest.mark.parametrize("file", FILES, ids=lambda file: str(file.relative_to(TESTS)))
def test_no_file_of_tests_is_too_long(file: Path) -> None:
    lines = len(file.read_text(encoding="utf-8").splitlines())
    assert lines <= LONGEST, f"{file.name} has {lines} lines; split it by subject"


def test_the_floor_of_coverage_only_rises() -> None:
    """Held against every value that the history of the project knows; a copy without its history has nothing to compare."""
    floor = tomllib.loads((PROJECT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["coverage"]["report"]["fail_under"]
    command = ["git", "log", "--format=", "-p", "-G", "^fail_under", "--", "pyproject.toml"]
    found = subprocess.run(command, cwd=PROJECT, capture_output=True, text=True, check=False)
    known = [float(line.partition("=")[2].split("#")[0]) for line in found.stdout.splitlines() if line.startswith("+fail_under")]
    assert floor >= max(known, default=0.0)


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


def test_what_is_pinned_can_be_installed_with_the_oldest_python() -> None:
    """Debian's own is 3.11.2, and a package may ask for a later 3.11."""
    pinned = [line.split("==")[0] for line in (PROJECT / "constraints.txt").read_text(encoding="utf-8").splitlines() if "==" in line]
    found = {name: wanted for name in pinned if (wanted := _python_of(name)) is not None}
    assert len(found) > 100
    assert {name: str(wanted) for name, wanted in found.items() if OLDEST_PYTHON not in wanted} == {}


def _python_of(package: str) -> SpecifierSet | None:
    """Which Pythons an installed package is for; None if it is not installed, or does not say."""
    try:
        wanted = metadata(package).get("Requires-Python")
    except PackageNotFoundError:  # not every pin is of the extra that tests are installed with
        return None
    return None if wanted is None else SpecifierSet(wanted)

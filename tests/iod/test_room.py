"""Rules of the room: the engines do not know each other, and what is below them does not know them."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from consilience import iod
from tests.docstrings import missing

ROOM = Path(iod.__file__).parent
FILES = sorted(ROOM.rglob("*.py"))
ABOVE = ("discover", "discovery", "report", "solution")
"""Parts that use the engines."""


def name_of(path: Path) -> str:
    return path.relative_to(ROOM).as_posix()


def parts_of(path: Path) -> set[str]:
    """The parts of the room that a file imports, also inside functions and for types only."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        names: list[str] = []
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            names = [f"{node.module}.{alias.name}" for alias in node.names]
        found |= {name.split(".")[2] for name in names if name.startswith("consilience.iod.")}
    return found


@pytest.mark.parametrize(("engine", "other"), [("exact", "published"), ("published", "exact")])
def test_the_engines_do_not_import_each_other(engine: str, other: str) -> None:
    files = list((ROOM / engine).glob("*.py"))
    assert files
    assert not [name_of(path) for path in files if parts_of(path) & {other, *ABOVE}]


@pytest.mark.parametrize("path", [path for path in FILES if path.relative_to(ROOM).parts[0] not in {f"{a}.py" for a in ABOVE} | {*ABOVE}],
                         ids=name_of)  # fmt: skip
def test_what_is_below_the_engines_does_not_know_them(path: Path) -> None:
    if path.parent.name in ("exact", "published") or path == ROOM / "__init__.py":
        return
    assert not parts_of(path) & {"exact", "published"}


def test_the_solver_stands_below_both_engines() -> None:
    used = {engine: set().union(*(parts_of(path) for path in (ROOM / engine).glob("*.py"))) for engine in ("exact", "solver")}
    assert "solver" in used["exact"]
    assert used["solver"] <= {"solver", "clock", "evidence", "local", "search_problem"}


@pytest.mark.parametrize("name", ["Decision", "Discovery", "Knowledge", "Summary"])
def test_help_explains_every_parameter_and_result(name: str) -> None:
    assert missing(name, getattr(iod, name)) == []

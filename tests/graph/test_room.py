"""Rules of the room: what it imports, what it exports."""

from __future__ import annotations

import ast
import sys
from pathlib import Path

import pytest

from consilience import graph

SOURCES = sorted(Path(graph.__file__).parent.glob("*.py"))


@pytest.mark.parametrize("path", SOURCES, ids=lambda p: p.name)
def test_imports_only_numpy_the_standard_library_and_errors(path: Path) -> None:
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            names = [node.module or ""]
        else:
            names = []
        for name in names:
            top = name.split(".")[0]
            if top == "consilience":
                below = name.startswith("consilience.citest.") and path.name == "oracle.py"  # a CI test made of a graph
                assert below or name == "consilience.errors" or name.startswith("consilience.graph")
            else:
                assert top == "numpy" or top in sys.stdlib_module_names


def test_all_is_what_is_public() -> None:
    modules = {path.stem for path in SOURCES}
    public = {name for name in vars(graph) if not name.startswith("_")} - modules
    assert sorted(public) == sorted(graph.__all__)

"""Rules of the room: what it imports, what it exports."""

from __future__ import annotations

import ast
import sys
from pathlib import Path

import pytest

from consilience import secagg

SOURCES = sorted(Path(secagg.__file__).parent.glob("*.py"))


@pytest.mark.parametrize("path", SOURCES, ids=lambda p: p.name)
def test_imports_only_numpy_cryptography_the_standard_library_and_errors(path: Path) -> None:
    for node in ast.walk(ast.parse(path.read_text())):
        names = (
            [a.name for a in node.names]
            if isinstance(node, ast.Import)
            else [node.module or ""]
            if isinstance(node, ast.ImportFrom)
            else []
        )
        for name in names:
            top = name.split(".")[0]
            if top == "consilience":
                assert name == "consilience.errors" or name.startswith("consilience.secagg")
            else:
                assert top in {"numpy", "cryptography"} or top in sys.stdlib_module_names
            assert top not in {"pickle", "random", "socket"}


def test_all_is_what_is_public() -> None:
    modules = {path.stem for path in SOURCES}
    public = {name for name in vars(secagg) if not name.startswith("_")} - modules
    assert sorted(public) == secagg.__all__

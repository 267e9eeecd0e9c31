"""Rules of the room: what it imports, what it exports, and that theory knows no drawing and no foreign format."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

from consilience import graph
from tests.docstrings import missing

ROOM = Path(graph.__file__).parent
SOURCES = sorted(ROOM.rglob("*.py"))
THEORY = sorted(path for path in ROOM.glob("*.py") if path.name != "__init__.py")
"""The package itself imports all of it, so that drawings and formats register."""
VIEWS = ("consilience.graph.drawing", "consilience.graph.formats")


def name_of(path: Path) -> str:
    return path.relative_to(ROOM).as_posix()


def imported(path: Path) -> set[str]:
    """What a module imports, also inside functions and for types only; of ``from a import b`` both a and a.b."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0
            found.update({str(node.module), *(f"{node.module}.{alias.name}" for alias in node.names)})
    return found


def within(name: str, package: str) -> bool:
    return name == package or name.startswith(f"{package}.")


@pytest.mark.parametrize("path", SOURCES, ids=name_of)
def test_imports_only_numpy_the_standard_library_and_errors(path: Path) -> None:
    for name in imported(path):
        top = name.split(".")[0]
        if top == "consilience":
            below = name.startswith("consilience.citest.") and path.name == "oracle.py"  # a CI test made of a graph
            errors = within(name, "consilience.errors") or within(name, "consilience.citest.errors")
            errors = errors or within(name, "consilience.showing")  # one place that escapes what people wrote
            assert below or errors or name in ("consilience", "consilience.citest") or within(name, "consilience.graph")
        else:
            assert top == "numpy" or top in sys.stdlib_module_names


@pytest.mark.parametrize("path", THEORY, ids=name_of)
def test_theory_imports_no_drawing_and_no_format(path: Path) -> None:
    assert not [name for name in imported(path) for view in VIEWS if within(name, view)]


@pytest.mark.parametrize(("folder", "other"), [("drawing", VIEWS[1]), ("formats", VIEWS[0])])
def test_drawings_and_formats_do_not_know_each_other(folder: str, other: str) -> None:
    assert not [name for path in (ROOM / folder).glob("*.py") for name in imported(path) if within(name, other)]


@pytest.mark.parametrize("module", ["graphs", "mixed", "views", "separation"])
def test_whatever_is_imported_first_a_graph_can_be_drawn_and_written(module: str) -> None:
    program = (
        f"import consilience.graph.{module}; from consilience.graph.graphs import PAG; pag = PAG.parse('A o-> B');"
        "assert pag.to_svg()[:4] == '<svg' and PAG.from_dot(pag.to_dot()) == PAG.from_tetrad(pag.to_tetrad()) == pag"
    )
    subprocess.run([sys.executable, "-c", program], check=True)


def test_all_is_what_is_public() -> None:
    parts = {path.stem for path in ROOM.glob("*.py")} | {path.name for path in ROOM.iterdir() if path.is_dir()}
    public = {name for name in vars(graph) if not name.startswith("_")} - parts
    assert sorted(public) == sorted(graph.__all__)


@pytest.mark.parametrize(
    "name", ["DAG", "MAG", "PAG", "Oracle", "shd", "normalised_shd", "mag_to_pag", "pag_to_mag", "m_separated", "latent_projection"]
)
def test_help_explains_every_parameter_and_result(name: str) -> None:
    assert missing(name, getattr(graph, name)) == []

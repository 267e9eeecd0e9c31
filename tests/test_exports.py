"""What is public is said to be, what is said to be public exists, and imports go down the rooms of the package only."""

from __future__ import annotations

import ast
import importlib
import inspect
from functools import cache
from pathlib import Path
from typing import NamedTuple

import pytest

import consilience

ROOT = Path(consilience.__file__).parent
FILES = sorted(ROOT.rglob("*.py"))
ROOMS = (
    "errors",
    "options",
    "parallel",
    "wording",
    "typed",
    "showing",
    "sheets",
    "frames",
    "data",
    "glm",
    "secagg",
    "settings",
    "disclosure",
    "citest",
    "protocol",
    "federation",
    "graph",
    "iod",
    "simulate",
    "reproduction",
    "service",
    "flare",
    "web",
    "cli",
)
"""The rooms of the architecture, from the ground up; a room may import itself and those before it."""


def module_name(file: Path) -> str:
    parts = file.relative_to(ROOT).with_suffix("").parts
    return ".".join(("consilience", *(part for part in parts if part != "__init__")))


MODULES = [module_name(file) for file in FILES]


def bound_names(file: Path) -> set[str]:
    """Names that a module binds at its top level, by import, assignment or definition."""
    names: set[str] = set()
    body = ast.parse(file.read_text(encoding="utf-8")).body
    if file in (ROOT / "__init__.py", ROOT / "frames.py"):  # which load when something is needed, and say for types what they have
        body += [inner for node in body if isinstance(node, ast.If) for inner in node.body]
    for node in body:
        if isinstance(node, ast.Import | ast.ImportFrom):
            names.update((alias.asname or alias.name).split(".")[0] for alias in node.names)
        elif isinstance(node, ast.Assign):
            names.update(leaf.id for target in node.targets for leaf in ast.walk(target) if isinstance(leaf, ast.Name))
        elif isinstance(node, ast.AnnAssign):
            names.update(leaf.id for leaf in ast.walk(node.target) if isinstance(leaf, ast.Name))
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            names.add(node.name)
    return names


class Code(NamedTuple):
    """What a file imports (modules, and names of the root), which names it calls and which attributes it asks for, wherever in it."""

    imported: set[str]
    called: set[str]
    attributes: set[str]


@cache
def code_of(file: Path) -> Code:
    found = Code(set(), set(), set())
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found.imported.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{file} imports relatively"
            whole = node.module == "consilience"
            found.imported.update([f"consilience.{alias.name}" for alias in node.names] if whole else [str(node.module)])
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            found.called.add(node.func.id)
        elif isinstance(node, ast.Attribute):
            found.attributes.add(node.attr)
    return found


def imported_modules(file: Path) -> set[str]:
    """Modules of this package that a file imports, also inside functions and for types only."""
    return {name for name in code_of(file).imported if name.split(".")[0] == "consilience"}


@pytest.mark.parametrize("name", MODULES)
def test_every_name_in_all_exists_and_stands_there_once(name: str) -> None:
    module = importlib.import_module(name)
    exported = getattr(module, "__all__", [])
    assert len(set(exported)) == len(exported)
    assert [entry for entry in exported if not hasattr(module, entry)] == []


@pytest.mark.parametrize("file", [f for f in FILES if f.name != "__init__.py"], ids=module_name)
def test_every_module_says_what_it_exports(file: Path) -> None:
    module = importlib.import_module(module_name(file))
    assert module.__all__, "a module without __all__ exports whatever it imports"
    assert set(module.__all__) <= bound_names(file)


def test_all_of_the_root_is_what_the_root_binds() -> None:
    bound = {name for name in bound_names(ROOT / "__init__.py") if not name.startswith("_")} - {"Any", "TYPE_CHECKING", "import_module"}
    assert set(consilience.__all__) == bound | {"__version__"}
    assert all(getattr(consilience, name) is not None for name in consilience.__all__)


def test_public_names_are_documented() -> None:
    things = {name: getattr(consilience, name) for name in consilience.__all__ if name != "__version__"}
    assert [name for name, thing in things.items() if not inspect.getdoc(thing)] == []


def test_the_public_causes_are_few_and_have_one_root() -> None:
    errors = consilience.errors
    classes = {name for name, thing in vars(errors).items() if isinstance(thing, type) and issubclass(thing, Exception)}
    assert classes == set(errors.__all__)
    classes -= {"DoubtfulDataWarning"}  # a warning, which stops nothing
    assert len(classes) <= 15
    assert all(issubclass(getattr(errors, name), errors.ConsilienceError) for name in classes)


DETAILS = [file for file in FILES if file.name == "errors.py" and file.parent != ROOT]


@pytest.mark.parametrize("file", DETAILS, ids=module_name)
def test_details_refine_a_public_cause_and_are_found_by_their_short_name(file: Path) -> None:
    module = importlib.import_module(module_name(file))
    classes = {name: thing for name, thing in vars(module).items() if inspect.isclass(thing) and thing.__module__ == module.__name__}
    assert classes
    assert set(classes) <= set(module.__all__)
    for name, thing in classes.items():
        assert issubclass(thing, consilience.errors.ConsilienceError)
        assert getattr(consilience.errors, name) is thing


def test_no_two_errors_share_a_name() -> None:
    names = [name for file in DETAILS for name in vars(importlib.import_module(module_name(file))) if name.endswith("Error")]
    own = {name for name in names if getattr(consilience.errors, name).__module__ != "consilience.errors"}
    assert all(name not in consilience.errors.__all__ for name in own)
    with pytest.raises(AttributeError, match="NoSuchError"):
        _ = consilience.errors.NoSuchError


@pytest.mark.parametrize("file", [f for f in FILES if f.parent != ROOT or f.name == "errors.py"], ids=module_name)
def test_imports_go_down(file: Path) -> None:
    """errors < data < glm < citest < federation < simulate < cli; only the command line knows the package as a whole."""
    room = module_name(file).split(".")[1]
    allowed = {*ROOMS[: ROOMS.index(room) + 1], *(["__version__"] if room == "cli" else [])}
    reached = {target.partition(".")[2].split(".")[0] for target in imported_modules(file)}
    assert reached <= allowed


def test_every_folder_is_a_room_with_a_docstring() -> None:
    folders = [file.parent for file in FILES if file.name == "__init__.py" and file.parent != ROOT]
    assert {folder.name for folder in folders if folder.parent == ROOT} <= set(ROOMS)
    assert all(importlib.import_module(module_name(folder / "__init__.py")).__doc__ for folder in folders)


@pytest.mark.parametrize("file", [f for f in FILES if f.relative_to(ROOT).parts[0] != "cli"], ids=module_name)
def test_only_the_command_line_prints(file: Path) -> None:
    """Neither print() nor rich nor a write to a standard stream; doctests are text, not code, and do not count."""
    code = code_of(file)
    assert "print" not in code.called
    assert not {name.split(".")[0] for name in code.imported} & {"rich", "typer"}
    assert not code.attributes & {"stdout", "stderr"}

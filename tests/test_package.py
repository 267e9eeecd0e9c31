"""The package as it is published: a source distribution and a wheel, installed where nothing of ours is."""

from __future__ import annotations

import re
import subprocess
import sys
import tarfile
import tomllib
import venv
import zipfile
from pathlib import Path

import pytest

import consilience

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
OF_ALL = set(re.findall(r"\w+", PROJECT["optional-dependencies"]["all"][0].partition("[")[2]))
EXTRAS = sorted(set(PROJECT["optional-dependencies"]) - {"dev", "peers"} - OF_ALL)
"""What users may ask for, all at once where ``all`` has it: with pinned versions a part of what can be had can be had."""
PINNED = ["-c", str(ROOT / "constraints.txt")]

pytestmark = pytest.mark.slow


def run(*words: str | Path, cwd: Path | None = None) -> str:
    done = subprocess.run([str(word) for word in words], cwd=cwd, capture_output=True, text=True, check=False)
    assert done.returncode == 0, (words, done.stdout[-2000:], done.stderr[-2000:])
    return done.stdout


@pytest.fixture(scope="module")
def dist(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """The source distribution of the tree, and the wheel that is made of *it*: what is missing there, the wheel lacks."""
    folder = tmp_path_factory.mktemp("dist")
    run(sys.executable, "-m", "build", "--no-isolation", "--outdir", folder, ROOT)
    (source,), (wheel,) = folder.glob("*.tar.gz"), folder.glob("*.whl")
    return source, wheel


@pytest.fixture(scope="module")
def clean(dist: tuple[Path, Path], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An environment with the wheel and what it needs, and nothing else."""
    folder = tmp_path_factory.mktemp("clean") / "venv"
    venv.create(folder, with_pip=True)
    run(folder / "bin" / "pip", "install", "--quiet", "--no-compile", *PINNED, dist[1])
    return folder


def test_the_wheel_is_the_package_and_nothing_else(dist: tuple[Path, Path]) -> None:
    with zipfile.ZipFile(dist[1]) as wheel:
        names = set(wheel.namelist())
    of_tree = {path.relative_to(ROOT / "src").as_posix() for path in (ROOT / "src" / "consilience").rglob("*") if path.is_file()}
    of_tree = {name for name in of_tree if "__pycache__" not in name}
    assert {name for name in names if not re.match(r"consilience-[^/]+\.dist-info/", name)} == of_tree
    assert "consilience/py.typed" in names


def test_the_source_has_what_it_takes_to_test_it(dist: tuple[Path, Path]) -> None:
    with tarfile.open(dist[0]) as source:
        names = {name.partition("/")[2] for name in source.getnames()}
    assert {"LICENSE", "README.md", "Makefile", "constraints.txt", "tests/conftest.py", "docs/index.md", "CHANGELOG.md"} <= names
    assert not any(name.startswith((".venv", "build/", "dist/")) or name.endswith((".pyc", ".sqlite")) for name in names)


def test_there_is_one_version(dist: tuple[Path, Path], clean: Path) -> None:
    assert f"consilience-{consilience.__version__}-" in dist[1].name
    assert PROJECT["dynamic"] == ["version"]
    assert run(clean / "bin" / "consilience", "--version").strip().endswith(consilience.__version__)
    assert run(clean / "bin" / "python", "-m", "consilience", "--version").strip().endswith(consilience.__version__)
    assert f"version: {consilience.__version__}" in (ROOT / "CITATION.cff").read_text(encoding="utf-8")


def test_it_works_where_nothing_else_is(clean: Path, tmp_path: Path) -> None:
    """Ten lines of the library, in a folder of its own: no extra, no file of the repository."""
    lines = (
        "import consilience as cs",
        "sites = cs.simulate.mixed_sites(n=300, sites=3, seed=1)",
        "found = cs.discover(cs.Server([cs.Client(name, frame) for name, frame in sites.items()]), max_given=1)",
        "print(len(found.pags), cs.__file__)",
    )
    graphs, place = run(clean / "bin" / "python", "-c", "\n".join(lines), cwd=tmp_path).split()
    assert int(graphs) > 0
    assert Path(place).is_relative_to(clean)


def test_what_an_extra_is_for_says_so_where_it_is_missing(clean: Path, tmp_path: Path) -> None:
    done = subprocess.run([clean / "bin" / "consilience", "app"], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert "consilience[web]" in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize("extra", EXTRAS)
def test_extras_can_be_had(dist: tuple[Path, Path], clean: Path, extra: str) -> None:
    run(clean / "bin" / "pip", "install", "--quiet", "--dry-run", *PINNED, f"{dist[1]}[{extra}]")

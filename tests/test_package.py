"""The package as it is published: a source distribution and a wheel, installed where nothing of ours is, by itself and with each extra."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tarfile
import tomllib
import venv
import zipfile
from importlib.metadata import Distribution, distributions
from pathlib import Path

import duckdb
import polars as pl
import pytest
import yaml
from packaging.requirements import Requirement
from packaging.version import Version

import consilience
from tests.code_blocks import commands_of, lines_of
from tests.command_lines import wrong_with

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
EXTRAS = sorted(set(PROJECT["optional-dependencies"]) - {"all", "dev", "peers"})
"""What users may ask for."""
HERE = ("docs", "nvflare")
"""Not in ``all``, and tried in the environment of the tests, which has them: to install them once more takes as long as all others."""
LIBRARY = """
import consilience as cs
sites = cs.simulate.mixed_sites(n=300, sites=3, seed=1)
found = cs.discover(cs.Server([cs.Client(name, frame) for name, frame in sites.items()]), max_given=1)
print(len(found.pags), cs.__file__)
"""
USES = {
    "service": """
words = ("--owner", "ada", "--self-signed", "127.0.0.1", "--password-stdin")
run("server", "init", "--home", str(folder / "server"), *words)
import consilience.service.server.serve, consilience.service.agent
""",
    "web": """
from consilience.cli.optional import need_web
need_web()
import consilience.web.server_app, consilience.web.site_app
""",
    "oidc": """
from consilience.service.config import load_server
from consilience.service.server.openid.settings import provider_of
known = {"oidc_issuer": "https://login.example", "oidc_client_id": "x", "oidc_groups": "y", "public_url": "https://study.example"}
assert provider_of(load_server(None, {}, **known), clock=lambda: 0.0)
""",
    "nvflare": """
from consilience.cli.optional import need_flare
need_flare()
import consilience.flare.executor, consilience.flare.controller
""",
    "plots": """
from consilience.simulate.plotting import save_svg
save_svg(lambda figure: figure.add_subplot(), folder / "figure.svg", 3, 2)
""",
    "cluster": """
from consilience.parallel import on_cluster
try:
    on_cluster("tcp://127.0.0.1:1").__enter__()
except cs.errors.OptionError as error:
    assert "No Dask scheduler answers" in str(error)
""",
    "pandas": """
import polars
assert polars.DataFrame({"a": [1]}).to_pandas().shape == (1, 1)
""",
    "files": """
for name in ("site.xlsx", "site.sav"):
    assert cs.Client("site", folder / name).rows == 40
""",
    "databases": """
assert cs.Client("site", folder / "site.duckdb", table="patients").rows == 40
import adbc_driver_postgresql.dbapi
""",
    "docs": "import sphinx.application, myst_parser, furo",
}
"""What each extra is for, as a program: done where the extra is, and refused by its name where it is not."""
UNTOLD = ("docs", "pandas")
"""Extras whose absence is not ours to tell: nothing of ours asks for them."""
BESIDES = {"oidc": "web"}
"""What must be there before one is missed."""
HEAD = """
import json, sys
from importlib.machinery import PathFinder
from pathlib import Path
class Only(PathFinder):
    @classmethod
    def find_spec(cls, name, path=None, target=None):
        return None if name.partition(".")[0] in hidden else super().find_spec(name, path, target)
folder, hidden = Path(sys.argv[1]), set(json.loads(sys.argv[2]))
sys.meta_path[sys.meta_path.index(PathFinder)] = Only
import consilience as cs
def run(*words):
    from consilience.cli import main
    sys.argv[1:] = words
    try:
        main()
    except SystemExit as ended:
        if ended.code:
            raise
"""

slow = pytest.mark.slow
pytestmark = pytest.mark.timeout(900)  # packages are downloaded, at whatever speed


def run(*words: str | Path, cwd: Path | None = None) -> str:
    done = subprocess.run([str(word) for word in words], cwd=cwd, capture_output=True, text=True, check=False)
    assert done.returncode == 0, (words, done.stdout[-2000:], done.stderr[-2000:])
    return done.stdout


def install(folder: Path, what: str) -> Path:
    """A new environment without pip in it, by the pip of this one."""
    if not folder.exists():
        venv.create(folder)
    python = folder / "bin" / "python"
    pip = [sys.executable, "-m", "pip", "--python", python, "install"]
    run(*pip, "--quiet", "--no-compile", "--disable-pip-version-check", "-c", ROOT / "constraints.txt", what)
    return folder


def packages(folder: Path) -> Path:
    (found,) = folder.glob("lib/python*/site-packages")
    return found


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
    return install(tmp_path_factory.mktemp("clean") / "venv", str(dist[1]))


@pytest.fixture(scope="module")
def full(dist: tuple[Path, Path], clean: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An environment with the extras of ``all`` besides; what the other one has is not installed twice."""
    folder = tmp_path_factory.mktemp("full") / "venv"
    venv.create(folder)
    (packages(folder) / "clean.pth").write_text(f"{packages(clean)}\n")
    return install(folder, f"{dist[1]}[all]")


@slow
def test_the_wheel_is_the_package_and_nothing_else(dist: tuple[Path, Path]) -> None:
    with zipfile.ZipFile(dist[1]) as wheel:
        names = set(wheel.namelist())
    of_tree = {path.relative_to(ROOT / "src").as_posix() for path in (ROOT / "src" / "consilience").rglob("*") if path.is_file()}
    of_tree = {name for name in of_tree if "__pycache__" not in name}
    assert {name for name in names if not re.match(r"consilience-[^/]+\.dist-info/", name)} == of_tree
    assert "consilience/py.typed" in names


@slow
def test_the_source_has_what_it_takes_to_test_it(dist: tuple[Path, Path]) -> None:
    with tarfile.open(dist[0]) as source:
        names = {name.partition("/")[2] for name in source.getnames()}
    assert {"LICENSE", "README.md", "Makefile", "constraints.txt", "tests/conftest.py", "docs/index.md", "CHANGELOG.md"} <= names
    assert not any(name.startswith((".venv", "build/", "dist/")) or name.endswith((".pyc", ".sqlite")) for name in names)


@slow
def test_there_is_one_version(dist: tuple[Path, Path], clean: Path) -> None:
    assert f"consilience-{consilience.__version__}-" in dist[1].name
    assert PROJECT["dynamic"] == ["version"]
    assert run(clean / "bin" / "consilience", "--version").strip().endswith(consilience.__version__)
    assert run(clean / "bin" / "python", "-m", "consilience", "--version").strip().endswith(consilience.__version__)
    assert f"version: {consilience.__version__}" in (ROOT / "CITATION.cff").read_text(encoding="utf-8")


@slow
def test_it_works_where_nothing_else_is(clean: Path, tmp_path: Path) -> None:
    """The library, in a folder of its own: no extra, no file of the repository."""
    graphs, place = run(clean / "bin" / "python", "-c", LIBRARY, cwd=tmp_path).split()
    assert int(graphs) > 0
    assert Path(place).is_relative_to(clean)


def test_every_extra_is_tried() -> None:
    assert sorted(USES) == EXTRAS
    (everything,) = PROJECT["optional-dependencies"]["all"]
    assert {*re.findall(r"\w+", everything.partition("[")[2]), *HERE} == set(EXTRAS)


@pytest.fixture(scope="module")
def tables(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A table in the formats that need an extra."""
    import pyreadstat  # noqa: PLC0415

    folder = tmp_path_factory.mktemp("tables")
    frame = pl.DataFrame({"age": [float(20 + i % 37) for i in range(40)], "smoker": ["yes", "no"] * 20})
    frame.write_excel(folder / "site.xlsx")
    pyreadstat.write_sav(frame.to_pandas(), str(folder / "site.sav"))
    with duckdb.connect(str(folder / "site.duckdb")) as database:
        database.execute("CREATE TABLE patients AS SELECT * FROM frame")
    return folder


def used(environment: Path, extra: str, folder: Path, hidden: list[str]) -> subprocess.CompletedProcess[str]:
    values = {name: value for name, value in os.environ.items() if not name.startswith("CONSILIENCE_")}
    command = [str(environment / "bin" / "python"), "-c", HEAD + USES[extra], str(folder), json.dumps(hidden)]
    password = "correct horse battery staple\n"
    return subprocess.run(command, cwd=folder, env=values, input=password, capture_output=True, text=True, check=False)


def named(text: str) -> str:
    return re.sub(r"[-_.]+", "-", text).lower()


def distributions_in(*environments: Path) -> dict[str, Distribution]:
    return {named(found.name): found for found in distributions(path=[str(packages(one)) for one in environments])}


def others(there: dict[str, Distribution], extra: str) -> list[str]:
    """Modules that an extra does not bring: an environment in which nothing else was installed has none of them."""
    wanted, seen = [Requirement(f"consilience[{extra}]")], set[tuple[str, frozenset[str]]]()
    while wanted:
        one = wanted.pop()
        key = (named(one.name), frozenset(one.extras))
        if key in seen:
            continue
        seen.add(key)
        needs = [Requirement(text) for text in there[key[0]].requires or []]
        wanted += [need for need in needs if need.marker is None or any(need.marker.evaluate({"extra": e}) for e in (*one.extras, ""))]
    modules = {name: {file.parts[0].partition(".")[0] for file in found.files or ()} for name, found in there.items()}
    brought = set[str]().union(*(modules[name] for name, _ in seen))
    return sorted(set[str]().union(*modules.values()) - brought - {"", "__pycache__"})


@slow
@pytest.mark.parametrize("extra", EXTRAS)
def test_an_extra_brings_what_it_is_for(clean: Path, full: Path, tables: Path, tmp_path: Path, extra: str) -> None:
    """They are installed in one environment, and of each the program sees what it brings by itself."""
    for table in tables.iterdir():
        (tmp_path / table.name).symlink_to(table)
    place = Path(sys.prefix) if extra in HERE else full
    hidden = others(distributions_in(*((place,) if extra in HERE else (clean, full))), extra)
    assert len({"authlib", "distributed", "duckdb", "fastexcel", "matplotlib"} & set(hidden)) >= 4
    done = used(place, extra, tmp_path, hidden)
    assert done.returncode == 0, done.stderr[-3000:]


@slow
@pytest.mark.parametrize("extra", sorted(set(EXTRAS) - set(UNTOLD)))
def test_what_an_extra_is_for_says_so_where_it_is_missing(clean: Path, full: Path, tables: Path, tmp_path: Path, extra: str) -> None:
    for table in tables.iterdir():
        (tmp_path / table.name).symlink_to(table)
    hidden = others(distributions_in(clean, full), BESIDES[extra]) if extra in BESIDES else []
    done = used(full if extra in BESIDES else clean, extra, tmp_path, hidden)
    assert done.returncode != 0
    assert f"consilience[{extra}]" in done.stderr


@slow
def test_a_command_whose_extra_is_missing_says_so_and_nothing_more(clean: Path, tmp_path: Path) -> None:
    done = subprocess.run([clean / "bin" / "consilience", "app"], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert "consilience[web]" in done.stderr
    assert "Traceback" not in done.stderr


def test_the_changelog_has_the_form_that_it_names() -> None:
    """Keep a Changelog 1.1.0: the newest version first, what is not released above it, changes by their kinds, dates as 2026-01-31."""
    lines = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8").splitlines()
    assert lines[0] == "# Changelog"
    versions = [line for line in lines if line.startswith("## ")]
    assert versions[0] == "## [Unreleased]"
    released = [re.fullmatch(r"## \[(\d+)\.(\d+)\.(\d+)\] - \d{4}-\d{2}-\d{2}", line) for line in versions[1:]]
    assert all(released)
    numbers = [tuple(map(int, found.groups())) for found in released if found]
    assert numbers == sorted(set(numbers), reverse=True)
    assert all(Version(".".join(map(str, number))) <= Version(consilience.__version__) for number in numbers)
    kinds = {line.removeprefix("### ") for line in lines if line.startswith("### ")}
    assert kinds <= {"Added", "Changed", "Deprecated", "Removed", "Fixed", "Security"}


def test_the_forge_does_what_is_done_here() -> None:
    workflow = yaml.safe_load((ROOT / ".github" / "workflows" / "ci.yml").read_text(encoding="utf-8"))
    jobs = workflow["jobs"]
    assert set(jobs) == {"lint", "test", "docs", "wheel"}
    steps = {name: [str(step["run"]) for step in job["steps"] if "run" in step] for name, job in jobs.items()}
    for typed in steps.values():
        for line in (line for text in typed for line in lines_of(text)):
            for words in commands_of(line):
                assert wrong_with(words) == ""
    assert ("make lint" in steps["lint"], ".ci/run" in steps["test"]) == (True, True)
    assert ("make docs" in steps["docs"], "make release" in steps["wheel"]) == (True, True)
    tested = jobs["test"]["strategy"]["matrix"]["python"]
    said = [one.rpartition(" ")[2] for one in PROJECT["classifiers"] if re.search(r"Python :: 3\.\d+$", one)]
    assert tested[: len(said)] == said, "a version is named in the package once its tests have passed"
    assert PROJECT["requires-python"] == f">={said[0]}"

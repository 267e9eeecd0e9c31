"""A study that is stopped goes on where it was."""

from __future__ import annotations

import ast
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

import consilience as cs
from consilience.reproduction import experiment as module
from consilience.reproduction.design import Run
from consilience.reproduction.experiment import Experiment, Results
from consilience.reproduction.record_folder import MODULES, WITHOUT_EFFECT, RecordFolder, claim_folder, code_digest, sources_of
from consilience.reproduction.runs import Record
from consilience.reproduction.sizes import SIZES, Plan, Size

PLAN = Plan(graphs=1, replications=3, samples=(500,), partitions=(4,), cases=1)
SCRIPT = """
import sys
from pathlib import Path
from consilience.reproduction.sizes import Plan
from consilience.reproduction.experiment import Experiment
Experiment(Path(sys.argv[1]), Plan(1, 40, (500,), (4,), 0)).run()
"""


def numbers(records: tuple[Record, ...]) -> list[object]:
    """What a record says, without the time it took."""
    return [(r.run, r.kinds, {m: (f.log_p, f.pags, f.shd) for m, f in r.found.items()}) for r in records]


def test_the_sizes_are_the_papers_and_nested() -> None:
    assert len(SIZES[Size.PAPER].runs()) == 10_800
    assert set(SIZES[Size.SMOKE].runs()) < set(SIZES[Size.DEFAULT].runs()) < set(SIZES[Size.PAPER].runs())
    assert len({run.seed for run in SIZES[Size.PAPER].runs()}) == 10_800
    first = SIZES[Size.PAPER].runs()[:360]
    assert len({(run.graph, run.n, run.sites) for run in first}) == 360  # a study that is stopped early is balanced


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Results:
    """The study, done at once by one process."""
    return Experiment(tmp_path_factory.mktemp("whole"), PLAN).run()


@pytest.mark.slow
def test_an_interrupted_study_goes_on(whole: Results, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def stop(done: int, _: int) -> None:
        if done == 2:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        Experiment(tmp_path / "parts", PLAN).run(progress=stop)
    done: list[Run] = []
    do = module.do_run
    monkeypatch.setattr(module, "do_run", lambda run, *rest: done.append(run) or do(run, *rest))
    told: list[tuple[int, int]] = []
    parts = Experiment(tmp_path / "parts", PLAN).run(progress=lambda *numbers: told.append(numbers))
    assert [run.replication for run in done] == [2]
    assert told == [(2, 4), (3, 4), (4, 4)]
    assert numbers(parts.records) == numbers(whole.records)
    assert parts.cases == whole.cases


@pytest.mark.slow
def test_a_killed_study_leaves_whole_files_only(tmp_path: Path) -> None:
    process = subprocess.Popen([sys.executable, "-c", SCRIPT, str(tmp_path)])
    runs = tmp_path / "runs"
    deadline = time.monotonic() + 60
    while len(list(runs.glob("*.json")) if runs.exists() else []) < 2 and time.monotonic() < deadline:
        time.sleep(0.02)  # another process works: there is nothing to be told by
    os.kill(process.pid, signal.SIGKILL)
    process.wait()
    left = sorted(runs.glob("*.json"))
    assert 2 <= len(left) < 40
    records = RecordFolder(runs, Record)
    assert all(records.read(path.stem) is not None for path in left)
    before = {path: path.stat().st_mtime_ns for path in left}
    plan = Plan(1, len(left) + 1, (500,), (4,), 0)
    assert len(Experiment(tmp_path, plan).run().records) == len(left) + 1
    assert {path: path.stat().st_mtime_ns for path in left} == before


@pytest.mark.slow
def test_two_processes_find_what_one_finds(whole: Results, tmp_path: Path) -> None:
    assert numbers(Experiment(tmp_path, PLAN).run(jobs=2).records) == numbers(whole.records)


def test_a_damaged_file_is_computed_again(tmp_path: Path) -> None:
    records = RecordFolder(tmp_path, dict[str, int])
    records.write("a", {"x": 1})
    assert records.read("a") == {"x": 1}
    (tmp_path / "a.json").write_text('{"x": 1')
    assert records.read("a") is None
    (tmp_path / "a.json").write_text('{"x": "text"}')
    assert records.read("a") is None


def test_writing_that_fails_leaves_the_old_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    records = RecordFolder(tmp_path, dict[str, int])
    records.write("a", {"x": 1})

    def full(_path: Path, _data: bytes) -> int:
        raise OSError("no space left")

    monkeypatch.setattr(Path, "write_bytes", full)
    with pytest.raises(OSError, match="no space"):
        records.write("a", {"x": 2})
    assert records.read("a") == {"x": 1}


def test_results_of_other_code_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    claim_folder(tmp_path, {"code": "abc", "seed": 1})
    claim_folder(tmp_path, {"code": "abc", "seed": 1})
    with pytest.raises(cs.errors.ForeignResultsError, match=r"another code.*--out"):
        claim_folder(tmp_path, {"code": "def", "seed": 1})


ROOT = Path(cs.__file__).parent


@pytest.fixture
def copied(tmp_path: Path) -> Path:
    """The package somewhere else, to be changed."""
    return Path(shutil.copytree(ROOT, tmp_path / "consilience", ignore=shutil.ignore_patterns("__pycache__")))


def test_the_digest_is_that_of_the_source_wherever_it_stands(copied: Path) -> None:
    assert code_digest(copied) == code_digest() == code_digest(ROOT)


@pytest.mark.parametrize(
    "name",
    [
        "iod/solver/mag.lp",
        "iod/solver/decisions.lp",
        "iod/published/union.py",
        "glm/solver.py",
        "citest/batch.py",
        "simulate/scm.py",
        "options.py",
        "reproduction/runs.py",
    ],
)
def test_a_change_of_any_source_that_results_depend_on_changes_the_digest(name: str, copied: Path) -> None:
    with (copied / name).open("a", encoding="utf-8") as file:
        file.write("% changed\n")
    assert code_digest(copied) != code_digest()


@pytest.mark.parametrize("name", ["rooms/new.py", "rooms/deep/new.lp", "rooms/new.toml", "rooms.py", "graph/new.py"])
def test_a_new_room_or_module_changes_the_digest_unasked(name: str, copied: Path) -> None:
    (copied / name).parent.mkdir(parents=True, exist_ok=True)
    (copied / name).write_text("")
    assert code_digest(copied) != code_digest()


@pytest.mark.parametrize("name", ["cli/app.py", "reproduction/page.py", "reproduction/paper.toml", "errors.py", "iod/report/page.css"])
def test_what_only_shows_results_does_not(name: str, copied: Path) -> None:
    with (copied / name).open("a", encoding="utf-8") as file:
        file.write("# changed\n")
    assert code_digest(copied) == code_digest()


def imported_files() -> set[Path]:
    """Every file of the package that the modules which make results import, directly or through others."""
    found: set[Path] = set()
    todo = [ROOT / "reproduction" / f"{name}.py" for name in ("runs", "variants")]
    while todo:
        file = todo.pop()
        if file in found:
            continue
        found.add(file)
        names: set[str] = set()
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Import):
                names |= {alias.name for alias in node.names}
            elif isinstance(node, ast.ImportFrom):
                names |= {str(node.module), *(f"{node.module}.{alias.name}" for alias in node.names)}
        for name in names:
            place = ROOT.joinpath(*name.split(".")[1:])
            if name.startswith("consilience."):
                todo += [path for path in (place.with_suffix(".py"), place / "__init__.py") if path.is_file()]
    return found


@pytest.mark.slow
def test_the_digest_covers_all_that_results_import() -> None:
    missing = imported_files() - set(sources_of(ROOT))
    rooms = {path.relative_to(ROOT).parts[0] for path in missing}
    assert rooms <= {"errors.py", "secagg"}, "either it has an effect on results, or record_folder says why not"
    made = {path.stem for path in imported_files() if path.parent == ROOT / "reproduction"} - {"__init__", "errors"}
    assert made == set(MODULES)


def test_what_is_said_to_have_no_effect_exists() -> None:
    parts = {path.stem for path in ROOT.iterdir()}
    assert {*WITHOUT_EFFECT} - {"web"} <= parts  # web: pages to come

"""The page on installing without a network, typed as it stands, with three small wheels in the place of forty."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from tests.code_blocks import ROOT, blocks, lines_of
from tests.system.test_supply_chain import run as list_wheels
from tests.system.test_supply_chain import wheel

pytestmark = pytest.mark.slow
PAGE = "docs/offline.md"
HERE = "tests/system/test_offline.py"
PROGRAM = "def main():\n    print('consilience 0.1.0')\n"


@pytest.fixture
def build(tmp_path: Path) -> Path:
    """A machine with an index, after ``make release``: a package of our name, with a command, and what it needs."""
    folder = tmp_path / "here" / "build" / "wheelhouse"
    folder.mkdir(parents=True)
    ours = wheel(folder, "consilience", "0.1.0", "one>=1", body=PROGRAM)
    with zipfile.ZipFile(ours, "a") as archive:
        archive.writestr("consilience-0.1.0.dist-info/entry_points.txt", "[console_scripts]\nconsilience = consilience:main\n")
    wheel(folder, "one", "1.5", "two_things")
    wheel(folder, "two_things", "2.0")
    constraints = tmp_path / "constraints.txt"
    constraints.write_text("one==1.5\ntwo-things==2.0\n")
    assert list_wheels(folder, constraints).returncode == 0
    return tmp_path / "here"


def typed(lines: list[str], folder: Path) -> subprocess.CompletedProcess[str]:
    """In a shell, where nothing says where an index would be."""
    settings = {name: value for name, value in os.environ.items() if not name.startswith("PIP_")} | {"PIP_CONFIG_FILE": os.devnull}
    settings["PATH"] = f"{Path(sys.executable).parent}{os.pathsep}{settings['PATH']}"
    return subprocess.run(["sh", "-euc", "\n".join(lines)], cwd=folder, env=settings, capture_output=True, text=True, check=False)


def test_the_commands_of_the_page_install_what_was_listed_and_nothing_else(build: Path, tmp_path: Path) -> None:
    here, there, looked = [block for block in blocks() if block.page == PAGE and block.runner == HERE]
    first, *rest = lines_of(here.text)
    assert first == "make release"
    carried = typed(rest, build)
    assert carried.returncode == 0, carried.stderr
    other = tmp_path / "there"
    other.mkdir()
    (build / "wheelhouse.tar").rename(other / "wheelhouse.tar")
    done = typed(lines_of(there.text), other)
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[0] == carried.stdout.strip(), "the number that was told"
    assert done.stdout.splitlines()[-1] == "consilience 0.1.0"
    (other / "parts.py").write_text(looked.text)
    parts = typed([f"'{sys.executable}' parts.py"], other)
    assert parts.stdout.splitlines() == ["one 1.5 MIT", "two_things 2.0 MIT"], parts.stderr
    wheel(other / "wheelhouse", "two_things", "2.0", body="import os")
    (again,) = [line for line in lines_of(there.text) if "pip install" in line]
    changed = typed([f"{again} --force-reinstall"], other)
    assert changed.returncode != 0
    assert "THESE PACKAGES DO NOT MATCH THE HASHES" in changed.stderr


def test_the_page_installs_as_the_makefile_and_the_image_do() -> None:
    (line,) = [line for block in blocks() if block.page == PAGE for line in lines_of(block.text) if "bin/pip install" in line]
    options = line.partition(" install ")[2]
    assert options.replace("wheelhouse", "build/wheelhouse") in (ROOT / "Makefile").read_text(encoding="utf-8").replace("--quiet ", "")
    assert options in (ROOT / "Containerfile").read_text(encoding="utf-8").replace("--no-cache-dir ", "")


def test_the_extras_that_the_page_names_are_some() -> None:
    text = (ROOT / PAGE).read_text(encoding="utf-8")
    named = set(re.findall(r"\w+", re.search(r"EXTRAS=([\w,]+)", text)[1]))  # type: ignore[index]
    assert named <= set(re.findall(r"^(\w+) = \[", (ROOT / "pyproject.toml").read_text(encoding="utf-8"), re.MULTILINE))
    assert "'consilience[$(EXTRAS)]'" in (ROOT / "Makefile").read_text(encoding="utf-8")

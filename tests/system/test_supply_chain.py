"""What containers and releases are made of: names and versions in the repository, digests made at build time, and nothing else."""

from __future__ import annotations

import io
import json
import re
import subprocess
import sys
import zipfile
from contextlib import redirect_stderr, redirect_stdout
from importlib.metadata import PackageNotFoundError, distribution
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from typing import NamedTuple

import pytest
from packaging.requirements import Requirement

ROOT = Path(__file__).parents[2]


def wheel(folder: Path, name: str, version: str, *needs: str, body: str = "") -> Path:
    """A wheel of one module, as small as they come."""
    info = f"{name}-{version}.dist-info"
    path = folder / f"{name}-{version}-py3-none-any.whl"
    told = ["Metadata-Version: 2.1", f"Name: {name}", f"Version: {version}", "License-Expression: MIT"]
    told += [f"Requires-Dist: {one}" for one in needs]
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr(f"{name}.py", body)
        archive.writestr(f"{info}/METADATA", "\n".join(told) + "\n")
        archive.writestr(f"{info}/WHEEL", "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        archive.writestr(f"{info}/RECORD", f"{name}.py,,\n{info}/METADATA,,\n{info}/WHEEL,,\n{info}/RECORD,,\n")
    return path


class Done(NamedTuple):
    returncode: int
    stderr: str


def run(folder: Path, constraints: Path) -> Done:
    """The program, in this process: it needs nothing but Python."""
    found = spec_from_file_location("wheelhouse", ROOT / "tools" / "wheelhouse.py")
    assert found is not None
    assert found.loader is not None
    module = module_from_spec(found)
    sys.modules["wheelhouse"] = module  # where dataclasses look up their annotations
    found.loader.exec_module(module)
    said = io.StringIO()
    with redirect_stderr(said), redirect_stdout(io.StringIO()):
        code = module.main([str(folder), "--constraints", str(constraints)])
    del sys.modules["wheelhouse"]
    return Done(code, said.getvalue())


def install(folder: Path, target: Path) -> subprocess.CompletedProcess[str]:
    """As the Containerfile does it, into a folder."""
    options = ["--no-index", "--find-links", str(folder), "--require-hashes", "-r", str(folder / "requirements.txt")]
    command = [
        sys.executable,
        "-m",
        "pip",
        "--isolated",
        "install",
        "--quiet",
        "--disable-pip-version-check",
        "--no-cache-dir",
        "--target",
        str(target),
        *options,
    ]
    return subprocess.run(command, capture_output=True, text=True, check=False)


@pytest.fixture
def house(tmp_path: Path) -> tuple[Path, Path]:
    """A project of ours, what it needs, and what that needs; the constraints that pin both."""
    folder = tmp_path / "wheelhouse"
    folder.mkdir()
    wheel(folder, "consilience", "0.1.0", "one>=1", 'extra_thing; extra == "web"')
    wheel(folder, "one", "1.5", "two_things")
    wheel(folder, "two_things", "2.0")
    constraints = tmp_path / "constraints.txt"
    constraints.write_text("one==1.5\nTwo.Things==2.0\nunused==3\n")
    return folder, constraints


@pytest.mark.slow
def test_what_was_listed_is_installed_and_a_file_that_was_changed_is_not(house: tuple[Path, Path], tmp_path: Path) -> None:
    folder, constraints = house
    done = run(folder, constraints)
    assert done.returncode == 0, done.stderr
    lines = (folder / "requirements.txt").read_text().splitlines()
    assert [line.split(" --hash=sha256:")[0] for line in lines] == ["consilience==0.1.0", "one==1.5", "two-things==2.0"]
    assert all(re.fullmatch(r"\S+ --hash=sha256:[0-9a-f]{64}", line) for line in lines)
    good = install(folder, tmp_path / "good")
    assert good.returncode == 0, good.stderr
    assert (tmp_path / "good" / "two_things.py").exists()
    wheel(folder, "two_things", "2.0", body="import os")
    bad = install(folder, tmp_path / "bad")
    assert bad.returncode != 0
    assert "DO NOT MATCH THE HASHES" in bad.stderr


def test_the_bill_lists_every_wheel_with_its_digest_and_its_needs(house: tuple[Path, Path]) -> None:
    folder, constraints = house
    run(folder, constraints)
    first = (folder / "sbom.cdx.json").read_bytes()
    told = json.loads(first)
    assert (told["bomFormat"], told["specVersion"], told["version"]) == ("CycloneDX", "1.6", 1)
    assert re.fullmatch(r"urn:uuid:[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", told["serialNumber"])
    ours, parts = told["metadata"]["component"], told["components"]
    assert (ours["type"], ours["name"]) == ("application", "consilience")
    assert [part["purl"] for part in parts] == ["pkg:pypi/one@1.5", "pkg:pypi/two-things@2.0"]
    hashes = dict(line.split(" --hash=sha256:") for line in (folder / "requirements.txt").read_text().splitlines())
    for part in (ours, *parts):
        assert part["hashes"] == [{"alg": "SHA-256", "content": hashes[f"{part['purl'].removeprefix('pkg:pypi/').replace('@', '==')}"]}]
        assert part["licenses"] == [{"license": {"name": "MIT"}}]
    refs = {part["bom-ref"] for part in (ours, *parts)}
    assert {one["ref"] for one in told["dependencies"]} == refs
    needs = {one["ref"].split("@")[0]: [ref.split("@")[0] for ref in one["dependsOn"]] for one in told["dependencies"]}
    assert needs == {"pkg:pypi/consilience": ["pkg:pypi/one"], "pkg:pypi/one": ["pkg:pypi/two-things"], "pkg:pypi/two-things": []}
    run(folder, constraints)
    assert (folder / "sbom.cdx.json").read_bytes() == first


@pytest.mark.parametrize(
    ("what", "words"),
    [
        ("another version", "must be of the version that is pinned; the constraints say 1.5 for one"),
        ("not pinned", "the constraints say nothing for stranger"),
        ("a source", "three-1.0.tar.gz is none"),
        ("no wheel", "is no wheel"),
        ("another name", "must be named by what it holds"),
        ("a hash in the constraints", "line 1 must be NAME==VERSION"),
        ("an address in the constraints", "line 1 must be NAME==VERSION"),
        ("nothing", "holds no wheels"),
    ],
)
def test_what_cannot_be_vouched_for_is_named(house: tuple[Path, Path], what: str, words: str) -> None:
    folder, constraints = house
    match what:
        case "another version":
            wheel(folder, "one", "1.6")
        case "not pinned":
            wheel(folder, "stranger", "1.0")
        case "a source":
            (folder / "three-1.0.tar.gz").write_bytes(b"")
        case "no wheel":
            (folder / "one-1.5-py3-none-any.whl").write_bytes(b"hello")
        case "another name":
            wheel(folder, "one", "1.5").rename(folder / "other-1.5-py3-none-any.whl")
        case "a hash in the constraints":
            constraints.write_text("one==1.5 --hash=sha256:00\n")
        case "an address in the constraints":
            constraints.write_text("one @ https://files.example/one.whl\n")
        case "nothing":
            for path in folder.iterdir():
                path.unlink()
    done = run(folder, constraints)
    assert done.returncode == 2
    assert words in done.stderr
    assert not (folder / "sbom.cdx.json").exists()


def test_the_repository_has_names_and_versions_and_no_digest_or_address() -> None:
    lines = (ROOT / "constraints.txt").read_text().splitlines()
    assert all(re.fullmatch(r"[A-Za-z0-9._-]+==[A-Za-z0-9.!+]+", line) for line in lines)
    assert len({re.sub(r"[-_.]+", "-", line.split("==")[0]).lower() for line in lines}) == len(lines)


def test_everything_that_a_container_installs_is_pinned() -> None:
    """The packages that are needed, and theirs, as they are installed here; and what builds ours."""
    pinned = {re.sub(r"[-_.]+", "-", line.split("==")[0]).lower() for line in (ROOT / "constraints.txt").read_text().splitlines()}
    wanted, seen = [Requirement("consilience[web]"), Requirement("hatchling")], set[tuple[str, frozenset[str]]]()
    while wanted:
        one = wanted.pop()
        name = re.sub(r"[-_.]+", "-", one.name).lower()
        if (name, frozenset(one.extras)) in seen:
            continue
        seen.add((name, frozenset(one.extras)))
        assert name == "consilience" or name in pinned, name
        try:
            needs = [Requirement(text) for text in distribution(one.name).requires or []]
        except PackageNotFoundError:  # what builds is not what runs
            assert name == "hatchling"
            continue
        wanted += [need for need in needs if need.marker is None or any(need.marker.evaluate({"extra": e}) for e in (*one.extras, ""))]
    assert len(seen) > 25


def test_the_image_is_made_of_a_digest_and_of_checked_wheels_alone() -> None:
    text = (ROOT / "Containerfile").read_text()
    froms = re.findall(r"^FROM (\S+)", text, flags=re.MULTILINE)
    assert froms == ["${PYTHON_IMAGE}", "${PYTHON_IMAGE}"]
    assert re.search(r"^ARG PYTHON_IMAGE$", text, flags=re.MULTILINE), "no default: a tag changes from one day to the next"
    installs = re.findall(r"pip install (.*?)\\?$", text, flags=re.MULTILINE)
    assert len(installs) == 1
    assert "--no-index" in installs[0]
    assert "--require-hashes" in installs[0]
    assert "${PYTHON_IMAGE:?" in (ROOT / "compose.yaml").read_text()
    for name in (".containerignore", ".dockerignore"):
        assert (ROOT / name).read_text().split() == ["**", "!build/wheelhouse"]


@pytest.mark.parametrize(
    ("image", "code"),
    [
        (f"docker.io/library/python@sha256:{'0' * 64}", 0),
        ("docker.io/library/python:3.11-slim-bookworm", 1),
        ("docker.io/library/python@sha256:0123", 1),
        ("", 1),
    ],
)
def test_a_base_without_a_digest_is_refused_in_words(image: str, code: int) -> None:
    """The step of the Containerfile itself, in a shell."""
    text = (ROOT / "Containerfile").read_text()
    found = re.search(r"^RUN (case .*?esac)$", text, flags=re.MULTILINE | re.DOTALL)
    assert found
    step = found[1].replace("\\\n", "\n")
    done = subprocess.run(["sh", "-c", step], env={"PYTHON_IMAGE": image}, capture_output=True, text=True, check=False)
    assert done.returncode == code
    assert code == 0 or "by its digest" in done.stderr

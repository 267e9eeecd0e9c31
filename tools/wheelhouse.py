"""A folder of wheels as something that can be checked: requirements with the SHA-256 of each, and a bill of materials (CycloneDX 1.6).

    python tools/wheelhouse.py build/wheelhouse --constraints constraints.txt

Names and versions are in the repository (``constraints.txt``); digests are not, since they are those of files that a package index
serves, and differ from platform to platform. They are made here, once, of the wheels that were downloaded; from then on ``pip install
--require-hashes --no-index`` takes these files and no others, with or without a network. Only the standard library is used: what is checked
must not check itself.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
import uuid
import zipfile
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from email.parser import HeaderParser
from hashlib import sha256
from pathlib import Path
from typing import Any

REQUIREMENTS, SBOM = "requirements.txt", "sbom.cdx.json"
PROJECT = "consilience"


class WheelhouseError(Exception):
    """What stands in the way, in a sentence."""


@dataclass(frozen=True, order=True)
class Wheel:
    """A wheel: its name as indexes spell it, its version, its digest, and what its metadata says of licence and needs."""

    name: str
    version: str
    file: str
    digest: str
    title: str
    license: str
    needs: tuple[str, ...]


def normal(name: str) -> str:
    """A name as indexes compare it (PEP 503).

    >>> normal("Jinja2"), normal("ast_serialize"), normal("jaraco.classes")
    ('jinja2', 'ast-serialize', 'jaraco-classes')
    """
    return re.sub(r"[-_.]+", "-", name).lower()


def read_wheel(path: Path) -> Wheel:
    """What a wheel says of itself."""
    data = path.read_bytes()
    try:
        with zipfile.ZipFile(path) as archive:
            inner = [name for name in archive.namelist() if re.fullmatch(r"[^/]+\.dist-info/METADATA", name)]
            if len(inner) != 1:
                raise WheelhouseError(f"{path.name} must hold one METADATA; it holds {len(inner)}.")
            told = HeaderParser().parsestr(archive.read(inner[0]).decode("utf-8"))
    except (zipfile.BadZipFile, UnicodeDecodeError, KeyError) as error:
        raise WheelhouseError(f"{path.name} is no wheel: {error}.") from None
    name, version = told["Name"], told["Version"]
    if not name or not version or normal(name) != normal(path.name.split("-")[0]):
        raise WheelhouseError(f"{path.name} must be named by what it holds; it says that it is {name} {version}.")
    # needs of extras are needed by whoever asks for the extra, which nobody here knows
    told_needs = [one for one in told.get_all("Requires-Dist") or [] if "extra" not in one]
    needs = {normal(match[0]) for one in told_needs if (match := re.match(r"[A-Za-z0-9._-]+", one))}
    licensed = told["License-Expression"] or _classified(told.get_all("Classifier") or []) or (told["License"] or "").split("\n")[0][:200]
    return Wheel(normal(name), version, path.name, sha256(data).hexdigest(), name, licensed, tuple(sorted(needs)))


def _classified(classifiers: Iterable[str]) -> str:
    return "; ".join(one.rpartition(" :: ")[2] for one in classifiers if one.startswith("License ::"))


def read_constraints(path: Path) -> dict[str, str]:
    """Names and versions, and nothing else: neither digests nor addresses."""
    found: dict[str, str] = {}
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1):
        words = line.partition("#")[0].strip()
        if not words:
            continue
        match = re.fullmatch(r"([A-Za-z0-9][A-Za-z0-9._-]*)==([A-Za-z0-9.!+]+)", words)
        if not match:
            raise WheelhouseError(f"{path.name} line {number} must be NAME==VERSION; got {words[:80]!r}.")
        found[normal(match[1])] = match[2]
    return found


def read_wheelhouse(folder: Path, pinned: dict[str, str]) -> list[Wheel]:
    """The wheels of a folder, each of a version that is pinned; the project's own is not."""
    strange = sorted(path.name for path in folder.iterdir() if path.suffix != ".whl" and path.name not in (REQUIREMENTS, SBOM))
    if strange:
        raise WheelhouseError(f"A wheelhouse holds wheels alone: what is built on the way can be anything. {strange[0]} is none.")
    wheels = sorted(read_wheel(path) for path in folder.glob("*.whl"))
    if not wheels:
        raise WheelhouseError(f"{folder} holds no wheels.")
    versions: dict[str, str] = {}
    for wheel in wheels:
        if wheel.name != PROJECT and pinned.get(wheel.name) != wheel.version:
            said = pinned.get(wheel.name, "nothing")
            raise WheelhouseError(f"{wheel.file} must be of the version that is pinned; the constraints say {said} for {wheel.name}.")
        if versions.setdefault(wheel.name, wheel.version) != wheel.version:
            raise WheelhouseError(f"There are two versions of {wheel.name}: {versions[wheel.name]} and {wheel.version}.")
    return wheels


def requirements(wheels: Sequence[Wheel]) -> str:
    """For ``pip install --require-hashes -r``: every wheel with its digest, those of other platforms under the same name.

    >>> print(requirements([Wheel("a", "1", "a.whl", "00" * 32, "A", "MIT", ())]), end="")  # doctest: +ELLIPSIS
    a==1 --hash=sha256:00...00
    """
    lines: dict[str, list[str]] = {}
    for wheel in wheels:
        lines.setdefault(f"{wheel.name}=={wheel.version}", []).append(f"--hash=sha256:{wheel.digest}")
    return "".join(" ".join([name, *sorted(hashes)]) + "\n" for name, hashes in sorted(lines.items()))


def bill(wheels: Sequence[Wheel]) -> dict[str, Any]:
    """What is in a folder of wheels, as CycloneDX 1.6. The same wheels give the same bill: its number is made of them; it has no time."""
    names = {wheel.name for wheel in wheels}
    purls = {wheel.name: f"pkg:pypi/{wheel.name}@{wheel.version}" for wheel in wheels}
    components = []
    for wheel in wheels:
        one: dict[str, Any] = {
            "type": "application" if wheel.name == PROJECT else "library",
            "bom-ref": f"{purls[wheel.name]}#{wheel.file}",
            "name": wheel.title,
            "version": wheel.version,
            "purl": purls[wheel.name],
            "hashes": [{"alg": "SHA-256", "content": wheel.digest}],
            "properties": [{"name": "consilience:file", "value": wheel.file}],
        }
        if wheel.license:
            one["licenses"] = [{"license": {"name": wheel.license}}]
        components.append(one)
    refs = {wheel.name: f"{purls[wheel.name]}#{wheel.file}" for wheel in wheels}
    needs = [
        {"ref": f"{purls[wheel.name]}#{wheel.file}", "dependsOn": sorted(refs[name] for name in wheel.needs if name in names)}
        for wheel in wheels
    ]
    number = uuid.uuid5(uuid.NAMESPACE_URL, "\n".join(f"{wheel.file} {wheel.digest}" for wheel in wheels))
    about = [one for one in components if one["type"] == "application"]
    return {
        "$schema": "http://cyclonedx.org/schema/bom-1.6.schema.json",
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "serialNumber": f"urn:uuid:{number}",
        "version": 1,
        "metadata": {"component": about[0]} if about else {},
        "components": [one for one in components if one["type"] == "library"],
        "dependencies": needs,
    }


def main(words: Sequence[str]) -> int:
    """Write both files into the folder; 2 if something stands in the way."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("folder", type=Path)
    parser.add_argument("--constraints", type=Path, required=True)
    given = parser.parse_args(words)
    try:
        wheels = read_wheelhouse(given.folder, read_constraints(given.constraints))
        (given.folder / REQUIREMENTS).write_text(requirements(wheels), encoding="utf-8")
        text = json.dumps(bill(wheels), indent=1, ensure_ascii=False) + "\n"
        (given.folder / SBOM).write_text(text, encoding="utf-8")
    except (WheelhouseError, OSError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    print(f"{len(wheels)} wheels: {given.folder / REQUIREMENTS}, {given.folder / SBOM}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

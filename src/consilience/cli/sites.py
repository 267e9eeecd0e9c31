"""Clients and tests from files, for the commands that take one file per site."""

from __future__ import annotations

from collections.abc import Collection
from enum import StrEnum
from pathlib import Path
from typing import Any

from consilience.citest import CITest
from consilience.data.errors import UnknownVariableError
from consilience.data.schema import Schema, unite
from consilience.data.sources import load
from consilience.errors import OptionError
from consilience.federation import Client, Server, pooled
from consilience.settings import DEFAULTS, Method, Part, Settings, names_of, settings_of
from consilience.settings.studyfile import FOR_FILES, StudyFile, read_study

__all__ = ["METHODS", "TestMethod", "choose", "clients_of", "make_test", "pairs_of", "settings_in", "variables_in", "write_ledgers"]


class TestMethod(StrEnum):
    """How the sites' data are brought together: a study's methods, and all rows in one place to compare them with."""

    __test__ = False  # not for pytest

    FEDCI = Method.FEDCI.value
    FISHER = Method.FISHER.value
    RESIDUAL = Method.RESIDUAL.value
    AUTO = Method.AUTO.value
    POOLED = "pooled"


METHODS: dict[str, tuple[type, str]] = {
    "method": (
        TestMethod,
        "Nested models from masked sums (fedci), combined p-values (fisher), products of residuals of smooth models (residual), nested "
        "models where they hold and residuals where they do not (auto), or nested models of all rows together (pooled).",
    )
}
"""The option ``--method`` of commands that have all rows at hand."""


def settings_in(files: list[Path]) -> dict[str, Any]:
    """The settings that a study file gives; none where there are only tables."""
    return {} if (study := _study_file(files)) is None else dict(study.settings)


def make_test(clients: list[Client], method: TestMethod, settings: Settings, variables: Collection[str] | None = None) -> CITest:
    """The CI test that ``method`` names, over the clients; of their columns only ``variables``, if a study file names them."""
    held = {c.name: {name: d for name, d in c.declarations.items() if name != settings.cluster} for c in clients}
    schema = unite(held)
    if variables is not None:
        schema = Schema([variable for name, variable in schema.items() if name in variables])
    if method is TestMethod.POOLED:
        same = {name: getattr(settings, name) for name in ("site_effects", "ordinal", "ridge", "diagnostics")}
        return pooled(clients, schema=schema, **same)
    options = {name: getattr(settings, name) for name in names_of(Part.TESTS)} | {"method": method.value}
    return Server(clients, schema=schema, **options)


def variables_in(files: list[Path]) -> tuple[str, ...] | None:
    """The variables of a study file: columns beyond them are left alone, as on a study server. None where there are only tables."""
    return None if (study := _study_file(files)) is None else tuple(study.schema)


def choose(files: list[Path], given: dict[str, Any]) -> tuple[TestMethod, Settings]:
    """The method and the settings: those of a study file, those of the command line where it gives them, else the defaults."""
    said = settings_in(files) | given
    method = TestMethod(said.pop("method", DEFAULTS.method))
    known = {"method": method.value} if method is not TestMethod.POOLED else {}
    return method, settings_of(**said, **known)


def clients_of(files: list[Path], kind: list[str] | None, levels: list[str] | None) -> list[Client]:
    """One client per file, named after it, or the sites of a single study file (.toml), with what it declares.

    ``kind`` and ``levels`` are NAME=VALUE declarations for every file that has the column; they win over a study file's.
    """
    kinds, orders = pairs_of("--kind", kind), {name: value.split(",") for name, value in pairs_of("--levels", levels).items()}
    names = [file.stem for file in files]
    if len(set(names)) < len(names):
        names = [str(file) for file in files]
    study = _study_file(files)
    if study is not None:
        names, files = list(study.files), list(study.files.values())
        # a kind that is declared anew goes without the study's levels
        orders = {n: list(v.levels) for n, v in study.schema.items() if v.levels and n not in kinds} | orders
        kinds = {n: v.kind.value for n, v in study.schema.items()} | kinds
    frames = [load(file, name).frame for name, file in zip(names, files, strict=True)]
    for variable in (*kinds, *orders):
        if not any(variable in frame.columns for frame in frames):
            who = "--kind and --levels" if study is None or variable not in study.schema else "A study file's [variables]"
            raise UnknownVariableError(f"{who} declare columns of the files; no file has a column {variable!r}. Take it out, or add it.")
    return [
        Client(
            name,
            frame,
            kinds={n: k for n, k in kinds.items() if n in frame.columns},
            levels={n: v for n, v in orders.items() if n in frame.columns},
        )
        for name, frame in zip(names, frames, strict=True)
    ]


def _study_file(files: list[Path]) -> StudyFile | None:
    """The study file, if it is one."""
    if not any(file.suffix == ".toml" for file in files):
        return None
    if len(files) > 1:
        raise OptionError(f"A study file names the files of all sites, and stands alone; got {len(files)} files.")
    return read_study(files[0], needs=FOR_FILES)


def pairs_of(option: str, values: list[str] | None) -> dict[str, str]:
    """NAME=VALUE options as a dictionary."""
    pairs: dict[str, str] = {}
    for value in values or []:
        name, sign, rest = value.partition("=")
        if not sign or not name or not rest:
            raise OptionError(f"{option} takes NAME=VALUE; got {value!r}.")
        pairs[name] = rest
    return pairs


def write_ledgers(clients: list[Client], path: Path) -> None:
    """What left each site, as JSON Lines."""
    path.write_text("".join(client.record.lines(site=client.name) for client in clients), encoding="utf-8")

"""Clients and tests from files, for the commands that take one file per site."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path

from consilience.citest import CITest
from consilience.data.errors import UnknownVariableError
from consilience.data.reading import load
from consilience.data.studyfile import read_study
from consilience.errors import OptionError
from consilience.federation import Client, Server, pooled
from consilience.glm.layout import Ordinal, SiteEffects

__all__ = ["Method", "clients_of", "make_test", "pairs_of", "write_ledgers"]


class Method(StrEnum):
    """How the sites' data are brought together."""

    FEDCI = "fedci"
    FISHER = "fisher"
    POOLED = "pooled"


def make_test(clients: list[Client], method: Method, site_effects: SiteEffects, ordinal: Ordinal) -> CITest:
    """The CI test that ``method`` names, over the clients."""
    if method is Method.POOLED:
        return pooled(clients, site_effects=site_effects is not SiteEffects.NONE, ordinal=ordinal)
    return Server(clients, method=method.value, site_effects=site_effects, ordinal=ordinal)


def clients_of(files: list[Path], kind: list[str] | None, levels: list[str] | None) -> list[Client]:
    """One client per file, named after it, or the sites of a single study file (.toml), with what it declares.

    ``kind`` and ``levels`` are NAME=VALUE declarations for every file that has the column; they win over a study file's.
    """
    kinds, orders = pairs_of("--kind", kind), {name: value.split(",") for name, value in pairs_of("--levels", levels).items()}
    names = [file.stem for file in files]
    if len(set(names)) < len(names):
        names = [str(file) for file in files]
    if any(file.suffix == ".toml" for file in files):
        if len(files) > 1:
            raise OptionError(f"A study file names the files of all sites, and stands alone; got {len(files)} files.")
        study = read_study(files[0])
        names, files = list(study.files), list(study.files.values())
        # a kind that is declared anew goes without the study's levels
        orders = {n: list(v.levels) for n, v in study.schema.items() if v.levels and n not in kinds} | orders
        kinds = {n: v.kind.value for n, v in study.schema.items()} | kinds
    frames = [load(file, name) for name, file in zip(names, files, strict=True)]
    for variable in (*kinds, *orders):
        if not any(variable in frame.columns for frame in frames):
            raise UnknownVariableError(f"--kind and --levels declare columns of the files; no file has a column {variable!r}.")
    return [
        Client(
            name,
            frame,
            kinds={n: k for n, k in kinds.items() if n in frame.columns},
            levels={n: v for n, v in orders.items() if n in frame.columns},
        )
        for name, frame in zip(names, frames, strict=True)
    ]


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

"""A study as a file: its variables, their kinds and levels, and the files of its sites. TOML, to be read and written by people, too.

::

    [variables.stage]
    kind = "ordinal"
    levels = ["I", "II", "III"]

    [sites.muenster]
    file = "muenster.csv"      # beside the study file, or an absolute path
"""

from __future__ import annotations

import json
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from consilience.data.errors import ReadError
from consilience.data.kinds import Variable, as_kind, level_label
from consilience.data.schema import Schema

__all__ = ["StudyFile", "read_study", "write_study"]


@dataclass(frozen=True, slots=True)
class StudyFile:
    """What a study file says.

    Attributes
    ----------
    schema : Schema
        Kinds and levels.
    files : dict of str to Path
        The file of each site.
    """

    schema: Schema
    files: dict[str, Path]


def write_study(path: Path, schema: Schema, files: Mapping[str, str], comment: str = "") -> None:
    """Write a study file.

    Parameters
    ----------
    path : Path
        Where.
    schema : Schema
        Kinds and levels.
    files : mapping of str to str
        The file of each site, as seen from the folder of ``path``.
    comment : str, optional
        Lines at the beginning.
    """
    lines = [f"# {line}" for line in comment.splitlines()]
    for variable in schema.values():
        lines += ["", f"[variables.{_text(variable.name)}]", f"kind = {_text(variable.kind.value)}"]
        if variable.levels:
            lines.append(f"levels = [{', '.join(_text(level) for level in variable.levels)}]")
    for site, file in files.items():
        lines += ["", f"[sites.{_text(site)}]", f"file = {_text(file)}"]
    path.write_text("\n".join(lines).lstrip("\n") + "\n", encoding="utf-8")


def _text(value: str) -> str:
    """A string of TOML: JSON's, without escaped surrogates; bare where it stands for a plain key is not worth a rule."""
    return json.dumps(value, ensure_ascii=False)


def read_study(path: Path) -> StudyFile:
    """Read a study file.

    Parameters
    ----------
    path : Path
        A TOML file as :func:`write_study` writes it.

    Returns
    -------
    StudyFile

    Raises
    ------
    ReadError
        If something is wrong with it; the message names the entry.
    """
    try:
        content = tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise ReadError(f"{str(path)!r} cannot be read as a study file (TOML): {error}") from None
    variables, sites = _entries(content, "variables", path), _entries(content, "sites", path)
    for site, entry in sites.items():
        if not isinstance(entry.get("file"), str):
            raise ReadError(f'A site of a study file has a file, as in file = "{site}.csv"; [sites.{site}] of {str(path)!r} has none.')
    schema = Schema([_variable(name, entry, path) for name, entry in variables.items()])
    return StudyFile(schema, {site: path.parent / entry["file"] for site, entry in sites.items()})


def _entries(content: dict[str, Any], name: str, path: Path) -> dict[str, dict[str, Any]]:
    found = content.get(name)
    if not isinstance(found, dict) or not found or not all(isinstance(entry, dict) for entry in found.values()):
        raise ReadError(f"A study file has sections [{name}.NAME], one for each of its {name}; {str(path)!r} has none.")
    return found


def _variable(name: str, entry: dict[str, Any], path: Path) -> Variable:
    kind, levels = entry.get("kind"), entry.get("levels", [])
    if not isinstance(kind, str) or not isinstance(levels, list):
        raise ReadError(
            f"A variable of a study file has a kind (text) and perhaps levels (a list); see [variables.{name}] of {str(path)!r}."
        )
    return Variable(name, as_kind(kind, name), tuple(level_label(level) for level in levels))

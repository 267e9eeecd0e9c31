"""A study as a file: what it is called, how it is done, its variables, which of them sites measure, and the files of its sites. TOML.

One format for ``consilience discover``, which needs the variables and the sites' files, and for ``consilience server study create``,
which sends everything but the sites: file names stay where the files are.

::

    name = "stroke, five hospitals"
    datasets = [["age", "stage"], ["age", "visits"]]     # which sets of variables sites measure, without names of sites

    [settings]                                           # any setting of docs/settings.md
    alpha = 0.01
    tiers = [["age"], ["stage", "visits"]]
    exogenous = ["age"]                                  # short for required = ["exogenous age"]; unconfounded and separate likewise

    [variables]
    age = "continuous"                                   # short for a table with a kind and nothing else
    visits = "count"

    [variables.stage]
    kind = "ordinal"
    levels = ["I", "II", "III"]

    [variables.chol]
    kind = "continuous"
    unit = "mmol/l"                                      # sites that say another unit are converted
    range = [0.5, 30]                                    # sites with values outside are refused

    [sites.muenster]
    file = "muenster.csv"                                # beside the study file, or an absolute path
    harmonise = "muenster.toml"                          # what is done with it first, if anything
"""

from __future__ import annotations

import json
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from math import isfinite
from pathlib import Path
from typing import Any

import msgspec

from consilience.data.errors import ReadError
from consilience.data.kinds import Kind, Variable, as_kind, level_label
from consilience.data.schema import Schema
from consilience.errors import OptionError
from consilience.settings.declaration import SETTINGS
from consilience.typed import from_plain

__all__ = ["FOR_FILES", "StudyFile", "parse_study", "read_study", "write_study"]

FOR_FILES = ("variables", "sites")
"""Sections that a study needs where it is done with the sites' files at hand."""
TOP = ("name", "datasets", "settings", "variables", "sites")
GROUPS = ("exogenous", "unconfounded", "separate")
"""What may be said of several variables as a list: no settings of their own, but short for texts among what is required."""


@dataclass(frozen=True, slots=True)
class StudyFile:
    """What a study file says; what it leaves out is empty. ``settings`` are those that it gives, in the settings' own types."""

    schema: Schema
    files: Mapping[str, Path] = field(default_factory=dict)
    datasets: tuple[tuple[str, ...], ...] = ()
    settings: Mapping[str, Any] = field(default_factory=dict)
    name: str = ""
    plans: Mapping[str, Path] = field(default_factory=dict)

    def declaration(self) -> dict[str, Any]:
        """What a study server is told, as JSON's types: all but the sites' files. What is left out, the server decides or asks for."""
        variables = [{"name": v.name, "kind": v.kind.value, "levels": list(v.levels)} | _measure(v) for v in self.schema.values()]
        found = {"variables": variables, "datasets": self.datasets, "settings": self.settings}
        return {"name": self.name, **{key: msgspec.to_builtins(value) for key, value in found.items() if value}}


def _measure(variable: Variable) -> dict[str, Any]:
    """Unit and range as JSON's types, if there are any; an open end is null."""
    unit = {"unit": variable.unit} if variable.unit else {}
    ends = {} if variable.range is None else {"range": [end if isfinite(end) else None for end in variable.range]}
    return unit | ends


def write_study(
    path: Path,
    schema: Schema,
    files: Mapping[str, str],
    comment: str = "",
    *,
    name: str = "",
    datasets: Iterable[Sequence[str]] = (),
    settings: Mapping[str, Any] | None = None,
) -> None:
    """Write a study file; ``files`` maps sites to their files, as seen from the folder of ``path``."""
    lines = [f"# {line}" for line in comment.splitlines()]
    lines += [f"name = {_value(name)}"] if name else []
    lines += [f"datasets = {_value([list(held) for held in datasets])}"] if datasets else []
    if settings:
        told = {key: SETTINGS[key].check(value) for key, value in settings.items()}
        lines += ["", "[settings]", *(f"{key} = {_value(msgspec.to_builtins(value), key)}" for key, value in told.items())]
    for variable in schema.values():
        lines += ["", f"[variables.{_value(variable.name)}]", f"kind = {_value(variable.kind.value)}"]
        if variable.levels:
            lines.append(f"levels = {_value(list(variable.levels))}")
        if variable.unit:
            lines.append(f"unit = {_value(variable.unit)}")
        if variable.range is not None:
            lines.append(f"range = [{', '.join(map(repr, variable.range))}]")  # inf is a word of TOML, too
    for site, file in files.items():
        lines += ["", f"[sites.{_value(site)}]", f"file = {_value(file)}"]
    path.write_text("\n".join(lines).lstrip("\n") + "\n", encoding="utf-8")


def _value(value: Any, name: str = "") -> str:
    """A value of TOML: JSON's, without escaped surrogates; keys are quoted, too: bare ones are not worth a rule."""
    if value is None:
        raise OptionError(f"A study file cannot say that {name} is none: TOML has no word for it. Leave it out, or give a number.")
    return json.dumps(value, ensure_ascii=False)


def read_study(path: Path, needs: Sequence[str] = ()) -> StudyFile:
    """Read a study file that has at least the sections ``needs``.

    What is wrong with it is a ``ReadError`` that names the entry, or an ``OptionError`` for a value that does not exist.
    """
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise ReadError(f"{str(path)!r} cannot be read as a study file (TOML): {error}") from None
    return parse_study(text, path, needs)


def parse_study(text: str, path: Path, needs: Sequence[str] = ()) -> StudyFile:
    """The same from text that is there already; ``path`` is what it is called in messages.

    >>> parse_study('variables.age = "continuous"', Path("trial.toml")).name
    'trial'
    """
    try:
        content = tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError) as error:  # thousands of brackets, one inside the other, are no study
        raise ReadError(f"{str(path)!r} cannot be read as a study file (TOML): {error}") from None
    _only(content, TOP, "A study file", path)
    variables, sites = (_entries(content, name, path, needed=name in needs) for name in ("variables", "sites"))
    for site, entry in sites.items():
        if not isinstance(entry, dict) or not isinstance(entry.get("file"), str):
            raise ReadError(f'A site of a study file has a file, as in file = "{site}.csv"; [sites.{site}] of {str(path)!r} has none.')
        _only(entry, ("file", "harmonise"), f"[sites.{site}]", path)
        if not isinstance(entry.get("harmonise", ""), str):
            raise ReadError(f"harmonise of [sites.{site}] is the name of a file; {str(path)!r} has {entry['harmonise']!r}.")
    name = content.get("name", path.stem)
    if not isinstance(name, str) or not name.strip():
        raise ReadError(f"A study's name is text; {str(path)!r} has {name!r}.")
    return StudyFile(
        Schema([_variable(variable, entry, path) for variable, entry in variables.items()]),
        {site: path.parent / entry["file"] for site, entry in sites.items()},
        _datasets(content.get("datasets", []), path),
        _settings(content.get("settings", {}), path),
        name,
        {site: path.parent / entry["harmonise"] for site, entry in sites.items() if "harmonise" in entry},
    )


def _only(entry: Mapping[str, Any], allowed: Sequence[str], what: str, path: Path) -> None:
    strange = [key for key in entry if key not in allowed]
    if strange:
        raise ReadError(f"{what} has the keys {', '.join(allowed)}; {str(path)!r} has {strange[0]!r}.")


def _entries(content: dict[str, Any], name: str, path: Path, *, needed: bool) -> dict[str, Any]:
    found = content.get(name, {})
    if not isinstance(found, dict) or (needed and not found) or not all(isinstance(entry, dict | str) for entry in found.values()):
        raise ReadError(f"A study file has sections [{name}.NAME], one for each of its {name}; {str(path)!r} has none.")
    return found


def _variable(name: str, entry: dict[str, Any] | str, path: Path) -> Variable:
    entry = {"kind": entry} if isinstance(entry, str) else entry
    _only(entry, ("kind", "levels", "unit", "range"), f"[variables.{name}]", path)
    kind, levels = entry.get("kind"), entry.get("levels", [])
    if not isinstance(kind, str) or not isinstance(levels, list):
        raise ReadError(
            f"A variable of a study file has a kind (text) and perhaps levels (a list); see [variables.{name}] of {str(path)!r}."
        )
    chosen = as_kind(kind, name)
    labels = tuple(level_label(level) for level in levels)
    labels = labels or (("0", "1") if chosen is Kind.BINARY else ())
    return Variable(name, chosen, labels, _unit(name, entry, path), _range(name, entry, path))


def _unit(name: str, entry: dict[str, Any], path: Path) -> str:
    unit = entry.get("unit", "")
    if not isinstance(unit, str):
        raise ReadError(f'unit of [variables.{name}] is text, as in "mmol/l"; {str(path)!r} has {unit!r}.')
    return unit


def _range(name: str, entry: dict[str, Any], path: Path) -> tuple[float, float] | None:
    if "range" not in entry:
        return None
    try:
        return from_plain(entry["range"], tuple[float, float])
    except msgspec.ValidationError:
        raise ReadError(f"range of [variables.{name}] is two numbers, as in [0.5, 30]; {str(path)!r} has {entry['range']!r}.") from None


def _datasets(found: Any, path: Path) -> tuple[tuple[str, ...], ...]:
    try:
        return from_plain(found, tuple[tuple[str, ...], ...])
    except msgspec.ValidationError:
        raise ReadError(f'datasets is a list of lists of variables, as in [["A", "B"], ["B", "C"]]; {str(path)!r} has {found!r}.') from None


def _settings(found: Any, path: Path) -> dict[str, Any]:
    if not isinstance(found, dict):
        raise ReadError(f"A study file has its settings in a section [settings]; {str(path)!r} has {found!r}.")
    _only(found, (*SETTINGS, *GROUPS), "[settings]", path)
    try:
        told = {name: SETTINGS[name].check(value) for name, value in found.items() if name in SETTINGS}
        groups = [text for word in GROUPS if word in found for text in _grouped(word, found[word])]
        return told | {"required": SETTINGS["required"].check((*told.get("required", ()), *groups))} if groups else told
    except OptionError as error:
        raise OptionError(f"{error} See [settings] of {str(path)!r}.") from None


def _grouped(word: str, value: Any) -> list[str]:
    """The same as texts, every name in quotation marks.

    >>> _grouped("exogenous", ["age", "sex"]), _grouped("separate", [["item 1", "item 2"]])
    (['exogenous "age" "sex"'], ['separate "item 1" "item 2"'])
    """
    groups = [value] if word == "exogenous" else value
    try:
        read = from_plain(groups, list[list[str]])
    except msgspec.ValidationError:
        raise OptionError(f"{word} must be a list of {'' if word == 'exogenous' else 'lists of '}texts; got {value!r}.") from None
    return [" ".join((word, *map(_value, names))) for names in read if names or word != "exogenous"]

"""Clients and tests from files, for the commands that take one file per site."""

from __future__ import annotations

import warnings
from collections.abc import Collection, Iterable, Mapping
from enum import StrEnum
from pathlib import Path
from typing import Any

from rich.markup import escape

from consilience.citest import CITest
from consilience.cli.reading_options import Read
from consilience.cli.terminal import Terminal
from consilience.data.errors import UnknownVariableError, nearest
from consilience.data.finding import Asker, Grade
from consilience.data.harmonise import Applied, Plan
from consilience.data.sources import Loaded, Reading, load, scan_larger
from consilience.errors import DoubtfulDataWarning, OptionError
from consilience.federation import Client, Server, pooled
from consilience.options import check_bytes, quarter_of_memory
from consilience.settings import DEFAULTS, Method, Part, Settings, names_of, settings_of
from consilience.settings.studyfile import FOR_FILES, StudyFile, read_study

__all__ = ["METHODS", "TestMethod", "choose", "clients_of", "make_test", "pairs_of", "say_findings", "settings_in", "write_ledgers"]


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


def make_test(clients: list[Client], method: TestMethod, settings: Settings) -> CITest:
    """The CI test that ``method`` names, over the clients."""
    if method is TestMethod.POOLED:
        same = {name: getattr(settings, name) for name in ("site_effects", "ordinal", "ridge", "diagnostics")}
        return pooled(clients, **same)
    options = {name: getattr(settings, name) for name in names_of(Part.TESTS)} | {"method": method.value}
    return Server(clients, **options)


def say_findings(test: CITest, names: Collection[str] | None) -> None:
    """What is doubtful about the variables in use (all, if None), in the words of the command line, on standard error. What is refused
    is an error.
    """
    warnings.simplefilter("ignore", DoubtfulDataWarning)  # it is said here
    test.check_use(names)
    console = Terminal(stderr=True)
    for finding in test.findings:
        if (names is None or set(finding.columns) & set(names)) and finding.grade is Grade.DOUBTFUL:
            console.print(f"[bold yellow]doubtful:[/] {escape(finding.said(Asker.COMMAND))}", highlight=False, soft_wrap=True)


def choose(files: list[Path], given: dict[str, Any]) -> tuple[TestMethod, Settings]:
    """The method and the settings: those of a study file, those of the command line where it gives them, else the defaults."""
    said = settings_in(files) | given
    method = TestMethod(said.pop("method", DEFAULTS.method))
    known = {"method": method.value} if method is not TestMethod.POOLED else {}
    return method, settings_of(**said, **known)


def clients_of(
    files: list[Path],
    kind: list[str] | None,
    levels: list[str] | None,
    reading: Read | None = None,
    harmonise: list[str] | None = None,
) -> list[Client]:
    """One client per file, named after it, or the sites of a single study file (.toml), with what it declares.

    ``kind`` and ``levels`` are NAME=VALUE declarations for every file that has the column; they win over a study file's.
    ``reading`` are options that say how files are read, and which columns are used; ``harmonise`` are plans, SITE=FILE or one FILE for
    all, which win over a study file's, too.
    """
    reading = reading or {}
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
    wanted = reading.get("variables")
    if wanted is None and study is not None:
        # columns beyond them are left alone, as on a study server
        wanted = list(study.schema)
    read = Reading(
        **{name: value for name, value in reading.items() if name not in ("variables", "missing", "memory")},
        missing=tuple(reading.get("missing", ())),
    )
    plans = plans_of(harmonise, names, {} if study is None else study.plans)
    memory = quarter_of_memory() if "memory" not in reading else check_bytes("--memory", reading["memory"])
    loaded, larger = dict[str, Applied](), dict[str, dict[str, Any]]()
    for name, file in zip(names, files, strict=True):
        scanned = scan_larger(str(file), name, read, memory)
        loaded[name] = plans[name].applied(load(str(file), name, read) if scanned is None else scanned.loaded, name)
        if scanned is not None:
            said = {"harmonise": plans[name], "memory": memory, "table": read.table, "query": read.query}
            larger[name] = {"data": str(file), **said}
    _check_known({*kinds, *orders, *(reading.get("variables") or ())}, [one.loaded for one in loaded.values()], study)
    clients = [_client(name, one, kinds, orders, wanted, larger.get(name)) for name, one in loaded.items()]
    if study is not None:
        for client in clients:
            client.measure_in(study.schema)
    return clients


def _client(
    name: str,
    done: Applied,
    kinds: dict[str, str],
    orders: dict[str, list[str]],
    wanted: list[str] | None,
    larger: dict[str, Any] | None,
) -> Client:
    """A client of what it has among the columns that are declared or chosen. ``larger`` says where a table is that is not loaded."""
    columns = done.loaded.frame.columns
    there = columns if wanted is None else [column for column in columns if column in wanted]
    return Client(
        name,
        **(larger or {"data": done}),
        kinds={column: kinds[column] for column in there if column in kinds},
        levels={column: orders[column] for column in there if column in orders},
        variables=None if wanted is None else there,
    )


def _check_known(names: Collection[str], loaded: Iterable[Loaded], study: StudyFile | None) -> None:
    known = list(dict.fromkeys(column for one in loaded for column in one.frame.columns))
    for name in sorted(set(names) - set(known)):
        who = "Options name" if study is None or name not in study.schema else "A study file's [variables] declare"
        raise UnknownVariableError(f"{who} columns of the files; no file has a column {name!r}.{nearest(name, known)}")


def plans_of(given: list[str] | None, names: list[str], said: Mapping[str, Path]) -> dict[str, Plan]:
    """The plan of each site: what ``--harmonise`` says of it, else what it says of all, else what a study file ``said``."""
    found: dict[str, str | Path] = dict(said)
    pairs = [text.partition("=") for text in given or []]
    for site, sign, path in pairs:
        if sign and site in names:
            continue
        if sign and not Path(f"{site}={path}").exists():
            raise OptionError(
                f"--harmonise takes SITE=FILE for a site, or FILE for all; {site!r} is no site. There are: {', '.join(names)}."
            )
        found |= dict.fromkeys(names, f"{site}{sign}{path}")
    found |= {site: path for site, sign, path in pairs if sign and site in names}
    return {name: Plan.of(found[name]) if name in found else Plan() for name in names}


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

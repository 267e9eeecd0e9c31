"""A site's table: is it there, can it be read and by whom else, what would each column be taken for, and what makes trouble."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from consilience.data.finding import Asker, Grade
from consilience.errors import ConsilienceError, MissingPackageError
from consilience.federation import Client
from consilience.iod import Check, check
from consilience.service.doctor.sign import Sign, good, notice, obstacle
from consilience.settings import NetworkSettings
from consilience.wording import counted

__all__ = ["look_at_table"]

MOST_LEVELS = 6
"""Levels of a column that are named; of more, their number is enough to see that something is wrong."""


def look_at_table(file: Path, clients: Callable[[Path], list[Client]]) -> list[Sign]:
    """The signs of a table, read as ``clients`` reads it."""
    if not file.exists():
        words = f"There is no {str(file)!r} in {str(Path.cwd())!r}." if not file.is_absolute() else f"There is no {str(file)!r}."
        return [obstacle("file", words, f"To whoever keeps the data: where is {file.name}? I look for it at {str(file.absolute())!r}.")]
    if not os.access(file, os.R_OK):
        wish = f"Please let my account read {str(file.absolute())!r}; it need not write there."
        return [obstacle("file", f"Your account may not read {str(file)!r}.", wish)]
    try:
        found = check(clients(file), estimate=False)
    except MissingPackageError as error:
        return [obstacle("packages", str(error), f"For a table that I have as {file.suffix}: {error} Please install it for my account.")]
    except ConsilienceError as error:
        words = " ".join(finding.said(Asker.COMMAND) for finding in error.findings) or str(error)
        return [obstacle("table", words, f"To whoever made {file.name}: it cannot be read as it is. {words}")]
    return [*_columns(found, file), *_findings(found, file), *_readers(file)]


def _columns(found: Check, file: Path) -> Iterator[Sign]:
    for site in found.sites:
        rows = list(site.variables.iter_rows(named=True))
        words = f"{counted(site.rows, 'row')}; read as: {'; '.join(map(_column, rows))}."
        least = NetworkSettings().min_rows
        if site.rows < least:
            yield obstacle(
                "rows",
                f"{words} A study makes no sum over fewer than {counted(least, 'row')}, unless its owner says otherwise (min_rows).",
                f"To whoever made {file.name}: it has {counted(site.rows, 'row')}. Is that all of it?",
            )
        elif all(row["verdict"] == "excluded" for row in rows):
            yield obstacle(
                "columns",
                f"{words} No column is a variable as it is.",
                f"To whoever made {file.name}: it has no column that can be analysed, only such as are left out. Is it the right table?",
            )
        else:
            yield good("columns", words)


def _column(row: dict[str, Any]) -> str:
    """A column, what it is taken for and why; why one is refused is said below, in a sentence of its own.

    >>> _column({"name": "stage", "kind": "ordinal", "verdict": "sure", "because": "integers", "levels": ["1", "2"], "missing": 3})
    'stage ordinal (integers: 1, 2; 3 missing)'
    >>> _column({"name": "id", "kind": None, "verdict": "excluded", "because": "an identifier", "levels": [], "missing": 0})
    'id left out (an identifier)'
    """
    if row["kind"] is None and row["verdict"] != "excluded":
        return f"{row['name']} {row['verdict']}"
    levels = list(row["levels"] or ())
    shown = f": {', '.join(levels)}" if 0 < len(levels) <= MOST_LEVELS else f": {len(levels)} levels" if levels else ""
    missing = f"; {row['missing']} missing" if row["missing"] else ""
    return f"{row['name']} {row['kind'] or 'left out'} ({row['because']}{shown}{missing})"


def _findings(found: Check, file: Path) -> Iterator[Sign]:
    """What was noticed, the gravest first; what need not be decided is asked about all the same: who made the table knows best."""
    for finding in found.findings:
        make = obstacle if finding.grade.stops else notice
        doubt = " Is that as it should be?" if finding.grade is Grade.NOTICE else ""
        yield make("table", finding.said(Asker.COMMAND), f"To whoever made {file.name}: {finding.words}{doubt}")


def _readers(file: Path) -> Iterator[Sign]:
    """Whether other accounts of this machine can read the table, by its rights and those of all folders above it."""
    if os.name != "posix":
        return
    place = file.resolve()
    if place.stat().st_mode & 0o004 and all(folder.stat().st_mode & 0o001 for folder in place.parents):
        yield notice(
            "rights",
            f"Every account of this machine can read {str(file)!r}.",
            f"Please let nobody but my account, and whoever must, read {str(place)!r} (chmod 600): it is data of patients.",
        )

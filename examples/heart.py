"""Four hospitals, one report: the UCI Heart Disease data (Cleveland, Budapest, Zurich and Basel, Long Beach).

The data are not part of this repository. Put ``cleveland.csv``, ``hungarian.csv``, ``switzerland.csv`` and ``va.csv`` (columns age, sex,
cp, …, num) into a folder, then::

    python examples/heart.py FOLDER --alpha 0.01 --out heart.html

Switzerland has zeros for cholesterol, which nobody has in the blood: the variable is left out there. Vessels, thallium scan and slope were
hardly measured outside Cleveland, and are left out everywhere. Age and sex are exogenous: nothing in the study causes them, and nothing
that nobody measured causes one of them and something else. (That they come first in time would not exclude the latter.)
"""

from __future__ import annotations

import argparse
from pathlib import Path

import polars as pl

import consilience as cs

NAMES = {
    "age": "age",
    "sex": "sex",
    "cp": "chest pain",
    "chol": "cholesterol",
    "thalach": "max heart rate",
    "exang": "exercise angina",
    "oldpeak": "ST depression",
    "num": "disease",
}
PAIN = {1: "typical", 2: "atypical", 3: "non-anginal", 4: "none"}
LEFT_OUT = {"switzerland": ["chol"]}


def hospital(path: Path) -> cs.Client:
    """One hospital's data, with kinds and names that say what they are."""
    columns = [name for name in NAMES if name not in LEFT_OUT.get(path.stem, [])]
    frame = pl.read_csv(path).with_columns(
        pl.col("sex").replace_strict({0: "female", 1: "male"}),
        pl.col("cp").replace_strict(PAIN),
        pl.col("exang") == 1,
        pl.col("num") > 0,
    )
    return cs.Client(path.stem, frame.select(columns).rename({name: NAMES[name] for name in columns}))


def main() -> None:
    """Discover, print what was found, write the report."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--alpha", type=float, default=0.01)
    parser.add_argument("--without-knowledge", action="store_true")
    parser.add_argument("--out", type=Path, default=Path("heart.html"))
    args = parser.parse_args()
    server = cs.Server([hospital(args.folder / f"{name}.csv") for name in ("cleveland", "hungarian", "switzerland", "va")])
    known = None if args.without_knowledge else cs.Knowledge(exogenous=["age", "sex"])
    found = cs.discover(server, alpha=args.alpha, knowledge=known)
    print(found.headline)
    for title, lines in (
        ("cannot hold together", found.conflicts),
        ("overruled", found.overruled),
        ("graphs", found.pags[:5]),
        ("summary", [found.summary]),
    ):
        print(f"{title}:", *lines, sep="\n  ")
    found.to_html(args.out)
    print(f"written to {args.out}; {server.rounds} rounds, {found.timings}")


if __name__ == "__main__":
    main()

"""Eighteen institutions, one study: patients with advanced lung cancer of the North Central Cancer Treatment Group (Loprinzi et al. 1994).

The table comes with the package lifelines, which is only its carrier: ``pip install --no-deps lifelines``. It says at which institution
each patient was seen, and institutions are the sites here: the split is real. Then::

    python examples/lung.py --out lung.html            # the report: seconds
    python examples/lung.py --page docs/lung.md        # the page with its pictures: five minutes, most for resampled copies

Age and sex are exogenous, as in ``heart.py``. Death within 180 days is unknown for patients who were lost from sight before.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import polars as pl
from package_file import package_file

import consilience as cs

DAYS = 180
"""Within which death is looked at: few patients were lost from sight before that."""
KINDS = {"sex": "binary", "ECOG": "ordinal", "Karnofsky (physician)": "continuous", "Karnofsky (patient)": "continuous"}
LEVELS = {"sex": ["male", "female"], "ECOG": [0, 1, 2]}


def read(path: Path | None = None) -> pl.DataFrame:
    """The table, with names that say what they are; without the patient whose institution is not on record.

    One patient has an ECOG status of 3, and counts as 2: a level that one institution has once can be compared nowhere.
    """
    file = package_file("lifelines", "datasets", "lung.csv") if path is None else path
    frame = pl.read_csv(file, null_values=["NA", ""], infer_schema_length=None)
    lost = (pl.col("time") < DAYS) & (pl.col("status") == 0)
    return frame.filter(pl.col("inst").is_not_null()).select(
        pl.format("institution {}", pl.col("inst").cast(pl.Int64)).alias("institution"),
        pl.col("age").cast(pl.Float64),
        pl.col("sex").replace_strict({1: "male", 2: "female"}),
        pl.col("ph.ecog").cast(pl.Int64).clip(upper_bound=2).alias("ECOG"),
        pl.col("ph.karno").cast(pl.Float64).alias("Karnofsky (physician)"),
        pl.col("pat.karno").cast(pl.Float64).alias("Karnofsky (patient)"),
        pl.col("meal.cal").cast(pl.Float64).alias("calories"),
        pl.col("wt.loss").cast(pl.Float64).alias("weight loss"),
        pl.when(~lost).then((pl.col("time") <= DAYS) & (pl.col("status") == 1)).alias("early death"),
    )


def institutions(frame: pl.DataFrame, *, seed: int | None = None) -> list[cs.Client]:
    """The institutions as sites, the largest first. A seed repeats the same resampled copies in every run."""
    names = frame["institution"].value_counts().sort("count", "institution", descending=[True, False])["institution"]
    tables = {name: frame.filter(pl.col("institution") == name).drop("institution") for name in names}
    kinds = KINDS | dict.fromkeys(("age", "calories", "weight loss"), "continuous") | {"early death": "binary"}
    levels = LEVELS | {"early death": [False, True]}
    return [cs.Client(name, table, kinds=kinds, levels=levels, seed=seed) for name, table in tables.items()]


def main() -> None:
    """The report, or the page."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--alpha", type=float, default=0.05)
    parser.add_argument("--out", type=Path, default=Path("lung.html"), help="the report")
    parser.add_argument("--page", type=Path, help="write this page instead, and its pictures into images/ beside it")
    parser.add_argument("--bootstrap", type=int, default=100, help="of the page: resampled copies")
    parser.add_argument("--seed", type=int, default=20, help="of the page: of resampled copies")
    given = parser.parse_args()
    known = cs.Knowledge(exogenous=["age", "sex"])
    if given.page is not None:
        from lung_page import write  # noqa: PLC0415  who wants the report needs no pictures

        write(given.page, known, alpha=given.alpha, bootstrap=given.bootstrap, seed=given.seed)
        return
    found = cs.discover(institutions(read()), alpha=given.alpha, knowledge=known)
    print(found.headline, found.summary, sep="\n")
    found.to_html(given.out)
    print(f"written to {given.out}")


if __name__ == "__main__":
    main()

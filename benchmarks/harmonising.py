"""How long a site's plan takes: the processor's time for a table of 20 columns, and its ratio to the same steps written in polars.

    python benchmarks/harmonising.py [ROWS]

Codes made missing, units converted, ranges held, levels recoded, text stripped of its unit, dates counted in days, columns renamed and
variables derived; and every step is summed up before and after, which the steps in polars are not. The tables are compared. Exit code 1 if
they differ, or if the plan takes more than 3 s of processors.
"""

from __future__ import annotations

import datetime as dt
import sys
import time
from collections.abc import Callable

import numpy as np
import polars as pl

from consilience.data.harmonise import Plan

ROWS = 1_000_000
MOST_SECONDS = 3.0
SEXES = {"m": "male", "w": "female", "?": ""}
GRADES = {"1": "low", "2": "low", "3": "high", "4": "high"}
UNIT = {"unit": "mg/dl -> mmol/l", "analyte": "cholesterol"}
START = dt.date(2000, 1, 1)
PLAN = Plan.of(
    {
        "columns": {
            **{f"lab{i}": {"missing": [-9], **UNIT, "range": [0.5, 30], "rename": f"chol{i}"} for i in range(6)},
            **{f"whole{i}": {"missing": [999], "range": [0, 120]} for i in range(4)},
            **{f"code{i}": {"recode": SEXES, "rename": f"sex{i}"} for i in range(4)},
            **{f"grade{i}": {"recode": GRADES} for i in range(2)},
            **{f"text{i}": {"strip": "mg/dl", **UNIT} for i in range(2)},
            **{f"day{i}": {"date": f"days since {START}"} for i in range(2)},
        },
        "derived": {"ratio": "chol0 / chol1", "old": "whole0 >= 65"},
    }
)


def table(rows: int) -> pl.DataFrame:
    """A site's table."""
    rng = np.random.default_rng(1)
    columns: dict[str, object] = {f"lab{i}": np.where(rng.random(rows) < 0.02, -9, rng.normal(200, 30, rows).round(1)) for i in range(6)}
    columns |= {f"whole{i}": np.where(rng.random(rows) < 0.02, 999, rng.integers(20, 90, rows)) for i in range(4)}
    columns |= {f"code{i}": rng.choice(["m", "w", "d", "?"], rows) for i in range(4)}
    columns |= {f"grade{i}": rng.integers(1, 5, rows) for i in range(2)}
    columns |= {f"text{i}": [f"{value:.1f} mg/dl" for value in rng.normal(200, 30, rows)] for i in range(2)}
    days = {f"day{i}": pl.Series(np.datetime64("2010-01-01") + rng.integers(0, 4000, rows)).cast(pl.Date) for i in range(2)}
    return pl.DataFrame(columns | days)


def by_hand(frame: pl.DataFrame) -> pl.DataFrame:
    """The same steps, as somebody would write them who wants no account of them."""
    factor = next(c.conversion.factor for c in PLAN.columns if c.conversion is not None)
    labs, wholes, codes, grades, texts, days = (pl.col(f"^{name}.*$") for name in ("lab", "whole", "code", "grade", "text", "day"))
    made = frame.with_columns(
        (pl.when(labs != -9).then(labs) * factor).round_sig_figs(12),
        pl.when(wholes != 999).then(wholes),
        codes.replace(list(SEXES), [new or None for new in SEXES.values()]),
        grades.cast(pl.String).replace(GRADES),
        (texts.str.strip_suffix(" mg/dl").cast(pl.Float64) * factor).round_sig_figs(12),
        (days - pl.lit(START)).dt.total_days(),
    )
    made = made.with_columns(pl.when(labs.is_between(0.5, 30)).then(labs), pl.when(wholes.is_between(0, 120)).then(wholes))
    made = made.rename({column.name: column.final for column in PLAN.columns})
    return made.with_columns((pl.col("chol0") / pl.col("chol1")).alias("ratio"), (pl.col("whole0") >= 65).alias("old"))


def measured(run: Callable[[], pl.DataFrame], times: int = 3) -> tuple[pl.DataFrame, float]:
    """A result, and the least of some processor times."""
    seconds = []
    for _ in range(times):
        started = time.process_time()
        found = run()
        seconds.append(time.process_time() - started)
    return found, min(seconds)


def main(rows: int) -> int:
    """Compare."""
    frame = table(rows)
    ours, planned = measured(lambda: PLAN.apply(frame, "site").frame)
    theirs, plain = measured(lambda: by_hand(frame))
    same = ours.columns == theirs.columns and ours.equals(theirs)
    print(f"{rows:,} rows, {frame.width} columns: the plan {planned:.2f} s of processors, the steps alone in polars {plain:.2f} s")
    print(f"{planned / plain:.1f} x polars; the tables are {'the same' if same else 'NOT the same'}")
    return 0 if same and planned <= MOST_SECONDS else 1


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]) if len(sys.argv) > 1 else ROWS))

"""Marks of tables that are read block by block: the same for the same rows in any order, others for any others."""

from __future__ import annotations

import polars as pl
import pytest

from consilience.data.schema import Schema
from consilience.data.streamed import Streamed
from consilience.data.table import Table
from consilience.secagg import Identity
from consilience.service.agent.earlier.marks import Marks, marks_of_table

SCHEMA = Schema({"A": "continuous", "B": "binary", "E": ("multinomial", "pqr")})
FRAME = pl.DataFrame({"A": [0.5, None, 2.5, 4.0] * 40, "B": [0, 1, None, 1] * 40, "E": list("pqrp") * 40})
KEY = Identity.generate()


@pytest.fixture(autouse=True)
def _small_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    for module in ("table", "streamed"):
        monkeypatch.setattr(f"consilience.data.{module}.BLOCK_ROWS", 16)


def marks(frame: pl.DataFrame) -> Marks:
    return marks_of_table(Streamed(frame.lazy(), SCHEMA, "muenster", memory=1 << 24), KEY)


def test_marks_are_of_the_rows_in_any_order() -> None:
    assert marks(FRAME) == marks(FRAME.sample(fraction=1.0, shuffle=True, seed=3))
    assert marks(FRAME) != marks_of_table(Streamed(FRAME.lazy(), SCHEMA, "muenster", memory=1 << 24), Identity.generate())


def test_what_is_counted_is_that_of_the_table_in_memory() -> None:
    for frame in (FRAME, FRAME.drop_nulls()):
        found, known = marks(frame), marks_of_table(Table(frame, SCHEMA, "muenster"), KEY)
        assert (found.rows, found.whole, set(found.columns)) == (known.rows, known.whole, set(known.columns))
        assert found.table != known.table  # another way to make them: rows count as changed, never as the same by mistake


def test_any_change_shows_where_it_is() -> None:
    first, row = marks(FRAME), pl.int_range(pl.len())
    other = marks(FRAME.with_columns(pl.when(row == 8).then(0.25).otherwise(pl.col("A")).alias("A")))
    assert [name for name in first.columns if first.columns[name] != other.columns[name]] == ["A"]
    # the same values of every column, in other rows
    crossed = marks(FRAME.with_columns(pl.col("B").shift(4, fill_value=0).sort(nulls_last=True)))
    assert crossed.columns["A"] == first.columns["A"]
    assert crossed.differs(first, ["A", "B"])
    assert marks(FRAME.head(159)).rows == 159

"""What a Parquet file unpacks to is known before it is unpacked, and a file whose headers lie about that is caught by its pages."""

from __future__ import annotations

import io
import random
from typing import Any

import numpy as np
import polars as pl
import pytest

from consilience.data.errors import ReadError
from consilience.data.parquet_size import parquet_size


def written(frame: pl.DataFrame, **how: Any) -> bytes:
    file = io.BytesIO()
    frame.write_parquet(file, **how)
    return file.getvalue()


@pytest.mark.parametrize(
    "how", [{}, {"compression": "uncompressed"}, {"compression": "snappy"}, {"row_group_size": 500}, {"statistics": False}]
)
def test_rows_and_columns_are_those_of_the_table(how: dict[str, Any]) -> None:
    frame = pl.DataFrame({"a": np.arange(5000.0), "b": ["x", "y"] * 2500, "c": [None, 1] * 2500, "d": [True, False] * 2500})
    found = parquet_size(written(frame, **how))
    assert (found.rows, found.columns, found.cells) == (5000, 4, 20_000)
    assert found.unpacked > 5000 * 8
    assert found.values == 20_000


def test_what_compresses_well_is_counted_as_it_unpacks() -> None:
    frame = pl.DataFrame({"a": ["z" * 4_000_000, "y"]})
    content = written(frame, compression="zstd")
    assert len(content) < 100_000
    assert parquet_size(content).unpacked > 4_000_000


def test_equal_values_are_counted_by_their_number() -> None:
    content = written(pl.DataFrame({"a": pl.zeros(1_000_000, eager=True, dtype=pl.Int8)}))
    assert len(content) < 100_000
    assert parquet_size(content).cells == 1_000_000


@pytest.mark.parametrize("content", [b"", b"PAR1", b"PAR1PAR1PAR1", b"a,b\n1,2\n" * 10, b"PAR1" + b"\xff" * 40 + b"PAR1"])
def test_what_is_none_is_said_to_be_none(content: bytes) -> None:
    with pytest.raises(ReadError, match="not a whole Parquet file"):
        parquet_size(content)


def test_damage_is_an_error_of_ours_and_never_another() -> None:
    whole = written(pl.DataFrame({"a": np.arange(300.0), "b": ["x", "y", "z"] * 100}))
    draw = random.Random(1)
    for _ in range(500):
        broken = bytearray(whole)
        for _ in range(draw.randint(1, 5)):
            broken[draw.randrange(len(broken))] = draw.randrange(256)
        try:
            found = parquet_size(bytes(broken))
        except ReadError:
            continue
        assert min(found.rows, found.unpacked, found.values) >= 0


def test_an_mmap_and_a_bytearray_will_do() -> None:
    content = written(pl.DataFrame({"a": [1, 2, 3]}))
    assert parquet_size(bytearray(content)).rows == 3

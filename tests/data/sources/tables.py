"""One small table as every format has it, and the files it is written to."""

from __future__ import annotations

import io
import sqlite3
from pathlib import Path
from typing import Any

import duckdb
import polars as pl
import pyreadstat
import xlsxwriter

__all__ = ["REFERENCE", "WRITERS", "excel", "hospital"]

REFERENCE = Path(__file__).parents[2] / "reference" / "data"


def hospital(rows: int = 60, shift: int = 0) -> pl.DataFrame:
    """Numbers with and without a point, with gaps, and words; digits as many as all programs write."""
    place = range(shift, shift + rows)
    return pl.DataFrame(
        {
            "age": [40 + (7 * i) % 37 for i in place],
            "chol": [None if i % 11 == 3 else round(180 + (i * i) % 83 / 7 + (7 * i) % 37 / 3, 3) for i in place],
            "stage": [None if i % 13 == 5 else 1 + (i * i) % 3 for i in place],
            "sex": ["f" if (i * 5) % 7 < 3 else "m" for i in place],
        },
        schema={"age": pl.Int64, "chol": pl.Float64, "stage": pl.Int64, "sex": pl.String},
    )


def excel(sheets: dict[str, list[list[Any]]], at: tuple[int, int] = (0, 0)) -> bytes:
    """An Excel file; what begins with ``=`` is a formula with its result behind a bar: ``=1/0|#DIV/0!``."""
    file = io.BytesIO()
    with xlsxwriter.Workbook(file, {"in_memory": True, "default_date_format": "dd.mm.yyyy"}) as book:
        for name, rows in sheets.items():
            sheet = book.add_worksheet(name)
            for i, row in enumerate(rows):
                for j, value in enumerate(row):
                    if isinstance(value, str) and value.startswith("="):
                        formula, _, result = value.partition("|")
                        sheet.write_formula(i + at[0], j + at[1], formula, None, result)
                    elif isinstance(value, str):
                        sheet.write_string(i + at[0], j + at[1], value)
                    elif value is not None:
                        sheet.write(i + at[0], j + at[1], value)
    return file.getvalue()


def _xlsx(frame: pl.DataFrame, path: Path) -> Path:
    path = path.with_suffix(".xlsx")
    path.write_bytes(excel({"data": [frame.columns, *(list(row) for row in frame.rows())]}))
    return path


def _sav(frame: pl.DataFrame, path: Path) -> Path:
    path = path.with_suffix(".sav")
    pyreadstat.write_sav(frame.to_pandas(), str(path))
    return path


def _dta(frame: pl.DataFrame, path: Path) -> Path:
    path = path.with_suffix(".dta")
    pyreadstat.write_dta(frame.to_pandas(), str(path))
    return path


def _xpt(frame: pl.DataFrame, path: Path) -> Path:
    path = path.with_suffix(".xpt")
    pyreadstat.write_xport(frame.to_pandas(), str(path), file_format_version=8)
    return path


def _sas(frame: pl.DataFrame, path: Path) -> Path:
    """No Python package writes these files; R wrote two of them (tests/reference/sas.R)."""
    return REFERENCE / f"hospital-{frame.height}.sas7bdat"


def _duckdb(frame: pl.DataFrame, path: Path) -> Path:
    path = path.with_suffix(".duckdb")
    with duckdb.connect(str(path)) as connection:
        connection.register("given", frame.to_arrow())
        connection.execute("CREATE TABLE patients AS SELECT * FROM given")
    return path


def _sqlite(frame: pl.DataFrame, path: Path) -> Path:
    path = path.with_suffix(".sqlite")
    connection = sqlite3.connect(path)
    with connection:
        connection.execute("CREATE TABLE patients (age INTEGER, chol REAL, stage INTEGER, sex TEXT)")
        connection.executemany("INSERT INTO patients VALUES (?, ?, ?, ?)", frame.rows())
    connection.close()
    return path


def _folder(frame: pl.DataFrame, path: Path) -> Path:
    path.mkdir()
    half = frame.height // 2
    frame.head(half).write_parquet(path / "part-0.parquet")
    frame.tail(frame.height - half).write_parquet(path / "part-1.parquet")
    return path


def _csv(frame: pl.DataFrame, path: Path) -> Path:
    path = path.with_suffix(".csv")
    frame.write_csv(path)
    return path


def _german(frame: pl.DataFrame, path: Path) -> Path:
    path = path.with_suffix(".de.csv")
    frame.write_csv(path, separator=";", decimal_comma=True)
    return path


def _tsv(frame: pl.DataFrame, path: Path) -> Path:
    path = path.with_suffix(".tsv")
    frame.write_csv(path, separator="\t", null_value="NA")
    return path


def _parquet(frame: pl.DataFrame, path: Path) -> Path:
    path = path.with_suffix(".parquet")
    frame.write_parquet(path)
    return path


WRITERS = {
    "polars": lambda frame, path: frame,
    "pandas": lambda frame, path: frame.to_pandas(),
    "arrow": lambda frame, path: frame.to_arrow(),
    "csv": _csv,
    "german csv": _german,
    "tsv": _tsv,
    "parquet": _parquet,
    "parquet folder": _folder,
    "excel": _xlsx,
    "spss": _sav,
    "stata": _dta,
    "sas transport": _xpt,
    "sas": _sas,
    "duckdb": _duckdb,
    "sqlite": _sqlite,
}
"""What makes a source of the table, by name."""

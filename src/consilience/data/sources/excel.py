"""A sheet of an Excel file (``.xlsx``, ``.xlsm``): its first row names the columns, formulas count by their results.

The first sheet is read unless another is named. Numbers that were typed as text are typed as in a text file, by the same rules; cells with
errors (``#N/A``, ``#DIV/0!``) are missing, and counted; rows and columns without anything are left out.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import time
from pathlib import Path
from typing import Any

from consilience.data.errors import EmptyDataError, ReadError
from consilience.data.sources.columns import typed_text
from consilience.data.sources.excel_parts import broken, check_size, sheet_in
from consilience.data.sources.loaded import Loaded
from consilience.data.sources.options import Reading
from consilience.data.sources.packages import needed
from consilience.data.sources.plain import check_names, whole
from consilience.frames import pl

__all__ = ["read"]

_PROTECTED = bytes.fromhex("d0cf11e0a1b11ae1")
"""How files begin that Excel has encrypted, and those of Excel before 2007."""


def read(source: Path | bytes, name: str, owner: str, reading: Reading) -> Loaded:
    """The table in a sheet of an Excel file; ReadError if there is none."""
    package = needed("fastexcel", "fastexcel", "files", "Excel files")
    content = source if isinstance(source, bytes) else source.read_bytes()
    if content.startswith(_PROTECTED):
        raise ReadError(f"{name!r} is protected by a password or was saved by an Excel before 2007. Save it as .xlsx without a password.")
    check_size(content, name)
    try:
        reader = package.read_excel(content)
        number = _sheet(reader.sheet_names, reading.sheet, name)
        seen = sheet_in(content, number, name)
        raw, places = _raw(reader, number, name)
    except package.FastExcelError:
        raise broken(name) from None
    loaded = typed_text(raw.with_columns(_native(column) for column in raw), reading)
    loaded.frame.columns = raw.columns  # a column without a name keeps none
    emptied = {column: dict(loaded.emptied.get(column, {})) for column in raw.columns}
    for column, at in zip(raw.columns, places, strict=True):
        emptied[column].update(seen.errors.get(at, {}))
    return replace(
        loaded,
        about=(_said(reader.sheet_names, number), *loaded.about),
        emptied={column: words for column, words in emptied.items() if words},
    )


def _said(names: Sequence[str], number: int) -> str:
    others = ", ".join(repr(one) for place, one in enumerate(names) if place != number)
    return f"Excel, sheet {names[number]!r}" + (f"; not read: {others}" if others else "")


def _sheet(names: Sequence[str], wanted: str | None, called: str) -> int:
    """The number, from 0, of the sheet that is asked for by its name or by its number from 1."""
    if wanted is None:
        return 0
    if wanted in names:
        return names.index(wanted)
    if wanted.isdigit() and 1 <= int(wanted) <= len(names):
        return int(wanted) - 1
    raise ReadError(f"{called!r} has no sheet {wanted!r}. It has: {', '.join(repr(one) for one in names)}.")


def _raw(reader: Any, number: int, name: str) -> tuple[pl.DataFrame, list[int]]:
    """The table below its header, with the reader's types where those lose nothing, and where in the sheet its columns are."""
    header = reader.load_sheet(number, header_row=None, n_rows=1, dtypes="string").to_polars()
    if header.height == 0:
        raise EmptyDataError(
            f"The sheet {reader.sheet_names[number]!r} of {name!r} is empty; a row of names and at least one row are needed."
        )
    names = ["" if cell is None else str(cell).strip() for cell in header.row(0)]
    sheet = reader.load_sheet(number, header_row=0, schema_sample_rows=None)
    body = sheet.to_polars()
    kept = [at for at in range(body.width) if names[at] or not _blank(body[:, at])]
    mixed = {body.columns[at]: "float" for at in kept if body[:, at].dtype == pl.String}
    numbers = reader.load_sheet(number, header_row=0, schema_sample_rows=None, dtypes=mixed).to_polars() if mixed else body
    check_names([names[at] for at in kept], name)
    columns = [(_exact(body[:, at], numbers[:, at]) if body.columns[at] in mixed else body[:, at]) for at in kept]
    frame = pl.DataFrame(columns)
    frame.columns = [names[at] for at in kept]
    return _without_tail(frame), [sheet.selected_columns[at].absolute_index for at in kept]


def _exact(text: pl.Series, numbers: pl.Series) -> pl.Series:
    """Text with all digits of its numbers: among words, the reader writes a number with nine digits after the point."""
    short = text.str.to_lowercase().replace({"true": None, "false": None}).cast(pl.Float64, strict=False)
    rounded = (short != numbers).fill_null(value=False)
    return numbers.cast(pl.String).zip_with(rounded, text)


def _blank(column: pl.Series) -> bool:
    if column.dtype == pl.String:
        return bool((column.drop_nulls().str.strip_chars() == "").all())
    return column.null_count() == len(column)


def _without_tail(frame: pl.DataFrame) -> pl.DataFrame:
    """Without the rows at the end that hold nothing: formatting leaves such."""
    used = 0
    for column in frame:
        text = column.cast(pl.String).str.strip_chars()
        there = (text.is_not_null() & (text != "")).arg_true()
        used = max(used, int(there[-1]) + 1 if len(there) else 0)
    return frame.head(used)


def _native(column: pl.Series) -> pl.Series:
    """Excel has floats only, and dates as a form of them: whole numbers are integers, times at midnight throughout are dates."""
    if column.dtype.is_float():
        return whole(column)
    if column.dtype == pl.String:
        column = _dates(column)
    if column.dtype == pl.Datetime and bool((column.drop_nulls().dt.time() == time()).all()):
        return column.dt.date()
    return column.cast(pl.String) if column.dtype == pl.Null else column


def _dates(text: pl.Series) -> pl.Series:
    """Dates that came as text because a cell among them is an error."""
    dates = text.str.to_datetime("%Y-%m-%d %H:%M:%S", strict=False)
    return dates if 0 < len(dates.drop_nulls()) == len(text.drop_nulls()) else text

"""A sheet of an Excel file (``.xlsx``, ``.xlsm``): its first row names the columns, formulas count by their results.

The first sheet is read unless another is named. Numbers that were typed as text are typed as in a text file, by the same rules; cells with
errors (``#N/A``, ``#DIV/0!``) are missing, and counted; rows and columns without anything are left out.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import polars as pl

from consilience.data.errors import EmptyDataError, ReadError
from consilience.data.sources.excel_parts import broken, check_size, sheet_in
from consilience.data.sources.loaded import Loaded
from consilience.data.sources.options import Reading
from consilience.data.sources.packages import needed
from consilience.data.sources.plain import check_names, whole
from consilience.data.sources.words import typed_words

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
        raw = _raw(reader, number, name)
    except package.FastExcelError:
        raise broken(name) from None
    loaded = _typed(raw, reading)
    # errors are by the sheet's columns, and the table may begin further right
    shift = max(seen.columns - raw.width, 0)
    errors = {raw.columns[at - shift]: words for at, words in seen.errors.items() if 0 <= at - shift < raw.width}
    emptied = {column: dict(Counter(loaded.emptied.get(column, {})) + words) for column, words in errors.items()}
    return Loaded(
        loaded.frame, loaded.ordered, loaded.levels, (_said(reader.sheet_names, number), *loaded.about), {**loaded.emptied, **emptied}, loaded.findings
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


def _raw(reader: Any, number: int, name: str) -> pl.DataFrame:
    """The sheet below its header, with the reader's types, where those lose nothing."""
    header = reader.load_sheet(number, header_row=None, n_rows=1, dtypes="string").to_polars()
    if header.height == 0:
        raise EmptyDataError(f"The sheet {reader.sheet_names[number]!r} of {name!r} is empty; a row of names and at least one row are needed.")
    names = ["" if cell is None else str(cell).strip() for cell in header.row(0)]
    body = reader.load_sheet(number, header_row=0, schema_sample_rows=None).to_polars()
    body.columns = places = [str(place) for place in range(body.width)]
    kept = [place for place in places if names[int(place)] or not _blank(body[place])]
    mixed = {int(place): "float" for place in kept if body[place].dtype == pl.String}
    numbers = reader.load_sheet(number, header_row=0, schema_sample_rows=None, dtypes=mixed).to_polars() if mixed else body
    frame = pl.DataFrame([_exact(body[place], numbers[:, int(place)]) if int(place) in mixed else body[place] for place in kept])
    check_names([names[int(place)] for place in kept], name)
    frame.columns = [names[int(place)] for place in kept]
    return _without_tail(frame)


def _exact(text: pl.Series, numbers: pl.Series) -> pl.Series:
    """Text with all digits of its numbers: among words, the reader writes a number with nine digits after the point."""
    short = text.str.to_lowercase().replace({"true": None, "false": None}).cast(pl.Float64, strict=False)
    return text.set((short != numbers).fill_null(value=False), numbers.cast(pl.String)) if numbers.dtype.is_float() else text


def _blank(column: pl.Series) -> bool:
    if column.dtype == pl.String:
        return bool((column.drop_nulls().str.strip_chars() == "").all())
    return column.null_count() == len(column)


def _without_tail(frame: pl.DataFrame) -> pl.DataFrame:
    """Without the rows at the end that hold nothing: formatting leaves such."""
    if frame.width == 0:
        return frame
    text = frame.select(pl.all().cast(pl.String).str.strip_chars())
    used = text.select(pl.any_horizontal(pl.all().is_not_null() & (pl.all() != ""))).to_series().arg_true()
    return frame.head(int(used[-1]) + 1 if len(used) else 0)


def _typed(frame: pl.DataFrame, reading: Reading) -> Loaded:
    typed = frame.select(_native(column) for column in frame if column.dtype != pl.String)
    words = typed_words(frame.select(column for column in frame if column.dtype == pl.String), reading)
    both = {**{column.name: column for column in typed}, **{column.name: column for column in words.frame}}
    return Loaded(pl.DataFrame([both[name] for name in frame.columns]), about=words.about, emptied=words.emptied, findings=words.findings)


def _native(column: pl.Series) -> pl.Series:
    """Excel has floats only, and dates as a form of them: whole numbers are integers, times at midnight throughout are dates."""
    if column.dtype.is_float():
        return whole(column)
    if column.dtype == pl.Datetime and bool((column.drop_nulls().dt.time() == pl.time(0, 0, 0)).all()):
        return column.dt.date()
    return column.cast(pl.String) if column.dtype == pl.Null else column

"""Reading what a site holds: a polars or pandas frame, a CSV file or a Parquet file, always into a polars frame.

CSV columns are read as text and typed here, so that quoted numbers, byte-order marks and the usual signs for "missing" mean the
same at every site, whichever program wrote the file.
"""

from __future__ import annotations

import csv
import io
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl

from consilience.data.errors import EmptyDataError, ReadError
from consilience.data.kinds import level_label

__all__ = ["MISSING", "load", "load_bytes", "ordered_columns", "typed"]

MISSING = ("", "?", "NA", "N/A", "NaN", "nan", "NULL", "null", "None")
"""Text that stands for a missing value in a CSV file.

What R, pandas and databases write, and the question mark of the UCI repository. Not ``-``, ``.``, ``-9`` or ``999``: they are levels or
numbers somewhere. ``NA`` is Namibia's code, too; whoever has such a column passes a frame.
"""

TOGETHER = 64
"""Columns that are typed in one step."""
_BOOLEANS = {"true": True, "false": False}


def load(source: Any, owner: str) -> pl.DataFrame:
    """Read what a site holds.

    Parameters
    ----------
    source : polars.DataFrame, polars.LazyFrame, pandas.DataFrame, str or Path
        A frame, or the path of a ``.csv`` or ``.parquet`` file.
    owner : str
        The site's name, for messages.

    Returns
    -------
    polars.DataFrame

    Raises
    ------
    ReadError
        If it is something else, or the file cannot be read.
    EmptyDataError
        If there is no row or no column.

    Examples
    --------
    >>> load(pl.DataFrame({"A": [1.5, 2.5]}), "muenster").shape
    (2, 1)
    """
    if isinstance(source, pl.DataFrame):
        frame = source
    elif isinstance(source, pl.LazyFrame):
        frame = source.collect()
    elif isinstance(source, str | Path):
        frame = _load_path(Path(source), owner)
    # by what it can do: pandas is not imported, since it need not be installed
    elif hasattr(source, "dtypes") and hasattr(source, "columns") and hasattr(source, "isna"):
        frame = _from_pandas(source)
    else:
        raise ReadError(
            f"The data of {owner!r} must be a polars or pandas frame or a path to a .csv or .parquet file; got {type(source).__name__}."
        )
    if frame.width == 0 or frame.height == 0:
        raise EmptyDataError(
            f"The data of {owner!r} have {frame.height} rows and {frame.width} columns; at least one "
            f"of each is needed. Leave the site out or check the file."
        )
    return frame


def ordered_columns(source: Any) -> frozenset[str]:
    """The columns of a pandas frame that are ordered categories, and so ordinal; polars has no such type.

    Parameters
    ----------
    source : object
        Whatever :func:`load` takes.

    Returns
    -------
    frozenset of str
        Empty for all that is not pandas.

    Examples
    --------
    >>> ordered_columns(pl.DataFrame({"A": [1]}))
    frozenset()
    """
    if not hasattr(source, "isna"):
        return frozenset()
    return frozenset(str(name) for name in source.columns if getattr(source[name].dtype, "ordered", False))


def load_bytes(content: bytes, name: str, owner: str) -> pl.DataFrame:
    r"""Read a table from the content of a file, which need not be on a disk.

    Parameters
    ----------
    content : bytes
        The file.
    name : str
        What it is called; its ending says what it is.
    owner : str
        The site's name, for messages.

    Returns
    -------
    polars.DataFrame

    Raises
    ------
    ReadError, EmptyDataError
        As :func:`load`.

    Examples
    --------
    >>> load_bytes(b"A,B\n1,x\n2,y\n", "table.csv", "muenster").dtypes
    [Int64, String]
    """
    return load(_parsed(name, lambda: pl.read_parquet(io.BytesIO(content)), lambda: _read_csv(content, name)), owner)


def _load_path(path: Path, owner: str) -> pl.DataFrame:
    if not path.is_file():
        raise ReadError(f"The data of {owner!r} should be in {str(path)!r}, but there is no such file.")
    # a file named data[1].parquet is a file, not a pattern
    return _parsed(str(path), lambda: pl.read_parquet(path, glob=False), lambda: _read_csv(path.read_bytes(), str(path)))


def _parsed(name: str, parquet: Callable[[], pl.DataFrame], text: Callable[[], pl.DataFrame]) -> pl.DataFrame:
    """The table of a file of this name; what is wrong with it is said in our words."""
    suffix = Path(name).suffix.lower()
    try:
        if suffix == ".parquet":
            return parquet()
        if suffix == ".csv":
            return text()
    except pl.exceptions.NoDataError:
        raise EmptyDataError(f"{name!r} is empty; a header line and at least one row are needed.") from None
    except (pl.exceptions.PolarsError, OSError, UnicodeDecodeError, csv.Error) as error:
        first = str(error).strip().split("\n", maxsplit=1)[0].rstrip(":. ")
        raise ReadError(
            f"{name!r} cannot be read as a {suffix[1:]} table: {first}. Check that every row has as many fields as the header, "
            f"that quotes are closed, and that the text is UTF-8."
        ) from error
    raise ReadError(f"{name!r} must end in .csv or .parquet; got {suffix!r}.")


def _read_csv(data: bytes, called: str) -> pl.DataFrame:
    if data[:2] in (b"\xff\xfe", b"\xfe\xff"):
        raise ReadError(f"{called!r} is UTF-16 text; save it as UTF-8.")
    header = next(csv.reader(io.TextIOWrapper(io.BytesIO(data), encoding="utf-8-sig", newline="")), [])
    # An error rather than a guess of the separator: "1,5;2,5" read with the wrong one gives numbers, and wrong ones.
    if len(header) == 1 and (";" in header[0] or "\t" in header[0]):
        raise ReadError(f"The header of {called!r} is {header[0]!r}: it looks separated by semicolons or tabs; save it with commas.")
    names = [name.strip() for name in header]
    for name, count in Counter(names).items():
        if count > 1:
            raise ReadError(f"{called!r} has two columns named {name!r}; every column needs a name of its own.")
    # Everything as text: types that the reader inferred would follow its own rules for quotes, missing values and the first rows; they
    # follow ours, over all rows. Names are those read above: polars would keep their spaces, and rename what is there twice.
    raw = pl.read_csv(data, infer_schema=False, has_header=True, raise_if_empty=True)
    raw.columns = [str(i) for i in range(len(names))]  # to polars, "*" and "^A.*$" are patterns and no names
    # some columns at a time: one query for each takes longer than reading a wide table, and one for all holds it once more
    groups = (raw.columns[start : start + TOGETHER] for start in range(0, len(names), TOGETHER))
    found = pl.DataFrame([_narrowed(column) for group in groups for column in raw.select(_cleaned(place) for place in group)])
    found.columns = names
    return found


def typed(column: pl.Series) -> pl.Series:
    """The narrowest of integer, float, boolean and text that holds every value of a text column.

    Parameters
    ----------
    column : polars.Series
        Text.

    Returns
    -------
    polars.Series
        With the usual signs for "missing" missing.

    Examples
    --------
    >>> typed(pl.Series(["1", " 2", "NA"])).to_list()
    [1, 2, None]
    """
    return _narrowed(column.to_frame("0").select(_cleaned("0")).to_series()).alias(column.name)


def _cleaned(place: str) -> pl.Expr:
    """A column of text without spaces around it, and without what stands for "missing"."""
    text = pl.col(place).str.strip_chars()
    return pl.when(text.is_in(list(MISSING))).then(None).otherwise(text).alias(place)


def _narrowed(text: pl.Series) -> pl.Series:
    for dtype in (pl.Int64, pl.Float64):
        numbers = text.cast(dtype, strict=False)
        if numbers.null_count() == text.null_count():
            return numbers
    # numbers before booleans: a column of 0 and 1 is integers, and becomes binary by its values
    if next(value for value in text if value is not None).lower() not in _BOOLEANS:  # what is no number has a value
        return text
    lower = text.str.to_lowercase()
    if lower.drop_nulls().is_in(list(_BOOLEANS)).all():
        return lower.replace_strict(_BOOLEANS, return_dtype=pl.Boolean)
    return text


def _from_pandas(frame: Any) -> pl.DataFrame:
    """A pandas frame column by column, without importing pandas (and without needing pyarrow)."""
    columns: dict[str, pl.Series] = {}
    for name in frame.columns:
        column, label = frame[name], str(name)
        if getattr(column, "ndim", 1) != 1 or label in columns:
            raise ReadError(f"The frame has two columns named {label!r}; every column needs a name of its own.")
        columns[label] = _pandas_column(column, label)
    return pl.DataFrame(columns)


def _pandas_column(column: Any, label: str) -> pl.Series:
    missing = column.isna().to_numpy()
    dtype = str(column.dtype).lower()
    if dtype == "category":
        levels = [level_label(level) for level in column.cat.categories]
        values = [None if gone else level_label(value) for value, gone in zip(column, missing, strict=True)]
        return pl.Series(label, values, dtype=pl.Enum(levels))
    if dtype.startswith("bool"):
        return pl.Series(label, [None if gone else bool(v) for v, gone in zip(column, missing, strict=True)], dtype=pl.Boolean)
    if dtype.startswith(("int", "uint")):
        return pl.Series(label, [None if gone else int(v) for v, gone in zip(column, missing, strict=True)], dtype=pl.Int64)
    if dtype.startswith("float"):
        return pl.Series(label, column.to_numpy(dtype="float64", na_value=float("nan")), nan_to_null=True)
    values = [None if gone else value for value, gone in zip(column, missing, strict=True)]
    try:
        return pl.Series(label, values, strict=True) if values else pl.Series(label, [], dtype=pl.String)
    except TypeError:
        kinds = sorted({type(value).__name__ for value in values if value is not None})
        raise ReadError(f"Column {label!r} mixes values of the types {', '.join(kinds)}; convert it to one type first.") from None

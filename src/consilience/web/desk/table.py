"""The site's table: as it was read, and as its owner has repaired it. Nothing of it is written anywhere."""

from __future__ import annotations

import mmap
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import polars as pl

from consilience.data.errors import ReadError
from consilience.data.kinds import level_label, sort_levels
from consilience.data.parquet_size import parquet_size
from consilience.data.profile import ColumnProfile, profile_column
from consilience.data.sources import SUFFIXES, load, load_bytes, suffix_of, typed

__all__ = ["MOST_BYTES", "Decision", "SiteTable", "labels_in", "listed_files", "read_file", "read_upload_bytes", "respelled"]

MOST_BYTES = 1 << 30
"""The largest file that is read: held beside its table while that is typed, it is what a usual machine has to spare."""
MOST_CELLS = 200_000_000
MOST_UNPACKED = 4 << 30
MOST_FILES = 500
MOST_LABELS, MOST_ODD = 200, 60
"""Labels that a form has a line for; and where a column is nearly all numbers, those that are none."""
MOST_NUMBERS = 20
"""More numbers than this are no levels to spell, and two fields for each would stand between a keyboard and the next button."""


@dataclass(frozen=True, slots=True)
class Decision:
    """What the owner decided about a column. ``spelling`` gives levels another text; an empty one makes them missing.

    ``called`` is the name of the study's variable that the column is, if its own name is another. ``comma`` reads decimal commas.
    """

    kind: str = ""
    levels: tuple[str, ...] = ()
    spelling: Mapping[str, str] = field(default_factory=dict)
    excluded: bool = False
    called: str = ""
    comma: bool = False


def listed_files(folder: Path) -> list[Path]:
    """The tables in a folder, by name."""
    try:
        found = [path for path in folder.iterdir() if suffix_of(path.name) in SUFFIXES and path.is_file() and not path.name.startswith(".")]
    except OSError:
        return []
    return sorted(found, key=lambda path: path.name.casefold())[:MOST_FILES]


def read_file(path: Path) -> pl.DataFrame:
    """A table from a file of the folder, if it is not too large to hold."""
    length = path.stat().st_size
    if length > MOST_BYTES:
        raise ReadError(f"{path.name!r} has {length:,} bytes; at most {MOST_BYTES:,} are read. Leave out columns that no study needs.")
    if path.suffix.lower() == ".parquet" and length:
        with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as content:
            _check_parquet(content, path.name)
    return load(path, "this site").frame


def read_upload_bytes(content: bytes, name: str) -> pl.DataFrame:
    """A table from an upload."""
    if name.lower().endswith(".parquet"):
        _check_parquet(content, name)
    return load_bytes(content, name, "this site").frame


def _check_parquet(content: bytes | mmap.mmap, name: str) -> None:
    found = parquet_size(content)
    if found.cells > MOST_CELLS or found.unpacked > MOST_UNPACKED:
        raise ReadError(
            f"{name!r} unpacks to {found.rows:,} rows, {found.columns:,} columns and {found.unpacked:,} bytes, more than this app holds "
            f"({MOST_CELLS:,} values, {MOST_UNPACKED:,} bytes). Leave out columns or rows that no study needs."
        )


def respelled(column: pl.Series, decision: Decision) -> pl.Series:
    """A column with the owner's spelling. What is left may be numbers, and is then read as such.

    >>> column = pl.Series("sex", ["male", "female", "?"])
    >>> respelled(column, Decision(spelling={"male": "M", "female": "F", "?": ""})).to_list()
    ['M', 'F', None]
    >>> respelled(pl.Series("age", ["61,5", "unknown"]), Decision(spelling={"unknown": ""}, comma=True)).to_list()
    [61.5, None]
    """
    changed = {old: new for old, new in decision.spelling.items() if old != new}
    if not changed and not decision.comma:
        return column
    if column.dtype.is_float():
        column = column.fill_nan(None)
    # by distinct values: labels are made by Python calls
    values = column.unique().drop_nulls().to_list()
    new = {value: changed.get(level_label(value), level_label(value)) or None for value in values}
    if isinstance(column.dtype, pl.Enum) or column.dtype == pl.Categorical:
        column = column.cast(pl.String)
    text = column.replace_strict(new, default=None, return_dtype=pl.String).alias(column.name)
    return typed(text.str.replace(",", ".", literal=True) if decision.comma else text)


def labels_in(column: pl.Series) -> dict[str, int]:
    """The labels of a column that its owner may want to spell otherwise, with their rows: all of few, or what is no number among many.

    >>> labels_in(pl.Series(["a", "b", "a", None]))
    {'a': 2, 'b': 1}
    >>> labels_in(pl.Series([str(n) for n in range(1000)] + ["unknown"]))
    {'unknown': 1}
    """
    if column.dtype.is_temporal() or column.dtype.is_nested() or column.dtype in (pl.Binary, pl.Object, pl.Null):
        return {}
    present = (column.fill_nan(None) if column.dtype.is_float() else column).drop_nulls()
    counts = present.alias("value").value_counts()
    most = MOST_NUMBERS if column.dtype.is_numeric() else MOST_LABELS
    if counts.height > most and column.dtype == pl.String:
        numbers = pl.col("value").str.replace(",", ".", literal=True).cast(pl.Float64, strict=False)
        counts, most = counts.filter(numbers.is_null()), MOST_ODD
    if counts.height > most:
        return {}
    found: dict[str, int] = {}
    for value, count in counts.iter_rows():
        found[level_label(value)] = found.get(level_label(value), 0) + count
    return {label: found[label] for label in sort_levels(found)}


class SiteTable:
    """A table and the decisions about its columns.

    >>> table = SiteTable("a.csv", pl.DataFrame({"sex": ["male", "female"], "id": [1, 2]}))
    >>> table.decide("sex", Decision(spelling={"male": "M", "female": "F"}))
    >>> table.decide("id", Decision(excluded=True))
    >>> table.repaired().to_dict(as_series=False)
    {'sex': ['M', 'F']}
    """

    def __init__(self, name: str, frame: pl.DataFrame, *, copied: bool = False) -> None:
        self.name, self.frame, self.copied = name, frame, copied
        self.decisions: dict[str, Decision] = {}
        self.reviewed = False
        self._profiles: dict[str, ColumnProfile] = {}

    def decision(self, column: str) -> Decision:
        """What was decided about a column."""
        return self.decisions.get(column, Decision())

    def decide(self, column: str, decision: Decision) -> None:
        """Decide about a column."""
        self.decisions[column] = decision
        self._profiles.pop(column, None)

    def column(self, name: str) -> pl.Series:
        """A column as it will be used."""
        return respelled(self.frame[name], self.decision(name))

    def profile(self, name: str) -> ColumnProfile:
        """What can be said of a column as it will be used."""
        if name not in self._profiles:
            decision = self.decision(name)
            self._profiles[name] = profile_column(self.column(name), decision.kind or None, decision.levels or None)
        return self._profiles[name]

    def profiles(self) -> list[ColumnProfile]:
        """All columns, in the table's order."""
        return [self.profile(name) for name in self.frame.columns]

    def used(self, withheld: Collection[str] = ()) -> dict[str, str]:
        """Columns that are used, by the name they have in a study. Those that cannot be a variable are left out, as are the excluded."""
        found = {}
        for name in self.frame.columns:
            decision = self.decision(name)
            called = decision.called or name
            if not decision.excluded and called not in withheld and self.profile(name).usable:
                found[called] = name
        return found

    def repaired(self, withheld: Collection[str] = ()) -> pl.DataFrame:
        """The table that goes to a study: repaired, renamed, without what stays out of it."""
        return pl.DataFrame([self.column(name).alias(called) for called, name in self.used(withheld).items()])

    def kinds(self, withheld: Collection[str] = ()) -> dict[str, str]:
        """Kinds that the owner chose, by the study's names."""
        return {called: self.decision(name).kind for called, name in self.used(withheld).items() if self.decision(name).kind}

    def levels(self, withheld: Collection[str] = ()) -> dict[str, tuple[str, ...]]:
        """Orders of levels that the owner chose, by the study's names."""
        return {called: self.decision(name).levels for called, name in self.used(withheld).items() if self.decision(name).levels}

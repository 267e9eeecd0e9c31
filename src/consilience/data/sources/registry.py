"""Which module reads what: by the ending of a file's name, by the scheme of an address, by what an object can do.

A source is a module of this package with one function, ``read(source, name, owner, reading)``, which gives a :class:`Loaded`; modules of
files are given a path or the file's bytes, modules of addresses the address, modules of objects the object. A module is imported when
something of its kind is read, and not before: what it needs may not be installed. It may have a function ``scan`` of the same arguments,
which gives a lazy table without reading all of it, and ``shape``, which says how large it is: larger tables than memory are then read a
block of rows at a time.

To add a source, write the module and add its line to one of the tables below; nothing else knows of it.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any, Protocol, cast

from consilience.data.errors import ReadError
from consilience.data.sources.loaded import Loaded
from consilience.data.sources.options import Reading
from consilience.frames import pl

__all__ = [
    "SUFFIXES",
    "Source",
    "source_of_address",
    "source_of_file",
    "source_of_folder",
    "source_of_object",
    "source_of_pattern",
    "suffix_of",
]

FILES: dict[str, str] = {
    ".csv": "text",
    ".tsv": "text",
    ".tab": "text",
    ".txt": "text",
    ".csv.gz": "text",
    ".tsv.gz": "text",
    ".tab.gz": "text",
    ".txt.gz": "text",
    ".parquet": "parquet",
    ".xlsx": "excel",
    ".xlsm": "excel",
    ".sav": "spss",
    ".zsav": "spss",
    ".dta": "stata",
    ".sas7bdat": "sas",
    ".xpt": "sas",
    ".duckdb": "database_file",
    ".db": "database_file",
    ".sqlite": "database_file",
    ".sqlite3": "database_file",
}
"""Modules by the ending of a file's name, in small letters."""

ADDRESSES: dict[str, str] = {"postgresql": "postgresql", "postgres": "postgresql"}
"""Modules by the scheme of an address, what stands before ``://``."""

FOLDER: str = "parquet_folder"
"""The module that reads a folder as one table."""

OBJECTS: tuple[tuple[Callable[[Any], bool], str], ...] = (
    (lambda thing: isinstance(thing, pl.DataFrame | pl.LazyFrame), "polars_frame"),
    # by what it can do: pandas is not imported, since it need not be installed
    (lambda thing: all(hasattr(thing, name) for name in ("dtypes", "columns", "isna")), "pandas_frame"),
    (lambda thing: type(thing).__name__ == "DuckDBPyRelation", "duck_relation"),
    # a series has such a stream too, and is no table
    (lambda thing: hasattr(thing, "__arrow_c_stream__") and not hasattr(thing, "dtype"), "arrow"),
)
"""Modules by what an object can do; the first that fits reads it, so that what fits more narrowly stands above."""

SUFFIXES: tuple[str, ...] = tuple(FILES)
"""Endings of the files that can be read, for whoever lists a folder or asks for a file."""


class Source(Protocol):
    """What a module of this package offers."""

    def read(self, source: Any, name: str, owner: str, reading: Reading) -> Loaded:
        """The table; ReadError if it cannot be read."""


def suffix_of(name: str) -> str:
    """The ending of a file's name that says what it is: the longest that is known, else what stands after the last point.

    >>> suffix_of("Site.CSV.gz"), suffix_of("site.docx")
    ('.csv.gz', '.docx')
    """
    lower = name.lower()
    known = [suffix for suffix in FILES if lower.endswith(suffix)]
    return max(known, key=len) if known else Path(lower).suffix


def source_of_file(name: str) -> Source:
    """The module that reads a file of this name; ReadError if there is none.

    >>> source_of_file("site.csv").__name__
    'consilience.data.sources.text'
    """
    suffix = suffix_of(name)
    if suffix not in FILES:
        raise ReadError(f"{name!r} must end in one of {_listed(FILES)}; got {suffix!r}.")
    return _module(FILES[suffix])


def source_of_folder() -> Source | None:
    """The module that reads a folder as one table, if there is one."""
    return _module(FOLDER) if FOLDER else None


def source_of_pattern(text: str) -> Source | None:
    """The module that reads the files that fit a pattern as one table, or None if the text is no pattern, or none fits."""
    folder: Any = _module(FOLDER)
    return cast(Source, folder) if folder.fits(text) else None


def source_of_address(text: str) -> Source | None:
    """The module that reads what is at an address, or None if the text is none: a path, then.

    >>> source_of_address("C://site.csv") is None
    True
    """
    scheme, mark, _ = text.partition("://")
    module = ADDRESSES.get(scheme.lower()) if mark else None
    return _module(module) if module else None


def source_of_object(thing: Any, owner: str) -> Source:
    """The module that reads an object; ReadError if there is none.

    >>> source_of_object(pl.DataFrame({"A": [1]}), "muenster").__name__
    'consilience.data.sources.polars_frame'
    """
    for fits, module in OBJECTS:
        if fits(thing):
            return _module(module)
    raise ReadError(
        f"The data of {owner!r} must be a polars or pandas frame or a path that ends in one of {_listed(FILES)}; "
        f"got {type(thing).__name__}."
    )


def _listed(names: dict[str, str]) -> str:
    return ", ".join(names)


def _module(name: str) -> Source:
    return cast(Source, import_module(f"consilience.data.sources.{name}"))

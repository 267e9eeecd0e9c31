"""What the files of SPSS, Stata and SAS have in common: they are read by pyreadstat, from a path or from memory, without pandas.

Codes that the file declares missing are counted and become missing; value labels become levels by the rule in
:mod:`~consilience.data.sources.labels`; blank text is missing, since these programs have no other way to say so; numbers that are whole
throughout are integers, since most of these programs know only floats.
"""

from __future__ import annotations

import io
from collections import Counter
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from consilience.data.errors import ReadError
from consilience.data.sources.labels import labelled
from consilience.data.sources.loaded import Loaded
from consilience.data.sources.packages import needed
from consilience.data.sources.plain import check_names, whole
from consilience.frames import pl

__all__ = ["assembled", "parsed"]

Gone = Callable[[Any], str | None]
"""Whether a value of a column stands for "missing" by its file's word, and as what it is counted."""


def parsed(function: str, program: str, source: Path | bytes, name: str, **options: Any) -> tuple[dict[str, list[Any]], Any]:
    """Columns as lists, and what the file says of them; ReadError if it is broken."""
    package = needed("pyreadstat", "pyreadstat", "files", f"Files of {program}")
    try:
        columns, told = getattr(package, function)(
            io.BytesIO(source) if isinstance(source, bytes) else str(source), output_format="dict", **options
        )
    # what its parser raises has no class in common, and a date beyond the year 9999 is an OverflowError
    except (package.ReadstatError, package.PyreadstatError, OSError, OverflowError, ValueError, UnicodeError) as error:
        raise _broken(name, program, error) from None
    check_names(told.column_names, name)
    if told.number_rows is not None and any(len(values) != told.number_rows for values in columns.values()):
        raise ReadError(f"{name!r} ends before its {told.number_rows} rows do. Copy or write the file again.")
    return dict(columns), told


def assembled(
    columns: Mapping[str, list[Any]], told: Any, gone: Mapping[str, Gone], about: tuple[str, ...], ordered: frozenset[str] = frozenset()
) -> Loaded:
    """A table of the columns, by what the file says of them; ``gone`` says by column which values stand for "missing"."""
    frame: list[pl.Series] = []
    levels: dict[str, tuple[str, ...]] = {}
    emptied: dict[str, dict[str, int]] = {}
    findings = []
    for name, raw in columns.items():
        values, counts = _without(raw, gone.get(name))
        if counts:
            emptied[name] = dict(counts)
        labels = {code: label for code, label in told.variable_value_labels.get(name, {}).items() if gone.get(name, _never)(code) is None}
        column, declared, found = labelled(_typed(name, values), labels)
        frame.append(column)
        if declared:
            levels[name] = declared
        if found is not None:
            findings.append(found)
    return Loaded(pl.DataFrame(frame), ordered & levels.keys(), levels, about, emptied, tuple(findings))


def _never(_: Any) -> str | None:
    return None


def _without(values: list[Any], gone: Gone | None) -> tuple[list[Any], Counter[str]]:
    """The values without those that stand for "missing", and how often each did."""
    if gone is None:
        return values, Counter()
    words = {value: gone(value) for value in set(values) if value is not None}
    counts = Counter(words[value] for value in values if value is not None and words[value] is not None)
    return [None if value is None or words[value] is not None else value for value in values], Counter(
        {str(w): n for w, n in counts.items()}
    )


def _typed(name: str, values: list[Any]) -> pl.Series:
    first = next((value for value in values if value is not None), None)
    if isinstance(first, str):
        text = pl.Series(name, values, dtype=pl.String).str.strip_chars()
        return text.set(text == "", None)
    if isinstance(first, int | float):
        return whole(pl.Series(name, values, dtype=pl.Float64, strict=False))
    return pl.Series(name, values, dtype=pl.String if first is None else None)


def _broken(name: str, program: str, error: Exception) -> ReadError:
    first = str(error).strip().split("\n", maxsplit=1)[0].rstrip(":. ")
    if "encod" in first.lower() or "convert" in first.lower():
        return ReadError(
            f"The text in {name!r} is not in the encoding that the file names ({first}). Say which it is: encoding 'windows-1252'."
        )
    return ReadError(f"{name!r} cannot be read as a file of {program}: {first}. Save it again with {program}, or export it as CSV.")

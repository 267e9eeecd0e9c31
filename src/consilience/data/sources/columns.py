"""Columns of text become numbers, booleans or text, by rules over all of their values.

These rules are the definition of what a text file's column is; what reads large files faster gives the same, or asks here.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from consilience.data.finding import Finding
from consilience.data.sources.loaded import Loaded
from consilience.data.sources.missing import codes_of, is_missing, is_word
from consilience.data.sources.noticed import mostly_numbers, said_ambiguous, said_codes, said_dotted, said_missing
from consilience.data.sources.numbers import Marks, as_numbers, as_whole, fitting, is_code
from consilience.data.sources.options import Reading
from consilience.frames import pl

__all__ = ["TypedColumn", "type_column", "typed", "typed_text", "united"]

_BOOLEANS = {"true": True, "false": False}
_FOUND_OUT = Reading()


@dataclass(frozen=True, slots=True, eq=False)
class TypedColumn:
    """A column that was text.

    Attributes
    ----------
    column : polars.Series
        Integers, floats, booleans, or text.
    marks : Marks or None
        How its numbers are read; None if it holds none.
    emptied : dict of str to int
        Words and codes that were read as missing, with their rows.
    findings : tuple of Finding
        What is said of it.
    comma : bool
        True if it has decimal commas that can be nothing else.
    dotted : tuple of str
        Examples, if it has points and every one could stand between thousands.
    """

    column: pl.Series
    marks: Marks | None = None
    emptied: dict[str, int] = field(default_factory=dict)
    findings: tuple[Finding, ...] = ()
    comma: bool = False
    dotted: tuple[str, ...] = ()


def typed(column: pl.Series, reading: Reading = _FOUND_OUT) -> pl.Series:
    """The narrowest of integer, float, boolean and text that holds every value of a text column.

    Parameters
    ----------
    column : polars.Series
        Text.
    reading : Reading
        Marks and words that the owner gives.

    Returns
    -------
    polars.Series
        With the usual signs for "missing" missing.

    Examples
    --------
    >>> typed(pl.Series(["1", " 2", "NA"])).to_list(), typed(pl.Series(["1,5", "k.A."])).to_list()
    ([1, 2, None], [1.5, None])
    """
    return type_column(column, reading).column


def typed_text(raw: pl.DataFrame, reading: Reading = _FOUND_OUT) -> Loaded:
    """A table of which every column of text is typed; columns of other types stay as they are.

    Parameters
    ----------
    raw : polars.DataFrame
        As a source gives it.
    reading : Reading
        Marks and words that the owner gives.

    Returns
    -------
    Loaded

    Examples
    --------
    >>> found = typed_text(pl.DataFrame({"age": ["61,5", "unknown"], "sex": ["m", "f"]}))
    >>> found.frame.dtypes, found.emptied
    ([Float64, String], {'age': {'unknown': 1}})
    """
    columns = [type_column(column, reading) if column.dtype == pl.String else TypedColumn(column) for column in raw.iter_columns()]
    return united(columns, list(raw.iter_columns()), reading)


def united(columns: list[TypedColumn], texts: list[pl.Series], reading: Reading) -> Loaded:
    """The columns of one file as a table: where some have decimal commas, a point in another may stand between thousands.

    ``texts`` are the columns as they were read; only those of dotted columns are looked at.
    """
    commas = [typed.column.name for typed in columns if typed.comma]
    if commas and reading.decimal is None and reading.thousands is None:
        columns = [_undone(typed, text, commas) if typed.dotted else typed for typed, text in zip(columns, texts, strict=True)]
    frame = pl.DataFrame([typed.column.alias(str(place)) for place, typed in enumerate(columns)])
    frame.columns = [typed.column.name for typed in columns]  # of columns without a name, polars would make some of its own
    return Loaded(
        frame,
        about=_marks_said(columns),
        emptied={typed.column.name: typed.emptied for typed in columns if typed.emptied},
        findings=tuple(finding for typed in columns for finding in typed.findings),
    )


def _undone(typed: TypedColumn, text: pl.Series, commas: list[str]) -> TypedColumn:
    name = typed.column.name
    kept = text.to_frame(name).select(pl.when(is_missing(_stripped(name))).then(None).otherwise(_stripped(name)).alias(name)).to_series()
    return replace(typed, column=kept, marks=None, findings=(said_dotted(name, list(typed.dotted), commas),))


def _marks_said(columns: list[TypedColumn]) -> tuple[str, ...]:
    """How numbers were read, where it is not as machines write them."""
    found: dict[Marks, list[str]] = {}
    for typed in columns:
        if typed.marks is not None and typed.marks != Marks():
            found.setdefault(typed.marks, []).append(typed.column.name)
    return tuple(f"{marks.said} in {', '.join(repr(name) for name in names)}" for marks, names in found.items())


def _stripped(name: str) -> pl.Expr:
    # as in a pattern a column named "*" would be all of them
    return pl.nth(0).str.strip_chars().alias(name)


def type_column(text: pl.Series, reading: Reading = _FOUND_OUT) -> TypedColumn:
    """One column of text, typed, with what is said of it.

    Parameters
    ----------
    text : polars.Series
        Text.
    reading : Reading
        Marks and words that the owner gives.

    Returns
    -------
    TypedColumn

    Examples
    --------
    >>> found = type_column(pl.Series("cells", ["12,345", "9,876"]))
    >>> found.column.dtype, found.findings[0].code
    (String, 'decimal-mark')
    """
    name = text.name
    text, counts = _counts(text.alias("value"))
    missing = is_missing(pl.col("value"), reading.missing)
    gone, rest = counts.filter(missing), counts.filter(~missing)
    words, values = rest.filter(is_word(pl.col("value"))), rest.filter(~is_word(pl.col("value")))
    ways = fitting(values["value"], reading) if values.height else []
    if ways and (code := _code(values["value"])):
        return _as_text(name, text, gone, rest, (said_codes(name, code),))
    if len(ways) == 1 or (ways and ways[0] == Marks()):
        return _as_number(name, text, pl.concat([gone, words]), ways, values["value"], reading)
    if not rest.height:
        return TypedColumn(_emptied(text, gone).cast(pl.Int64, strict=False).alias(name), emptied=_counted(gone))
    given = Marks(reading.decimal, reading.thousands or "") if reading.decimal else None
    found = said_ambiguous(name, values["value"].head(3).to_list()) if ways else mostly_numbers(name, values, given)
    return _as_text(name, text, gone, rest, (found,) if found else ())


def _counts(text: pl.Series) -> tuple[pl.Series, pl.DataFrame]:
    """The column without spaces around its values, and its values with their rows, the most frequent first."""
    counts = text.to_frame().group_by("value").agg(pl.len().alias("count")).drop_nulls()
    if (counts["value"].str.strip_chars() != counts["value"]).any():  # rarely: a column is not copied for nothing
        return _counts(text.str.strip_chars())
    return text, counts.sort("count", "value", descending=[True, False])


def _code(values: pl.Series) -> str:
    """An example of digits behind a zero, if all values are digits; else nothing."""
    codes = values.filter(values.to_frame().select(is_code(pl.col("value"))).to_series())
    return codes[0] if codes.len() and values.str.contains(r"^[+-]?\d+$").all() else ""


def _as_number(name: str, text: pl.Series, gone: pl.DataFrame, ways: list[Marks], values: pl.Series, reading: Reading) -> TypedColumn:
    marks, emptied = ways[0], _counted(gone)
    frame = _emptied(text, gone).to_frame()
    numbers = frame.select(as_numbers(pl.col("value"), marks)).to_series()
    coded = numbers.cast(pl.Float64).is_in(codes_of(reading.missing)) if reading.missing else None
    if coded is not None and coded.any():  # a code with marks in it, "9.999" for 9999
        for word, count in frame.filter(coded)["value"].value_counts().iter_rows():
            emptied[word] = emptied.get(word, 0) + count
        frame = frame.with_columns(pl.when(coded).then(None).otherwise(pl.col("value")).alias("value"))
        numbers = frame.select(as_numbers(pl.col("value"), marks)).to_series()
    whole = frame.select(as_whole(pl.col("value"), marks)).to_series()
    # in any case of letters: what R and pandas write is missing everywhere, and need not be said again
    said = {word: n for word, n in emptied.items() if not pl.DataFrame({"w": [word]}).select(is_missing(pl.col("w"))).item()}
    return TypedColumn(
        (whole if whole.null_count() == numbers.null_count() else numbers).alias(name),
        marks,
        emptied,
        (said_missing(name, said),) if said else (),
        comma=marks.decimal == "," and bool(values.str.contains(",", literal=True).any()),
        dotted=tuple(values.filter(values.str.contains(".", literal=True)).head(3)) if len(ways) > 1 else (),
    )


def _as_text(name: str, text: pl.Series, gone: pl.DataFrame, rest: pl.DataFrame, findings: tuple[Finding, ...]) -> TypedColumn:
    kept, values = _emptied(text, gone), rest["value"]
    if values.head(100).str.to_lowercase().is_in(list(_BOOLEANS)).all() and values.str.to_lowercase().is_in(list(_BOOLEANS)).all():
        truths = kept.str.to_lowercase().replace_strict(_BOOLEANS, return_dtype=pl.Boolean)
        return TypedColumn(truths.alias(name), emptied=_counted(gone))
    # line ends within a field are those of the program that wrote the file, and no difference between two levels
    if values.str.contains("\r", literal=True).any():
        kept = kept.str.replace_all("\r\n?", "\n")
    return TypedColumn(kept.alias(name), emptied=_counted(gone), findings=findings)


def _emptied(text: pl.Series, gone: pl.DataFrame) -> pl.Series:
    """The column without what is missing."""
    if not gone.height:
        return text
    missing = pl.col("value").is_in(gone["value"].implode())
    return text.to_frame().select(pl.when(missing).then(None).otherwise(pl.col("value")).alias("value")).to_series()


def _counted(gone: pl.DataFrame) -> dict[str, int]:
    """What was read as missing, with its rows; empty cells are no words."""
    return {value: count for value, count in gone.iter_rows() if value}

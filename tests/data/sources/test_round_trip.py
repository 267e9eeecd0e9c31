"""Random tables, written in any dialect, are read back as they were."""

from __future__ import annotations

import csv
import io
from dataclasses import dataclass

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from polars.testing import assert_frame_equal

from consilience.data.sources import Reading, content, load_bytes
from consilience.data.sources.missing import MISSING


@dataclass(frozen=True)
class Written:
    """A dialect that somebody writes."""

    separator: str
    decimal: str
    quote: str
    quoting: int
    end: str
    encoding: str


DIALECTS = st.builds(
    Written,
    separator=st.sampled_from([",", ";", "\t", "|"]),
    decimal=st.sampled_from([".", ","]),
    quote=st.sampled_from(['"', "'"]),
    quoting=st.sampled_from([csv.QUOTE_MINIMAL, csv.QUOTE_ALL]),
    end=st.sampled_from(["\n", "\r\n"]),
    encoding=st.sampled_from(["utf-8", "utf-8-sig", "utf-16", "cp1252"]),
)
LETTERS = "abcdeäöüß ,;|\t\"'\n-.x1"
WORDS = st.text(LETTERS, min_size=1, max_size=8).map(str.strip).filter(lambda word: word not in MISSING)


@st.composite
def tables(draw: st.DrawFn) -> pl.DataFrame:
    """A column of text that is no number, one of floats that show their decimal mark, one of integers; with gaps."""
    rows = draw(st.integers(1, 8))

    def some(values: st.SearchStrategy[object]) -> list[object]:
        return draw(st.lists(st.none() | values, min_size=rows, max_size=rows))

    floats = st.floats(-1e4, 1e4).map(lambda number: round(number, 2))
    return pl.DataFrame(
        {
            "t": pl.Series(["text", *some(WORDS)], dtype=pl.String),
            "f": pl.Series([0.25, *some(floats)], dtype=pl.Float64),
            "i": pl.Series([7, *some(st.integers(-(2**40), 2**40))], dtype=pl.Int64),
        }
    )


def spelled(value: object, dialect: Written) -> str:
    return "" if value is None else repr(value).replace(".", dialect.decimal) if isinstance(value, float) else str(value)


def written(frame: pl.DataFrame, dialect: Written) -> bytes:
    text = io.StringIO(newline="")
    writer = csv.writer(
        text,
        delimiter=dialect.separator,
        quotechar=dialect.quote,
        quoting=dialect.quoting,
        lineterminator=dialect.end,  # type: ignore[arg-type]
    )
    writer.writerow(frame.columns)
    writer.writerows([spelled(value, dialect) for value in row] for row in frame.iter_rows())
    return text.getvalue().encode(dialect.encoding)


@pytest.mark.slow
@settings(max_examples=60, deadline=None)
@given(frame=tables(), dialect=DIALECTS, block=st.sampled_from([5, 64, 1 << 20]))
def test_what_is_written_is_read(frame: pl.DataFrame, dialect: Written, block: int) -> None:
    """The quote is given: a file in which words only sometimes begin with a mark does not say which mark is its quote."""
    reading = Reading(quote=dialect.quote, separator=dialect.separator)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(content, "BLOCK", block)
        found = load_bytes(written(frame, dialect), "site.csv", "muenster", reading)
    assert_frame_equal(found.frame, frame, check_exact=True)


PLAIN = st.text("abcdeäöü x1-", min_size=1, max_size=8).map(str.strip).filter(lambda word: word not in MISSING)


@pytest.mark.slow
@settings(max_examples=40, deadline=None)
@given(words=st.lists(PLAIN, min_size=1, max_size=6), dialect=DIALECTS)
def test_nothing_need_be_given_where_the_text_is_plain(words: list[str], dialect: Written) -> None:
    frame = pl.DataFrame({"t": ["text", *words], "f": [0.25 * i for i in range(len(words) + 1)], "i": range(len(words) + 1)})
    assert_frame_equal(load_bytes(written(frame, dialect), "site.csv", "muenster").frame, frame, check_exact=True)

"""Every source a site may have becomes the same polars frame, or an error that says what to do."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from polars.testing import assert_frame_equal

from consilience.data.errors import EmptyDataError, ReadError
from consilience.data.sources import load, scan
from consilience.data.sources.missing import MISSING
from consilience.errors import DataError

Write = Callable[..., Path]


@pytest.fixture
def write(tmp_path: Path) -> Write:
    """Write a file (text as UTF-8) and return its path."""

    def write(content: str | bytes, name: str = "site.csv") -> Path:
        path = tmp_path / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    return write


def read(path: Path | str) -> dict[str, list[Any]]:
    return load(path, "muenster").frame.to_dict(as_series=False)


PLAIN = {"A": [1, 2], "B": ["x", "y"]}


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        pytest.param("A,B\n1,x\n2,y\n", PLAIN, id="header"),
        pytest.param("A,B\n1,x\n2,y", PLAIN, id="no newline at the end"),
        pytest.param("A,B\r\n1,x\r\n2,y\r\n", PLAIN, id="lines end as on Windows"),
        pytest.param("\ufeffA,B\n1,x\n2,y\n", PLAIN, id="byte-order mark"),
        pytest.param('\ufeff"A","B"\r\n1,x\r\n2,y\r\n', PLAIN, id="byte-order mark before a quote"),
        pytest.param('"A","B"\n"1","x"\n"2","y"\n', PLAIN, id="everything quoted"),
        pytest.param(" A ,B \n 1 ,  x\n2 , y \n", PLAIN, id="spaces around names and values"),
        pytest.param('A,B\n1,"x, y"\n', {"A": [1], "B": ["x, y"]}, id="comma in quotes"),
        pytest.param('A,B\n1,"x\ny"\n2,z\n', {"A": [1, 2], "B": ["x\ny", "z"]}, id="newline in quotes"),
        pytest.param('A\n"say ""x"""\n', {"A": ['say "x"']}, id="quote in quotes"),
        pytest.param('A\n"1.5"\n"2"\n', {"A": [1.5, 2.0]}, id="quoted numbers"),
        pytest.param("A\n1e3\n-2.5E-1\n", {"A": [1000.0, -0.25]}, id="powers of ten"),
        pytest.param("A\nMünster\n", {"A": ["Münster"]}, id="umlaut"),
    ],
)
def test_csv(write: Write, content: str, expected: dict[str, list[Any]]) -> None:
    assert read(write(content)) == expected


@pytest.mark.parametrize("sign", [*MISSING, " NA ", '"NA"', '""', "?  "])
def test_signs_for_missing_in_numbers_text_and_booleans(write: Write, sign: str) -> None:
    path = write(f"N,F,S,B\n1,1.5,x,true\n{sign},{sign},{sign},{sign}\n3,2.5,y,false\n")
    assert read(path) == {"N": [1, None, 3], "F": [1.5, None, 2.5], "S": ["x", None, "y"], "B": [True, None, False]}


def test_the_usual_signs_are_among_those_for_missing() -> None:
    assert {"", "?", "NA", "NaN"} <= set(MISSING)


@pytest.mark.parametrize(("yes", "no"), [("true", "false"), ("True", "False"), ("TRUE", "FALSE"), (" true ", '"False"')])
def test_spellings_of_booleans(write: Write, yes: str, no: str) -> None:
    assert read(write(f"A\n{yes}\n{no}\n?\n")) == {"A": [True, False, None]}


@pytest.mark.parametrize(
    ("values", "dtype"),
    [
        (["1", "-2"], pl.Int64),
        (["1", "2.0"], pl.Float64),
        (["1", "99999999999999999999"], pl.Float64),
        (["true", "x"], pl.String),
        (["1", "true"], pl.String),
        (["1"] * 20_000 + ["x"], pl.String),
    ],
)
def test_a_column_is_the_narrowest_type_that_holds_every_value(write: Write, values: list[str], dtype: pl.DataType) -> None:
    """Also where the value that decides comes after thousands of others."""
    column = load(write("\n".join(["A", *values])), "muenster").frame["A"]
    assert column.dtype == dtype
    assert column.null_count() == 0


@pytest.mark.parametrize(
    ("content", "name"), [("A,B,A\n1,2,3\n", "A"), ('A,"A"\n1,2\n', "A"), ("A, A\n1,2\n", "A"), ("A,A_duplicated_0,A\n1,2,3\n", "A")]
)
def test_two_columns_of_one_name(write: Write, content: str, name: str) -> None:
    with pytest.raises(ReadError, match=f"'{name}'"):
        load(write(content), "muenster")


def test_a_column_may_be_called_as_it_likes(write: Write) -> None:
    """The mark that polars puts into repeated names is no reserved word."""
    assert read(write("was_duplicated_once,B\n1,2\n")) == {"was_duplicated_once": [1], "B": [2]}


@pytest.mark.parametrize("content", ["", "\n", "\ufeff", "A,B\n", "A,B"])
def test_a_file_without_rows(write: Write, content: str) -> None:
    with pytest.raises(EmptyDataError, match="at least one"):
        load(write(content), "muenster")


@pytest.mark.parametrize(
    ("content", "words"), [("A,B\n1,2\n3,4,5\n", "3 fields"), ("A,B\n1,2\n3\n", "1 field,"), ('A,B\n"x\ny",2\n\n3\n', "Line 5")]
)
def test_a_row_with_more_or_fewer_fields_than_the_header(write: Write, content: str, words: str) -> None:
    """A row that was broken in two would otherwise be two rows, and the values of one would stand under the other's names."""
    with pytest.raises(ReadError, match=rf"Line \d of .*site\.csv.*{words}|{words}.*site\.csv"):
        load(write(content), "muenster")


@pytest.mark.parametrize("content", ["A,B\n1,2\n\n", "A,B\n\n1,2\n", "A,B\n1,2\n\r\n\r\n"])
def test_blank_lines_hold_no_values(write: Write, content: str) -> None:
    assert load(write(content), "muenster").frame.rows() == [(1, 2)]


@pytest.mark.parametrize(
    "content", ["A,B\n1,2\n3,4,5\n", 'A,B\n"1,2\n3,4\n', b"A,B\nM\x81nster,1\n"], ids=["ragged", "open quote", "code page"]
)
def test_a_broken_file_is_one_line_that_names_it(write: Write, content: str | bytes) -> None:
    """And in words of ours, not in advice on the parameters of a library the reader does not call."""
    with pytest.raises(ReadError, match=r"site\.csv") as caught:
        load(write(content), "muenster")
    assert "\n" not in str(caught.value)
    assert "truncate_ragged_lines" not in str(caught.value)


@pytest.mark.parametrize("name", ["site [1].csv", "site*.csv", "site?.csv", "site {a,b}.csv"])
def test_a_file_name_is_a_name_and_no_pattern(write: Write, name: str) -> None:
    """A neighbour whose name would match must not be read along."""
    write("A\n9\n", "siteX.csv")
    assert read(write("A\n1\n", name)) == {"A": [1]}


@pytest.mark.parametrize("name", ["site [1].parquet", "site*.parquet"])
def test_the_same_for_parquet(tmp_path: Path, name: str) -> None:
    pl.DataFrame({"A": [9]}).write_parquet(tmp_path / "siteX.parquet")
    with (tmp_path / name).open("wb") as file:
        pl.DataFrame({"A": [1]}).write_parquet(file)
    assert read(tmp_path / name) == {"A": [1]}


@pytest.mark.parametrize("name", ["nowhere.csv", "nowhere.parquet"])
def test_a_path_without_a_file(tmp_path: Path, name: str) -> None:
    with pytest.raises(ReadError, match="no such file") as caught:
        load(tmp_path / name, "muenster")
    assert "'muenster'" in str(caught.value)
    assert str(tmp_path) in str(caught.value)


def test_a_folder_without_tables_is_none(tmp_path: Path) -> None:
    with pytest.raises(ReadError, match=r"holds \.parquet files.*Name a file in it"):
        load(tmp_path, "muenster")


@pytest.mark.parametrize("name", ["site.docx", "site.csv.zip", "site"])
def test_a_suffix_that_says_nothing(write: Write, name: str) -> None:
    with pytest.raises(ReadError, match=r"must end in one of \.csv, .*\.parquet"):
        load(write("A\n1\n", name), "muenster")


def test_suffixes_in_capitals(write: Write) -> None:
    assert read(write("A\n1\n", "SITE.CSV")) == {"A": [1]}


def test_a_path_may_be_text(write: Write) -> None:
    assert read(str(write("A\n1\n"))) == {"A": [1]}


FRAME = pl.DataFrame(
    {
        "F": [1.5, None, float("nan")],
        "I": [1, None, 3],
        "B": [True, None, False],
        "S": ["x", None, "?"],
        "C": pl.Series(["u", None, "v"], dtype=pl.Categorical),
        "E": pl.Series(["lo", None, "hi"], dtype=pl.Enum(["lo", "mid", "hi"])),
    }
)


def test_parquet_round_trip(tmp_path: Path) -> None:
    FRAME.write_parquet(tmp_path / "site.parquet")
    assert_frame_equal(load(tmp_path / "site.parquet", "muenster").frame, FRAME, categorical_as_str=True)


@pytest.mark.parametrize("content", ["", "A,B\n1,2\n"])
def test_a_parquet_file_that_is_none(write: Write, content: str) -> None:
    with pytest.raises(ReadError, match=r"site\.parquet"):
        load(write(content, "site.parquet"), "muenster")


def test_polars_frames_are_taken_as_they_are() -> None:
    assert_frame_equal(load(FRAME, "muenster").frame, FRAME)
    assert_frame_equal(load(FRAME.lazy(), "muenster").frame, FRAME)


@pytest.mark.parametrize(
    ("column", "dtype", "values"),
    [
        (np.array([1.5, np.nan]), pl.Float64, [1.5, None]),
        (np.array([1.5, np.nan], dtype="float32"), pl.Float64, [1.5, None]),
        (pd.array([1.5, None], dtype="Float64"), pl.Float64, [1.5, None]),
        (np.array([1, 2]), pl.Int64, [1, 2]),
        (np.array([1, 2], dtype="uint8"), pl.Int64, [1, 2]),
        (pd.array([1, None], dtype="Int64"), pl.Int64, [1, None]),
        (pd.array([1, None], dtype="UInt16"), pl.Int64, [1, None]),
        (np.array([True, False]), pl.Boolean, [True, False]),
        (pd.array([True, None], dtype="boolean"), pl.Boolean, [True, None]),
        (pd.Series([True, None], dtype=object), pl.Boolean, [True, None]),
        (pd.Series(["x", None], dtype=object), pl.String, ["x", None]),
        (pd.Series(["x", np.nan], dtype=object), pl.String, ["x", None]),
        (pd.array(["x", None], dtype="string"), pl.String, ["x", None]),
        (pd.Series([1, None], dtype=object), pl.Int64, [1, None]),
        (pd.Categorical(["x", None], categories=["y", "x"]), pl.Enum(["y", "x"]), ["x", None]),
        (pd.Categorical([2, 1], categories=[2, 1]), pl.Enum(["2", "1"]), ["2", "1"]),
    ],
    ids=str,
)
def test_pandas_columns(column: Any, dtype: pl.DataType, values: list[Any]) -> None:
    read = load(pd.DataFrame({"A": column}), "muenster").frame["A"]
    assert read.dtype == dtype
    assert read.to_list() == values


@pytest.mark.parametrize(
    ("categories", "labels"), [([1.0, 2.0], ["1", "2"]), ([0.5, 2.0], ["0.5", "2"]), ([False, True], ["0", "1"])], ids=str
)
def test_categories_of_numbers_are_labelled_as_the_numbers_are(categories: list[Any], labels: list[str]) -> None:
    """``1``, ``1.0`` and ``True`` at three sites mean one level, also inside a pandas category."""
    assert load(pd.DataFrame({"A": pd.Categorical(categories)}), "muenster").frame["A"].to_list() == labels


def test_ordered_categories() -> None:
    frame = pd.DataFrame({"A": pd.Categorical(["x"], ordered=True), "B": pd.Categorical(["x"]), "C": ["x"]})
    assert load(frame, "muenster").ordered == {"A"}
    assert load(FRAME, "muenster").ordered == load(FRAME.lazy(), "muenster").ordered == frozenset()


def test_the_index_of_a_pandas_frame_does_not_matter() -> None:
    frame = pd.DataFrame({"A": [1, 2, 3], "B": [1.5, 2.5, 3.5]})
    shuffled = frame.set_index(pd.Index([7, 7, 3]))
    assert_frame_equal(load(shuffled, "muenster").frame, load(frame, "muenster").frame)


def test_column_names_of_a_pandas_frame_become_text() -> None:
    assert load(pd.DataFrame({0: [1], "B": [2]}), "muenster").frame.columns == ["0", "B"]


@pytest.mark.parametrize("names", [["A", "A"], [1, "1"]])
def test_two_pandas_columns_of_one_name(names: list[Any]) -> None:
    with pytest.raises(ReadError, match=f"'{names[0]}'"):
        load(pd.DataFrame([[1, 2]], columns=names), "muenster")


def test_a_pandas_column_of_numbers_and_text_is_an_error_of_ours() -> None:
    with pytest.raises(DataError, match="'A'"):
        load(pd.DataFrame({"A": [1, "x"]}), "muenster")


@pytest.mark.parametrize("empty", [pl.DataFrame(), pl.DataFrame({"A": []}), pd.DataFrame(), pd.DataFrame({"A": []}), pl.LazyFrame()])
def test_empty_frames(empty: Any) -> None:
    with pytest.raises(EmptyDataError, match=r"'muenster'.*at least one"):
        load(empty, "muenster")


@pytest.mark.parametrize("thing", [None, 3, {"A": [1]}, [[1]], np.zeros((2, 2)), pl.Series([1]), pd.Series([1]), b"site.csv"], ids=type)
def test_what_is_no_frame(thing: Any) -> None:
    with pytest.raises(ReadError, match=rf"'muenster'.*\.csv, .*\.parquet.*{type(thing).__name__}"):
        load(thing, "muenster")


def test_what_can_be_read_in_parts_is_scanned(tmp_path: Path) -> None:
    FRAME.write_parquet(tmp_path / "site.parquet")
    assert_frame_equal(scan(tmp_path / "site.parquet", "muenster").collect(), FRAME, categorical_as_str=True)
    assert_frame_equal(scan(FRAME.lazy(), "muenster").collect(), FRAME)
    (tmp_path / "site.csv").write_text("A,B\n1,x\n")
    assert scan(tmp_path / "site.csv", "muenster").select("A").collect().item() == 1
    (tmp_path / "none.parquet").write_text("A,B\n1,x\n")
    with pytest.raises(ReadError, match=r"none\.parquet"):
        scan(tmp_path / "none.parquet", "muenster")

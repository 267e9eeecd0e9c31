"""Sheets as people make them: titles of sheets, gaps, errors, numbers as text, formulas, dates, and files that are too large or broken."""

from __future__ import annotations

import datetime as dt
import io
import zipfile

import polars as pl
import pytest
import xlsxwriter

from consilience.data.errors import EmptyDataError, ReadError
from consilience.data.sources import Reading, load_bytes
from consilience.data.sources import excel_parts as parts
from tests.data.sources.tables import excel


def test_the_first_sheet_is_read_and_the_others_are_named() -> None:
    content = excel({"Daten": [["x"], [1.5]], "Alt": [["x"], [9.5]]})
    found = load_bytes(content, "site.xlsx", "here")
    assert (found.frame["x"].to_list(), found.about) == ([1.5], ("Excel, sheet 'Daten'; not read: 'Alt'",))
    for wanted in ("Alt", "2"):
        assert load_bytes(content, "site.xlsx", "here", Reading(sheet=wanted)).frame["x"].to_list() == [9.5]
    with pytest.raises(ReadError, match=r"has no sheet 'Neu'. It has: 'Daten', 'Alt'"):
        load_bytes(content, "site.xlsx", "here", Reading(sheet="Neu"))


def test_errors_are_missing_and_counted_and_formulas_count_by_their_results() -> None:
    rows = [["x", "y"], ["=A9|2.5", 1], ["=1/0|#DIV/0!", 2], ["=NA()|#N/A", 3], ["=NA()|#N/A", 4], [1.25, 5]]
    for at in ((0, 0), (3, 2)):
        found = load_bytes(excel({"s": rows}, at), "site.xlsx", "here")
        assert found.frame["x"].to_list() == [2.5, None, None, None, 1.25]
        assert found.emptied == {"x": {"#DIV/0!": 1, "#N/A": 2}}


def test_a_number_among_words_keeps_all_of_its_digits() -> None:
    third = 0.333333333333333  # as many digits as the program that makes the file writes
    found = load_bytes(excel({"s": [["x", "code"], [third, "007"], ["k.A.", "A"], ["0.1", 7]]}), "site.xlsx", "here")
    assert found.frame["x"].to_list() == [third, None, 0.1]
    assert found.emptied["x"] == {"k.A.": 1}
    assert found.frame["code"].to_list() == ["007", "A", "7"]


def test_dates_are_dates_also_beside_an_error() -> None:
    day, moment = dt.datetime(2020, 1, 2), dt.datetime(2020, 1, 2, 3, 4)
    found = load_bytes(excel({"s": [["d", "t", "e"], [day, moment, day], [day, day, "=NA()|#N/A"]]}), "site.xlsx", "here").frame
    assert [dtype.base_type() for dtype in found.dtypes] == [pl.Date, pl.Datetime, pl.Date]
    assert found["e"].to_list() == [day.date(), None]


def test_what_is_empty_at_the_edges_is_left_out() -> None:
    rows = [["x", None, "y"], [1, None, True], [None, None, None], [2, None, False], [" ", None, None], [None, "", None]]
    found = load_bytes(excel({"s": rows}), "site.xlsx", "here").frame
    assert found.to_dict(as_series=False) == {"x": [1, None, 2], "y": [True, None, False]}


def test_two_columns_of_one_name_and_sheets_without_a_table_are_refused() -> None:
    with pytest.raises(ReadError, match="two columns named 'x'"):
        load_bytes(excel({"s": [["x", "x "], [1, 2]]}), "site.xlsx", "here")
    for rows in ([], [["x"]]):
        with pytest.raises(EmptyDataError):
            load_bytes(excel({"s": rows}), "site.xlsx", "here")


@pytest.mark.parametrize("content", [b"", b"PK\x03\x04 no more", excel({"s": [["x"], [1]]})[:-40], bytes(5000)])
def test_a_broken_file_is_an_error_in_words(content: bytes) -> None:
    with pytest.raises(ReadError, match="is not a whole Excel file"):
        load_bytes(content, "site.xlsx", "here")


def test_an_archive_that_is_no_workbook_and_a_protected_one_are_said() -> None:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr("letter.txt", "no workbook")
    with pytest.raises(ReadError, match="is not a whole Excel file"):
        load_bytes(file.getvalue(), "site.xlsx", "here")
    with pytest.raises(ReadError, match="protected by a password"):
        load_bytes(bytes.fromhex("d0cf11e0a1b11ae1") + bytes(600), "site.xlsx", "here")


@pytest.mark.slow  # making the file takes two seconds
def test_two_cells_in_opposite_corners_are_refused_before_room_is_made() -> None:
    file = io.BytesIO()
    with xlsxwriter.Workbook(file) as book:
        sheet = book.add_worksheet()
        sheet.write(0, 0, "x")
        sheet.write(1_048_575, 16_383, 1)
    with pytest.raises(ReadError, match="spans 1048576 rows and 16384 columns"):
        load_bytes(file.getvalue(), "site.xlsx", "here")


def test_what_unpacks_to_too_much_is_refused_whatever_size_it_claims(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parts, "MOST_UNPACKED", 2**21)
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("xl/workbook.xml", bytes(2**22))
    honest = file.getvalue()
    lying = honest.replace((2**22).to_bytes(4, "little"), (100).to_bytes(4, "little"))
    assert len(honest) < 10_000
    assert honest != lying
    for content in (honest, lying):
        with pytest.raises(ReadError, match="unpacks to more than 2 MB"):
            load_bytes(content, "site.xlsx", "here")

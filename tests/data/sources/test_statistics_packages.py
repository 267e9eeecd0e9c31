"""Files of SPSS, Stata and SAS: labels, codes that mean "missing", dates, text that is not UTF-8, and broken files."""

from __future__ import annotations

import datetime as dt
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pyreadstat
import pytest
import statsmodels.api as sm

from consilience.data.errors import ReadError
from consilience.data.sources import Loaded, Reading, load, load_bytes, spss_size
from tests.data.sources.tables import REFERENCE


def sav(folder: Path, columns: dict[str, list[object]], **more: object) -> Loaded:
    path = folder / "site.sav"
    pyreadstat.write_sav(pd.DataFrame(columns), str(path), **more)
    found = load(path, "here")
    assert load_bytes(path.read_bytes(), "site.sav", "here").frame.equals(found.frame)  # an upload needs no disk
    return found


def test_labels_of_all_values_are_levels_in_the_order_of_the_codes(tmp_path: Path) -> None:
    labels = {"sex": {2: "female", 1: "male", 3: "diverse"}, "pain": {1: "none", 2: "some", 3: "severe"}}
    found = sav(
        tmp_path, {"sex": [2.0, 1.0, np.nan], "pain": [3.0, 1.0, 2.0]}, variable_value_labels=labels, variable_measure={"pain": "ordinal"}
    )
    assert found.levels == {"sex": ("male", "female", "diverse"), "pain": ("none", "some", "severe")}
    assert found.frame["sex"].to_list() == ["female", "male", None]
    assert found.frame["pain"].dtype == pl.Enum(["none", "some", "severe"])
    assert found.ordered == {"pain"}


def test_codes_and_ranges_declared_missing_are_missing_and_counted(tmp_path: Path) -> None:
    ranges = {"age": [{"lo": -9, "hi": -1}, 99], "ward": ["X"]}
    found = sav(tmp_path, {"age": [61.0, -9.0, -1.0, 99.0, 99.0], "ward": ["A", "X", "", "B", "A"]}, missing_ranges=ranges)
    assert found.frame["age"].to_list() == [61, None, None, None, None]
    assert found.frame["ward"].to_list() == ["A", None, None, "B", "A"]
    assert found.emptied == {"age": {"-9": 1, "-1": 1, "99": 2}, "ward": {"X": 1}}


def test_a_label_on_a_few_values_leaves_numbers_and_is_said(tmp_path: Path) -> None:
    found = sav(tmp_path, {"age": [61.0, 70.0, 52.0, 99.0]}, variable_value_labels={"age": {99: "unknown"}})
    assert found.frame["age"].to_list() == [61, 70, 52, 99]
    assert not found.levels
    (finding,) = found.findings
    assert (finding.code, finding.grade.value, finding.columns) == ("partly-labelled", "doubtful", ("age",))
    assert "99 = 'unknown'" in finding.words
    assert finding.remedies[0].value == "99"


def test_a_label_on_a_value_that_does_not_occur_says_nothing(tmp_path: Path) -> None:
    found = sav(tmp_path, {"age": [61.0, 70.0]}, variable_value_labels={"age": {99: "unknown"}})
    assert (found.frame["age"].to_list(), found.findings) == ([61, 70], ())


def test_one_value_without_a_label_among_many_with_is_refused(tmp_path: Path) -> None:
    found = sav(tmp_path, {"stage": [1.0, 2.0, 3.0, 7.0]}, variable_value_labels={"stage": {1: "I", 2: "II", 3: "III"}})
    (finding,) = found.findings
    assert finding.grade.stops
    assert "none for 7" in finding.words


def test_two_codes_with_one_label_stay_two_levels(tmp_path: Path) -> None:
    found = sav(tmp_path, {"fate": [1.0, 2.0, 3.0]}, variable_value_labels={"fate": {1: "dead", 2: "alive", 3: "dead"}})
    assert found.levels["fate"] == ("dead (1)", "alive", "dead (3)")


def test_dates_are_dates(tmp_path: Path) -> None:
    day, moment = dt.date(1961, 5, 4), dt.datetime(2020, 1, 2, 3, 4, 5)
    frame = pd.DataFrame({"born": [day, None], "seen": [moment, moment]})
    for suffix, write in ((".sav", pyreadstat.write_sav), (".dta", pyreadstat.write_dta), (".xpt", pyreadstat.write_xport)):
        path = tmp_path / f"site{suffix}"
        write(frame, str(path))
        found = load(path, "here").frame
        assert found["born"].to_list() == [day, None], suffix
        assert found["seen"].to_list() == [moment, moment], suffix
        assert (found["born"].dtype, found["seen"].dtype.base_type()) == (pl.Date, pl.Datetime), suffix


def test_a_file_of_sas_is_read_as_the_others_are() -> None:
    """R wrote it (tests/reference/sas.R): numbers, text, dates, gaps, letters that say why a value is missing, and a label."""
    found = load(REFERENCE / "all-kinds.sas7bdat", "here")
    assert found.frame.schema == {
        "age": pl.Float64,
        "visits": pl.Int64,
        "ward": pl.String,
        "town": pl.String,
        "born": pl.Date,
        "seen": pl.Datetime("us"),
        "dose": pl.Float64,
        "grade": pl.Int64,
    }
    assert found.frame.rows() == [
        (61.5, 1, "A 1", "Münster", dt.date(1961, 5, 4), dt.datetime(2020, 1, 2, 3, 4, 5), None, 1),
        (None, 2, None, "Łódź", None, None, 1.5, 2),
        (70.0, 3, "B", "Köln", dt.date(1970, 1, 1), dt.datetime(2020, 1, 2), None, None),
    ]
    assert (found.about, found.emptied, found.levels) == (("SAS",), {"dose": {".A": 1, ".Z": 1}}, {})
    assert load_bytes((REFERENCE / "all-kinds.sas7bdat").read_bytes(), "site.SAS7BDAT", "here").frame.equals(found.frame)


def test_months_and_quarters_of_stata_are_dates(tmp_path: Path) -> None:
    path = tmp_path / "site.dta"
    pyreadstat.write_dta(pd.DataFrame({"m": [-1, 0, 13], "q": [0, 1, 5]}), str(path), variable_format={"m": "%tm", "q": "%tq"})
    found = load(path, "here").frame
    assert [str(day) for day in found["m"]] == ["1959-12-01", "1960-01-01", "1961-02-01"]
    assert [str(day) for day in found["q"]] == ["1960-01-01", "1960-04-01", "1961-04-01"]


def test_extended_missing_values_of_stata_are_missing_and_counted(tmp_path: Path) -> None:
    path = tmp_path / "site.dta"
    frame = pd.DataFrame({"dose": [1, "a", 2, "b", "a"]})
    labels = {"dose": {1: "low", 2: "high", "a": "refused to say"}}
    pyreadstat.write_dta(frame, str(path), missing_user_values={"dose": ["a", "b"]}, variable_value_labels=labels)
    found = load(path, "here")
    assert found.frame["dose"].to_list() == ["low", None, "high", None, None]
    assert (found.emptied, found.levels) == ({"dose": {".a": 2, ".b": 1}}, {"dose": ("low", "high")})


def test_latin_1_text_of_an_old_stata_file_is_read(tmp_path: Path) -> None:
    path = tmp_path / "site.dta"
    pd.DataFrame({"ort": ["Köln", "Münster"]}).to_stata(path, version=114, write_index=False)  # pandas writes latin-1 in this version
    assert "ö".encode("latin-1") in path.read_bytes()
    assert load(path, "here").frame["ort"].to_list() == ["Köln", "Münster"]


def test_a_real_table_survives_stata_and_spss(tmp_path: Path) -> None:
    """The extramarital affairs data that statsmodels ships: 6366 rows of codes as floats."""
    table = sm.datasets.fair.load_pandas().data
    pyreadstat.write_dta(table, str(tmp_path / "fair.dta"))
    pyreadstat.write_sav(table, str(tmp_path / "fair.sav"), row_compress=True)
    for name in ("fair.dta", "fair.sav"):
        found = load(tmp_path / name, "here").frame
        assert found.columns == list(table.columns)
        np.testing.assert_array_equal(found.to_numpy(), table.to_numpy())


@pytest.mark.parametrize("suffix", [".sav", ".dta", ".sas7bdat", ".xpt"])
@pytest.mark.parametrize("content", [b"", b"nonsense" * 100, bytes(4096)], ids=["empty", "nonsense", "zeros"])
def test_a_broken_file_is_an_error_in_words(suffix: str, content: bytes) -> None:
    with pytest.raises(ReadError, match="cannot be read as a file of"):
        load_bytes(content, f"site{suffix}", "here", Reading())


@pytest.mark.parametrize("rows_known", [True, False])
def test_a_packed_file_of_spss_that_stands_for_too_much_is_refused_before_it_is_unpacked(
    rows_known: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A few kilobytes of zeros; a header need not say how many rows there are."""
    path = tmp_path / "site.zsav"
    pyreadstat.write_sav(pd.DataFrame({"x": np.zeros(30_000), "y": np.zeros(30_000)}), str(path), compress=True)
    content = bytearray(path.read_bytes())
    assert len(content) < 5_000
    if not rows_known:
        content[80:84] = (-1).to_bytes(4, "little", signed=True)
    path.write_bytes(content)
    assert load(path, "here").frame.shape == (30_000, 2)
    monkeypatch.setattr(spss_size, "MOST_CELLS", 50_000)
    monkeypatch.setattr(pyreadstat, "read_sav", None)
    for source in (path, bytes(content)):
        with pytest.raises(ReadError, match=r"site\.zsav' has (60,000|240,000) values, and at most 50,000 are read"):
            load(source, "here") if isinstance(source, Path) else load_bytes(source, "site.zsav", "here")


@pytest.mark.parametrize("suffix", [".sav", ".dta"])
def test_half_a_file_is_an_error_and_not_half_a_table(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"site{suffix}"
    (pyreadstat.write_sav if suffix == ".sav" else pyreadstat.write_dta)(pd.DataFrame({"x": np.arange(5000.0) + 0.5}), str(path))
    with pytest.raises(ReadError):
        load_bytes(path.read_bytes()[:-15000], path.name, "here")


@pytest.mark.parametrize("kept", [1, 6000, 12000, 16000, 16383])
def test_a_part_of_a_file_of_sas_is_an_error_and_not_a_part_of_a_table(kept: int) -> None:
    whole = (REFERENCE / "hospital-60.sas7bdat").read_bytes()
    with pytest.raises(ReadError, match=r"site\.sas7bdat"):
        load_bytes(whole[:kept], "site.sas7bdat", "here")

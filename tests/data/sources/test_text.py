"""A text file is laid out in any of the common ways, and its table is the same; where two ways fit, none is taken."""

from __future__ import annotations

import codecs
import gzip
from pathlib import Path

import polars as pl
import pytest
from polars.testing import assert_frame_equal

from consilience.data.errors import ReadError
from consilience.data.finding import Asker, Grade
from consilience.data.sources import Loaded, Reading, content, gathering, load, load_bytes
from consilience.errors import OptionError

TEXT = 'Größe,name,n,index\n1.8,"Müller, A.",1,\n1.75,"say ""x""",12,a\n-0.5,,300,b\n'
TABLE = pl.DataFrame({"Größe": [1.8, 1.75, -0.5], "name": ["Müller, A.", 'say "x"', None], "n": [1, 12, 300], "index": [None, "a", "b"]})
GERMAN = 'Größe;name;n;index\n1,8;Müller, A.;1;\n1,75;"say ""x""";12;a\n-0,5;;300;b\n'
TABS = GERMAN.replace(";", "\t")


def read(data: str | bytes, name: str = "site.csv", reading: Reading = Reading()) -> Loaded:  # noqa: B008
    return load_bytes(data if isinstance(data, bytes) else data.encode(), name, "muenster", reading)


DIALECTS = {
    "commas": (TEXT.encode(), "site.csv"),
    "semicolons and decimal commas": (GERMAN.encode(), "site.csv"),
    "tabs": (TABS.encode(), "site.tsv"),
    "tabs in a text file": (TABS.encode(), "site.txt"),
    "bars": (GERMAN.replace(";", "|").encode(), "site.csv"),
    "byte-order mark": (codecs.BOM_UTF8 + TEXT.encode(), "site.csv"),
    "UTF-16, little end first": (codecs.BOM_UTF16_LE + GERMAN.encode("utf-16-le"), "site.csv"),
    "UTF-16, big end first": (codecs.BOM_UTF16_BE + GERMAN.encode("utf-16-be"), "site.csv"),
    "Windows-1252": (GERMAN.encode("cp1252"), "site.csv"),
    "Windows' line ends": (TEXT.replace("\n", "\r\n").encode(), "site.csv"),
    "returns": (TEXT.replace("\n", "\r").encode(), "site.csv"),
    "sep=": (("sep=;\r\n" + GERMAN).encode(), "site.csv"),
    "separators at the ends of rows": (GERMAN.replace("\n", ";\n").encode(), "site.csv"),
    "separators at the ends of rows but the first": (GERMAN.replace("\n", ";\n").replace("x;\n", "x\n", 1).encode(), "site.csv"),
    "packed": (gzip.compress(TEXT.encode()), "site.csv.gz"),
    "packed tabs": (gzip.compress(TABS.encode()), "site.tsv.gz"),
    "single quotes": (TEXT.replace('""', "@").replace('"', "'").replace("@", '"').encode(), "site.csv"),
    "spaces around": (TEXT.replace("1.8,", " 1.8 ,").replace(",12,", ", 12 ,  ").replace("name,", " name , ").encode(), "site.csv"),
    "blank lines": (TEXT.replace("\n", "\n\n").encode(), "site.csv"),
}


@pytest.mark.parametrize("dialect", DIALECTS)
def test_one_table_in_every_dialect(dialect: str) -> None:
    found = read(*DIALECTS[dialect])
    assert_frame_equal(found.frame, TABLE, check_exact=True)
    assert found.about


@pytest.mark.parametrize("dialect", DIALECTS)
def test_small_blocks_make_no_difference(dialect: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Rows, quotes, letters of several bytes and headers are cut anywhere."""
    monkeypatch.setattr(content, "BLOCK", 7)
    monkeypatch.setattr(gathering, "HINTED", 1)
    assert_frame_equal(read(*DIALECTS[dialect]).frame, TABLE, check_exact=True)


def test_what_was_found_out_is_said() -> None:
    about = "; ".join(read(GERMAN.encode("cp1252")).about)
    assert "semicolons" in about
    assert "windows-1252" in about
    assert "decimal mark ',' in 'Größe'" in about


@pytest.mark.parametrize("text", ["Größe,B\n1,x\n", "A,B\n1,ü\n"])
def test_utf_8_that_somebody_gives_is_held_against_the_file(text: str) -> None:
    """Neither is a name read without its letters, nor does a value end the program."""
    with pytest.raises(ReadError, match="is no text in utf8"):
        load_bytes(text.encode("cp1252"), "t.csv", "a", Reading(encoding="utf8"))
    assert load_bytes(text.encode(), "t.csv", "a", Reading(encoding="utf8")).frame.height == 1


def test_an_old_encoding_is_a_notice() -> None:
    (notice,) = read(GERMAN.encode("cp1252")).findings
    assert (notice.code, notice.grade) == ("encoding", Grade.NOTICE)
    assert "'Größe'" in notice.words


def test_code_pages_that_cannot_be_told_apart_are_refused_with_the_words_that_would_come_out() -> None:
    data = "A,B\nMüller,1\n".encode("cp850")
    with pytest.raises(ReadError, match=r"'Müller' in cp850, 'MÅller' in mac-roman") as caught:
        read(data)
    assert "--encoding cp850" in caught.value.findings[0].said(Asker.COMMAND)
    assert read(data, reading=Reading(encoding="cp850")).frame["A"].item() == "Müller"


def test_an_encoding_that_is_given_and_wrong() -> None:
    with pytest.raises(ReadError, match=r"no text in utf-16-le|no text in ascii"):
        read(GERMAN, reading=Reading(encoding="ascii"))
    with pytest.raises(OptionError, match="utf9"):
        read(TEXT, reading=Reading(encoding="utf9"))
    with pytest.raises(ReadError, match="UTF-16 without a byte-order mark"):
        read("A,B\n1,2\n".encode("utf-16-le"))


@pytest.mark.parametrize("content", ["A,B;C\n1,2;3\n", "weight, kg;height, cm\n70,5;180,2\n", "A|B,C\n1|2,3\n"])
def test_two_separators_that_fit_are_refused(content: str) -> None:
    with pytest.raises(ReadError, match="may be separated by") as caught:
        read(content)
    for remedy in caught.value.findings[0].remedies:
        assert read(content, reading=Reading(separator=remedy.value)).frame.width > 1


def test_spaces_are_no_separator_unless_given() -> None:
    with pytest.raises(ReadError, match="separated by spaces"):
        read("A B\n1 2\n3 4\n")
    assert read("A B\n1 2\n3 4\n", reading=Reading(separator=" ")).frame.rows() == [(1, 2), (3, 4)]


def test_a_title_above_the_header() -> None:
    for text in ("Export of 2021\nA;B\n1;2\n2;3\n", "Export\nA,B\n1,2\n"):
        with pytest.raises(ReadError, match="line 2 has 2"):
            read(text)


def test_one_column() -> None:
    assert read("A\n1,5\n2,5\n").frame["A"].to_list() == [1.5, 2.5]
    assert read("A\n1\n\n3\n").frame["A"].to_list() == [1, None, 3]


def test_an_index_without_a_name_keeps_its_place() -> None:
    assert read(",A\n1,x\n2,y\n").frame.columns == ["", "A"]
    with pytest.raises(ReadError, match="without a name"):
        read(",,A\n1,2,3\n")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('A,B\n1, "x, y"\n2,z\n', [(1, "x, y"), (2, "z")]),
        ('A,B\n5" pipe,2\n6" pipe,3\n', [('5" pipe', 2), ('6" pipe', 3)]),
        ('A,B\nx,"y\r\nz"\n', [("x", "y\nz")]),
        ('"A\nx",B\n1,2\n', [(1, 2)]),
        ('"A\rx",B\n1,2\n', [(1, 2)]),
        ("A,B\no'clock,2\nit's,3\n", [("o'clock", 2), ("it's", 3)]),
    ],
)
def test_quotes(text: str, expected: list[tuple[object, ...]]) -> None:
    assert read(text).frame.rows() == expected


@pytest.mark.parametrize("text", ['A,B\n1,"x\n2,3\n', 'A,B\n1,"x"y\n2,3\n'])
def test_quotes_that_are_not_in_order_are_an_error_of_a_line(text: str) -> None:
    with pytest.raises(ReadError, match="Line 2"):
        read(text)


def test_a_packed_file_that_unpacks_to_too_much(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(content, "MOST_UNPACKED", 1 << 20)
    bomb = gzip.compress(b"A,B\n" + b"0" * (8 << 20))
    assert len(bomb) < 20_000
    with pytest.raises(ReadError, match="unpacks to more than"):
        read(bomb, "site.csv.gz")
    with pytest.raises(ReadError, match="cannot be unpacked"):
        read(bomb[:100], "site.csv.gz")
    with pytest.raises(ReadError, match="cannot be unpacked"):
        read(b"A,B\n1,2\n", "site.csv.gz")


@pytest.mark.parametrize(
    ("late", "dtype"),
    [("x", pl.String), ("1.5", pl.Float64), ("1,234,567", pl.Int64), ("007", pl.String), ("k.A.", pl.Int64), (" 7 ", pl.Int64)],
)
def test_a_value_that_decides_may_come_late(tmp_path: Path, late: str, dtype: pl.DataType) -> None:
    """The hint that the first rows give is none that the result depends on."""
    values = [str(i % 900 + 1) for i in range(3000)] + [late]
    path = tmp_path / "site.csv"
    path.write_text("A;B\n" + "".join(f"{value};z\n" for value in values))
    found = load(path, "muenster")
    whole = gathering.type_column(pl.Series("A", values))
    assert found.frame["A"].dtype == dtype
    assert_frame_equal(found.frame.select("A"), whole.column.to_frame())
    assert found.emptied.get("A", {}) == whole.emptied
    assert found.findings == whole.findings


@pytest.mark.parametrize(
    ("text", "doubted"),
    [
        ("61.5,m,1\n70.1,f,2\n", True),
        ("0.1;0.2\n1;2\n", True),
        ("1.5e2\n3\n4\n", True),
        ("2019,2020,2021\n1,2,3\n", False),
        ("0,1,2\n5,6,7\n", False),
        ("age,2\n5,6\n", False),
        ("m,f\na,b\n", False),
    ],
)
def test_a_first_line_that_is_a_row_is_said(text: str, doubted: bool) -> None:
    found = [finding for finding in read(text.encode()).findings if finding.code == "no-header"]
    assert [finding.grade for finding in found] == ([Grade.DOUBTFUL] if doubted else [])

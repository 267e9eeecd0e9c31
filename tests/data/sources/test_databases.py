"""DuckDB and SQLite: which table, which query, which types; and that nothing is written, whatever is asked."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import duckdb
import polars as pl
import pyarrow as pa
import pytest

from consilience.data.errors import ReadError
from consilience.data.sources import Reading, load, load_bytes, packages
from consilience.errors import MissingPackageError


@pytest.fixture(params=["sqlite", "duckdb"])
def two_tables(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    """Both kinds of files, with the same ending."""
    path = tmp_path / "ward.db"
    connection = sqlite3.connect(path) if request.param == "sqlite" else duckdb.connect(str(path))
    for command in (
        "CREATE TABLE stays (days INTEGER, ward VARCHAR)",
        "INSERT INTO stays VALUES (3, 'A'), (NULL, 'B')",
        "CREATE TABLE notes (x INTEGER)",
    ):
        connection.execute(command)
    connection.commit()
    connection.close()
    return path


def test_a_table_or_a_query_is_read(two_tables: Path) -> None:
    assert load(two_tables, "here", Reading(table="stays")).frame.rows() == [(3, "A"), (None, "B")]
    assert load(two_tables, "here", Reading(query="WITH s AS (SELECT days + 1 AS more FROM stays) SELECT * FROM s;")).frame.rows() == [
        (4,),
        (None,),
    ]


def test_what_is_not_clear_is_asked_with_the_tables_names(two_tables: Path) -> None:
    with pytest.raises(ReadError, match=r"must be said .* It has: 'notes', 'stays'"):
        load(two_tables, "here")
    with pytest.raises(ReadError, match=r"has no table 'stay'. It has: 'notes', 'stays'"):
        load(two_tables, "here", Reading(table="stay"))
    with pytest.raises(ReadError, match="either a table or a query"):
        load(two_tables, "here", Reading(table="stays", query="SELECT 1"))
    with pytest.raises(ReadError, match=r"cannot be read with .*dayz"):
        load(two_tables, "here", Reading(query="SELECT dayz FROM stays"))


@pytest.mark.parametrize(
    "query",
    [
        "DELETE FROM stays",
        "/* SELECT */ DROP TABLE stays",
        "SELECT 1; DELETE FROM stays",
        "ATTACH '{other}' AS o",
        "COPY stays TO '{other}'",
        "WITH s AS (SELECT 1 AS x) INSERT INTO stays SELECT x, 'C' FROM s",
    ],
)
def test_a_query_that_writes_is_refused_and_writes_nothing(two_tables: Path, query: str) -> None:
    before, other = two_tables.read_bytes(), two_tables.with_name("other")
    with pytest.raises(ReadError):
        load(two_tables, "here", Reading(query=query.format(other=other)))
    assert two_tables.read_bytes() == before
    assert [path.name for path in two_tables.parent.iterdir()] == [two_tables.name]


def test_duckdb_reads_no_other_file(tmp_path: Path) -> None:
    path, other = tmp_path / "ward.duckdb", tmp_path / "other.csv"
    other.write_text("x\n1\n", encoding="utf-8")
    duckdb.connect(str(path)).close()
    with pytest.raises(ReadError, match="may only read"):
        load(path, "here", Reading(query=f"SELECT * FROM read_csv('{other}')"))


def test_types_of_duckdb_are_those_of_variables() -> None:
    relation = duckdb.connect().sql(
        "SELECT 2.5::DECIMAL(4, 2) AS d, sum(3)::HUGEINT AS h, 'b'::ENUM ('b', 'a') AS e, DATE '2020-01-02' AS t,"
        " true AS y, [1] AS l, 1::UTINYINT AS u"
    )
    found = load(relation, "here")
    assert found.frame.schema == {
        "d": pl.Float64, "h": pl.Int64, "e": pl.Enum(["b", "a"]), "t": pl.Date, "y": pl.Boolean, "l": pl.String, "u": pl.Int64,
    }  # fmt: skip
    assert (found.levels, [finding.columns for finding in found.findings]) == ({"e": ("b", "a")}, [("l",)])
    with pytest.raises(ReadError, match=r"'i' .* is an interval"):
        load(duckdb.connect().sql("SELECT INTERVAL 1 DAY AS i"), "here")


def test_columns_of_sqlite_are_typed_by_their_values(tmp_path: Path) -> None:
    path = tmp_path / "ward.sqlite"
    connection = sqlite3.connect(path)
    connection.execute("CREATE TABLE t (i, f, mixed, text TEXT, born DATE, seen TIMESTAMP)")
    connection.execute("INSERT INTO t VALUES (1, 1, 2.5, '7', '1961-05-04', '2020-01-02 03:04:05'), (NULL, 0.5, 'n/a', '8', NULL, NULL)")
    connection.commit()
    connection.close()
    for found in (load(path, "here"), load_bytes(path.read_bytes(), "ward.sqlite", "here")):
        assert [dtype.base_type() for dtype in found.frame.dtypes] == [pl.Int64, pl.Float64, pl.Float64, pl.Int64, pl.Date, pl.Datetime]
        assert found.emptied == {"mixed": {"n/a": 1}}


@pytest.mark.parametrize(
    "content", [b"", b"nonsense" * 100, b"SQLite format 3\x00" + bytes(10) + b"nonsense" * 50, bytes(8) + b"DUCK" + bytes(5000)]
)
def test_a_broken_file_is_an_error_in_words(content: bytes, tmp_path: Path) -> None:
    path = tmp_path / "ward.db"
    path.write_bytes(content)
    with pytest.raises(ReadError):
        load(path, "here", Reading(table="t"))


def test_ordered_categories_of_arrow_are_ordered_and_two_names_are_refused() -> None:
    stages = pa.DictionaryArray.from_arrays(pa.array([1, 0, None]), pa.array(["low", "high"]), ordered=True)
    found = load(pa.table({"stage": stages, "x": pa.array([1, 2, None], pa.int8())}), "here")
    assert (found.ordered, found.levels) == ({"stage"}, {"stage": ("low", "high")})
    assert found.frame.to_dict(as_series=False) == {"stage": ["high", "low", None], "x": [1, 2, None]}
    with pytest.raises(ReadError, match="two columns named 'x'"):
        load(pa.Table.from_arrays([pa.array([1]), pa.array([2])], names=["x", "x"]), "here")


def test_parts_of_a_folder_that_differ_are_named(tmp_path: Path) -> None:
    with pytest.raises(ReadError, match=r"holds none but: nothing"):
        load(tmp_path, "here")
    pl.DataFrame({"x": [1]}).write_parquet(tmp_path / "a.parquet")
    (tmp_path / "_SUCCESS").touch()
    assert load(tmp_path, "here").frame.rows() == [(1,)]
    pl.DataFrame({"x": ["1"]}).write_parquet(tmp_path / "b.parquet")
    with pytest.raises(ReadError, match=r"'a.parquet' and 'b.parquet' differ in 'x'"):
        load(tmp_path, "here")
    (tmp_path / "b.parquet").write_bytes(b"PAR1 no more")
    with pytest.raises(ReadError, match=r"'b.parquet' .* cannot be read as a Parquet table"):
        load(tmp_path, "here")


def test_folders_named_by_a_key_are_a_column(tmp_path: Path) -> None:
    for year in (2020, 2021):
        (tmp_path / f"year={year}").mkdir()
        pl.DataFrame({"x": [1.5]}).write_parquet(tmp_path / f"year={year}" / "part.parquet")
    assert sorted(load(tmp_path, "here").frame.select("x", "year").rows()) == [(1.5, 2020), (1.5, 2021)]


@pytest.mark.parametrize(("name", "extra"), [("site.xlsx", "files"), ("site.sav", "files"), ("ward.duckdb", "databases")])
def test_a_package_that_is_not_there_is_named_with_its_extra(name: str, extra: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def absent(module: str) -> None:
        raise ImportError(module)

    monkeypatch.setattr(packages.importlib, "import_module", absent)
    with pytest.raises(MissingPackageError, match=rf"pip install 'consilience\[{extra}\]'"):
        load_bytes(bytes(8) + b"DUCK" + bytes(8), name, "here")

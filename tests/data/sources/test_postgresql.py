"""A real PostgreSQL server: what is read, what is refused, and that nothing is written and no password is said."""

from __future__ import annotations

import datetime as dt
import socket
from pathlib import Path

import polars as pl
import pytest

from consilience.data.errors import ReadError
from consilience.data.sources import Reading, load
from tests.data.sources.postgres import PASSWORD, Postgres
from tests.data.sources.proxy import cut_after

OMOP = Path(__file__).parents[3] / "examples" / "omop.sql"
pytestmark = pytest.mark.slow


@pytest.fixture(autouse=True)
def _password(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PGPASSWORD", PASSWORD)


def ask(address: str, query: str) -> pl.DataFrame:
    return load(address, "here", Reading(query=query)).frame


def refusal(address: str, query: str) -> str:
    with pytest.raises(ReadError) as caught:
        ask(address, query)
    assert PASSWORD not in str(caught.value)
    assert PASSWORD not in repr(caught.value)
    assert caught.value.__cause__ is None  # nothing hangs below that a log would print
    return str(caught.value)


def test_types_are_those_of_variables(postgres: Postgres) -> None:
    frame = ask(
        postgres.address(),
        "SELECT * FROM (VALUES (1::int2, 2.5::numeric, 'a'::text, true, date '2020-01-02', timestamp '2020-01-02 03:04:05', 7::numeric),"
        " (NULL, NULL, NULL, NULL, NULL, NULL, NULL)) AS t(i, n, t, b, d, s, w)",
    )
    assert frame.schema == {
        "i": pl.Int64, "n": pl.Float64, "t": pl.String, "b": pl.Boolean, "d": pl.Date, "s": pl.Datetime("us"), "w": pl.Int64,
    }  # fmt: skip
    assert frame.row(0) == (1, 2.5, "a", True, dt.date(2020, 1, 2), dt.datetime(2020, 1, 2, 3, 4, 5), 7)
    assert frame.row(1) == (None,) * 7


def test_arrays_and_json_are_refused_by_name_and_leave_the_others(postgres: Postgres) -> None:
    found = load(postgres.address(), "here", Reading(query="SELECT 1.5 AS x, ARRAY[1, 2] AS codes, '{}'::jsonb AS more"))
    assert [(finding.grade.value, finding.columns) for finding in found.findings] == [("refused", ("codes",)), ("refused", ("more",))]
    assert found.frame["x"].to_list() == [1.5]


def test_a_table_is_read_by_its_name_with_its_schema(postgres: Postgres) -> None:
    postgres.run('CREATE SCHEMA IF NOT EXISTS "Ward"; DROP TABLE IF EXISTS "Ward".stays; CREATE TABLE "Ward".stays AS SELECT 3 AS days')
    assert load(postgres.address(), "here", Reading(table="Ward.stays")).frame.rows() == [(3,)]


@pytest.mark.parametrize(
    "query",
    [
        "CREATE TABLE written (x int)",
        "WITH gone AS (DELETE FROM kept RETURNING x) SELECT * FROM gone",
        "SELECT 1; DELETE FROM kept",
        "COPY (SELECT 1) TO '/tmp/never_written'",
        "SELECT nextval('counted')",
        "COMMIT",
    ],
)
def test_a_query_that_writes_is_refused_and_writes_nothing(postgres: Postgres, query: str) -> None:
    postgres.run("DROP TABLE IF EXISTS kept; CREATE TABLE kept AS SELECT 1 AS x; DROP SEQUENCE IF EXISTS counted; CREATE SEQUENCE counted")
    said = refusal(postgres.address(), query)
    assert "Nothing was" in said
    assert postgres.run("SELECT count(*) FROM kept") == "1"
    assert postgres.run("SELECT is_called FROM counted") == "f"
    assert postgres.run("SELECT count(*) FROM pg_tables WHERE tablename = 'written'") == "0"
    assert not Path("/tmp/never_written").exists()


def test_a_wrong_password_and_none_are_said_with_the_way_out(postgres: Postgres, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PGPASSWORD", PASSWORD + "x")
    assert "does not accept user and password" in refusal(postgres.address(), "SELECT 1")
    monkeypatch.delenv("PGPASSWORD")
    monkeypatch.setenv("PGPASSFILE", "/dev/null")
    assert "Set PGPASSWORD in the environment" in refusal(postgres.address(), "SELECT 1")


def test_a_pass_file_is_enough(postgres: Postgres, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv("PGPASSWORD")
    file = tmp_path / "pass"
    file.write_text(f"127.0.0.1:{postgres.port}:*:owner:{PASSWORD}\n", encoding="utf-8")
    file.chmod(0o600)
    monkeypatch.setenv("PGPASSFILE", str(file))
    assert ask(postgres.address(), "SELECT 1 AS x").item() == 1


@pytest.mark.parametrize("secret", [f"owner:{PASSWORD}@127.0.0.1/db", f"owner@127.0.0.1/db?password={PASSWORD}"])
def test_a_password_in_the_address_is_refused_and_not_repeated(secret: str) -> None:
    assert "may hold no password" in refusal(f"postgresql://{secret}", "SELECT 1")


def test_what_cannot_be_reached_is_said(postgres: Postgres) -> None:
    with socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))
        assert "cannot be reached" in refusal(f"postgresql://owner@127.0.0.1:{closed.getsockname()[1]}/postgres", "SELECT 1")
    assert "does not exist" in refusal(postgres.address(database="nowhere"), "SELECT 1")


def test_a_mistake_in_the_query_is_said_in_the_databases_words(postgres: Postgres) -> None:
    assert 'column "agee" does not exist' in refusal(postgres.address(), "SELECT agee FROM (SELECT 1 AS age) AS t")
    assert "division by zero" in refusal(postgres.address(), "SELECT 1 / (1 - x) AS y FROM generate_series(1, 2) AS x")


def test_a_query_that_takes_too_long_is_ended_by_the_database(postgres: Postgres) -> None:
    address = postgres.address(options="?options=-c%20statement_timeout%3D50")
    assert "took longer than the database allows" in refusal(address, "SELECT 1 AS x, pg_sleep(20)::text AS y")


def test_a_connection_lost_in_the_middle_gives_no_half_table(postgres: Postgres) -> None:
    """The database ends the connection at the fifty-thousandth row, when some megabytes have arrived."""
    ended = "SELECT x, repeat('a', 100) AS y, CASE WHEN x = 50000 THEN pg_terminate_backend(pg_backend_pid()) END AS z"
    said = refusal(postgres.address(), f"{ended} FROM generate_series(1, 100000) AS x")
    assert "was ended by the database; nothing of it is used" in said


@pytest.mark.parametrize("how", ["end", "reset"])
@pytest.mark.parametrize("answer", [200_000, 5_000_000])
def test_a_line_that_is_cut_in_the_middle_of_an_answer_gives_no_half_table(postgres: Postgres, answer: int, how: str) -> None:
    """Between program and database, as a firewall or a train does it: the database itself goes on."""
    query = "SELECT x, repeat('a', 100) AS y FROM generate_series(1, 100000) AS x"
    with cut_after(answer, postgres.port, how) as port:
        said = refusal(f"postgresql://owner@127.0.0.1:{port}/postgres?sslmode=disable", query)
    assert "was lost while rows were read; nothing of it is used. Try again." in said
    assert ask(postgres.address(), query).height == 100_000


def test_the_example_for_omop_gives_one_row_a_person(postgres: Postgres) -> None:
    postgres.run(
        """
        DROP SCHEMA IF EXISTS cdm CASCADE; CREATE SCHEMA cdm; SET search_path TO cdm;
        CREATE TABLE person (person_id bigint, gender_concept_id int, year_of_birth int);
        CREATE TABLE measurement (measurement_id bigint, person_id bigint, measurement_concept_id int, measurement_date date,
                                  value_as_number numeric, unit_concept_id int);
        CREATE TABLE condition_occurrence (person_id bigint, condition_concept_id int);
        CREATE TABLE concept_ancestor (ancestor_concept_id int, descendant_concept_id int);
        INSERT INTO person VALUES (1, 8507, 1950), (2, 8532, 1964), (3, 0, 2000);
        INSERT INTO measurement VALUES (1, 1, 3027114, '2020-01-01', 240, 8840), (2, 1, 3027114, '2021-01-01', 233.5, 8840),
            (3, 2, 3027114, '2021-01-01', 6.0, 8753), (4, 2, 3004249, '2021-01-01', 120, 8876);
        INSERT INTO condition_occurrence VALUES (2, 4193704), (2, 4193704), (3, 1);
        INSERT INTO concept_ancestor VALUES (201826, 4193704), (201826, 201826), (1, 1);
        """
    )
    address = postgres.address(options="?options=-c%20search_path%3Dcdm")
    frame = load(address, "here", Reading(query=str(OMOP))).frame
    assert frame.columns == ["age", "sex", "cholesterol", "systolic", "diabetes"]
    assert frame.rows() == [(74, "male", 233.5, None, False), (60, "female", None, 120, True), (24, None, None, None, False)]

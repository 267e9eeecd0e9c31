"""Every kind of source at the site's app, how it was read, and the plan: over HTTP within this process, without scripts."""

from __future__ import annotations

import gzip
import io
import sqlite3
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from starlette.testclient import TestClient

from consilience.data.harmonise import Plan
from consilience.service.config import AgentConfig
from consilience.web.desk import SiteDesk
from consilience.web.desk import origin as origins
from consilience.web.site_app import Launch, create_site_app
from tests.web.apps import Fields, words_of

ORIGIN = "http://127.0.0.1:8098"
FRAME = pl.DataFrame({"age": [61.5, 70.25, 55.0] * 20, "stage": ["I", "II", "III"] * 20})
HOSTILE = "<script>alert(1)</script>"


class Owner:
    """The owner's browser, and the desk behind the pages."""

    def __init__(self, folder: Path, client: TestClient, desk: SiteDesk) -> None:
        self.folder, self.client, self.desk = folder, client, desk

    def send(self, page: str, action: str, /, **changes: Any) -> Any:
        """Send the first form of a page that leads to ``action``."""
        fields = next(fields for address, fields in Fields(self.client.get(page).text).forms if address == action)
        return self.client.post(action, data={**fields, **changes})

    def choose(self, name: str, **how: str) -> str:
        return words_of(self.send("/data", "/data", file=name, **how).text)

    def upload(self, name: str, content: bytes, page: str = "/data", field: str = "upload", **how: str) -> str:
        action = f"{page}/upload"
        fields = next(fields for address, fields in Fields(self.client.get(page).text).forms if address == action)
        return words_of(self.client.post(action, data={**fields, **how}, files={field: (name, content)}).text)

    @property
    def frame(self) -> pl.DataFrame:
        assert self.desk.table is not None
        return self.desk.table.frame


@pytest.fixture
def owner(tmp_path: Path) -> Iterator[Owner]:
    desk, launch = SiteDesk(tmp_path, AgentConfig(home=str(tmp_path / "home"))), Launch()
    with TestClient(create_site_app(desk, port=8098, launch=launch), base_url=ORIGIN, headers={"Origin": ORIGIN}) as client:
        assert client.get(f"/launch?token={launch.token()}").status_code == 200
        yield Owner(tmp_path, client, desk)


def written(folder: Path, suffix: str) -> Path:
    path = folder / f"table{suffix}"
    if suffix in (".csv", ".tsv", ".csv.gz"):
        text = FRAME.write_csv(separator="\t" if suffix == ".tsv" else ";").replace(".", "," if suffix == ".csv" else ".").encode()
        path.write_bytes(gzip.compress(text) if suffix == ".csv.gz" else text)
    elif suffix == ".parquet":
        FRAME.write_parquet(path)
    elif suffix == ".xlsx":
        pytest.importorskip("xlsxwriter")
        FRAME.write_excel(path)
    elif suffix == ".sqlite":
        with sqlite3.connect(path) as database:
            database.execute("CREATE TABLE t (age REAL, stage TEXT)")
            database.executemany("INSERT INTO t VALUES (?, ?)", FRAME.rows())
        database.close()
    elif suffix == ".duckdb":
        with pytest.importorskip("duckdb").connect(str(path)) as database:
            database.execute("CREATE TABLE t (age DOUBLE, stage VARCHAR)")
            database.executemany("INSERT INTO t VALUES (?, ?)", FRAME.rows())
    else:
        package = pytest.importorskip("pyreadstat")
        write = {".sav": package.write_sav, ".dta": package.write_dta, ".xpt": package.write_xport}[suffix]
        write(FRAME.to_pandas(), str(path))
    return path


@pytest.mark.parametrize("suffix", [".csv", ".tsv", ".csv.gz", ".parquet", ".xlsx", ".sqlite", ".duckdb", ".sav", ".dta", ".xpt"])
def test_every_kind_of_file_is_read_from_the_folder_and_from_memory(owner: Owner, suffix: str) -> None:
    path = written(owner.folder, suffix)
    assert "60 rows, 2 columns" in owner.choose(path.name)
    assert owner.frame["age"].cast(pl.Float64).to_list() == FRAME["age"].to_list()
    content = path.read_bytes()
    path.unlink()
    said = owner.upload(path.name, content)
    if suffix == ".duckdb":
        assert "is read from a folder of this computer" in said
    else:
        assert "60 rows, 2 columns" in said
        assert owner.frame["stage"].cast(pl.String).to_list() == FRAME["stage"].to_list()
        assert owner.desk.table is not None
        assert owner.desk.table.origin.copied
    assert not [file for file in owner.folder.rglob("*") if file.is_file() and "home" not in file.parts], "nothing was written"


def test_a_database_file_with_several_tables_asks_which(owner: Owner) -> None:
    path = written(owner.folder, ".sqlite")
    with sqlite3.connect(path) as database:
        database.execute("CREATE TABLE u (x INTEGER)")
    database.close()
    assert "It has: &#39;t&#39;, &#39;u&#39;" in owner.choose(path.name)
    assert "60 rows, 2 columns" in owner.choose(path.name, table="t")
    assert "20 rows, 1 column" in words_of(owner.send("/reading", "/reading", table="", query="SELECT age FROM t WHERE age > 70").text)
    assert "Nothing was run" in words_of(owner.send("/reading", "/reading", query="DROP TABLE t").text)
    assert owner.frame.shape == (20, 1), "what was there stays"


def test_a_file_is_read_again_as_its_owner_says_and_the_plan_is_kept(owner: Owner) -> None:
    rows = "".join(f"{1 + i % 7},{100 + i};{i % 3}\n" for i in range(40))
    (owner.folder / "t.csv").write_text(f"cells;stage\n{rows}")
    assert "refused" in owner.choose("t.csv")
    owner.send("/columns/1", "/columns/1", rename="grade")
    assert "decimal mark &#39;,&#39; in &#39;cells&#39;" in words_of(owner.send("/reading", "/reading", decimal="comma").text)
    assert owner.frame["cells"][1] == 2.101
    assert owner.desk.table is not None
    assert owner.desk.table.used() == ["cells", "grade"]
    owner.send("/reading", "/reading", thousands="comma", decimal="")
    assert owner.frame["cells"][1] == 2101


def test_a_large_upload_is_not_kept_beside_its_table(owner: Owner, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(origins, "MOST_KEPT", 100)
    assert "60 rows" in owner.upload("t.csv", FRAME.write_csv().encode())
    assert "too large to be kept" in words_of(owner.client.get("/reading").text)
    assert "60 rows" in owner.upload("t.csv", FRAME.write_csv(separator="|").encode(), separator="bar")


def test_a_password_in_an_address_is_refused_and_not_shown_again(owner: Owner) -> None:
    for address in ("postgresql://u:hunter2@h/x", "postgresql://u@h/x?password=hunter2"):
        answer = owner.send("/data", "/data/database", address=address, table="t")
        assert "may hold no password" in words_of(answer.text)
        assert "hunter2" not in answer.text
    assert "begins with postgresql" in words_of(owner.send("/data", "/data/database", address="/etc/passwd", table="t").text)
    away = owner.send("/data", "/data/database", address="postgresql://u@127.0.0.1:1/x", query="SELECT 1")
    assert "cannot be reached" in words_of(away.text)
    assert 'value="postgresql://u@127.0.0.1:1/x"' in away.text, "what can be shown is still there"


def test_the_plan_goes_out_and_comes_back_as_a_file(owner: Owner) -> None:
    owner.upload("t.csv", FRAME.write_csv().encode())
    owner.send("/columns/0", "/columns/0", unit="years", unit_to="days", low="20000")
    answer = owner.send("/harmonise", "/harmonise/derive", name=HOSTILE, expression="age / 365.25")
    assert HOSTILE not in answer.text
    text = owner.client.get("/harmonise/site.toml")
    assert text.headers["content-disposition"] == 'attachment; filename="site.toml"'
    assert owner.desk.table is not None
    before, digest = owner.desk.table.repaired(), owner.desk.table.plan.digest
    assert "Nothing: the table is used as it was read" in words_of(owner.send("/harmonise", "/harmonise", reset="1").text)
    owner.upload("site.toml", text.content, "/harmonise", "plan")
    assert owner.desk.table.plan.digest == digest == Plan.parse(text.text).digest
    assert owner.desk.table.repaired().equals(before)
    for wrong, words in (
        (b"columns.agee.drop = true", "which the table does not have"),
        (b"[columns", "cannot be read as a site"),
        (b"\xff", "no text in UTF-8"),
    ):
        assert words in owner.upload("site.toml", wrong, "/harmonise", "plan")
        assert owner.desk.table.plan.digest == digest


def test_names_words_and_levels_are_text_on_the_new_pages(owner: Owner) -> None:
    rows = [{"n": i, HOSTILE: f"{i} {HOSTILE}" if i else "k.A.", "word": HOSTILE if i % 2 else "x"} for i in range(40)]
    file = io.BytesIO()
    pl.DataFrame(rows).write_csv(file)
    owner.upload(f"{HOSTILE}.csv", file.getvalue())
    owner.send("/columns/2", "/columns/2", rename=f"{HOSTILE} 2", missing=HOSTILE)
    for path in ("/", "/data", "/reading", "/columns", "/columns/1", "/columns/2", "/harmonise", "/check"):
        answer = owner.client.get(path)
        assert answer.status_code == 200, path
        assert "<script>alert" not in answer.text, path
    wrong = owner.send("/columns/0", "/columns/0", unit=HOSTILE, unit_to=HOSTILE + "x")
    assert "<script>alert" not in wrong.text
    assert "There is a problem" in wrong.text

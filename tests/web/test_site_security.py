"""Nobody but the browser that was launched gets anything from the site's app, and what it is sent is bounded."""

from __future__ import annotations

import io
import re
from collections.abc import Iterator
from pathlib import Path

import polars as pl
import pytest
from starlette.testclient import TestClient

from consilience.service.config import AgentConfig
from consilience.web.desk import SiteDesk
from consilience.web.desk import origin as tables
from consilience.web.pages.site import data
from consilience.web.security import POLICY
from consilience.web.site_app import Launch, create_site_app
from tests.web.apps import words_of

PORT = 8099
ORIGIN = f"http://127.0.0.1:{PORT}"
HOSTILE = "<script>alert(1)</script>"
PATHS: tuple[str, ...] = (
    "/",
    "/data",
    "/columns",
    "/columns/0",
    "/join",
    "/fit",
    "/leaving",
    "/leaving/events",
    "/leaving/document",
    "/consent",
)
PATHS += (
    "/reading",
    "/harmonise",
    "/harmonise/site.toml",
    "/check",
    "/consent/given",
    "/run",
    "/run/events",
    "/run/ledger.jsonl",
    "/result",
    "/nothing",
)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "a.csv").write_text(f"age,{HOSTILE}\n61,{HOSTILE}\n62,x\n", encoding="utf-8")
    (tmp_path / f"{HOSTILE.replace('/', '')}.csv").write_text("a\n1\n", encoding="utf-8")
    return tmp_path


@pytest.fixture
def launch() -> Launch:
    return Launch()


@pytest.fixture
def stranger(folder: Path, launch: Launch) -> Iterator[TestClient]:
    desk = SiteDesk(folder, AgentConfig(home=str(folder / "home")))
    app = create_site_app(desk, port=PORT, launch=launch)
    with TestClient(app, base_url=ORIGIN, headers={"Origin": ORIGIN}, raise_server_exceptions=False) as found:
        yield found


@pytest.fixture
def owner(stranger: TestClient, launch: Launch) -> TestClient:
    answer = stranger.get(f"/launch?token={launch.token()}")
    assert answer.status_code == 200
    return stranger


def token_of(client: TestClient, path: str = "/join") -> str:
    found = re.search(r'name="csrf" value="([0-9a-f]{64})"', client.get(path).text)
    assert found
    return found[1]


@pytest.mark.parametrize("path", PATHS)
def test_without_the_cookie_there_is_nothing(stranger: TestClient, path: str) -> None:
    answer = stranger.get(path)
    assert answer.status_code == 403
    assert "locked" in answer.text
    assert answer.headers["content-security-policy"] == POLICY
    assert stranger.get(path, headers={"cookie": f"consilience-{PORT}=x"}).status_code == 403


@pytest.mark.parametrize("path", ["/", "/run/events", "/static/style.css"])
@pytest.mark.parametrize(
    "headers",
    [
        {"host": "evil.example"},
        {"host": f"evil.example:{PORT}"},
        {"host": f"localhost:{PORT}"},
        {"origin": "https://evil.example"},
        {"origin": "null"},
        {"origin": "http://127.0.0.1:8098"},
        {"sec-fetch-site": "cross-site", "sec-fetch-mode": "navigate", "sec-fetch-dest": "document"},
    ],
)
def test_with_the_cookie_other_hosts_and_origins_get_nothing(owner: TestClient, path: str, headers: dict[str, str]) -> None:
    answer = owner.get(path, headers=headers)
    assert answer.status_code == 403
    assert "consilience" not in answer.text


def test_a_launch_token_works_once(stranger: TestClient, launch: Launch) -> None:
    token = launch.token()
    assert stranger.get("/launch?token=").status_code == 403
    assert stranger.get(f"/launch?token={token}x").status_code == 403
    answer = stranger.get(f"/launch?token={token}")
    cookie = answer.headers["set-cookie"]
    assert cookie.startswith(f"consilience-{PORT}=")
    assert "HttpOnly" in cookie
    assert "SameSite=strict" in cookie
    assert token not in cookie
    stranger.cookies.clear()
    assert stranger.get(f"/launch?token={token}").status_code == 403
    first, second = launch.token(), launch.token()
    assert stranger.get(f"/launch?token={first}").status_code == 403, "a newer one takes its place"
    assert stranger.get(f"/launch?token={second}").status_code == 200


def test_a_launch_may_come_from_a_file_of_the_owner_and_no_page_else_may(stranger: TestClient, launch: Launch) -> None:
    followed = {"sec-fetch-site": "cross-site", "sec-fetch-mode": "navigate", "sec-fetch-dest": "document"}
    del stranger.headers["origin"]
    assert stranger.get(f"/launch?token={launch.token()}", headers=followed).status_code == 200
    assert stranger.get("/", headers=followed).status_code == 403


@pytest.mark.parametrize(
    "path",
    [
        *("/data", "/data/forget", "/data/database", "/reading", "/columns", "/columns/0", "/columns/0/remedy", "/harmonise"),
        *("/harmonise/derive", "/join", "/join/study", "/fit", "/leaving", "/consent", "/run", "/run/leave", "/run/withdraw"),
    ],
)
def test_forms_without_their_token_do_nothing(owner: TestClient, path: str) -> None:
    owner.post("/data", data={"csrf": token_of(owner), "file": "a.csv"})
    for sent in ({}, {"csrf": ""}, {"csrf": "0" * 64}):
        assert owner.post(path, data={**sent, "file": "a.csv"}).status_code == 403
    assert "a.csv" in owner.get("/data").text
    assert owner.request("DELETE", "/data").status_code == 405


@pytest.mark.parametrize("path", ["/data/upload", "/harmonise/upload", "/join/file"])
def test_files_without_their_token_are_not_read(owner: TestClient, path: str) -> None:
    assert owner.post(path, files={"upload": ("b.csv", b"x\n1\n")}).status_code == 403
    assert "b.csv" not in owner.get("/data").text


def upload(owner: TestClient, name: str, content: bytes) -> str:
    answer = owner.post("/data/upload", data={"csrf": token_of(owner)}, files={"upload": (name, content)})
    assert answer.status_code == 200
    return words_of(answer.text)


def parquet(frame: pl.DataFrame) -> bytes:
    file = io.BytesIO()
    frame.write_parquet(file)
    return file.getvalue()


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("table.exe", b"MZ", "must end in one of .csv"),
        ("table", b"a\n1\n", "must end in one of .csv"),
        ("table.csv", b"", "is empty"),
        ("table.csv", b"\xff\xfe\x00", "no text in utf-16"),
        ("table.csv", b"a,b;c\n1,2;3\n", "commas or semicolons"),
        ("table.csv", bytes(range(256)), "bytes of zero"),
        ("table.parquet", b"PAR1", "not a whole Parquet file"),
        ("table.parquet", b"a,b\n1,2\n", "not a whole Parquet file"),
        ("table.parquet", parquet(pl.DataFrame({"a": [1, 2]}))[:-20] + b"PAR1", "not a whole Parquet file"),
        ("", b"", "Choose a file first"),
    ],
)
def test_what_is_no_table_is_said_to_be_none(owner: TestClient, name: str, content: bytes, words: str) -> None:
    assert words in upload(owner, name, content)
    assert "There is a problem" in upload(owner, name, content)
    assert owner.get("/columns", follow_redirects=False).headers["location"] == "/data"


def test_a_file_that_is_too_large_is_not_kept(owner: TestClient, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(data, "MOST_BYTES", 1000)
    assert "larger than 1,000 bytes" in upload(owner, "t.csv", b"a\n" + b"1\n" * 1000)
    assert "Check the columns" in upload(owner, "t.csv", b"a\n" + b"1\n" * 400)


def test_a_parquet_file_that_unpacks_to_too_much_is_not_unpacked(owner: TestClient, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    bomb = parquet(pl.DataFrame({"a": pl.zeros(5_000_000, eager=True, dtype=pl.Int8)}))
    assert len(bomb) < 1_000_000
    monkeypatch.setattr(tables, "MOST_CELLS", 1_000_000)
    assert "unpacks to 5,000,000 rows" in upload(owner, "bomb.parquet", bomb)
    (folder / "bomb.parquet").write_bytes(bomb)
    answer = owner.post("/data", data={"csrf": token_of(owner), "file": "bomb.parquet"})
    assert "unpacks to 5,000,000 rows" in words_of(answer.text)


@pytest.mark.parametrize("name", ["../a.csv", "/etc/passwd", "home/identity.pem", ".hidden.csv", ""])
def test_only_files_of_the_folder_can_be_chosen(owner: TestClient, name: str) -> None:
    answer = owner.post("/data", data={"csrf": token_of(owner), "file": name})
    assert "Choose one of the files" in words_of(answer.text)


def test_names_are_text(owner: TestClient) -> None:
    """Of files, columns, levels and invitations."""
    pages = [owner.get("/data").text, owner.post("/data", data={"csrf": token_of(owner), "file": "a.csv"}).text]
    pages += [owner.get("/columns/1").text, owner.get(f"/{HOSTILE}").text, owner.get(f"/?x={HOSTILE}").text]
    pages.append(owner.post("/join", data={"csrf": token_of(owner), "invitation": HOSTILE}).text)
    found = owner.post("/data/upload", data={"csrf": token_of(owner)}, files={"upload": (f"{HOSTILE}.exe", b"")}).text
    pages.append(found)
    assert all("<script>" not in page for page in pages)
    assert sum("alert(1)" in page for page in pages) >= 4


def test_a_long_level_that_was_left_alone_stays_whole(owner: TestClient) -> None:
    long = "x" * 300
    upload(owner, "t.csv", f"a,b\n{long},1\ny,2\n".encode())
    sent = {"csrf": token_of(owner), "kind": "", "spelling-0": long, "place-0": "1", "spelling-1": "y", "place-1": "2"}
    assert owner.post("/columns/0", data=sent).status_code == 200
    assert long in owner.get("/columns/0").text
    assert "changed by you" not in words_of(owner.get("/columns").text)


def test_nothing_is_framed_cached_or_guessed(owner: TestClient) -> None:
    headers = owner.get("/").headers
    assert headers["x-frame-options"] == "DENY"
    assert headers["cache-control"] == "no-store"
    assert headers["x-content-type-options"] == "nosniff"
    assert "server" not in headers

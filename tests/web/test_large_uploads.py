"""Files that are meant to hurt, sent to a real process: two gigabytes, and a Parquet file that unpacks to far more than it is."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import httpx
import polars as pl
import pytest

from tests.web.process import App
from tests.web.visitor import Visitor, at_app

pytestmark = pytest.mark.slow

GIGABYTE = 1 << 30


@pytest.fixture(scope="module")
def app(tmp_path_factory: pytest.TempPathFactory) -> Iterator[App]:
    place = tmp_path_factory.mktemp("uploads")
    (place / "data").mkdir()
    made = App("large", place / "data", place)
    try:
        yield made.start(loading=True)
    finally:
        made.kill()


@pytest.fixture(scope="module")
def visitor(app: App) -> Iterator[Visitor]:
    found = at_app(app.address)
    yield found
    found.client.close()


def memory(app: App, what: str) -> int:
    """Bytes: ``VmRSS`` now, ``VmHWM`` at its highest."""
    assert app.process is not None
    lines = Path(f"/proc/{app.process.pid}/status").read_text().splitlines()
    return 1024 * next(int(line.split()[1]) for line in lines if line.startswith(what))


def send(visitor: Visitor, pieces: int, piece: bytes, *, told: bool) -> httpx.Response:
    """A form with a file that is made while it is sent; with ``told``, its length stands in front, as browsers have it."""
    head = (
        f'--edge\r\nContent-Disposition: form-data; name="csrf"\r\n\r\n{visitor.csrf("/data")}\r\n'
        f'--edge\r\nContent-Disposition: form-data; name="upload"; filename="large.csv"\r\n\r\n'
    ).encode()
    end = b"\r\n--edge--\r\n"

    def body() -> Iterator[bytes]:
        yield head
        for _ in range(pieces):
            yield piece
        yield end

    headers = {"Origin": visitor.origin, "Content-Type": "multipart/form-data; boundary=edge"}
    if told:
        headers["Content-Length"] = str(len(head) + pieces * len(piece) + len(end))
    return visitor.client.post("/data/upload", content=body(), headers=headers, timeout=300.0)


@pytest.mark.parametrize("told", [True, False])
def test_two_gigabytes_are_refused_and_not_kept(app: App, visitor: Visitor, told: bool) -> None:
    before, highest = memory(app, "VmRSS"), memory(app, "VmHWM")
    piece = b"1,2,3\n" * 174_762
    reply = send(visitor, 2 * GIGABYTE // len(piece) + 1, piece, told=told)
    assert "larger than" in reply.text
    # who says how much it is keeps the process as it was; else no more is kept than a small part of what a browser may send
    assert memory(app, "VmHWM") - highest < (0.1 if told else 0.25) * GIGABYTE
    assert memory(app, "VmRSS") - before < 0.1 * GIGABYTE
    assert sum(file.stat().st_size for file in app.temporary.rglob("*") if file.is_file()) == 0
    assert visitor.get("/data").status_code == 200


def test_a_parquet_file_that_unpacks_to_far_more_than_it_is_is_refused(app: App, visitor: Visitor, tmp_path: Path) -> None:
    rows = 6_000_000
    column = pl.zeros(rows, dtype=pl.Int8, eager=True)
    pl.DataFrame({f"c{i}": column for i in range(40)}).write_parquet(tmp_path / "bomb.parquet", compression="zstd", statistics=False)
    content = (tmp_path / "bomb.parquet").read_bytes()
    assert len(content) < 1 << 20
    before = memory(app, "VmHWM")
    reply = visitor.upload("/data/upload", "/data", "bomb.parquet", content, field="upload")
    assert f"unpacks to {rows:,} rows" in reply.text
    assert memory(app, "VmHWM") - before < 0.2 * GIGABYTE
    assert visitor.get("/data").status_code == 200

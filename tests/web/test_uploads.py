"""Files come into memory, whole or not at all, whatever the pieces are in which they arrive."""

from __future__ import annotations

import asyncio
import tracemalloc
from collections.abc import AsyncIterator

import pytest
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route
from starlette.testclient import TestClient

from consilience.web import uploads
from consilience.web.forms import Form, read_form
from consilience.web.uploads import TooLargeError, _Body, _read, read_upload

MOST = 100_000


def check(form: Form) -> None:
    if form.text("csrf") != "right":
        raise HTTPException(403)


async def upload(request: Request) -> Response:
    try:
        found = await read_upload(request, most=MOST, check=check)
    except TooLargeError:
        return JSONResponse({}, 413)
    return JSONResponse({"name": found.name, "content": found.content.hex()})


async def form(request: Request) -> Response:
    return JSONResponse((await read_form(request, most=1000)).text("a"))


client = TestClient(Starlette(routes=[Route("/", upload, methods=["POST"]), Route("/form", form, methods=["POST"])]))


@pytest.mark.parametrize("content", [b"", b"a,b\r\n1,2\r\n", b"\r\n--", bytes(range(256)) * 300])
def test_a_file_arrives_as_it_was(content: bytes) -> None:
    answer = client.post("/", data={"csrf": "right"}, files={"file": ("C:\\data\\täble.csv", content)})
    assert answer.json() == {"name": "täble.csv", "content": content.hex()}


def test_a_file_that_is_too_large_is_not_kept() -> None:
    assert client.post("/", data={"csrf": "right"}, files={"file": ("x", bytes(MOST + 1))}).status_code == 413
    assert client.post("/", data={"csrf": "right"}, files={"file": ("x", bytes(MOST))}).status_code == 200


def test_of_a_file_whose_length_is_not_said_less_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(uploads, "MOST_UNTOLD", 1000)
    head = b'--b\r\nContent-Disposition: form-data; name="csrf"\r\n\r\nright\r\n--b\r\n'
    head += b'Content-Disposition: form-data; name="file"; filename="f"\r\n\r\n'
    kind = {"content-type": "multipart/form-data; boundary=b"}
    for length, status in ((1000, 200), (1001, 413)):
        whole = head + bytes(length) + b"\r\n--b--\r\n"
        assert client.post("/", content=iter([whole]), headers=kind).status_code == status
        assert client.post("/", content=whole, headers=kind).status_code == 200


def test_the_token_is_checked_before_the_file_is_read() -> None:
    assert client.post("/", data={"csrf": "wrong"}, files={"file": ("x", bytes(10 * MOST))}).status_code == 403


@pytest.mark.parametrize(
    ("kind", "body", "status"),
    [
        ("text/plain", b"x", 415),
        ("multipart/form-data", b"x", 415),
        ("multipart/form-data; boundary=b", b"", 400),
        ("multipart/form-data; boundary=b", b"--b\r\nContent-Disposition: form-data\r\n\r\nx\r\n--b--\r\n", 400),
        ("multipart/form-data; boundary=b", b'--b\r\nContent-Disposition: form-data; name="csrf"\r\n\r\nright', 400),
        ("multipart/form-data; boundary=b", b"--b\r\n" + bytes(50_000), 400),
    ],
)
def test_what_is_no_form_with_a_file(kind: str, body: bytes, status: int) -> None:
    assert client.post("/", content=body, headers={"content-type": kind}).status_code == status


@pytest.mark.parametrize("piece", [1, 2, 3, 7, 64])
@pytest.mark.anyio
async def test_pieces_of_any_length_make_the_same_file(piece: int) -> None:
    content = b"\r\n--bound\r\n-" * 5 + b"\r\n--boundary"
    head = b'--boundaryX\r\nContent-Disposition: form-data; name="csrf"\r\n\r\nright\r\n--boundaryX\r\n'
    head += b'Content-Disposition: form-data; name="file"; filename="f"\r\n\r\n'
    whole = head + content + b"\r\n--boundaryX--\r\n"

    async def stream():  # type: ignore[no-untyped-def]
        for at in range(0, len(whole), piece):
            yield whole[at : at + piece]

    assert (await _read(_Body(stream(), b"boundaryX"), MOST, check)).content == content


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


def test_forms_are_bounded_and_are_forms() -> None:
    kind = {"content-type": "application/x-www-form-urlencoded"}
    assert client.post("/form", content=b"a=+x%20&a=y", headers=kind).json() == "x"
    assert client.post("/form", content=b"a=" + b"x" * 1000, headers=kind).status_code == 413
    assert client.post("/form", content=b"a=%ff", headers=kind).status_code == 400
    assert client.post("/form", content=b"{}", headers={"content-type": "application/json"}).status_code == 415


def test_a_file_is_held_once_and_named_in_no_message() -> None:
    piece, pieces = b"1,2,3\n" * 10_000, 200

    async def stream() -> AsyncIterator[bytes]:
        yield b'--edge\r\nContent-Disposition: form-data; name="file"; filename="a.csv"\r\n\r\n'
        for _ in range(pieces):
            yield piece
        yield b"\r\n--edge--\r\n"

    tracemalloc.start()
    found = asyncio.run(_read(_Body(stream(), b"edge"), 1 << 30, lambda _: None))
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert found.content == pieces * piece
    assert peak < 1.3 * len(found.content)
    assert "1,2,3" not in repr(found)

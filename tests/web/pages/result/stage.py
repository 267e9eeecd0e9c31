"""Results on a stage of their own: a small app that mounts the pages of a result, over real discoveries."""

from __future__ import annotations

import json
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache

import uvicorn
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.testclient import TestClient

from consilience.iod import Discovery
from consilience.iod.report import render
from consilience.service.result_files import plain
from consilience.web.pages.result import ResultSource, result_routes
from consilience.web.pages.result.prepared import Desk
from consilience.web.rendering import Link, Shell, static_mount
from consilience.web.security import Shield

__all__ = ["client_of", "documents", "served", "stage"]


@cache
def documents(found: Discovery) -> dict[str, bytes]:
    flat = found.tests.with_columns(found.tests["given"].list.join(","))
    body = json.dumps(plain(found.to_dict()), ensure_ascii=False, allow_nan=False)
    return {"result.json": body.encode(), "tests.csv": flat.write_csv().encode(), "report.html": render(found).encode()}


def stage(found: dict[str, Discovery], *, seconds: float = 10.0) -> Starlette:
    """An app with the pages of several results, each under the name of its study."""
    files = {name: documents(one) for name, one in found.items()}

    async def load(request: Request) -> ResultSource:
        study = request.path_params["study"]
        if study not in files:
            raise HTTPException(404, "There is no such study.")
        shell = Shell("Consilience", links=(Link("Studies", "/studies", current=True),), who="anna")
        return ResultSource(study, f"Study {study}", study, files[study].get, shell, (Link("Studies", "/studies"),))

    app = Starlette(routes=[*result_routes("/studies/{study}/result", load, desk=Desk(seconds)), static_mount()])
    app.add_middleware(Shield, links=True)
    return app


@cache
def client_of(found: Discovery) -> TestClient:
    """Somebody at the pages of one result, study ``s``: the same app for all who ask for it, which lays it out once."""
    return TestClient(stage({"s": found}))


@contextmanager
def served(app: Starlette) -> Iterator[str]:
    """The app on a port of this machine, for a browser; its address."""
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        one.listen(64)
        server = uvicorn.Server(uvicorn.Config(app, log_level="warning", lifespan="off", ws="none"))
        thread = threading.Thread(target=server.run, kwargs={"sockets": [one]}, daemon=True)
        thread.start()
        end = time.monotonic() + 20.0
        while not server.started and time.monotonic() < end:
            time.sleep(0.01)
        try:
            yield f"http://127.0.0.1:{one.getsockname()[1]}"
        finally:
            server.should_exit = True
            thread.join(10.0)

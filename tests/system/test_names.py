"""Names of patients do not leave a site: real agents, a real socket, and every byte that the server is given."""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Iterator, MutableMapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import msgspec
import numpy as np
import polars as pl
import pytest
import uvicorn

from consilience.service.agent import Home
from consilience.service.agent import join as enter
from consilience.service.invitation import read_invitation
from tests.service.helpers import PASSWORD, make_app
from tests.system.processes import Agent, until, write_frames

pytestmark = pytest.mark.slow
FIRST, LAST = ("Hildegard", "Ottokar", "Xaver", "Friederike", "Balthasar"), ("Zwirnmann", "Quastenberg", "Oelschlaeger", "Przybylski")


class Recorded:
    """An app, and what it was given over the network: bodies of requests and messages on sockets, as they are after TLS and masks."""

    def __init__(self, app: Any) -> None:
        self.app, self.given = app, bytearray()

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        async def heard() -> MutableMapping[str, Any]:
            message: MutableMapping[str, Any] = await receive()
            self.given += message.get("body") or message.get("bytes") or (message.get("text") or "").encode()
            return message

        self.given += str(scope.get("path", "")).encode() + bytes(scope.get("query_string", b""))
        await self.app(scope, heard, send)


@contextmanager
def served(folder: Path) -> Iterator[tuple[str, Recorded]]:
    app = Recorded(make_app(folder, time.time))
    listener = socket.create_server(("127.0.0.1", 0))
    server = uvicorn.Server(uvicorn.Config(app, ws="websockets-sansio", log_config=None, timeout_graceful_shutdown=1))
    thread = threading.Thread(target=server.run, args=([listener],), daemon=True)
    thread.start()
    try:
        until(lambda: server.started)
        yield f"http://127.0.0.1:{listener.getsockname()[1]}", app
    finally:
        server.should_exit = True
        thread.join(10)


def patients(seed: int, rows: int = 120) -> pl.DataFrame:
    """With names, a number of the hospital's, a day of birth, and remarks: none of them a variable."""
    rng = np.random.default_rng(seed)
    names = [f"{rng.choice(FIRST)} {rng.choice(LAST)} {seed}{i}" for i in range(rows)]
    age = rng.normal(60, 10, rows).round(1)
    return pl.DataFrame(
        {
            "patient_name": names,
            "case_no": [f"K{seed}-{7919 * i % 100003:06d}" for i in range(rows)],
            "born": [f"19{30 + i % 60}-0{1 + i % 9}-1{i % 9}" for i in range(rows)],
            "remark": [f"seen with {name}, who asked for {i} transcripts" for i, name in enumerate(names)],
            "age": age,
            "marker": (age / 10 + rng.normal(size=rows)).round(2),
            "sex": rng.choice(["female", "male"], rows),
        }
    )


def test_what_a_server_is_given_by_real_agents_has_no_name_in_it(folder: Path, agents: list[Agent]) -> None:
    """In a study that has declared nothing, so that sites send the names and levels of their variables."""
    frames = {name: patients(seed) for seed, name in enumerate(("one", "two"), start=1)}
    paths = write_frames(folder / "tables", frames)
    (folder / "server").mkdir()
    with served(folder / "server") as (url, app), httpx.Client(base_url=f"{url}/api/v1", timeout=30.0, trust_env=False) as http:
        http.headers["Authorization"] = f"Bearer {http.post('/login', json={'name': 'ada', 'password': PASSWORD}).json()['token']}"
        study = f"/studies/{http.post('/studies', json={'name': 'trial'}).raise_for_status().json()['id']}"
        for name, path in paths.items():
            text = http.post(f"{study}/invitations", json={"site": name}).raise_for_status().json()["invitation"]
            home = folder / f"home-{name}"
            enter(Home(home), msgspec.structs.replace(read_invitation(text), url=url), insecure=True)
            agent = Agent(home, path, name)
            agents.append(agent.start("--insecure", *agent.told()))
        http.post(f"{study}/open").raise_for_status()
        until(lambda: all(site["declared"] for site in http.get(study).json()["sites"]))
        http.post(f"{study}/start").raise_for_status()
        until(lambda: http.get(study).json()["state"] in ("finished", "failed"), 90)
        assert http.get(study).json()["state"] == "finished"
        given, kept = bytes(app.given), (folder / "server" / "studies.sqlite").read_bytes()
    for said in (b"marker", b"female", b"sex"):  # variables and their levels are sent, and would be seen
        assert said in given
    assert len(given) > 5_000
    for secret in (*FIRST, *LAST, "K1-", "K2-", "seen with", "-01-1", "transcripts"):
        assert secret.encode() not in given, secret
        assert secret.encode() not in kept, secret

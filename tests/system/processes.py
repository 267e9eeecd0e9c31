"""Real processes on loopback: a study server over TLS, site agents, and what is needed to kill and watch them."""

from __future__ import annotations

import atexit
import json
import os
import secrets
import shutil
import socket
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing, contextmanager, suppress
from functools import lru_cache
from pathlib import Path
from typing import IO, Any

import httpx
import polars as pl

from consilience.data.schema import unite
from consilience.federation import Client
from consilience.service.agent import Home
from consilience.service.agent import join as enter
from consilience.service.agent.telling import declared, digest_of_words, question
from consilience.service.invitation import read_invitation
from consilience.service.tls import client_context
from tests.system.forking import Forked, fork

Process = subprocess.Popen[bytes] | Forked
OWNER, PASSWORD = "ada", "correct horse battery staple"
PROGRAM = [sys.executable, "-m", "consilience"]
ANYTHING = """min_rows = 1
min_cell = 1
site_effects = ["profiled", "coordinate", "joint", "none", "random"]
on_dropout = ["stop", "restart"]
allow_queried = true
allow_subtraction = true
"""
"""A policy that agrees to whatever these tests try; what a policy refuses is tested where it is meant."""
FAST = {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1", "POLARS_MAX_THREADS": "1", "PYTHONUNBUFFERED": "1"}


def environment(**more: str) -> dict[str, str]:
    """Of a process that a test starts: no proxy, no setting of ours, and compiled modules are kept, since many processes load the same."""
    clean = {k: v for k, v in os.environ.items() if not k.lower().endswith("_proxy") and not k.startswith("CONSILIENCE_")}
    clean.pop("PYTHONDONTWRITEBYTECODE", None)
    return {**clean, **FAST, **more}


@lru_cache(maxsize=1)
def _made() -> Path:
    """A server's folder as ``consilience server init`` makes it: once for all servers of these tests, each of which has a copy."""
    folder = Path(tempfile.mkdtemp())
    atexit.register(shutil.rmtree, folder)
    home = folder / "server"
    subprocess.run(
        [*PROGRAM, "server", "init", "--home", str(home), "--owner", OWNER, "--self-signed", "127.0.0.1", "--password-stdin"],
        input=PASSWORD + "\n",
        text=True,
        env=environment(),
        check=True,
        capture_output=True,
    )
    return home


def begin(words: list[str], log: IO[bytes], *, loading: bool = False, **more: str) -> Process:
    """``consilience`` with these words, in a process of its own, forked from one that has loaded it; with ``loading``, from nothing."""
    values = environment(**more)
    if loading:
        return subprocess.Popen([*PROGRAM, *words], env=values, stdout=log, stderr=log, stdin=subprocess.DEVNULL)
    return fork(words, values, log.fileno(), log.fileno())


def free_port() -> int:
    """A port that nobody listens on, and that the system gives to nobody either: a program may take a minute until it listens, and ports
    from 32768 on go to whoever connects somewhere meanwhile.
    """
    while True:
        port = secrets.randbelow(12_000) + 20_000
        with socket.socket() as s, suppress(OSError):
            s.bind(("127.0.0.1", port))
            return port


def until(true: Callable[[], Any], seconds: float = 60.0, pause: float = 0.02) -> Any:
    """The first true value of a function that is asked again and again."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        found = true()
        if found:
            return found
        time.sleep(pause)
    raise AssertionError(f"nothing happened in {seconds} seconds")


class Server:
    """A study server in a process of its own. :meth:`kill` is kill -9; :meth:`start` starts it again on the same folder and port.

    ``loading`` starts the program from nothing, as its owner does; otherwise it is forked from a process that has loaded it.
    """

    def __init__(self, folder: Path, *, loading: bool = False, **settings: str) -> None:
        self.loading = loading
        self.home, self.port = folder / "server", free_port()
        self.url = f"https://127.0.0.1:{self.port}"
        self.settings = {f"CONSILIENCE_SERVER_{k.upper()}": v for k, v in settings.items()}
        shutil.copytree(_made(), self.home)
        self.ca = str(self.home / "tls.crt")
        self.log = folder / "server.log"
        self.process: Process | None = None
        self._client: httpx.Client | None = None
        self.token = ""

    def start(self) -> Server:
        with self.log.open("ab") as log:
            words = ["server", "run", "--home", str(self.home), "--port", str(self.port)]
            self.process = begin(words, log, loading=self.loading, **self.settings)
        until(self._is_up, 120.0)
        if not self.token:
            self.token = self.http.post("/api/v1/login", json={"name": OWNER, "password": PASSWORD}).raise_for_status().json()["token"]
        return self

    def _is_up(self) -> bool:
        assert self.process is not None
        assert self.process.poll() is None, self.log.read_text()[-2000:]
        try:
            return self.http.get("/health").status_code == 200
        except httpx.HTTPError:
            return False

    @property
    def http(self) -> httpx.Client:
        if self._client is None:
            context = client_context(Path(self.ca).read_text())
            self._client = httpx.Client(base_url=self.url, verify=context, timeout=30.0, trust_env=False)
        return self._client

    def call(self, method: str, path: str, body: Any = None, token: str | None = None) -> httpx.Response:
        headers = {"Authorization": f"Bearer {self.token if token is None else token}"}
        return self.http.request(method, f"/api/v1{path}", headers=headers, **({} if body is None else {"json": body}))

    def do(self, method: str, path: str, body: Any = None) -> Any:
        reply = self.call(method, path, body)
        assert reply.status_code < 400, reply.text
        return reply.json() if reply.content else None

    def kill(self) -> None:
        """kill -9."""
        if self.process is not None:
            self.process.kill()
            self.process.wait()
        if self._client is not None:
            self._client.close()
            self._client = None

    def stop(self) -> None:
        if self.process is not None and self.process.poll() is None:
            self.process.terminate()
            try:
                self.process.wait(10)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()
        self.kill()

    def sql(self, statement: str, *values: Any) -> list[Any]:
        """Ask the database itself, also while the server runs or is dead."""
        with closing(sqlite3.connect(f"file:{self.home / 'studies.sqlite'}?mode=ro", uri=True, timeout=10)) as db:
            return db.execute(statement, values).fetchall()

    def state(self, study: str) -> tuple[str, str]:
        return self.sql("select state, message from studies where id = ?", study)[0]

    def events(self, study: str) -> list[tuple[float, str, dict[str, Any]]]:
        rows = self.sql("select time, kind, body from events where study = ? order by number", study)
        return [(t, kind, json.loads(body)) for t, kind, body in rows]

    def wait(self, study: str, seconds: float = 60.0) -> str:
        """Until a study is over; its state."""
        over = ("finished", "failed", "cancelled")
        try:
            return str(until(lambda: next((s for s, _ in [self.state(study)] if s in over), None), seconds, 0.05))
        except AssertionError:
            raise AssertionError(f"{self.state(study)} {self.events(study)[-8:]}\n{self.log.read_text()[-3000:]}") from None

    def result(self, study: str) -> dict[str, Any]:
        found: dict[str, Any] = self.do("GET", f"/studies/{study}/documents/result.json")
        return found


class Agent:
    """A site agent in a process of its own."""

    def __init__(self, home: Path, data: Path, name: str) -> None:
        self.home, self.data, self.name = home, data, name
        self.process: Process | None = None
        self.log = home.parent / f"{name}.log"

    def join(self, invitation: str, **more: str) -> Agent:
        done = subprocess.run(
            [*PROGRAM, "client", "join", "-", "--home", str(self.home)],
            input=invitation,
            text=True,
            env=environment(**more),
            capture_output=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        return self

    def start(self, *options: str, yes: bool = True, loading: bool = False, **more: str) -> Agent:
        policy = self.home.parent / f"{self.name}-policy.toml"
        if not policy.exists():
            policy.write_text(ANYTHING)
        agreed = ["--policy", str(policy), "--yes"] if yes else []
        words = ["client", "run", "--home", str(self.home), "--data", str(self.data), *agreed, *options]
        with self.log.open("ab") as log:
            more = {"CONSILIENCE_CLIENT_BACKOFF_SECONDS": "0.5", **more}
            self.process = begin(words, log, loading=loading, **more)
        return self

    def told(self) -> tuple[str, str]:
        """The option with which it sends the names and levels of its table, and no others, in the open."""
        home = Home(self.home)
        words = question(declared(Client(self.name, self.data, identity=home.identity())), home.study().joined.url)
        return "--send-names-and-levels", digest_of_words(words)

    def kill(self) -> None:
        if self.process is not None:
            self.process.kill()
            self.process.wait()

    def wait(self, seconds: float = 30.0) -> int:
        assert self.process is not None
        return self.process.wait(seconds)


def write_frames(folder: Path, frames: Mapping[str, pl.DataFrame]) -> dict[str, Path]:
    folder.mkdir(parents=True, exist_ok=True)
    paths = {name: folder / f"{name}.parquet" for name in frames}
    for name, frame in frames.items():
        frame.write_parquet(paths[name])
    return paths


def declaration(frames: Mapping[str, pl.DataFrame], **settings: Any) -> dict[str, Any]:
    """A study over these sites, declared in advance."""
    clients = [Client(name, frame) for name, frame in frames.items()]
    schema = unite({c.name: c.declarations for c in clients})
    variables = [{"name": v.name, "kind": v.kind.value, "levels": list(v.levels)} for v in schema.values()]
    datasets = list(dict.fromkeys(tuple(sorted(c.declarations)) for c in clients))
    return {"name": "trial", "variables": variables, "datasets": [list(d) for d in datasets], "settings": settings}


@contextmanager
def running(folder: Path, *, loading: bool = False, **settings: str) -> Iterator[Server]:
    server = Server(folder, loading=loading, **settings)
    try:
        yield server.start()
    finally:
        server.kill()


def enrol(server: Server, folder: Path, frames: Mapping[str, pl.DataFrame], body: dict[str, Any]) -> tuple[str, list[Agent]]:
    """A study, open, with all its sites joined: the agents share the work of joining in this process, so that it costs no start-up."""
    study = server.do("POST", "/studies", body)["id"]
    paths = write_frames(folder, frames)
    agents = []
    for name in frames:
        text = server.do("POST", f"/studies/{study}/invitations", {"site": name})["invitation"]
        home = folder / f"home-{name}"
        shutil.rmtree(home, ignore_errors=True)
        enter(Home(home), read_invitation(text))
        agents.append(Agent(home, paths[name], name))
    server.do("POST", f"/studies/{study}/open")
    return study, agents

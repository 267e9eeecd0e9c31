"""A trial on one machine: a study server and three sites' apps, each a process of its own, as they would run in four places.

Everything lives in one temporary folder, which goes when the trial ends; so do the processes. Without TLS, which loopback alone allows: a
certificate of our own would make every browser warn of it.
"""

from __future__ import annotations

import contextlib
import os
import re
import secrets
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import httpx

from consilience.service.errors import UnreachableError
from consilience.web.trial_tables import TrialTables

__all__ = ["OWNER", "SiteApp", "Trial", "interruptible"]

OWNER = "owner"
PATIENCE = 60.0
"""Seconds until a process must have said where it listens; a busy machine needs ten."""
_ADDRESS = re.compile(r"https?://[^\s\x1b]+")


@dataclass(frozen=True, slots=True)
class SiteApp:
    """One site of a trial: its name, its folder with the table and the invitation, and the address that opens its app, once."""

    name: str
    folder: Path
    address: str


@dataclass
class Trial:
    """A server and a site's app for every table, running while the context lasts.

    Attributes
    ----------
    tables : TrialTables
        What the sites hold.
    server : str
        Address of the study server, once it runs.
    password : str
        Of the account ``owner``.
    sites : list of SiteApp
        The sites' apps, once they run.
    """

    tables: TrialTables
    server: str = ""
    password: str = field(default_factory=lambda: secrets.token_urlsafe(9), repr=False)
    sites: list[SiteApp] = field(default_factory=list)
    _folder: tempfile.TemporaryDirectory[str] | None = None
    _processes: dict[str, subprocess.Popen[str]] = field(default_factory=dict, repr=False)

    def __enter__(self) -> Self:
        self._folder = tempfile.TemporaryDirectory(prefix="consilience-trial-")
        try:
            self._begin(Path(self._folder.name))
        except BaseException:
            self._end()
            raise
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self._end()

    def wait(self) -> str:
        """Until a process ends by itself, which none should: its name. Ctrl-C is how a trial ends."""
        while True:
            for name, process in self._processes.items():
                if process.poll() is not None:
                    return name
            time.sleep(0.2)

    def log(self, name: str) -> str:
        """The last lines that a process wrote."""
        assert self._folder is not None
        path = Path(self._folder.name) / f"{name}.log"
        return path.read_text(encoding="utf-8", errors="replace")[-2000:] if path.exists() else ""

    def _begin(self, place: Path) -> None:
        port = _free_port()
        self.server = f"http://127.0.0.1:{port}"
        home = str(place / "server")
        made = [*_program(), "server", "init", "--home", home, "--owner", OWNER, "--password-stdin"]
        subprocess.run(made, input=self.password + "\n", text=True, check=True, capture_output=True, env=_environment())  # noqa: S603
        self._start("server", [*_program(), "server", "run", "--home", home, "--port", str(port), "--log-level", "warning"], place)
        folders = {}
        for name, frame in self.tables.frames.items():
            folders[name] = place / name
            folders[name].mkdir(mode=0o700)
            frame.write_csv(folders[name] / f"{name}.csv")
            command = [*_program(), "app", str(folders[name]), "--home", str(place / f"{name}-home"), "--no-browser"]
            self._start(name, command, place)
        self._wait_for_server()
        for name, text in self._invitations().items():
            (folders[name] / "invitation.txt").write_text(text + "\n", encoding="utf-8")
        self.sites = [SiteApp(name, folder, self._address(name)) for name, folder in folders.items()]

    def _start(self, name: str, command: list[str], place: Path) -> None:
        # A session of its own: Ctrl-C is for this process, which then ends the others in order. Logs in files: nobody reads a pipe.
        with (place / f"{name}.log").open("w", encoding="utf-8") as log:
            self._processes[name] = subprocess.Popen(  # noqa: S603  our own program
                command,
                stdout=log,
                stderr=subprocess.STDOUT,
                stdin=subprocess.DEVNULL,
                text=True,
                env=_environment(),
                start_new_session=True,
            )

    def _alive(self, name: str) -> None:
        code = self._processes[name].poll()
        if code is not None:
            raise UnreachableError(f"The trial's process {name!r} ended with code {code}: {self.log(name).strip()}")

    def _wait_for_server(self) -> None:
        end = time.monotonic() + PATIENCE
        while time.monotonic() < end:
            self._alive("server")
            with contextlib.suppress(httpx.HTTPError):
                if httpx.get(f"{self.server}/health", trust_env=False).status_code == 200:
                    return
            time.sleep(0.05)
        raise UnreachableError(f"The trial's server did not answer in {PATIENCE:.0f} seconds: {self.log('server').strip()}")

    def _invitations(self) -> dict[str, str]:
        """A study that fits the tables, open, as its owner would make it on the pages; one invitation for each site."""
        with httpx.Client(base_url=f"{self.server}/api/v1", trust_env=False, timeout=30.0) as client:

            def do(path: str, body: Any = None) -> Any:
                reply = client.post(path, json=body).raise_for_status()
                return reply.json() if reply.content else None

            client.headers["Authorization"] = f"Bearer {do('/login', {'name': OWNER, 'password': self.password})['token']}"
            study = do("/studies", self.tables.study.declaration())["id"]
            do(f"/studies/{study}/open")
            return {name: str(do(f"/studies/{study}/invitations", {"site": name})["invitation"]) for name in self.tables.frames}

    def _address(self, name: str) -> str:
        """What an app says on its first lines: where to open it."""
        end = time.monotonic() + PATIENCE
        while time.monotonic() < end:
            found = _ADDRESS.search(self.log(name))
            if found:
                return found[0]
            self._alive(name)
            time.sleep(0.05)
        raise UnreachableError(f"The app of {name!r} did not say in {PATIENCE:.0f} seconds where it listens: {self.log(name).strip()}")

    def _end(self) -> None:
        """Ask all to stop at once, then see to it, the sites first: a server without sites has nothing to wait for."""
        processes = [process for _, process in reversed(self._processes.items())]
        for process in processes:
            if process.poll() is None:
                process.terminate()
        end = time.monotonic() + 10
        for process in processes:
            try:
                process.wait(max(0.1, end - time.monotonic()))
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
        self._processes.clear()
        if self._folder is not None:
            self._folder.cleanup()
            self._folder = None


@contextlib.contextmanager
def interruptible() -> Iterator[None]:
    """A closed terminal and a polite kill end a trial as Ctrl-C does, with nothing left behind."""

    def interrupted(number: int, frame: object) -> None:
        del number, frame
        raise KeyboardInterrupt

    if threading.current_thread() is not threading.main_thread():  # no other thread may say what happens at a signal
        yield
        return
    names = [name for name in ("SIGTERM", "SIGHUP") if hasattr(signal, name)]
    before = {name: signal.signal(getattr(signal, name), interrupted) for name in names}
    try:
        yield
    finally:
        for name, handler in before.items():
            signal.signal(getattr(signal, name), handler)


def _program() -> list[str]:
    return [sys.executable, "-m", "consilience"]


def _environment() -> dict[str, str]:
    """Without the settings of another server or site, which would reach into the trial; one thread each, as four processes share cores."""
    clean = {key: value for key, value in os.environ.items() if not key.startswith("CONSILIENCE_")}
    threads = {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1", "POLARS_MAX_THREADS": "2", "PYTHONUNBUFFERED": "1"}
    return {**clean, **threads, "CONSILIENCE_CLIENT_INSECURE": "true", "CONSILIENCE_CLIENT_BACKOFF_SECONDS": "2"}


def _free_port() -> int:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return int(one.getsockname()[1])

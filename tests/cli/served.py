"""A study server on loopback in this process, for commands that talk to one."""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import uvicorn
from typer.testing import CliRunner, Result

from consilience.cli.app import app
from tests.service.helpers import PASSWORD, make_app


class Desk:
    """Somebody at a terminal: with a server, and with a token once they have logged in."""

    def __init__(self, url: str, name: str) -> None:
        self.env = {"CONSILIENCE_SERVER_PUBLIC_URL": url, "CONSILIENCE_SERVER_TOKEN": ""}
        if name:
            found = self.run("study", "login", name, "--password-stdin", said=PASSWORD)
            assert found.exit_code == 0, found.output
            self.env["CONSILIENCE_SERVER_TOKEN"] = found.stdout.strip()

    def run(self, *words: str, said: str = "") -> Result:
        return CliRunner().invoke(app, ["server", *words], input=f"{said}\n", env=self.env)

    def do(self, *words: str, said: str = "") -> str:
        found = self.run(*words, said=said)
        assert found.exit_code == 0, (found.output, found.exception)
        return found.stdout


@contextmanager
def served(home: Path, **settings: Any) -> Iterator[str]:
    """With the owners ada and bob; its address."""
    home.mkdir(parents=True, exist_ok=True)
    made = make_app(home, clock=time.time, **settings)
    with socket.create_server(("127.0.0.1", 0)) as listener:
        server = uvicorn.Server(uvicorn.Config(made, log_config=None, ws="none", timeout_graceful_shutdown=1))
        thread = threading.Thread(target=server.run, args=([listener],), daemon=True)
        thread.start()
        while not server.started:
            assert thread.is_alive()
            time.sleep(0.01)
        try:
            yield f"http://127.0.0.1:{listener.getsockname()[1]}"
        finally:
            server.should_exit = True
            thread.join(10)

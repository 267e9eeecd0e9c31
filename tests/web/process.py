"""A site's app in a process of its own, as its owner starts it."""

from __future__ import annotations

import re
import subprocess
import time
from pathlib import Path

from tests.system.processes import Process, begin, until

__all__ = ["App"]

_ADDRESS = re.compile(r"https?://[^\s\x1b]+")


class App:
    """``consilience app`` on a folder with files. Its home, its temporary folder and its log lie beside each other, to be searched."""

    def __init__(self, name: str, folder: Path, place: Path) -> None:
        self.name, self.folder = name, folder
        self.home, self.temporary, self.log = place / f"{name}-home", place / f"{name}-tmp", place / f"{name}.log"
        self.temporary.mkdir(parents=True, exist_ok=True)
        self.process: Process | None = None
        self.address = ""
        self.seconds = 0.0

    def start(self, *options: str, loading: bool = False, **more: str) -> App:
        """Start it, and wait until it says where it is. Extra settings are variables of its environment."""
        beginning = time.monotonic()
        self.begin(*options, loading=loading, **more).ready()
        self.seconds = time.monotonic() - beginning
        return self

    def begin(self, *options: str, loading: bool = False, **more: str) -> App:
        """Start it, and do not wait. With ``loading`` it is started from nothing, as its owner does."""
        words = ["app", str(self.folder), "--home", str(self.home), "--port", "0", "--no-browser", *options]
        values = {"CONSILIENCE_CLIENT_BACKOFF_SECONDS": "0.5", "TMPDIR": str(self.temporary), **more}
        with self.log.open("wb") as log:
            self.process = begin(words, log, loading=loading, **values)
        return self

    def ready(self) -> App:
        """Wait for its address, which it prints."""
        self.address = str(until(self._address, 60.0))
        return self

    def _address(self) -> str:
        assert self.process is not None
        text = self.log.read_text(encoding="utf-8", errors="replace")
        assert self.process.poll() is None, text[-2000:]
        found = _ADDRESS.search(text)
        return found[0] if found else ""

    @property
    def origin(self) -> str:
        return "/".join(self.address.split("/")[:3])

    def stop(self) -> int:
        """Ask it to end, as Ctrl-C does; its exit code."""
        assert self.process is not None
        if self.process.poll() is None:
            self.process.terminate()
            try:
                self.process.wait(10)
            except subprocess.TimeoutExpired:
                self.kill()
        return int(self.process.returncode)

    def kill(self) -> None:
        if self.process is not None:
            self.process.kill()
            self.process.wait()

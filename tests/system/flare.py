"""FLARE's real processes on loopback, by the lines of ``docs/nvflare.md``: a server and three sites."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from consilience.federation.transport import JournalEntry
from consilience.flare.job import read_contract
from consilience.flare.journal import FileJournal
from tests.system.processes import environment, free_port, until

PAGE = Path(__file__).parents[2] / "docs" / "nvflare.md"
SITES = ("muenster", "marburg", "mainz")
KITS = Path("poc/stroke/prod_00")
STOPPING = 120.0
"""Seconds in which FLARE's processes should have stopped."""


def block(language: str) -> str:
    found = re.search(rf"^```{language}\n(.*?)^```$", PAGE.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)
    assert found is not None
    return found[1]


def lines() -> list[str]:
    """What is typed, without the comments."""
    return [words for line in block("sh").splitlines() if (words := re.sub(r"(^|\s+)# .*$", "", line))]


@dataclass
class Federation:
    """A folder in which the lines of the page were typed up to where a job is submitted."""

    folder: Path

    @property
    def kits(self) -> Path:
        return self.folder / KITS

    def type(self, *typed: str, seconds: float = 450.0) -> str:
        """Type lines into a shell of their own, which knows what the page sets; what they print. Lines that fail, or do not come to an end,
        are told with what they had printed, and whatever they had started is gone.
        """
        sets = [line for line in lines() if line.startswith(("export ", "KITS="))]
        script = "\n".join(["set -eu", *sets, *(f"{line} <<< y" if "nvflare consent" in line else line for line in typed)])
        path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"  # FLARE starts whatever python3 is
        values = environment(PATH=path, HOME=str(self.folder), PYTHONPATH=str(Path(__file__).parents[2]))
        with subprocess.Popen(
            ["bash", "-c", script],
            cwd=self.folder,
            env=values,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            start_new_session=True,
        ) as shell:
            try:
                told, _ = shell.communicate(timeout=seconds)
            except subprocess.TimeoutExpired:
                os.killpg(shell.pid, signal.SIGKILL)
                told, _ = shell.communicate()
                raise AssertionError(f"no end after {seconds} seconds\n{told}") from None
        assert shell.returncode == 0, told
        return told

    def submit(self, job: str = "job") -> str:
        """The page's line that submits a job; the job's id."""
        said = self.type(next(line for line in lines() if "job submit" in line).replace("-j job", f"-j {job}"))
        found = re.search(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", said)
        assert found is not None, said
        return found[0]

    def fetch(self, job: str) -> Path:
        """Wait for a job, however it ends, and download what it left: the folder with its documents."""
        wait, download = (next(line for line in lines() if f"job {verb}" in line).replace("JOB_ID", job) for verb in ("wait", "download"))
        self.type(f"{wait} --timeout 200 --interval 1 || true", download)
        return self.folder / "result" / job / "workspace" / "consilience"

    def run(self, job: str = "job") -> dict[str, Any]:
        """Submit a job, and how it ended."""
        return self.outcome(self.submit(job))

    def outcome(self, job: str) -> dict[str, Any]:
        found: dict[str, Any] = json.loads((self.fetch(job) / "outcome.json").read_text())
        return found

    def home(self, site: str) -> Path:
        """The folder of the one study that a site has taken part in."""
        (found,) = (self.kits / site / "consilience" / "studies").iterdir()
        return found

    def ledger(self, site: str) -> list[dict[str, Any]]:
        return [json.loads(line) for line in (self.home(site) / "ledger.jsonl").read_text().splitlines()]

    def journal(self, job: str = "job") -> Path:
        """Where the server writes down the sums of a job's contract."""
        contract = read_contract(self.folder / job)
        return self.kits / "server" / "consilience" / "studies" / contract.digest.hex()[:32] / "journal"

    def entries(self) -> Sequence[JournalEntry]:
        """What stands in the journal; read from a copy, since whoever opens one may cut off a torn end."""
        copy = self.folder / "journal.copy"
        copy.write_bytes(self.journal().read_bytes() if self.journal().exists() else b"")
        return tuple(FileJournal(copy).entries())

    def kill(self, kit: str, job: str) -> None:
        """Kill the process of a job at one participant."""
        kill(until(lambda: [pid for pid, words in processes(self.kits / kit) if job in words])[0])

    def end(self) -> None:
        """Stop all processes as the page does; what is still there is killed."""
        stop = next(line for line in lines() if "poc stop" in line)
        try:
            try:
                self.type(stop, seconds=STOPPING)
            except AssertionError:  # FLARE waits for half a minute; on a busy machine that is too little, and it may be asked again
                if processes(self.kits):
                    self.type(stop, seconds=STOPPING)
        finally:
            for pid, _ in processes(self.kits):
                kill(pid)


def kill(pid: int) -> None:
    with suppress(ProcessLookupError):
        os.kill(pid, signal.SIGKILL)


def processes(folder: Path) -> list[tuple[int, str]]:
    """Number and command line of FLARE's processes that were started with this folder, or one in it."""
    found = []
    for place in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            words = (place / "cmdline").read_bytes().decode(errors="replace").replace("\0", " ")
            if re.search(rf"{re.escape(str(folder))}(/| |$)", words):
                found.append((int(place.name), words))
    return found


@contextmanager
def federated(folder: Path) -> Iterator[Federation]:
    """The lines of the page, before the first that submits a job; all processes are gone afterwards. Only the port is another."""
    (folder / "project.yml").write_text(block("yaml").replace("8002", str(free_port())))
    federation, typed = Federation(folder), lines()
    first = next(k for k, line in enumerate(typed) if "job submit" in line)
    try:
        federation.type(*typed[:first])
        yield federation
    finally:
        federation.end()

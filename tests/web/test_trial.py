"""The trial as somebody starts it: it says what to open, all of it answers, and it leaves nothing behind, however it ends."""

from __future__ import annotations

import os
import re
import signal
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx
import polars as pl
import pytest

from tests.data.real_tables import RealStudy
from tests.system.processes import PROGRAM, environment, until

pytestmark = pytest.mark.slow


class Running:
    """``consilience app --trial`` with a temporary folder of its own."""

    def __init__(self, folder: Path, *options: str) -> None:
        self.temporary, self.log = folder / "tmp", folder / "trial.log"
        self.temporary.mkdir()
        with self.log.open("wb") as log:
            command = [*PROGRAM, "app", "--trial", *options]
            values = environment(TMPDIR=str(self.temporary))
            self.process = subprocess.Popen(command, env=values, stdout=log, stderr=log, stdin=subprocess.DEVNULL, start_new_session=True)

    @property
    def said(self) -> str:
        return self.log.read_text(encoding="utf-8")

    def ready(self) -> str:
        def found() -> str:
            assert self.process.poll() is None, self.said
            return self.said if "Ctrl-C ends it" in self.said else ""

        return str(until(found, 90, 0.1))

    def children(self) -> list[int]:
        tasks = Path(f"/proc/{self.process.pid}/task").glob("*/children")
        return [int(pid) for task in tasks for pid in task.read_text().split()]


@contextmanager
def running(folder: Path, *options: str) -> Iterator[Running]:
    made = Running(folder, *options)
    try:
        yield made
    finally:
        if made.process.poll() is None:
            for pid in made.children():
                os.kill(pid, signal.SIGKILL)
            made.process.kill()
            made.process.wait()


def alive(pid: int) -> bool:
    return Path(f"/proc/{pid}").exists()


def get(address: str, **more: object) -> httpx.Response:
    with httpx.Client(trust_env=False, follow_redirects=True, timeout=30.0) as client:
        return client.get(address, **more)  # type: ignore[arg-type]


def test_a_trial_answers_everywhere_and_is_gone_after_ctrl_c(tmp_path: Path) -> None:
    with running(tmp_path) as trial:
        said = trial.ready()
        addresses = re.findall(r"http://127\.0\.0\.1:\d+\S*", said)
        assert len(addresses) == 4
        assert "owner" in said
        assert get(addresses[0] + "/login").status_code == 200
        for address in addresses[1:]:
            assert get(address).status_code == 200
            assert get(address).status_code != 200  # the address opens an app once
        children = trial.children()
        assert len(children) == 4
        for folder in ("muenster", "marburg", "mainz"):
            (invitation,) = trial.temporary.glob(f"*/{folder}/invitation.txt")
            assert invitation.read_text().strip()
        trial.process.send_signal(signal.SIGINT)
        assert trial.process.wait(30) == 0
        assert "nothing is left" in trial.said
        assert not any(alive(pid) for pid in children)
        assert list(trial.temporary.iterdir()) == []


def test_a_trial_with_ones_own_table_ends_when_it_is_told_to(tmp_path: Path) -> None:
    pl.concat(RealStudy("whas500", 8, lacking=0).frames().values()).write_csv(tmp_path / "own.csv")
    with running(tmp_path, "--split", str(tmp_path / "own.csv")) as trial:
        assert "own.csv, dealt out in turn" in trial.ready()
        children = trial.children()
        trial.process.terminate()
        assert trial.process.wait(30) == 0
        assert not any(alive(pid) for pid in children)
        assert list(trial.temporary.iterdir()) == []


def test_a_process_that_dies_ends_the_trial_with_a_word(tmp_path: Path) -> None:
    with running(tmp_path) as trial:
        trial.ready()
        children = trial.children()
        os.kill(children[1], signal.SIGKILL)
        assert trial.process.wait(30) == 1
        assert re.search(r"process '(server|muenster|marburg|mainz)' ended", trial.said)
        assert not any(alive(pid) for pid in children)
        assert list(trial.temporary.iterdir()) == []

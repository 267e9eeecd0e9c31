"""``consilience app``: what it prints, what it shows to others on the machine, and how it ends."""

from __future__ import annotations

import os
import re
import signal
import stat
import subprocess
import sys
from pathlib import Path

import httpx
import pytest

from tests.system.processes import PROGRAM, environment, until
from tests.web.apps import running_app

pytestmark = pytest.mark.slow


def run(*options: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([*PROGRAM, "app", *options], env=environment(), capture_output=True, text=True, check=False, timeout=60)


def test_what_cannot_be_used_is_said(tmp_path: Path) -> None:
    found = run(str(tmp_path / "nothing"))
    assert (found.returncode, "There is no folder" in found.stderr) == (2, True)
    with running_app(tmp_path) as browser:
        taken = run(str(tmp_path), "--port", browser.origin.rpartition(":")[2])
        assert (taken.returncode, "cannot be used" in taken.stderr) == (2, True)


def test_help_is_the_same_of_the_program_and_of_the_application() -> None:
    """The program lets packages wait that the application, imported by a test or by whoever embeds it, loads at once."""
    short = run("--help").stdout
    code = "import sys; from consilience.cli.app import app; app(args=['app', '--help'], prog_name='consilience')"
    long = subprocess.run([sys.executable, "-c", code], env=environment(), capture_output=True, text=True, check=True).stdout
    assert "--no-browser" in short
    assert short.split() == long.split()


def test_the_token_is_not_on_a_command_line(tmp_path: Path) -> None:
    """Others on the machine can read the arguments of a browser; they cannot read a file of its owner."""
    seen = tmp_path / "seen"
    opener = tmp_path / "opener.sh"
    opener.write_text(f'#!/bin/sh\nprintf "%s" "$1" > "{seen}"\n')
    opener.chmod(0o700)
    folder = tmp_path / "tables"
    folder.mkdir()
    command = [*PROGRAM, "app", str(folder)]
    with subprocess.Popen(command, env=environment(BROWSER=f"{opener} %s"), stdout=subprocess.PIPE, text=True) as process:
        try:
            address = until(lambda: seen.exists() and seen.read_text(), 30.0)
        finally:
            process.terminate()
        said = process.stdout.read() if process.stdout else ""
    token = re.search(r"token=([\w-]+)", said)
    assert token
    assert address.startswith("file:///")
    page = Path(address.removeprefix("file://"))
    assert token[1] in page.read_text()
    assert stat.S_IMODE(page.stat().st_mode) == 0o600
    assert token[1] not in address


def test_it_listens_on_this_machine_only_and_ends_without_a_word(tmp_path: Path) -> None:
    command = [*PROGRAM, "app", str(tmp_path), "--no-browser"]
    with subprocess.Popen(command, env=environment(), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        link = next(line.strip() for line in process.stdout if "/launch" in line)
        port = int(link.partition("/launch")[0].rpartition(":")[2])
        listening = Path("/proc/net/tcp").read_text().splitlines() if Path("/proc/net/tcp").exists() else []
        assert {line.split()[1] for line in listening if line.split()[1].endswith(f":{port:04X}") and line.split()[3] == "0A"} <= {
            f"0100007F:{port:04X}"
        }
        with httpx.Client(trust_env=False, base_url=link.partition("/launch")[0], timeout=60) as client:
            assert client.get(link).status_code == 200
            assert client.get("/").status_code == 200
        os.kill(process.pid, signal.SIGINT)
        assert process.wait(20) == 130
        assert "Traceback" not in (process.stderr.read() if process.stderr else "")

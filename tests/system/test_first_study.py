"""The trial of the documentation, as it stands there: a server, an owner and two sites, typed into a shell; then its audit."""

from __future__ import annotations

import json
import os
import re
import shlex
import signal
import subprocess
from contextlib import suppress
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from tests.code_blocks import lines_on
from tests.system.processes import PROGRAM, environment, free_port

pytestmark = pytest.mark.slow
PAGE = Path(__file__).parents[2] / "docs" / "service.md"
SITES = ("muenster", "marburg")
PASSWORD = "correct horse battery"
STUDY = """
name = "trial"
datasets = [["X", "Y", "Z"]]
[variables]
X = "continuous"
Y = "continuous"
Z = "continuous"
"""


def lines() -> list[str]:
    """What is typed, for all sites."""
    chapter = re.search(r"^## A trial in five minutes$.*?^```sh\n(.*?)^```$", PAGE.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)
    assert chapter is not None
    found = list[str]()
    for line in chapter[1].splitlines():
        words = re.sub(r"(^|\s+)# .*$", "", line)
        if words:
            found += [words.replace(SITES[0], site) for site in SITES] if words.startswith("consilience client") else [words]
    return sorted(found, key=lambda words: (place(words), found.index(words)))


def place(words: str) -> int:
    """Sites join and run after the owner's first commands, and before the others."""
    return 2 if "study start" in words or "study export" in words else int(words.startswith("consilience client"))


def audited() -> list[str]:
    """What is typed when the study is over: sites hand over their ledgers, and the owner holds them against the server's records."""
    handed = [f"consilience client ledger --home {site} --json > {site}.jsonl" for site in SITES]
    typed = [line for first in ("audit", "verify") for line in lines_on("docs/records.md", f"consilience server study {first}")]
    known = (("STUDY", "$study"), ("…", "$(sed -n 's/^fingerprint //p' init.log)"))
    return [*handed, *(line.replace(*known[0]).replace(*known[1]) for line in typed)]


def answered(words: str) -> str:
    """A line with what a person answers when it asks, and what keeps running in the background."""
    if "server init" in words:
        return f"{words} <<< $'{PASSWORD}\\n{PASSWORD}' | tee init.log"
    if words == "consilience server run":
        return f"{words} > server.log 2>&1 &\nwait_for_server"
    if "study login" in words:
        return f"{words.removesuffix(')')} <<< '{PASSWORD}')"
    if "client run" in words:
        return f"{words} <<< y > {words.rsplit(maxsplit=1)[-1]}.log 2>&1 &"
    return words


def shell(script: str, folder: Path, settings: dict[str, str]) -> tuple[int, str]:
    """Exit code and output of a script, all of whose processes are gone afterwards: of a function in the background, a shell would kill
    the shell around it, and leave a server behind.
    """
    command = ["bash", "-c", script]
    with subprocess.Popen(
        command, cwd=folder, env=settings, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, start_new_session=True
    ) as process:
        try:
            said, _ = process.communicate(timeout=300)
        finally:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
    return process.returncode, said


def test_the_trial_of_the_documentation_in_twelve_commands(tmp_path: Path) -> None:
    typed = lines()
    assert sum("consilience " in words for words in typed) + sum("consilience client" in words for words in typed) // 2 <= 12, (
        "with three sites"
    )
    rng, port = np.random.default_rng(0), free_port()
    for site in SITES:
        x = rng.standard_normal(200)
        pl.DataFrame({"X": x, "Y": x + rng.standard_normal(200), "Z": rng.standard_normal(200)}).write_csv(tmp_path / f"{site}.csv")
    (tmp_path / "study.toml").write_text(STUDY)
    head = f"""
set -eu
consilience() {{ {shlex.join(PROGRAM)} "$@"; }}
wait_for_server() {{ for _ in $(seq 600); do (: < /dev/tcp/127.0.0.1/{port}) 2> /dev/null && return; sleep 0.1; done; return 1; }}
"""
    script = head + "\n".join([*map(answered, typed), *audited()]).replace("8443", str(port))
    settings = environment(CONSILIENCE_SERVER_PORT=str(port))
    code, said = shell(script, tmp_path, settings)
    assert code == 0, said + "".join(log.read_text() for log in tmp_path.glob("*.log"))
    assert json.loads((tmp_path / "result" / "result.json").read_text())["study"]["sites"] == sorted(SITES)
    assert "waiting" in said
    assert (tmp_path / "study.zip").stat().st_size > 1000
    assert all((tmp_path / f"{site}.jsonl").stat().st_size for site in SITES)
    assert (tmp_path / "muenster.txt").stat().st_mode & 0o077 == 0

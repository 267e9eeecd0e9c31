"""A PostgreSQL server of its own for the tests that ask one: in a temporary folder, on loopback, with passwords."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import polars as pl

from tests.programs import missing

__all__ = ["PASSWORD", "Postgres", "running"]

PASSWORD = "not-the-word-in-any-message"


@dataclass(frozen=True)
class Postgres:
    """A server that runs; ``owner`` may write, and is whom the tests ask as."""

    programs: Path
    port: int

    def address(self, user: str = "owner", database: str = "postgres", options: str = "") -> str:
        return f"postgresql://{user}@127.0.0.1:{self.port}/{database}{options}"

    def run(self, sql: str) -> str:
        """What PostgreSQL's own program answers, which is not what is tried."""
        command = [str(self.programs / "psql"), "-XAtq", "-v", "ON_ERROR_STOP=1", self.address()]
        done = subprocess.run(command, input=sql, env={**os.environ, "PGPASSWORD": PASSWORD}, capture_output=True, text=True, check=True)
        return done.stdout.strip()

    def keep(self, name: str, frame: pl.DataFrame) -> str:
        """A table of hospitals (age, chol, stage, sex) in the database; its name."""
        self.run(
            f"DROP TABLE IF EXISTS {name}; CREATE TABLE {name} (age int, chol float8, stage int, sex text);\n"
            f"COPY {name} FROM STDIN WITH (FORMAT csv);\n{frame.write_csv(include_header=False)}\\.\n"
        )
        return name


def programs() -> Path:
    """Where the server's programs are. Without them the test is left out with a word; where all must run (``CI``), it fails."""
    on_path = shutil.which("initdb")
    debian = sorted(Path("/usr/lib/postgresql").glob("*/bin"), key=lambda path: int(path.parts[-2]), reverse=True)
    for folder in [*debian, *([Path(on_path).resolve().parent] if on_path else [])]:
        if all((folder / program).exists() for program in ("initdb", "pg_ctl", "psql")):
            return folder
    return missing("databases are asked in a PostgreSQL server, and none is installed (Debian's package postgresql)")


def _as_nobody_special() -> list[str]:
    """PostgreSQL does not run as root: before each command, then, what makes it run as Debian's user postgres."""
    return ["setpriv", "--reuid=postgres", "--regid=postgres", "--clear-groups"] if os.geteuid() == 0 else []


@contextmanager
def running(folder: Path) -> Iterator[Postgres]:
    """A server in a folder; it is stopped afterwards."""
    found, prefix = programs(), _as_nobody_special()
    secret = folder / "password"
    secret.write_text(PASSWORD, encoding="utf-8")
    if prefix:
        for path in (folder, secret):
            shutil.chown(path, "postgres")
        for parent in list(folder.parents)[:3]:  # pytest's folders are for their owner alone
            if parent.stat().st_uid == 0 and parent != Path("/tmp"):
                parent.chmod(parent.stat().st_mode | 0o011)
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    data = str(folder / "data")
    first = [
        str(found / "initdb"),
        "-D",
        data,
        "-U",
        "owner",
        "-A",
        "scram-sha-256",
        f"--pwfile={secret}",
        "-E",
        "UTF8",
        "--locale=C",
        "--no-sync",
    ]
    subprocess.run([*prefix, *first], check=True, capture_output=True, cwd=folder)
    settings = f"-p {port} -c listen_addresses=127.0.0.1 -c unix_socket_directories='' -c fsync=off"
    control = [*prefix, str(found / "pg_ctl"), "-D", data, "-w"]
    subprocess.run([*control, "-o", settings, "-l", str(folder / "log"), "start"], check=True, capture_output=True, cwd=folder)
    try:
        yield Postgres(found, port)
    finally:
        _stop(control, folder)


def _stop(control: list[str], folder: Path) -> None:
    """Until it is gone: on a busy machine a minute, which is how long it is waited for, may be too short."""
    for _ in range(3):
        done = subprocess.run([*control, "-m", "immediate", "stop"], check=False, capture_output=True, text=True, cwd=folder)
        if subprocess.run([*control, "status"], check=False, capture_output=True, cwd=folder).returncode != 0:  # there is none that runs
            return
    raise RuntimeError(f"PostgreSQL does not stop: {done.stdout} {done.stderr}")

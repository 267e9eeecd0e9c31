"""Processor time from the start of a process until a command has loaded what it needs, beside ``import numpy``.

    python benchmarks/start_up.py
    python benchmarks/start_up.py --rows start_up.jsonl --against earlier.jsonl

Each is a process of its own, started in turn and several times; the table has the median of its processor seconds (user and system), the
ratio to the median of ``import numpy``, how many modules it had loaded, and which packages of those that take long. Commands end on their
own: servers and agents at the first thing that they look for and do not find, the folder of a server or of a site.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

HEAVY = (
    "clingo",
    "cryptography",
    "fastapi",
    "httpx",
    "matplotlib",
    "numpy",
    "pandas",
    "polars",
    "pydantic",
    "scipy",
    "starlette",
    "uvicorn",
)
"""Packages that take long to load, of which a command should load those that it uses."""
REPEATS = 7
PEER = "import numpy"
IMPORTS = (
    PEER,
    "import consilience",
    "from consilience import PAG",
    "from consilience import Client, Server",
    "from consilience import Client, Server, discover",
    "from consilience import *",
)
COMMANDS = (
    "--help",
    "--version",
    "check --help",
    "discover --help",
    "app --help",
    "server --help",
    "server init --help",
    "server run --home nowhere",
    "server accounts --home nowhere",
    "server study --help",
    "server study list --server https://127.0.0.1:1",
    "client --help",
    "client status --home nowhere",
    "client run --home nowhere --data nothing.csv",
)
REPORT = """
import atexit, json, os, sys
def report():
    found = [name for name, module in sys.modules.items() if type(module).__name__ != "_Later"]
    with open(os.environ["START_UP_REPORT"], "w") as file:
        json.dump(found, file)
atexit.register(report)
"""


def program_of(what: str) -> str:
    """A line of Python, or a command, as a program that reports at its end what it has loaded."""
    if "import " in what:
        return REPORT + what
    return f"{REPORT}sys.argv = ['consilience', *{what.split()!r}]\nfrom consilience.cli import main\nmain()\n"


def started(what: str) -> tuple[float, list[str]]:
    """Start one process; its processor seconds, and the modules that it had loaded when it ended."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("CONSILIENCE_") and name != "PYTHONDONTWRITEBYTECODE"}
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder) / "modules.json"
        kept |= {"START_UP_REPORT": str(report), "OPENBLAS_NUM_THREADS": "1", "CONSILIENCE_SERVER_TOKEN": "none"}
        process = subprocess.Popen(
            [sys.executable, "-c", program_of(what)], cwd=folder, env=kept, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        return used.ru_utime + used.ru_stime, json.loads(report.read_text())


def measured(whats: Sequence[str], repeats: int = REPEATS) -> dict[str, dict[str, Any]]:
    """Median and least processor seconds, modules and heavy packages of each; all take turns, so that a busy moment meets all."""
    modules = {what: started(what)[1] for what in whats}  # once unmeasured: whatever was not compiled is, from here on
    seconds: dict[str, list[float]] = {what: [] for what in whats}
    for _ in range(repeats):
        for what in whats:
            seconds[what].append(started(what)[0])
    return {
        what: {
            "seconds": statistics.median(seconds[what]),
            "least": min(seconds[what]),
            "modules": len(modules[what]),
            "heavy": sorted({name.partition(".")[0] for name in modules[what]} & set(HEAVY)),
        }
        for what in whats
    }


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repeats", type=int, default=REPEATS)
    parser.add_argument("--rows", type=Path, help="write the figures to this file as well, a line of JSON each")
    parser.add_argument("--against", type=Path, help="figures of an earlier version, written by --rows: their ratios stand beside")
    given = parser.parse_args()
    found = measured((*IMPORTS, *COMMANDS), given.repeats)
    before: dict[str, dict[str, Any]] = {}
    if given.against:
        before = {row["what"]: row for row in map(json.loads, given.against.read_text().splitlines())}
    peer = found[PEER]["seconds"]
    print(f"| process | {'before (× numpy) | ' if before else ''}CPU seconds | × numpy | modules | loads |")
    print(f"|---|{'---|' if before else ''}---|---|---|---|")
    for what, row in found.items():
        row["ratio"] = row["seconds"] / peer
        name = what if "import " in what else f"consilience {what}"
        earlier = f"{before[what]['ratio']:.1f} | " if what in before else ""
        loads = ", ".join(row["heavy"]) or "none of them"
        print(f"| `{name}` | {earlier}{row['seconds']:.2f} | {row['ratio']:.1f} | {row['modules']} | {loads} |")
    if given.rows:
        given.rows.write_text("".join(json.dumps({"what": what, **row}) + "\n" for what, row in found.items()))


if __name__ == "__main__":
    main()

"""polars, loaded when it is used: by many threads at once, too."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

import consilience

SOURCE = Path(consilience.__file__).parent
AT_ONCE = """
import threading, time
import polars._dependencies as lazily  # before numpy: as whoever loads polars first has it
import numpy as np
from consilience.frames import pl

at_once = lazily.import_module
def slowly(name):
    time.sleep(0.1)
    return at_once(name)
lazily.import_module = slowly

gate, found = threading.Barrier(8), []
def use():
    gate.wait()
    found.append(pl.Series("a", np.arange(3.0)).sum())
threads = [threading.Thread(target=use) for _ in range(8)]
for thread in threads: thread.start()
for thread in threads: thread.join()
assert found == [3.0] * 8, found
"""


@pytest.mark.slow
def test_threads_that_use_tables_for_the_first_time_at_once_all_have_them() -> None:
    done = subprocess.run([sys.executable, "-c", AT_ONCE], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_nobody_else_loads_polars() -> None:
    found = [
        f"{file.relative_to(SOURCE)}:{node.lineno}"
        for file in sorted(SOURCE.rglob("*.py"))
        if file.name != "frames.py"
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8")))
        if isinstance(node, ast.Import) and any(alias.name == "polars" for alias in node.names)
    ]
    assert found == [], "from consilience.frames import pl"

"""Packages that wait: imported by many, loaded by the first who uses them, once."""

from __future__ import annotations

import subprocess
import sys

import pytest

PROGRAM = """
import sys, threading
from consilience.cli.later import load_later, load_now
load_later(["polars", "json"])
import polars as pl
waiting = sys.modules["polars"]
import consilience.federation, consilience.iod, consilience.web.site_app
assert sys.modules["polars"] is waiting, "something uses polars while it is imported"
found = []
threads = [threading.Thread(target=lambda: found.append(pl.DataFrame)) for _ in range(8)]
[thread.start() for thread in threads]
[thread.join() for thread in threads]
import polars
assert polars is not waiting
assert len({id(one) for one in found}) == 1 and found[0] is polars.DataFrame
load_now()
assert "String" in vars(pl) and pl.String is polars.String
try:
    pl.nothing
except AttributeError:
    print("good")
"""


@pytest.mark.slow
def test_a_package_waits_until_it_is_used_and_is_loaded_once() -> None:
    done = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True, timeout=120, check=False)
    assert (done.stdout, done.returncode) == ("good\n", 0), done.stderr

"""One of three sites keeps variables apart, by its own configuration: the study runs, no sum is over its few rows, the result says so."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from tests.system.processes import Agent, Server
from tests.system.test_consent import client, drafted
from tests.system.test_equality import connected

pytestmark = pytest.mark.slow
OWN = {"CONSILIENCE_CLIENT_CELLS": "refuse"}


def frames() -> dict[str, pl.DataFrame]:
    """Two large sites, and a small one in which one row has both D and E."""
    rng, found = np.random.default_rng(11), {}
    for name, n in (("site0", 600), ("site1", 500)):
        d = rng.integers(2, size=n)
        found[name] = pl.DataFrame({"D": d, "E": np.where(rng.random(n) < 0.7, d, 1 - d), "X": rng.normal(size=n) + d})
    d = np.repeat([0, 1], [60, 60])
    e = np.concatenate([np.tile([0, 1], 30), [1], np.zeros(59, dtype=int)])
    found["site2"] = pl.DataFrame({"D": d, "E": e, "X": rng.normal(size=120)})
    return found


def test_a_site_keeps_variables_apart_by_itself(server: Server, folder: Path, agents: list[Agent]) -> None:
    study, (one, two, three) = drafted(server, folder, frames(), {})
    told = " ".join(client(three, "--dry-run").stdout.split())
    assert "of two or more variables together may be worked out too, also if they are fewer than 5" in told
    dry = client(three, "--dry-run", **OWN)
    assert dry.returncode == 0, dry.stderr
    assert "this site stays out of all sums over D and E together" in " ".join(dry.stdout.split())
    (digest,) = re.findall(r"digest, as it stands now: ([0-9a-f]{64})", dry.stdout)
    server.do("POST", f"/studies/{study}/open")
    agents += [agent.start("--consent", digest, yes=False) for agent in (one, two)]
    agents += [three.start("--consent", digest, yes=False, **OWN)]
    connected(server, study, 3)
    server.do("POST", f"/studies/{study}/start")
    assert server.wait(study) == "finished", server.state(study)
    assert [agent.wait(60) for agent in agents] == [0, 0, 0]
    result = server.result(study)
    sites = {frozenset({t["x"], t["y"], *t["given"]}): t["contributors"] for t in result["tests"]}
    assert {"".join(sorted(names)): n for names, n in sites.items()} == {"DE": 2, "DX": 3, "EX": 3, "DEX": 2}
    assert any("site2 stays out of sums over D and E together" in line for line in result["withheld"]), result["withheld"]
    ledger = (three.home / "studies" / study / "ledger.jsonl").read_text()
    assert "that few rows have given levels together of 1 set of them" in ledger

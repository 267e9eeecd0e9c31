"""Small studies that attacks are tried on: C with levels p, q and r, numbers X, Z and W, tables whose every count is chosen."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import polars as pl

import consilience as cs
from consilience.settings import NetworkSettings
from tests.disclosure.derivation import Record

KINDS: dict[str, Any] = {"C": ("multinomial", ["p", "q", "r"]), "X": "continuous", "Z": "continuous", "W": "continuous"}
PLENTY = {"p": 40, "q": 30, "r": 12}

DEFAULTS = NetworkSettings()
NETWORK = {
    name: getattr(getattr(DEFAULTS, name), "value", getattr(DEFAULTS, name))
    for name in ("min_contributors", "min_rows", "min_cell", "isolation", "single_site", "on_dropout")
}
"""What a study over a network has by default, for a server in this program."""

OFF = {**NETWORK, "min_cell": 1}
"""The same without the rules, as it was before there were any: here every attack recovers its number."""

AGGREGATE = {**NETWORK, "isolation": "aggregate"}
STRICT = {**NETWORK, "isolation": "strict", "single_site": "refuse", "on_dropout": "stop"}
MIN_ROWS, MIN_CELL = int(NETWORK["min_rows"]), int(NETWORK["min_cell"])


def table(
    seed: int,
    counts: Mapping[str, int] = PLENTY,
    columns: str = "CXZ",
    lacking: Mapping[str, Mapping[str, int]] | None = None,
) -> pl.DataFrame:
    """A site's rows: so many of each level of C, and numbers that go with it and with each other.

    ``lacking={"Z": {"p": 1}}`` leaves Z out of one row with level p. Variables lack different rows as long as there are enough.
    """
    rng = np.random.default_rng(seed)
    levels = np.array([level for level, count in counts.items() for _ in range(count)])
    n = len(levels)
    x = rng.normal(size=n) + (levels == "q") + 50.0
    z = 0.5 * x + rng.normal(size=n)
    numbers = {"X": x, "Z": z, "W": 0.3 * z + rng.normal(size=n)}
    used = dict.fromkeys(counts, 0)
    found: dict[str, list[Any]] = {"C": levels.tolist(), **{name: values.tolist() for name, values in numbers.items()}}
    for name, gaps in (lacking or {}).items():
        for level, count in gaps.items():
            at = np.flatnonzero(levels == level)[used[level] : used[level] + count]
            used[level] += count
            for i in at.tolist():
                found[name][i] = None
    frame = pl.DataFrame(found).select(list(columns))
    return frame.sample(fraction=1.0, shuffle=True, seed=seed)


def serve(frames: Mapping[str, pl.DataFrame], rules: Mapping[str, Any], **more: Any) -> tuple[cs.Server, Record]:
    """A server over these sites, with the variables that they have, and the record of all that it sees."""
    names = [name for name in KINDS if any(name in frame.columns for frame in frames.values())]
    clients = [cs.Client(site, frame) for site, frame in frames.items()]
    server = cs.Server(clients, **{"schema": {name: KINDS[name] for name in names}, **rules, **more})
    return server, Record(server)


def studied(frames: Mapping[str, pl.DataFrame], rules: Mapping[str, Any], **more: Any) -> Record:
    """The record of a whole study: all tests, given up to two variables."""
    server, record = serve(frames, rules, **more)
    server.test_all(max_given=2)
    return record

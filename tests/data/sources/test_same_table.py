"""The same table in fifteen formats and dialects gives the same frame, and the same test to the last bit."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import consilience as cs
from consilience.data.sources import load
from tests.data.sources.postgres import PASSWORD, Postgres
from tests.data.sources.tables import WRITERS, hospital


@pytest.mark.parametrize("kind", WRITERS)
def test_every_format_gives_the_same_frame(kind: str, tmp_path: Path) -> None:
    frame = hospital()
    loaded = load(WRITERS[kind](frame, tmp_path / "site"), "here")
    found = loaded.frame.with_columns(pl.col("stage").cast(pl.Int64), pl.col("age").cast(pl.Int64))  # pandas made floats of gaps
    assert loaded.frame.columns == frame.columns
    assert found.equals(frame)
    assert not [finding for finding in loaded.findings if finding.grade.stops]


def answer(sources: Iterable[Any], **reading: Any) -> tuple[float, tuple[float, ...]]:
    """What two sites say, each from its own source."""
    clients = [cs.Client(name, source, **reading) for name, source in zip("ab", sources, strict=True)]
    result = cs.Server(clients).test("chol", "age", given=["stage", "sex"])
    return result.p_value, tuple(direction.statistic for direction in result.directions)


@pytest.mark.slow
def test_every_format_gives_the_same_test_to_the_last_bit(tmp_path: Path) -> None:
    frames = [hospital(60), hospital(50, 100)]
    answers = {
        kind: answer([write(frame, tmp_path / f"{kind} {place}") for place, frame in enumerate(frames)]) for kind, write in WRITERS.items()
    }
    assert len(answers) == 15
    assert set(answers.values()) == {answers["polars"]}
    assert 0 < answers["polars"][0] < 1


@pytest.mark.slow
def test_a_real_database_server_gives_it_too(postgres: Postgres, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PGPASSWORD", PASSWORD)
    frames = [hospital(60), hospital(50, 100)]
    sources = [postgres.keep(f"hospital{place}", frame) for place, frame in enumerate(frames)]
    clients = [cs.Client(name, postgres.address(), table=table) for name, table in zip("ab", sources, strict=True)]
    result = cs.Server(clients).test("chol", "age", given=["stage", "sex"])
    assert (result.p_value, tuple(direction.statistic for direction in result.directions)) == answer(frames)

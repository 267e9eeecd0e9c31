"""The same table in fourteen formats and dialects gives the same frame, and the same test to the last bit."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

import consilience as cs
from consilience.data.sources import load
from tests.data.sources.tables import WRITERS, hospital


@pytest.mark.parametrize("kind", WRITERS)
def test_every_format_gives_the_same_frame(kind: str, tmp_path: Path) -> None:
    frame = hospital()
    loaded = load(WRITERS[kind](frame, tmp_path / "site"), "here")
    found = loaded.frame.with_columns(pl.col("stage").cast(pl.Int64), pl.col("age").cast(pl.Int64))  # pandas made floats of gaps
    assert loaded.frame.columns == frame.columns
    assert found.equals(frame)
    assert not [finding for finding in loaded.findings if finding.grade.stops]


@pytest.mark.slow
def test_every_format_gives_the_same_test_to_the_last_bit(tmp_path: Path) -> None:
    frames = [hospital(60), hospital(50, 100)]
    answers = {}
    for kind, write in WRITERS.items():
        sources = [write(frame, tmp_path / f"{kind} {place}") for place, frame in enumerate(frames)]
        kinds = {"stage": "ordinal"}  # pandas made floats of integers with gaps
        clients = [cs.Client(name, load(source, name).frame, kinds=kinds) for name, source in zip("ab", sources, strict=True)]
        result = cs.Server(clients).test("chol", "age", given=["stage", "sex"])
        answers[kind] = (result.p_value, tuple(direction.statistic for direction in result.directions))
    assert len(answers) == 14
    assert set(answers.values()) == {answers["polars"]}
    assert 0 < answers["polars"][0] < 1

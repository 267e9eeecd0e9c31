"""Codes that hardly any rows share give no p-value, also where somebody declares them to be levels."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from consilience import Client, Server, pooled


def sites(levels: int, rows: int) -> list[Client]:
    rng = np.random.default_rng(11)
    frames = [
        pl.DataFrame(
            {"X": rng.integers(levels, size=rows // 2).astype(str), "Y": rng.normal(size=rows // 2), "Z": rng.normal(size=rows // 2)}
        )
        for _ in range(2)
    ]
    declared = {"kinds": {"X": "multinomial"}, "levels": {"X": [str(level) for level in range(levels)]}}
    return [Client(f"site{i}", frame, **declared) for i, frame in enumerate(frames)]


@pytest.mark.parametrize("method", ["fedci", "residual"])
@pytest.mark.parametrize(("levels", "question"), [(200, ("X", "Y", [])), (300, ("X", "Y", ["Z"])), (200, ("Y", "Z", ["X"]))])
def test_too_few_rows_for_many_levels_is_no_answer(levels: int, question: tuple[str, str, list[str]], method: str) -> None:
    result = Server(sites(levels, 600), method=method).test(*question)
    assert not result.informative
    assert f"X has {levels} levels" in result.reason


def test_the_pooled_rows_give_none_either() -> None:
    assert not pooled(sites(200, 600)).test("X", "Y").informative


def test_enough_rows_for_many_levels_are_an_answer() -> None:
    assert Server(sites(25, 600)).test("X", "Y").informative

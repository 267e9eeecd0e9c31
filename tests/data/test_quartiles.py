"""Quartiles of columns that are read in passes, against a sort of all values."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest

from consilience.data.quartiles import lengthy

RNG = np.random.default_rng(2)
COLUMNS = {
    "normal": RNG.normal(size=5000),
    "sorted": np.sort(RNG.exponential(size=5000)),
    "ties": RNG.integers(0, 3, 5000).astype(float),
    "mostly one": np.where(RNG.random(5000) < 0.8, 0.0, RNG.normal(size=5000)),
    "gaps": np.where(RNG.random(5000) < 0.3, np.nan, RNG.normal(size=5000)),
    "infinite": np.where(RNG.random(5000) < 0.1, np.inf, RNG.normal(size=5000)),
    "far": 1e12 + RNG.normal(size=5000),
    "short": np.array([3.0, 1.0, 2.0, 7.0]),
    "one": np.array([4.5]),
    "periodic": np.tile(np.arange(64.0), 80),  # a sample of every so many-th row sees a few of the values only
}


@pytest.mark.parametrize("name", COLUMNS)
@pytest.mark.parametrize("sample", [16, 1000])
def test_statistics_are_those_of_all_values(monkeypatch: pytest.MonkeyPatch, name: str, sample: int) -> None:
    monkeypatch.setattr("consilience.data.quartiles.SAMPLE", sample)
    values = COLUMNS[name]
    finite = values[np.isfinite(values)]
    found = lengthy(lambda: ({name: part} for part in np.array_split(values, 7)))[name]
    assert (found.n, found.low, found.high) == (len(finite), finite.min(), finite.max())
    assert found.quartiles == tuple(np.quantile(finite, [0.25, 0.5, 0.75]).tolist())
    assert found.mean == pytest.approx(finite.mean(), rel=1e-14)
    assert found.std == pytest.approx(finite.std(), rel=1e-6, abs=1e-12)


def test_columns_without_values_have_none() -> None:
    def passes() -> Iterator[dict[str, np.ndarray]]:
        yield {"A": np.array([np.nan]), "B": np.array([1.0])}

    assert set(lengthy(passes)) == {"B"}

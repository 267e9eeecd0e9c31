"""Quartiles of columns that are too long to be sorted, exact, in two passes.

A sample of a column says between which two values each quartile lies, with next to no risk; a second pass counts what is below and keeps
what is between, a few of a thousand values. Where the sample was wrong, which shows, the pass is made again with more.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

__all__ = ["Lengthy", "lengthy"]

Floats = NDArray[np.float64]
Columns = Callable[[], Iterable[Mapping[str, Floats]]]
"""A pass: the columns, some rows at a time, always in the same order."""
SAMPLE = 1 << 19
"""Values of a sample, at least. A quartile's place in it is off by some 360 with one standard deviation, so that its brackets hold one
value in a hundred."""
WIDTH = 6.0
"""Standard deviations of its place between which a quartile is looked for."""


class Lengthy(NamedTuple):
    """Of the finite values of a column that are there: how many, extremes, mean, standard deviation, and the three quartiles.

    Quartiles are between the two values that they fall between, as numpy's and polars' are by ``linear``.
    """

    n: int
    low: float
    high: float
    mean: float
    std: float
    quartiles: tuple[float, float, float]


class _Sample:
    """Every so many-th value of a column; half of them are dropped whenever there are twice as many as needed."""

    def __init__(self) -> None:
        self.kept, self.every, self.n, self.held = list[Floats](), 1, 0, 0
        self.low, self.high, self.total, self.about, self.squares = np.inf, -np.inf, 0.0, 0.0, 0.0

    def add(self, values: Floats) -> None:
        values = values[np.isfinite(values)]
        if not len(values):
            return
        if self.n == 0:
            self.about = float(values.mean())  # squares about a value in the middle of them lose no digits
        taken = values[(-self.n) % self.every :: self.every].copy()  # a view would keep all of them
        self.n += len(values)
        self.low, self.high = min(self.low, float(values.min())), max(self.high, float(values.max()))
        off = values - self.about
        self.total += float(off.sum())
        self.squares += float(np.dot(off, off))
        self.kept.append(taken)
        self.held += len(taken)
        if self.held >= 2 * SAMPLE:
            whole = np.concatenate(self.kept)[::2]  # those at places that twice as many divides
            self.kept, self.every, self.held = [whole], 2 * self.every, len(whole)

    def brackets(self, width: float) -> list[tuple[float, float]]:
        """Between which values each quartile lies."""
        found, sample = list[tuple[float, float]](), np.sort(np.concatenate(self.kept))
        last = len(sample) - 1
        for share in (0.25, 0.5, 0.75):
            off = width * np.sqrt(share * (1.0 - share) * len(sample)) + 2.0
            least, most = int(np.floor(share * last - off)), int(np.ceil(share * last + off))
            whole = self.every == 1  # then the sample is the column
            found.append((-np.inf if least < 0 or whole else float(sample[least]), np.inf if most > last or whole else float(sample[most])))
        return found


def lengthy(columns: Columns) -> dict[str, Lengthy]:
    """The statistics of columns that are read in passes; of columns without a finite value there are none.

    >>> values = np.random.default_rng(1).normal(size=300_000)
    >>> found = lengthy(lambda: ({"A": part} for part in np.split(values, 30)))["A"]
    >>> found.quartiles == tuple(np.quantile(values, [0.25, 0.5, 0.75]).tolist())
    True
    """
    samples: dict[str, _Sample] = {}
    for part in columns():
        for name, values in part.items():
            samples.setdefault(name, _Sample()).add(values)
    samples = {name: sample for name, sample in samples.items() if sample.n}
    found, width = dict[str, tuple[float, float, float]](), WIDTH
    while len(found) < len(samples):
        wanted = {name: _Between(sample, width) for name, sample in samples.items() if name not in found}
        for part in columns():
            for name, between in wanted.items():
                between.add(part[name])
        found |= {name: quartiles for name, between in wanted.items() if (quartiles := between.quartiles()) is not None}
        width *= 8.0
    return {name: _told(sample, found[name]) for name, sample in samples.items()}


def _told(sample: _Sample, quartiles: tuple[float, float, float]) -> Lengthy:
    off = sample.total / sample.n
    std = np.sqrt(max(sample.squares / sample.n - off * off, 0.0)) if sample.low < sample.high else 0.0
    return Lengthy(sample.n, sample.low, sample.high, sample.about + off, float(std), quartiles)


class _Between:
    """What lies between brackets, and how many values are below them, and at their ends: half of a column may be one value."""

    def __init__(self, sample: _Sample, width: float) -> None:
        self.n, self.brackets = sample.n, sample.brackets(width)
        self.counts = np.zeros((3, 3), dtype=np.int64)
        self.kept: list[list[Floats]] = [[], [], []]

    def add(self, values: Floats) -> None:
        values = values[np.isfinite(values)]
        for i, (low, high) in enumerate(self.brackets):
            ends = values < low, values == low, (values == high) & (high > low)
            self.counts[i] += [int(np.count_nonzero(end)) for end in ends]
            self.kept[i].append(values[(values > low) & (values < high)])

    def quartiles(self) -> tuple[float, float, float] | None:
        """None if one of them is not between its brackets."""
        found = list[float]()
        for i in range(3):
            inside = np.sort(np.concatenate(self.kept[i]))
            whole, rest = divmod((i + 1) * (self.n - 1), 4)
            one, next_ = self._value(i, inside, whole), self._value(i, inside, min(whole + 1, self.n - 1))
            if one is None or next_ is None:
                return None
            found.append(one + (next_ - one) * (rest / 4.0))
        return found[0], found[1], found[2]

    def _value(self, i: int, inside: Floats, place: int) -> float | None:
        """The value at a place of the sorted column."""
        below, low, high = self.counts[i].tolist()
        place -= below
        if not 0 <= place < low + len(inside) + high:
            return None
        if place < low:
            return self.brackets[i][0]
        return float(inside[place - low]) if place - low < len(inside) else self.brackets[i][1]

"""Results of conditional-independence tests: small frozen types that carry everything a reader may check."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import polars as pl

__all__ = ["CIResult", "Direction", "silent", "to_frame"]


@dataclass(frozen=True, slots=True)
class Direction:
    """One of the two nested comparisons of a test: response ~ given against response ~ predictor + given.

    Where the comparison is not informative, ``df`` is zero, ``p_value`` one and ``reason`` says why; the log-likelihoods are then
    NaN. ``separated`` flags a level that is predicted perfectly: the statistic is the limit it tends to.
    """

    response: str
    predictor: str
    statistic: float
    df: int
    p_value: float
    loglik_restricted: float
    loglik_unrestricted: float
    converged: bool = True
    separated: bool = False
    reason: str = ""

    @property
    def informative(self) -> bool:
        """True if the comparison has at least one degree of freedom."""
        return self.df > 0


def silent(response: str, predictor: str, reason: str) -> Direction:
    """A direction that is not informative."""
    return Direction(response, predictor, 0.0, 0, 1.0, math.nan, math.nan, reason=reason)


@dataclass(frozen=True, slots=True)
class CIResult:
    """The answer to one question.

    ``rounds`` counts exchanges with the sites until this answer was there (tests of a batch share them). ``informative`` is False,
    with the ``reason``, where the data cannot speak; ``p_value`` is then one, which is *no* evidence of independence.
    ``participants`` are the sites that took part in the run (not all of them need have contributed).
    """

    x: str
    y: str
    given: tuple[str, ...]
    p_value: float
    n: int
    contributors: int
    rounds: int
    informative: bool
    reason: str
    converged: bool
    directions: tuple[Direction, ...]
    participants: tuple[str, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """Plain types, for JSON."""
        return asdict(self)

    def __str__(self) -> str:
        given = f" | {', '.join(self.given)}" if self.given else ""
        head = f"{self.x} ⫫ {self.y}{given}: p = {self.p_value:.4g} (n = {self.n}, {self.contributors} sites)"
        return head if self.informative else f"{head}; not informative: {self.reason}"


def to_frame(results: Sequence[CIResult]) -> pl.DataFrame:
    """Results as a table, one row a test.

    ``statistic_y`` and so on belong to the direction in which y is the response.
    """
    text, number, whole, truth = pl.String, pl.Float64, pl.Int64, pl.Boolean
    kinds: dict[str, Any] = {"x": text, "y": text, "given": pl.List(text), "p_value": number, "n": whole, "contributors": whole}
    kinds |= {"informative": truth, "reason": text, "converged": truth, "rounds": whole}
    # column by column: a large discovery has a million rows, of few different conditioning sets
    columns = {name: pl.Series(name, [getattr(r, name) for r in results], dtype=kind) for name, kind in kinds.items() if name != "given"}
    sets = {given: place for place, given in enumerate(dict.fromkeys(r.given for r in results))}
    distinct = pl.Series("given", [list(given) for given in sets], dtype=kinds["given"])
    columns["given"] = distinct.gather([sets[r.given] for r in results]) if results else distinct
    for side in "yx":
        found = [next((d for d in r.directions if d.response == getattr(r, side)), None) for r in results]
        for name, kind in (("statistic", number), ("df", whole), ("p_value", number)):
            values = [None if d is None else getattr(d, name) for d in found]
            columns[f"{name}_{side}"] = pl.Series(f"{name}_{side}", values, dtype=kind)
    order = [*kinds, *(name for name in columns if name not in kinds)]
    return pl.DataFrame([columns[name] for name in order])

"""Results of conditional-independence tests: small frozen types that carry everything a reader may check."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import polars as pl

__all__ = ["CIResult", "Direction", "to_frame"]


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
    rows = []
    for r in results:
        row: dict[str, Any] = {
            "x": r.x,
            "y": r.y,
            "given": list(r.given),
            "p_value": r.p_value,
            "n": r.n,
            "contributors": r.contributors,
            "informative": r.informative,
            "reason": r.reason,
            "converged": r.converged,
            "rounds": r.rounds,
        }
        for side, name in (("y", r.y), ("x", r.x)):
            found = next((d for d in r.directions if d.response == name), None)
            row[f"statistic_{side}"] = found.statistic if found else None
            row[f"df_{side}"] = found.df if found else None
            row[f"p_value_{side}"] = found.p_value if found else None
        rows.append(row)
    text, number, whole = pl.String, pl.Float64, pl.Int64
    schema: dict[str, Any] = {"x": text, "y": text, "given": pl.List(text), "p_value": number, "n": whole, "contributors": whole}
    schema |= {"informative": pl.Boolean, "reason": text, "converged": pl.Boolean, "rounds": whole}
    for side in "yx":
        schema |= {f"statistic_{side}": number, f"df_{side}": whole, f"p_value_{side}": number}
    return pl.DataFrame(rows, schema=schema)

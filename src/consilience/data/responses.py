"""Columns of a variable whose mean is modelled: a number, a score of ordered levels, indicators of others; features of a number."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import msgspec
import numpy as np
from numpy.typing import NDArray

from consilience.data.kinds import Kind
from consilience.data.schema import Schema
from consilience.data.spline import Knots
from consilience.data.table import Table

__all__ = ["Coded", "mid_ranks", "n_responses", "response_columns"]

Floats = NDArray[np.float64]
Index = NDArray[np.intp]
FEATURES = 2
"""Further columns of a continuous variable where any smooth dependence is looked for."""


class Coded(msgspec.Struct, frozen=True):
    """What a study has agreed on, once, to make columns of numbers and levels.

    Units as exponents of two, knots of continuous variables, scores of ordered levels.
    """

    exponents: dict[str, int]
    knots: dict[str, Knots] = {}
    scores: dict[str, tuple[float, ...]] = {}


def mid_ranks(counts: Sequence[float]) -> tuple[float, ...]:
    """Scores of ordered levels from their counts: the mean rank of a level's rows, as a share of all.

    >>> mid_ranks([2, 2, 4])
    (0.125, 0.375, 0.75)
    """
    found = np.asarray(counts, dtype=np.float64)
    return tuple(float(score) for score in (np.cumsum(found) - 0.5 * found) / max(found.sum(), 1.0))


def n_responses(schema: Schema, name: str, *, features: bool) -> int:
    """How many columns a variable has.

    >>> schema = Schema({"A": "continuous", "D": ("ordinal", "123"), "E": ("multinomial", "pqr")})
    >>> [n_responses(schema, name, features=True) for name in schema]
    [3, 1, 2]
    """
    if not schema[name].kind.is_discrete:
        return 1 + (FEATURES if features else 0)
    return 1 if schema[name].kind is Kind.ORDINAL else schema[name].n_columns


def response_columns(table: Table, name: str, index: Index | None, coded: Coded, centres: Mapping[str, float], *, features: bool) -> Floats:
    """The columns in the rows ``index``: a number about the site's centre in the study's unit, the score of a level, or indicators.

    With ``features``, Legendre polynomials of a number's rank among all sites follow, of second and third degree: bounded, whatever the
    tails.

    >>> import polars as pl
    >>> table = Table(pl.DataFrame({"A": [4.0, 8.0]}), Schema({"A": "continuous"}), "muenster")
    >>> response_columns(table, "A", None, Coded({"A": 2}), {"A": 4.0}, features=False)
    array([[0.],
           [1.]])
    """
    if name in table.codes:
        codes = table.codes[name] if index is None else table.codes[name][index]
        if table.schema[name].kind is Kind.ORDINAL:
            scores: Floats = np.array(coded.scores[name])[codes][:, None]
            return scores
        indicators: Floats = (codes[:, None] == np.arange(1, len(table.schema[name].levels))).astype(np.float64)
        return indicators
    values = table.numbers[name] if index is None else table.numbers[name][index]
    about = values - centres[name]
    own: Floats = np.ldexp(about, -coded.exponents.get(name, 0)).reshape(-1, 1)
    if not features:
        return own
    knots = coded.knots[name]
    rank = 2.0 * np.interp(about if knots.centred else values, knots.ladder, np.linspace(0.0, 1.0, len(knots.ladder))) - 1.0
    columns: Floats = np.column_stack([own, 1.5 * rank**2 - 0.5, 2.5 * rank**3 - 1.5 * rank])
    return columns

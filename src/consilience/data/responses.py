"""Columns of a variable whose mean is modelled: a number, a score of ordered levels, indicators of others; features of a number.

*Features*, where any smooth dependence is looked for, are curves of a number (a cubic spline with one knot inside, on values clipped to the
middle 98%), or indicators of single levels of an ordinal variable.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import msgspec
import numpy as np
from numpy.typing import NDArray

from consilience.data.basis import straight_of
from consilience.data.coarse import Coarse, coarse_features, ladder_of, space_of
from consilience.data.kinds import Kind
from consilience.data.schema import Schema
from consilience.data.spline import LADDER, Knots, Spline, spline
from consilience.data.table import Table

__all__ = ["Coded", "altered_features", "feature_spline", "mid_ranks", "n_responses", "response_columns"]

Floats = NDArray[np.float64]
Index = NDArray[np.intp]
CURVES = 3
"""Curved columns of a number, where features are wanted."""
CLIPPED = 0.01
"""The share of the values at each end that features take for the value next to them: a cube of what lies far out would be all there is."""


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


def feature_spline(knots: Knots) -> Spline:
    """The curves of a number's features: knots at its median and at the ends of its middle 98%."""
    shares = np.linspace(0.0, 1.0, LADDER + 1)
    low, middle, high = np.interp([CLIPPED, 0.5, 1.0 - CLIPPED], shares, knots.ladder).tolist()
    half = LADDER // 2
    ladder = (*np.linspace(low, middle, half + 1).tolist(), *np.linspace(middle, high, half + 1).tolist()[1:])
    return spline(Knots(ladder), 2)


def n_responses(schema: Schema, name: str, *, features: bool) -> int:
    """How many columns a variable has.

    >>> schema = Schema({"A": "continuous", "D": ("ordinal", "1234"), "E": ("multinomial", "pqr")})
    >>> [n_responses(schema, name, features=True) for name in schema], n_responses(schema, "D", features=False)
    ([4, 3, 2], 1)
    """
    variable = schema[name]
    if not variable.kind.is_discrete:
        return 1 + (CURVES if features else 0)
    if variable.kind is Kind.ORDINAL:
        return max(len(variable.levels) - 1, 1) if features else 1
    return variable.n_columns


def altered_features(
    table: Table,
    name: str,
    index: Index | None,
    coded: Coded,
    centres: Mapping[str, float],
    least: int,
    spaces: dict[str, Coarse] | None = None,
) -> Coarse | None:
    """What a site makes of the curves of a number in these rows, where none may be about fewer than ``least`` of them; None: it has none.

    Any function of a variable may stand for it, so that sites need not have the same. ``spaces`` keeps those of numbers over these rows.
    """
    knots, spaces = coded.knots[name], {} if spaces is None else spaces
    whole, shape = spline(knots, 1), feature_spline(knots)
    u = straight_of(table, name, index, knots, centres[name])
    if name not in spaces:
        spaces[name] = space_of(u, ladder_of(knots), least)
    bends = (shape.knots * shape.width + shape.middle - whole.middle) / whole.width  # in units of all knots, as the number's curves
    return coarse_features(u, tuple(bends.tolist()), least, spaces[name])


def response_columns(
    table: Table,
    name: str,
    index: Index | None,
    coded: Coded,
    centres: Mapping[str, float],
    *,
    features: bool,
    altered: Coarse | None = None,
) -> Floats:
    """The columns in the rows ``index``: a number about the site's centre in the study's unit, the score of a level, or indicators.

    With ``features`` curves of a number follow, or indicators of all levels of an ordinal variable but the first and the last; ``altered``
    says what a site makes of the curves.

    >>> import polars as pl
    >>> table = Table(pl.DataFrame({"A": [4.0, 8.0]}), Schema({"A": "continuous"}), "muenster")
    >>> response_columns(table, "A", None, Coded({"A": 2}), {"A": 4.0}, features=False)
    array([[0.],
           [1.]])
    """
    if name in table.codes:
        codes = table.codes[name] if index is None else table.codes[name][index]
        n_levels, ordinal = len(table.schema[name].levels), table.schema[name].kind is Kind.ORDINAL
        wanted = np.arange(1, n_levels) if not ordinal else np.arange(1, n_levels - 1) if features else np.empty(0)
        indicators: Floats = (codes[:, None] == wanted).astype(np.float64)
        return np.column_stack([np.array(coded.scores[name])[codes], indicators]) if ordinal else indicators
    values = table.numbers[name] if index is None else table.numbers[name][index]
    own: Floats = np.ldexp(values - centres[name], -coded.exponents.get(name, 0)).reshape(-1, 1)
    if not features:
        return own
    if altered is None:
        shape = feature_spline(coded.knots[name])
        inside = shape.straight(values - centres[name] if coded.knots[name].centred else values)
        curves = shape.curved(np.clip(inside, shape.knots[0], shape.knots[-1]))
    else:
        curves = altered.columns(straight_of(table, name, index, coded.knots[name], centres[name]))
    found: Floats = np.zeros((len(own), 1 + CURVES))
    found[:, :1], found[:, 1 : 1 + curves.shape[1]] = own, curves  # fewer where quantiles fall together
    return found

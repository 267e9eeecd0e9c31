"""Cells of three levels, in aggregate: what sums of a fitted model say of a site beyond cross-products, which are of pairs."""

from __future__ import annotations

import numpy as np
import polars as pl

from consilience.data.schema import Schema
from consilience.data.table import Table
from consilience.federation.site.own_tests import desk_for
from consilience.glm.layout import Ordinal, SiteEffects
from consilience.protocol.evaluate import Evaluate, ModelAsk
from tests.disclosure.scenes import MIN_CELL

KINDS = Schema(dict.fromkeys("CDEF", "binary"))


def test_the_information_of_a_model_with_three_levels_tells_how_many_rows_have_all_of_them() -> None:
    """Every two levels have 5 rows or more in each cell; one patient has D, E and F. The entry of D and E is Σ p(1 - p) over the rows with
    both, where p is one number with F and another without: with how many rows have both, two equations in two counts.
    """
    rng = np.random.default_rng(7)
    cells = np.array([(d, e, f) for d in (0, 1) for e in (0, 1) for f in (0, 1)])
    counts = np.array([30, 12, 14, 9, 11, 8, 6, 1])
    d, e, f = np.repeat(cells, counts, axis=0).T
    table = Table(pl.DataFrame({"C": rng.integers(2, size=len(d)), "D": d, "E": e, "F": f}), KINDS, "muenster")
    for a, b in ((d, e), (d, f), (e, f)):
        assert np.bincount(2 * a + b, minlength=4).min() >= MIN_CELL
    slopes, intercept = np.array([0.4, -0.3, 1.1]), 0.2
    model = ModelAsk("C", ("D", "E", "F"), ("C", "D", "E", "F"), (0, 1, 2), (0, 1), np.append(slopes, intercept).tobytes())
    request = Evaluate(0, (model,), SiteEffects.NONE, Ordinal.PROPORTIONAL, 2, {}, {})
    (total,) = request.read(desk_for(table, fewest=MIN_CELL).answer(request), KINDS)
    p = 1.0 / (1.0 + np.exp(-(intercept + slopes[0] + slopes[1] + slopes[2] * np.arange(2))))
    both = int((d & e).sum())
    without, with_f = np.linalg.solve(np.array([p * (1.0 - p), [1.0, 1.0]]), [total.info[0, 1], both])
    assert round(without, 6) == 6.0
    assert round(with_f, 6) == 1.0

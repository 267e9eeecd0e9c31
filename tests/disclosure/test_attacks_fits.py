"""What a coarser curve tells by the way it was made coarser, and what products tell where they meet a level: an honest server's sums.

A curve that is about few rows is replaced by its fit on columns of the site's own. If the fit is over the site's rows, its product with a
line is that of the curve itself, and is about as few.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl
import pytest

import consilience as cs
from consilience.data.basis import widths
from consilience.data.coarse import coarse_curves
from consilience.data.spline import curves_on, spline
from consilience.data.table import Table
from consilience.federation.site.own_tests import desk_for
from consilience.glm.layout import Ordinal
from consilience.protocol.diagnose import Diagnose, DiagnoseAsk
from consilience.protocol.evaluate import ModelAsk
from consilience.protocol.mean_products import MeanProducts, MeanSet, MeanTotal
from tests.disclosure.derivation import Record
from tests.disclosure.scenes import AGGREGATE, MIN_CELL, OFF, serve
from tests.disclosure.test_attacks_curves import CELLS, KINDS, PATIENT, SMALL_ONE

both = pytest.mark.parametrize("rules", [OFF, AGGREGATE], ids=["off", "aggregate"])
Means = list[tuple[MeanProducts, MeanSet, MeanTotal]]


def means_of(record: Record, given: tuple[str, ...], response: str) -> Means:
    """All sums of an honest study with these columns and this response, those with most rows first."""
    found = [
        (one.request, wanted, total)
        for one in record.seen
        if isinstance(one.request, MeanProducts)
        for wanted, total in zip(one.request.sets, one.request.read(one.total, record.schema), strict=True)
        if wanted.expansion.given == given and response in wanted.responses
    ]
    return sorted(found, key=lambda each: -each[2].n)


def single_rows(told: np.ndarray, knots: tuple[float, ...]) -> list[float]:
    """Values at which the B-splines are to each other as these four numbers of neighbours are: one row alone in their supports."""
    found = list[float]()
    for i in range(1, len(knots) - 2):
        four = np.arange(i - 1, min(i + 3, len(told)))
        wanted = told[four] / max(float(np.linalg.norm(told[four])), 1e-12)
        low, high = knots[i], knots[i + 1]
        for _ in range(6):
            at = np.linspace(low, high, 201)
            shapes = curves_on(knots, at)[:, four]
            off = 1.0 - np.abs(shapes @ wanted) / np.linalg.norm(shapes, axis=1)
            best = int(off.argmin())
            low, high = at[max(best - 1, 0)], at[min(best + 1, 200)]
        if off[best] < 1e-9:
            found.append(float(at[best]))
    return found


@both
def test_a_fit_over_rows_would_tell_of_single_ones(rules: dict[str, Any]) -> None:
    """Where the fit was over the rows, this found two of thirteen patients' X to seven digits, with the rules on as with the rules off."""
    server, record = serve(SMALL_ONE, rules, method="residual")
    server.test_all(max_given=1)
    (request, wanted, most), *_, (_, _, fewer) = means_of(record, ("X",), "W")
    assert most.n - fewer.n == SMALL_ONE["c"].height
    curve = spline(request.coded.knots["X"], wanted.expansion.pieces)
    by_line = (most.gram - fewer.gram)[0, 1:]
    claimed = np.array(single_rows(by_line, tuple(curve.knots.tolist()))) * curve.width + curve.middle
    right = [x for x in claimed.tolist() if np.abs(SMALL_ONE["c"]["X"].to_numpy() - x).min() < 1e-5]
    assert len(right) >= 2 if rules is OFF else not right


def test_the_coefficients_of_a_fit_are_not_about_a_row() -> None:
    """One row of forty moves, within its clump and outside the middle half: no coefficient moves, where all of them did."""
    u = np.linspace(-1.0, 1.0, 40)
    moved = u.copy()
    moved[36] += 0.01
    knots = tuple(np.linspace(-1.2, 1.2, 25).tolist())
    before, after = (coarse_curves(values, knots, MIN_CELL, 8) for values in (u, moved))
    middle = np.linspace(-0.5, 0.5, 11)
    assert before is not None
    assert after is not None
    assert before.turn is not None
    np.testing.assert_allclose(after.columns(middle), before.columns(middle), atol=1e-12)


PEOPLE = {"D": ("binary", ["n", "y"]), "E": ("binary", ["n", "y"]), "W": "continuous", "X": "continuous", "Z": "continuous"}


def crowd(seed: int, n: int) -> pl.DataFrame:
    rng = np.random.default_rng(seed)
    return pl.DataFrame({name: rng.choice(["n", "y"], n) if name in "DE" else rng.normal(50.0, 5.0, n) for name in PEOPLE})


def crossed(first: bool) -> pl.DataFrame:
    """Twenty-one rows without Z. One patient has E and D, or E and not D."""
    d, e = [*"y" * 10, *"n" * 11], [*"y", *"n" * 9, *"y" * 6, *"n" * 5]
    if not first:
        d = ["n" if one == "y" else "y" for one in d]
    return crowd(9, 21).drop("Z").with_columns(D=pl.Series(d), E=pl.Series(e))


@both
@pytest.mark.parametrize("first", [True, False], ids=["with the level", "without it"])
def test_a_level_times_a_number_where_it_meets_another_level(rules: dict[str, Any], first: bool) -> None:
    """Means given D and X have a column D·X, which is about ten rows; its product with E is about the one that has both."""
    frames = {"a": crowd(1, 400), "b": crowd(2, 500), "c": crossed(first)}
    server = cs.Server([cs.Client(site, frame) for site, frame in frames.items()], schema=PEOPLE, method="residual", **rules)
    record = Record(server)
    server.test_all(max_given=2)
    (request, wanted, most), *_, (_, _, fewer) = means_of(record, ("D", "X"), "E")
    n, with_e, with_d = 21, 7, 10 if first else 11
    assert most.n - fewer.n == n
    gram, products = most.gram - fewer.gram, (most.products["E"] - fewer.products["E"])[:, 0]
    wide = widths(server.schema, wanted.expansion, request.coded.knots)
    line, level, product = 0, 1, wide.free + wide.curves
    in_both = products[product] + with_e * gram[level, product] / (1 - with_d / n) / n
    shape = spline(request.coded.knots["X"], 1)
    if first:
        found = in_both * shape.width + shape.middle
    else:  # those with E, less those with E and D: about the site's mean, which the product of D and X has
        of_d = gram[level, product] / (1 - with_d / n)
        mean = (of_d - gram[level, line]) / with_d
        found = (products[line] + with_e * mean - in_both) * shape.width + shape.middle
    assert (abs(found - frames["c"]["X"][0]) < 1e-6) == (rules is OFF)


@pytest.mark.parametrize("least", [1, MIN_CELL])
def test_a_feature_of_a_level_and_a_number_where_it_meets_another_level(least: int) -> None:
    """Diagnostics have X times C, about thirty rows; its product with D, in the information, is about the one patient with both.

    What else is in it are sums over thirteen rows and more, of which the same matrix tells two; the third is taken as known here.
    """
    desk = desk_for(Table(CELLS, KINDS, "muenster"), fewest=least)
    model = ModelAsk("Y", ("C", "D", "X"), ("C", "D", "X", "Y"), (0, 1, 2), (), np.zeros(3).tobytes())
    request = Diagnose((DiagnoseAsk(model, (0, 0, 0), 4),), Ordinal.PROPORTIONAL, {})
    (misfit,) = request.read(desk.answer(request), KINDS)
    by_c, by_d, squares = 5, 6, 3
    assert misfit.info[squares, squares] > 0.0
    if least > 1:
        assert not misfit.info[[by_c, by_d]].any()
        return
    half = 0.5 * (CELLS["X"] - CELLS["X"].mean()).to_numpy()
    u = 2.0 * half / np.sqrt(1.0 + half * half)
    share_c, share_d = 0.5, 13 / 60
    total = misfit.info[0, by_c] / share_c**2  # half of the rows have q: nothing else is in this entry
    of_d = (misfit.info[1, by_d] - share_d**2 * total) / (1.0 - 2.0 * share_d)
    of_c = u[30:].sum()
    found = misfit.info[1, by_c] + share_c * of_d + share_d * of_c - share_c * share_d * total
    assert found == pytest.approx(u[PATIENT], abs=1e-9)

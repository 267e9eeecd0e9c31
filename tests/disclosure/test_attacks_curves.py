"""Columns that are about one patient: curves, features, products and cells, on knots of an honest server and of one that chooses them.

Each attack recovers its number where the rules are off. With them a site adds no column about fewer rows than ``min_cell``, whatever is
asked for.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl
import pytest

from consilience.data.basis import Expansion
from consilience.data.responses import Coded
from consilience.data.schema import Schema
from consilience.data.spline import LADDER, NESTED, Knots, spline
from consilience.data.table import Table
from consilience.federation.site.own_tests import desk_for
from consilience.glm.layout import Ordinal
from consilience.protocol.diagnose import Diagnose, DiagnoseAsk
from consilience.protocol.errors import WrongShapeError
from consilience.protocol.evaluate import ModelAsk
from consilience.protocol.grid import Cells, Grid
from consilience.protocol.mean_products import MeanProducts, MeanSet, MeanTotal
from consilience.protocol.messages import Announced
from consilience.protocol.residual_products import ProductAsk, ResidualProducts
from consilience.protocol.residuals import BasisAsk, MeanAsk
from tests.disclosure.scenes import AGGREGATE, MIN_CELL, OFF, STRICT, serve, table

each = pytest.mark.parametrize("rules", [OFF, AGGREGATE, STRICT], ids=["off", "aggregate", "strict"])
on_and_off = pytest.mark.parametrize("least", [1, MIN_CELL])
THREE = {"a": table(1), "b": table(2), "c": table(3)}


def around(low: float, high: float) -> Knots:
    return Knots(tuple(np.linspace(low, high, LADDER + 1).tolist()))


def the_largest(name: str) -> tuple[float, float, pl.DataFrame]:
    """The largest value of all, the next to it, and the table that has it."""
    top, next_to = pl.concat(THREE.values())[name].sort(descending=True).head(2)
    return top, next_to, next(frame for frame in THREE.values() if frame[name].max() == top)


def asked(rules: dict[str, Any], request: MeanProducts, **more: Any) -> MeanTotal:
    server, _ = serve(THREE, rules, method="residual", site_slopes=False, **more)
    (found,) = request.read(server._transport.ask(request, [Announced(names, 3, 246) for names in request.samples()]), server.schema)
    return found


def deviations(products: np.ndarray, squares: np.ndarray, n: int) -> np.ndarray:
    """What a column's product says of a patient, if it is about that patient alone: the deviation from the mean of the others."""
    size = np.sqrt(np.maximum(squares, 0.0))
    return np.divide(np.abs(products), size, out=np.zeros_like(size), where=size > 1e-9) * np.sqrt(n / (n - 1))


@each
def test_knots_around_the_largest_value(rules: dict[str, Any]) -> None:
    """A B-spline whose support holds one row; its product with Z is that patient's deviation from the mean of the site."""
    top, next_to, frame = the_largest("X")
    coded = Coded({}, {"X": around(top - 0.4 * (top - next_to), top + 0.4 * (top - next_to)), "Z": around(10.0, 40.0)})
    request = MeanProducts((MeanSet(("X", "Z"), Expansion(("X",), 12), ("Z",)),), coded, slopes=False, features=False)
    total = asked(rules, request)
    patient, others = frame.filter(pl.col("X") == top)["Z"][0], frame.filter(pl.col("X") < top)["Z"].mean()
    found = deviations(total.products["Z"][1:, 0], np.diag(total.gram)[1:], frame.height)
    nearest = np.abs(found / abs(patient - others) - 1.0).min()
    assert nearest < 1e-6 if rules is OFF else nearest > 0.02


@each
def test_knots_that_nearly_meet(rules: dict[str, Any]) -> None:
    """Curves on 11 and on 12 pieces of the same knots, subtracted, tell apart rows between knots that nearly meet: refused."""
    coded = Coded({}, {"X": around(40.0, 60.0), "Z": around(10.0, 40.0)})
    both = tuple(MeanSet(("X", "Z"), Expansion(("X",), pieces, -1), ("Z",)) for pieces in (11, 12))
    request = MeanProducts(both, coded, slopes=False, features=False)
    server, _ = serve(THREE, rules, method="residual", site_slopes=False)
    sets = [Announced(names, 3, 246) for names in request.samples()]
    if rules is OFF:
        assert len(request.read(server._transport.ask(request, sets), server.schema)) == 2
    else:
        with pytest.raises(WrongShapeError, match="0, 1, 3, 6, 12, 24, 48 pieces"):
            server._transport.ask(request, sets)


def test_curves_on_nested_pieces_are_curves_on_the_last() -> None:
    """So that, however many pieces are asked for, their combinations are no more than those of the finest."""
    knots = Knots(tuple(np.sort(np.random.default_rng(0).normal(size=LADDER + 1)).tolist()))
    u = spline(knots, 1).straight(np.linspace(-3.0, 3.0, 2000))
    finest = np.column_stack([np.ones_like(u), u, spline(knots, LADDER).curved(u)])
    for pieces in NESTED[2:]:
        curves = spline(knots, pieces).curved(u)
        left = curves - finest @ np.linalg.lstsq(finest, curves, rcond=None)[0]
        assert np.abs(left).max() < 1e-9
    others = spline(knots, 11).curved(u)
    assert np.abs(others - finest @ np.linalg.lstsq(finest, others, rcond=None)[0]).max() > 1e-5


@each
def test_a_unit_so_small_that_a_line_is_a_step(rules: dict[str, Any]) -> None:
    """Numbers farther than 4096 widths of the knots count as lying there: with knots between the two largest, a line is one patient."""
    top, next_to, frame = the_largest("X")
    middle = 0.5 * (top + next_to)
    coded = Coded({}, {"X": around(middle - 1e-6, middle + 1e-6), "Z": around(10.0, 40.0)})
    request = MeanProducts((MeanSet(("X", "Z"), Expansion(("X",), 0, -1), ("Z",)),), coded, slopes=False, features=False)
    total = asked(rules, request)
    if rules is OFF:
        found = deviations(total.products["Z"][:, 0], np.diag(total.gram), frame.height)
        others = frame.filter(pl.col("X") < top)["Z"].mean()
        assert found[0] == pytest.approx(abs(frame.filter(pl.col("X") == top)["Z"][0] - others), rel=1e-6)
    else:
        assert total.gram[0, 0] == total.products["Z"][0, 0] == 0.0


@each
def test_features_of_the_largest_value(rules: dict[str, Any]) -> None:
    """``alternatives="smooth"``: a curve of a response that is zero but for one patient, multiplied with the line of Z."""
    top, next_to, frame = the_largest("X")
    coded = Coded({}, {"X": around(top - 0.4 * (top - next_to), top + 0.4 * (top - next_to)), "Z": around(10.0, 40.0)})
    request = MeanProducts((MeanSet(("X", "Z"), Expansion(("Z",), 0, -1), ("X",)),), coded, slopes=False, features=True)
    total = asked(rules, request, alternatives="smooth")
    width = 0.25 * 30.0
    patient, others = (frame.filter(keep)["Z"].mean() for keep in (pl.col("X") == top, pl.col("X") < top))
    found = deviations(total.products["X"][0, 1:], np.diag(total.squares["X"])[1:], frame.height) * width
    nearest = np.abs(found / abs(patient - others) - 1.0).min()
    assert nearest < 1e-6 if rules is OFF else nearest > 0.02


SMALL_ONE = {site: table(k, {"p": 800, "q": 700, "r": 500}, "CXZW") for k, site in enumerate("ab", 1)} | {
    "c": table(3, {"p": 6, "q": 7}, "CXW")
}
"""Two large sites, and a small one that lacks Z."""


@pytest.mark.parametrize("rules", [OFF, AGGREGATE], ids=["off", "aggregate"])
def test_without_a_lie_a_curve_is_about_single_patients_of_a_small_site(rules: dict[str, Any]) -> None:
    """Two sums subtracted: knots that are close for 4,000 rows leave single rows of 13 in the support of a B-spline. Its product with W is
    that patient's deviation from the others' mean. With the rules what comes out of the site are no more sums than it has times five rows.
    """
    server, record = serve(SMALL_ONE, rules, method="residual")
    server.test_all(max_given=1)
    found = dict[int, tuple[np.ndarray, np.ndarray]]()
    for one in record.seen:
        if isinstance(one.request, MeanProducts):
            for wanted, total in zip(one.request.sets, one.request.read(one.total, server.schema), strict=True):
                if wanted.expansion.given == ("X",) and "W" in wanted.responses:
                    found[round(total.n)] = total.gram, total.products["W"][:, 0]
                    knots, pieces = one.request.coded.knots["X"], wanted.expansion.pieces
    (gram, products), (less, fewer) = found[4013], found[4000]
    x, w = SMALL_ONE["c"]["X"].to_numpy(), SMALL_ONE["c"]["W"].to_numpy()
    curve = spline(knots, pieces)
    columns = curve.curved(curve.straight(x))
    single = [(j, int(columns[:, j].argmax())) for j in np.flatnonzero((columns != 0.0).sum(axis=0) == 1) if columns[:, j].max() > 1e-3]
    recovered = set[int]()
    for j, i in single:
        own = (gram - less)[1 + j, 1 + j]
        height = np.sqrt(max(own, 0.0) * len(x) / (len(x) - 1))
        if own > 1e-9 and height * (products - fewer)[1 + j] / own == pytest.approx(w[i] - np.delete(w, i).mean(), rel=1e-2):
            recovered.add(i)
    rank = np.linalg.matrix_rank(gram - less, tol=1e-7 * np.abs(gram - less).max())
    if rules is OFF:
        assert len(recovered) >= 3
        assert rank > len(x) // 2
    else:
        assert not recovered
        assert rank <= len(x) // MIN_CELL


# what a site adds, as it comes out where others are subtracted

KINDS = Schema({"C": ("binary", ["p", "q"]), "D": ("binary", ["no", "yes"]), "X": "continuous", "Y": "continuous"})
RNG = np.random.default_rng(5)
CELLS = pl.DataFrame(
    {
        "C": ["p"] * 30 + ["q"] * 30,
        "D": ["yes"] * 12 + ["no"] * 18 + ["yes"] + ["no"] * 29,
        "X": RNG.normal(size=60),
        "Y": RNG.normal(size=60),
    }
)
"""One patient, the 31st, has both q and D."""
PATIENT = 30


@on_and_off
def test_the_product_of_two_levels_that_one_patient_has(least: int) -> None:
    """The residual method multiplies levels of two conditioning variables: a column of that patient alone."""
    desk = desk_for(Table(CELLS, KINDS, "muenster"), fewest=least)
    request = MeanProducts((MeanSet(("C", "D", "X"), Expansion(("C", "D")), ("X",)),), Coded({}), slopes=False, features=False)
    (total,) = request.read(desk.answer(request), KINDS)
    if least == 1:
        found = deviations(total.products["X"][2:, 0], np.diag(total.gram)[2:], 60)
        others = CELLS["X"].to_numpy()[np.arange(60) != PATIENT].mean()
        assert found[0] == pytest.approx(abs(CELLS["X"][PATIENT] - others), rel=1e-9)
    else:
        assert not total.gram[2].any()
        assert not total.products["X"][2].any()


@on_and_off
def test_diagnostics_multiply_levels_too(least: int) -> None:
    """The score of the product says what the model misses in that patient, once the scores of the levels are taken away."""
    desk = desk_for(Table(CELLS, KINDS, "muenster"), fewest=least)
    model = ModelAsk("X", ("C", "D"), ("C", "D", "X"), (0, 1), (), np.zeros(2).tobytes())
    request = Diagnose((DiagnoseAsk(model, (0, 0), 1),), Ordinal.PROPORTIONAL, {})
    (misfit,) = request.read(desk.answer(request), KINDS)
    share_c, share_d = 0.5, 13 / 60
    found = misfit.score[2] + share_d * misfit.score[0] + share_c * misfit.score[1]
    if least == 1:
        assert found == pytest.approx(CELLS["X"][PATIENT] - CELLS["X"].mean(), rel=1e-9)
    else:
        assert misfit.score[2] == 0.0
        assert not misfit.info[2].any()


@on_and_off
def test_diagnostics_at_a_small_site_have_no_more_columns_than_it_has_times_five_rows(least: int) -> None:
    desk = desk_for(Table(CELLS.head(22), KINDS, "muenster"), fewest=least)
    model = ModelAsk("X", ("D", "Y"), ("D", "X", "Y"), (0, 1), (), np.zeros(2).tobytes())
    request = Diagnose((DiagnoseAsk(model, (0, 0), 3),), Ordinal.PROPORTIONAL, {})
    (misfit,) = request.read(desk.answer(request), KINDS)
    assert np.linalg.matrix_rank(misfit.info) == (5 if least == 1 else 22 // MIN_CELL - 1)


@on_and_off
def test_two_wards_of_which_one_has_one_patient(least: int) -> None:
    """The sum of products by ward, and the sum of their squares: two equations. So that patient counts with the other ward."""
    frame = CELLS.with_columns(ward=pl.when(pl.int_range(pl.len()) == PATIENT).then(1).otherwise(0))
    desk = desk_for(Table(frame, KINDS, "muenster", "ward"), fewest=least)
    none = BasisAsk(("X", "Y"), Expansion((), 0, -1), b"")
    means = tuple(MeanAsk(0, name, b"", b"", (0,)) for name in "XY")
    request = ResidualProducts((none,), means, (ProductAsk(0, 1, ("X", "Y")),), Coded({}), slopes=False, features=False, clustered=True)
    (total,) = request.read(desk.answer(request), KINDS).tests
    about = frame.select(pl.col("X", "Y") - pl.col("X", "Y").mean()).to_numpy()
    patient = about[PATIENT].prod()
    assert total.units == (2 if least == 1 else 1)
    if least == 1:
        ward = total.sums[0] - patient
        h = [1 / 60, 59 / 60]  # leverages of the means of the two, the last bounded by 0.9
        wanted = patient**2 / (1 - h[0]) + ward**2 / (1 - min(h[1], 0.9))
        assert total.squares[0, 0] == pytest.approx(wanted, rel=1e-9)


@each
def test_cells_around_the_largest_value(rules: dict[str, Any]) -> None:
    """A server lays its few cells where it likes: one row stands in a cell of its own, of any width."""
    values = np.sort(pl.concat(THREE.values())["X"].to_numpy())
    edges = np.linspace(values[-2], values[-1] + 0.01, 23)
    server, _ = serve(THREE, rules, method="residual")
    seen = server._transport.ask(Grid((Cells.of("X", edges, centred=False),), True), [Announced(("X",), 3, len(values))])
    assert seen.sum() == len(values)
    if rules is OFF:
        (cell,) = np.flatnonzero(seen[2:]) + 2
        assert seen[cell] == 1
        assert edges[cell - 1] <= values[-1] <= edges[cell]
    else:
        assert not seen[1:].any()

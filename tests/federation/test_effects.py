"""Effects equal those of a pooled analysis in statsmodels, over any number of sites, with gaps, and where sites lack variables."""

from __future__ import annotations

from functools import cache

import polars as pl
import pytest
import statsmodels.api as sm

import consilience as cs
from consilience import errors
from consilience.citest.effect import Estimate
from tests.federation.effects_reference import KINDS, LEVELS, Pooled, Told, frames, mean_differences, standardised

EQUAL = {"rel": 1e-6, "abs": 1e-8}
RISKS = [
    ("age", "smoker", ("salt",)),
    ("ward", "smoker", ("age",)),
    ("smoker", "stage", ("age",)),
    ("age", "stage", ("ward",)),
    ("age", "ward", ()),
    ("smoker", "ward", ("age", "salt")),
    ("stage", "visits", ("age",)),
    ("age", "visits", ("smoker",)),
    ("visits", "smoker", ("age",)),
]
MEANS = [("age", "bp", ("smoker",)), ("ward", "bp", ("age", "smoker")), ("smoker", "bp", ()), ("stage", "salt", ("age",))]


def clients(parts: list[pl.DataFrame]) -> list[cs.Client]:
    return [
        cs.Client(
            f"s{k}",
            frame,
            kinds={name: kind for name, kind in KINDS.items() if name in frame.columns},
            levels={name: levels for name, levels in LEVELS.items() if name in frame.columns},
        )
        for k, frame in enumerate(parts)
    ]


@cache
def whole(sites: int) -> tuple[list[pl.DataFrame], cs.Server]:
    parts = frames(sites)
    return parts, cs.Server(clients(parts), min_contributors=min(2, sites))


@cache
def torn() -> tuple[list[pl.DataFrame], cs.Server]:
    """Missing values everywhere, and two sites that lack variables."""
    parts = frames(4, gaps=True)
    parts = [parts[0], parts[1].drop("salt"), parts[2].drop("ward", "visits"), parts[3]]
    return parts, cs.Server(clients(parts))


def assert_equal(found: Estimate, wanted: list[Told], data: Pooled) -> None:
    assert not found.reason
    assert (found.n, found.contributors) == (data.n, data.sites)
    assert [c.estimate for c in found.contrasts] == pytest.approx([w.estimate for w in wanted], **EQUAL)
    assert [c.se for c in found.contrasts] == pytest.approx([w.se for w in wanted], **EQUAL)
    values = [(c.value, c.value_reference) for c in found.contrasts if c.value is not None]
    if values:
        assert values == [pytest.approx((w.value, w.reference), **EQUAL) for w in wanted]


@pytest.mark.slow
@pytest.mark.parametrize("sites", [1, 2, 5])
@pytest.mark.parametrize(("x", "y", "given"), RISKS)
def test_standardised_risks_are_those_of_pooled_rows(x: str, y: str, given: tuple[str, ...], sites: int) -> None:
    parts, server = whole(sites)
    data = Pooled(parts, x, y, given)
    assert_equal(server.effect(x, y, given), standardised(data), data)


@pytest.mark.parametrize("sites", [1, 2, 5])
@pytest.mark.parametrize(("x", "y", "given"), MEANS)
def test_differences_of_means_are_those_of_pooled_rows(x: str, y: str, given: tuple[str, ...], sites: int) -> None:
    parts, server = whole(sites)
    data = Pooled(parts, x, y, given)
    found = server.effect(x, y, given)
    assert found.variance == "robust"
    assert_equal(found, mean_differences(data), data)


@pytest.mark.slow
@pytest.mark.parametrize(("x", "y", "given"), [*RISKS, *MEANS])
def test_gaps_and_sites_without_variables_change_nothing(x: str, y: str, given: tuple[str, ...]) -> None:
    parts, server = torn()
    data = Pooled(parts, x, y, given)
    assert data.n < sum(map(len, parts))
    assert_equal(server.effect(x, y, given), mean_differences(data) if (x, y, given) in MEANS else standardised(data), data)


@pytest.mark.slow
@pytest.mark.parametrize("effects", ["coordinate", "joint"])
def test_it_does_not_matter_where_intercepts_of_sites_live(effects: str) -> None:
    parts, server = whole(2)
    other = cs.Server(clients(parts), site_effects=effects)
    for wanted, found in zip(server.effects([*RISKS, *MEANS]), other.effects([*RISKS, *MEANS]), strict=True):
        assert [c.estimate for c in found.contrasts] == pytest.approx([c.estimate for c in wanted.contrasts], **EQUAL)
        assert [c.se for c in found.contrasts] == pytest.approx([c.se for c in wanted.contrasts], **EQUAL)


@pytest.mark.slow
@pytest.mark.parametrize(("x", "y", "given"), [*RISKS, *MEANS])
def test_without_site_effects_there_is_one_intercept(x: str, y: str, given: tuple[str, ...]) -> None:
    parts, _ = whole(2)
    data, found = Pooled(parts, x, y, given, dummies=False), cs.Server(clients(parts), site_effects="none").effect(x, y, given)
    assert found.variance == "model"
    assert_equal(found, mean_differences(data, robust=False) if (x, y, given) in MEANS else standardised(data), data)


def test_intervals_of_means_are_by_t_with_what_fitting_leaves() -> None:
    parts, server = whole(2)
    data = Pooled(parts, "age", "bp", ["smoker"])
    fit = sm.OLS(data.response(), data.design()).fit(cov_type="HC1", use_t=True)
    (found,) = server.effect("age", "bp", ["smoker"]).contrasts
    assert (found.low, found.high) == pytest.approx(fit.conf_int()[0] * data.deviation(), rel=1e-9)


def test_many_effects_take_the_rounds_of_one() -> None:
    parts, _ = whole(2)
    one, many = cs.Server(clients(parts)), cs.Server(clients(parts))
    one.effect("smoker", "stage", ["age"])
    many.effects([("smoker", "stage", ["age"]), ("age", "smoker"), ("age", "bp", ["smoker"])])
    assert many.rounds <= one.rounds + 1


def test_a_test_that_was_done_leaves_one_round() -> None:
    parts, _ = whole(2)
    server = cs.Server(clients(parts))
    server.test("smoker", "stage", ["age"])
    before = server.rounds
    server.effect("smoker", "stage", ["age"])
    assert server.rounds == before + 1


def test_fishers_method_tells_p_values_only() -> None:
    parts, _ = whole(2)
    with pytest.raises(errors.StudyError, match=r"method='fisher'.*Take method='fedci'"):
        cs.fisher(clients(parts)).effect("age", "bp")


def test_one_site_alone_tells_no_effect() -> None:
    parts, _ = whole(2)
    server = cs.Server(clients([parts[0], parts[1].drop("ward")]))
    found = server.effect("age", "ward")
    assert not found.known
    assert "only one site measures these variables together" in found.reason


def test_random_site_effects_have_slopes_and_no_risks() -> None:
    parts, _ = whole(5)
    random, data = cs.Server(clients(parts), site_effects="random"), Pooled(parts, "age", "salt", ["smoker"], dummies=False)
    found = random.effect("age", "salt", ["smoker"])
    fit = sm.MixedLM(data.response(), data.design(), groups=data.site).fit(reml=False)
    assert found.step == pytest.approx(data.deviation(), rel=1e-9)
    assert found.contrasts[0].estimate == pytest.approx(fit.params[0] * data.deviation(), rel=1e-4)
    shrunk = ((data.n - data.design().shape[1]) / data.n) ** 0.5  # there, the variance of rows is divided by n - p also without reml
    assert found.contrasts[0].se == pytest.approx(fit.bse[0] * shrunk * data.deviation(), rel=1e-4)
    assert "site_effects='profiled'" in random.effect("age", "smoker").reason


def test_what_is_predicted_perfectly_has_no_effect() -> None:
    parts = [frame.with_columns(old=(pl.col("age") > pl.col("age").median()).cast(pl.Int8)) for frame in frames(2)]
    server = cs.Server(clients(parts))
    assert "predicted perfectly" in server.effect("age", "old").reason


def test_a_site_where_the_outcome_never_changes_counts_as_certain() -> None:
    """Its intercept is at minus infinity: its rows are predicted as they are, whatever x were, and all risks are those of the others
    diluted by its rows."""
    parts = frames(2)
    still = frames(3)[2].with_columns(smoker=pl.lit("no"))
    two = cs.Server(clients(parts)).effect("age", "smoker", ["salt"])
    three = cs.Server(clients([*parts, still])).effect("age", "smoker", ["salt"])
    share = two.n / three.n
    # the step differs a little: it is the standard deviation over all three
    assert three.contrasts[0].value == pytest.approx(share * two.contrasts[0].value, rel=0.02)
    assert three.contrasts[0].estimate == pytest.approx(share * two.contrasts[0].estimate * three.step / two.step, rel=0.02)

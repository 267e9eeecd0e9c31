"""How exactly numbers leave a site: with all digits of a statistic, whoever reads a result has the site's table."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np
import polars as pl
import pytest
from numpy.typing import NDArray
from scipy import special

import consilience as cs
from consilience.citest.question import Question
from consilience.citest.rounding import LEAST_ALONE, TERM, ToldP, told_statistic
from consilience.federation.transport import LocalTransport
from consilience.protocol.local_tests import LocalTests
from consilience.protocol.messages import Announced
from consilience.settings.choices import Method, SingleSite
from consilience.settings.terms import Terms
from tests.federation.helpers import mixed_clients, mixed_frames, tap

N = 137
TABLE = (41, 31, 24, 41)
"""What one site has of X and Y, and what nobody else should know."""


def sites() -> list[cs.Client]:
    """One site measures X, Y and Z, the other Z and W: what X and Y have to do with each other, one alone can test."""
    rng = np.random.default_rng(7)
    x, y = np.repeat([0, 0, 1, 1], TABLE), np.repeat([0, 1, 0, 1], TABLE)
    one = pl.DataFrame({"X": x, "Y": y, "Z": rng.normal(size=N)})
    other = pl.DataFrame({"Z": rng.normal(size=90), "W": rng.normal(size=90)})
    return [cs.Client("one", one), cs.Client("other", other)]


def every_table(n: int) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Every table of two binary variables with n rows, one of those that differ by names only; and its likelihood ratio."""
    cells = np.stack([axis.ravel() for axis in np.meshgrid(*[np.arange(n + 1)] * 3, indexing="ij")])
    cells = cells[:, cells.sum(0) <= n]
    a, b, c, d = *cells, n - cells.sum(0)
    varied = (np.minimum(a + b, c + d) > 0) & (np.minimum(a + c, b + d) > 0)
    # names of levels and which variable is which change no test: the smallest cell first, then the smaller one beside it
    first = varied & (a <= np.minimum(np.minimum(b, c), d)) & (b <= c)
    found = np.stack([a, b, c, d], axis=1)[first]
    a, b, c, d = found.T.astype(float)
    e = special.xlogy
    ratio = e(a, a) + e(b, b) + e(c, c) + e(d, d) + e(n, n) - e(a + b, a + b) - e(c + d, c + d) - e(a + c, a + c) - e(b + d, b + d)
    return found, np.maximum(2.0 * ratio, 0.0)


def fitting(result: cs.CIResult) -> int:
    """The attack: how many tables with n rows have the numbers that a result tells."""
    _, ratios = every_table(result.n)
    statistics = [d.statistic for d in result.directions if not math.isnan(d.statistic)]
    if statistics:
        return int((np.abs(ratios - statistics[0]) < 1e-8).sum())
    p_values = special.chdtrc(1, ratios * (result.n - 2) / result.n)
    return sum(f"{p:.2e}" == f"{result.p_value:.2e}" for p in p_values)


def numbers(value: Any) -> Iterator[float]:
    if isinstance(value, float) and math.isfinite(value):
        yield value
    elif isinstance(value, dict):
        for item in value.values():
            yield from numbers(item)
    elif isinstance(value, list | tuple):
        for item in value:
            yield from numbers(item)


def test_all_digits_of_a_statistic_are_the_whole_table() -> None:
    """Why there is a rule: in full precision one table fits, and it is the site's."""
    exact = cs.pooled(sites()[:1]).test("X", "Y")
    tables, ratios = every_table(N)
    (fits,) = np.flatnonzero(np.abs(ratios - exact.directions[0].statistic) < 1e-8)
    assert sorted(tables[fits]) == sorted(TABLE)
    assert fitting(exact) == 1


@pytest.mark.parametrize("method", ["fedci", "fisher", "auto"])
def test_of_what_one_site_answers_many_tables_are_possible(method: str) -> None:
    found = cs.Server(sites(), method=method).test("X", "Y")
    exact = cs.pooled(sites()[:1]).test("X", "Y")
    assert (found.contributors, found.n) == (1, N)
    assert found.p_value == float(f"{exact.p_value:.2e}")
    assert fitting(found) >= 10


@pytest.mark.parametrize("method", ["fedci", "residual", "auto"])
def test_no_number_that_one_site_tells_has_more_than_three_digits(method: str) -> None:
    server = cs.Server(sites(), method=method, masking=False)
    sent = tap(server)
    found = server.test("X", "Y", ["Z"])
    assert found.informative
    assert all(value == float(f"{value:.2e}") for value in numbers(found.to_dict()))
    assert all(value == round(value) for value in sent["one"][-1].tolist()), "what leaves the site are whole numbers"
    assert (found.strength, found.sign, found.size, found.in_words()) == (None, None, None, "")
    (row,) = cs.Server(sites(), method=method).test_all(max_given=0).filter(x="X", y="Y").to_dicts()
    assert [row[name] for name in ("statistic_y", "p_value_y", "strength", "size")] == [None] * 4


def test_what_is_decided_by_is_what_was_told() -> None:
    """Rounding may carry a p-value over alpha. Then everybody decides by the rounded one, and sees it."""
    server = cs.Server(sites())
    told = server.test("X", "Y")
    exact = cs.pooled(sites()[:1]).test("X", "Y")
    assert told.p_value != exact.p_value
    for alpha in (told.p_value, exact.p_value):
        found = cs.discover(server, alpha=alpha)
        (row,) = found.tests.filter(pl.col("x") == "X", pl.col("y") == "Y", pl.col("given").list.len() == 0).to_dicts()
        assert row["p_value"] == told.p_value


@pytest.mark.parametrize("log_p", [0.0, -0.004, -3.0, -23.0, -23.1, -1e4, -math.inf])
def test_a_told_p_value_is_two_whole_numbers(log_p: float) -> None:
    told = ToldP.of(log_p)
    assert told == tuple(map(round, told))
    assert told.p_value == max(float(f"{math.exp(log_p):.2e}"), LEAST_ALONE)


def test_results_that_are_published_have_six_digits() -> None:
    found = cs.Server(mixed_clients(3), diagnostics=True).test("A", "C", ["E"]).rounded(6)
    plain = {key: value for key, value in found.to_dict().items() if key not in ("strength", "in_words")}
    assert len(list(numbers(plain))) > 10
    assert all(value == float(f"{value:.5e}") for value in numbers(plain))


@pytest.mark.parametrize("alone", list(SingleSite))
def test_over_a_network_every_site_rounds_its_p_value_whatever_the_server_says_of_the_others(alone: SingleSite) -> None:
    """Both sites have the rows, one is able to test. A server that asks for the sum all the same has the p-value of that one."""
    frames = mixed_frames(2)
    clients = [cs.Client("s0", frames[0]), cs.Client("s1", frames[1].with_columns(B=pl.lit(1.0)))]
    schema, members = cs.Server(clients).schema, [c.identity.fingerprint for c in clients]
    terms = Terms(method=Method.FISHER, network=True, single_site=alone)
    transport = LocalTransport([c.join("0" * 16, schema, terms, members) for c in clients])
    rows = sum(frame.height for frame in frames)
    (found,) = transport.ask(LocalTests((Question("A", "B"),), terms.ordinal, terms.ridge), [Announced(("A", "B"), 2, rows)])
    p = math.exp(-0.5 * found)
    assert 0.0 < p < 1.0, "it is one site's, and no other's"
    assert found == told_statistic(math.log(p)), "three digits, and no more, whatever is done to it"


def pairs(total: float, closely: float) -> int:
    """The attack: how many pairs of p-values of three digits, down to 1e-3, add up to a sum of -2 log p."""
    terms = [-2.0 * math.log(float(f"{digits}e{exponent}")) for digits in range(100, 1000) for exponent in (-3, -4, -5)]
    terms = np.sort([0.0, *terms])
    last = np.searchsorted(terms, total - terms + closely, side="right")
    return int(((last - np.searchsorted(terms, total - terms - closely)).sum() + 1) // 2)


def test_a_sum_over_two_sites_does_not_say_which_p_values_they_had() -> None:
    """With all digits it does: exp(-S/2) is a product of two numbers of three digits, and few have the same one."""
    rng = np.random.default_rng(3)
    exact, told = list[int](), list[int]()
    for p, q in rng.uniform(0.01, 1.0, (20, 2)):
        rounded = [ToldP.of(math.log(one)).p_value for one in (p, q)]
        exact.append(pairs(-2.0 * sum(map(math.log, rounded)), 1e-9))
        told.append(pairs(sum(told_statistic(math.log(one)) for one in (p, q)), TERM))
    assert np.median(exact) <= 12
    assert min(exact) <= 4
    assert min(told) > 100


@pytest.mark.parametrize("digits", [100, 101, 499, 500, 997, 998, 999])
def test_one_term_alone_is_the_p_value_of_three_digits(digits: int) -> None:
    for exponent in range(-12, -2):
        p = max(float(f"{digits}e{exponent}"), LEAST_ALONE)
        assert ToldP.of(-0.5 * told_statistic(math.log(p))).p_value == p

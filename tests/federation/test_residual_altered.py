"""Tests of residuals where sites alter columns that would be about few rows: federated = pooled on the same columns."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
import polars as pl
import pytest

from consilience import Client, Server
from consilience.citest.question import Question
from consilience.data.altered import altered_columns
from consilience.data.basis import Expansion
from consilience.data.coarsening import alterations
from consilience.data.responses import Coded, altered_features, response_columns
from consilience.data.schema import Schema
from consilience.data.table import Rows
from consilience.federation.exchange.residual_sums import expansions_for
from consilience.federation.pooled_residual import PooledResidual
from consilience.glm.kernel import Floats
from consilience.simulate.methods import ask_sites
from tests.disclosure.scenes import AGGREGATE, MIN_CELL

KINDS = {"C": ("binary", ["f", "m"]), "W": "continuous", "X": "continuous", "Y": "continuous", "Z": "continuous"}
GIVEN: tuple[tuple[str, ...], ...] = ((), ("Z",), ("W", "Z"), ("C", "Z"), ("C", "W", "Z"))


def frames(sizes: tuple[int, ...] = (24, 40, 130, 300)) -> dict[str, pl.DataFrame]:
    rng, found = np.random.default_rng(11), dict[str, pl.DataFrame]()
    for k, n in enumerate(sizes):
        z, w = rng.normal(k % 2, 1.0, n), rng.normal(size=n)
        c = np.array(["f", "m"])[(np.arange(n) % 3 > 0).astype(int)]
        x, y = np.sin(2 * z) + 0.3 * w + rng.normal(size=n), z * w + (c == "m") * z + rng.normal(size=n)
        found[f"s{k}"] = pl.DataFrame({"C": c, "W": w, "X": x, "Y": y, "Z": z})
    return found


class Pooled(PooledResidual):
    """The rows of all sites in one place, with the columns that each site makes of its own."""

    def _columns(self, expansion: Expansion, index: Any) -> Floats:
        zero, knots = dict.fromkeys(self._table.numbers, 0.0), self._coded.knots
        made = super()._columns(expansion, index)
        for k in np.unique(self._site[index]):
            here = self._site[index] == k
            rows = Rows(frozenset(), index[here], int(here.sum()))
            altered = alterations(self._table, expansion, rows, knots, zero, MIN_CELL)
            made[here] = altered_columns(self._table, expansion, rows.index, knots, zero, altered)
        return made

    def _responses(self, name: str, index: Any) -> Floats:
        zero = dict.fromkeys(self._table.numbers, 0.0)
        made = super()._responses(name, index)
        for k in np.unique(self._site[index]):
            here = self._site[index] == k
            if self._features and name in self._table.numbers:
                altered = altered_features(self._table, name, index[here], self._coded, zero, MIN_CELL)
                made[here] = response_columns(self._table, name, index[here], self._coded, zero, features=True, altered=altered)
        return made


@pytest.mark.parametrize("alternatives", ["linear", "smooth"])
def test_federated_is_pooled_on_the_altered_columns(alternatives: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("consilience.federation.pooled_residual.expansions_for", partial(expansions_for, nested=True))
    sites = frames()
    server = Server([Client(s, f) for s, f in sites.items()], method="residual", schema=KINDS, alternatives=alternatives, **AGGREGATE)
    asked = [("X", "Y", given) for given in GIVEN]
    found = server.test_many(asked)
    pooled = Pooled(sites, server.schema, features=alternatives == "smooth")
    learnt = server._sums.residual
    pooled._coded = Coded(
        pooled._coded.exponents, learnt.knots, learnt.scores
    )  # counts in cells are folded: here only columns are compared
    assert not any(knots.centred for knots in learnt.knots.values())
    plain = Server([Client(s, f) for s, f in sites.items()], method="residual", schema=KINDS, alternatives=alternatives).test_many(asked)
    for got, wanted, unaltered in zip(found, pooled.test_many(asked), plain, strict=True):
        assert got.n == wanted.n == 494
        assert got.informative
        for one, other in zip(got.directions, wanted.directions, strict=True):
            assert one.df == other.df
            assert one.statistic == pytest.approx(other.statistic, rel=1e-8)
        assert got.p_value == pytest.approx(wanted.p_value, rel=1e-7)
        if got.given:
            assert got.directions[0].statistic != pytest.approx(unaltered.directions[0].statistic, rel=1e-6)


def test_without_rules_nothing_is_altered(monkeypatch: pytest.MonkeyPatch) -> None:
    """``min_cell=1``: no code that alters columns runs, so that results are those of before to the last bit."""

    def never(*_: object) -> None:
        raise AssertionError

    monkeypatch.setattr("consilience.protocol.expanded.alterations", never)
    monkeypatch.setattr("consilience.protocol.expanded.altered_features", never)
    sites = frames((24, 40))
    server = Server([Client(s, f) for s, f in sites.items()], method="residual", schema=KINDS, alternatives="smooth")
    assert server.test("X", "Y", ["Z"]).informative
    with pytest.raises(AssertionError):
        Server([Client(s, f) for s, f in sites.items()], method="residual", schema=KINDS, **AGGREGATE).test("X", "Y", ["Z"])


SMALL = Schema(dict.fromkeys("XYZ", "continuous"))


def rejected(rules: dict[str, Any], effect: float, studies: int) -> int:
    """In how many studies of four sites with 40 rows independence given Z is rejected at 0.05; both means are sin 2Z."""
    rng, count = np.random.default_rng(3), 0
    for _ in range(studies):
        sites = dict[str, pl.DataFrame]()
        for k in range(4):
            z, e = rng.normal(size=40), rng.normal(size=40)
            sites[f"s{k}"] = pl.DataFrame({"X": np.sin(2 * z) + e, "Y": np.sin(2 * z) + effect * e + rng.normal(size=40), "Z": z})
        (found,) = ask_sites(sites, SMALL, [Question("X", "Y", ("Z",))], method="residual", **rules)
        count += found.p_value < 0.05
    return count


@pytest.mark.slow
def test_small_sites_keep_level_and_power() -> None:
    """Of 400 studies 6% are rejected with the rules where 5% are without, and 83% where 80% are if there is an effect of a quarter."""
    assert rejected(AGGREGATE, 0.0, 60) <= 9  # 99.9% of binomial counts of 60 with 0.06
    assert rejected(AGGREGATE, 0.4, 20) >= 17

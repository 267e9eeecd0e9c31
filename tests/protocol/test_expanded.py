"""What a site keeps of its columns is made once, and changes no number that leaves it."""

from __future__ import annotations

import numpy as np
import pytest

from consilience.citest.result import CIResult
from consilience.data.basis import Expansion, curves_of
from consilience.data.responses import Coded
from consilience.data.schema import Schema
from consilience.data.spline import Knots
from consilience.data.table import Table
from consilience.glm.kernel import Floats
from consilience.protocol import expanded
from consilience.protocol.desk import CACHE_BYTES, Desk
from consilience.protocol.mean_products import MeanProducts, MeanSet
from consilience.simulate import mixed_sites

SCHEMA = Schema({"A": "continuous", "B": "continuous", "C": "binary", "D": ("ordinal", "1234"), "E": ("multinomial", "pqrs")})
"""The variables of :func:`consilience.simulate.mixed_sites`."""
SETS = (("A",), ("A", "B"), ("A", "C"), ("A", "B", "C"), ("B", "C"), ("C", "E"))


def no_tests(*_: object) -> list[CIResult]:
    raise AssertionError("a site's own tests are not asked for")


def desk(cache_bytes: int = CACHE_BYTES) -> Desk:
    frame = next(iter(mixed_sites(n=600, sites=2, seed=1).values()))
    return Desk(Table(frame, SCHEMA, "muenster"), no_tests, no_tests, cache_bytes)


def request(at: Desk, *, features: bool) -> MeanProducts:
    ladders = {name: np.quantile(at.table.numbers[name], np.linspace(0.0, 1.0, 49)) for name in "AB"}
    coded = Coded({"A": 0, "B": 0}, {name: Knots(tuple(ladder.tolist())) for name, ladder in ladders.items()}, {"D": (0.1, 0.4, 0.6, 0.9)})
    sets = tuple(MeanSet(given, Expansion(given, 12, 1), tuple(v for v in "ABDE" if v not in given)) for given in SETS)
    return MeanProducts(sets, coded, slopes=True, features=features)


@pytest.mark.parametrize("features", [False, True])
def test_what_is_kept_changes_no_number(features: bool) -> None:
    asked = request(desk(), features=features)
    alone = [MeanProducts((each,), asked.coded, slopes=True, features=features) for each in asked.sets]
    whole = desk().answer(asked)
    np.testing.assert_array_equal(whole, np.concatenate([desk().answer(each) for each in alone]))
    np.testing.assert_array_equal(whole, desk(cache_bytes=0).answer(asked))


def test_the_curves_of_a_variable_are_made_once_for_all_models(monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[tuple[str, int]] = []

    def counted(table: Table, name: str, pieces: int, *rest: object) -> Floats:
        made.append((name, pieces))
        return curves_of(table, name, pieces, *rest)  # type: ignore[arg-type]

    monkeypatch.setattr(expanded, "curves_of", counted)
    at = desk()
    at.answer(request(at, features=False))
    assert sorted(made) == [("A", 1), ("A", 12), ("B", 1), ("B", 12)]

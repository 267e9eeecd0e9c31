"""What is said on linear models: of one test, of all, and in words."""

from __future__ import annotations

import json

import pytest

from consilience.citest.diagnostics import Diagnosis, Diagnostics, doubtful
from consilience.citest.result import CIResult, to_frame


def test_the_smallest_check_counts_once_for_each_that_was_made() -> None:
    assert Diagnostics().linear_p is None
    assert Diagnostics(0.2).linear_p == pytest.approx(0.2)
    assert Diagnostics(0.2, 0.01, 0.9).linear_p == pytest.approx(0.03)
    assert Diagnostics(0.9, 0.8).linear_p == 1.0


def test_holm_goes_on_until_the_first_that_is_too_large() -> None:
    assert doubtful([]) == []
    assert doubtful([None, None]) == [False, False]
    assert doubtful([0.02, 0.011, 0.2, 0.04]) == [False, True, False, False]
    assert doubtful([0.012, 0.01, 0.025, 0.05]) == [True, True, True, True]
    assert doubtful([0.0501]) == [False]


@pytest.mark.parametrize(
    ("said", "words"),
    [
        (Diagnosis(0, 0, 0), "there are no tests, so no linear model to look at"),
        (Diagnosis(7, 0, 0), "whether linear models hold was not looked at"),
        (Diagnosis(1, 1, 0), "nothing speaks against the linear model in 1 test"),
        (Diagnosis(80, 75, 12), "in 12 of 75 tests the linear model does not hold: use method='residual'"),
        (Diagnosis(80, 80, 3, 3), "in 3 of 80 tests the linear model does not hold: method='residual' answers there"),
        (
            Diagnosis(80, 80, 2, 3),
            "method='residual' answers 3 of 80 tests, where the linear model does not hold, or counts are in too few rows to tell",
        ),
    ],
)
def test_there_is_always_a_true_sentence(said: Diagnosis, words: str) -> None:
    assert str(said) == words


def test_a_result_carries_it_into_tables_and_json() -> None:
    told = Diagnostics(0.25, None, 1e-6, 0.875)
    results = [CIResult("A", "B", (), 0.5, diagnostics=told, method="fedci"), CIResult("A", "C", (), 0.5)]
    frame = to_frame(results)
    assert frame["linear_p"].to_list() == [told.linear_p, None]
    assert frame.select("curvature_p", "variance_p", "slopes_p", "i_squared", "method").rows() == [
        (0.25, None, 1e-6, 0.875, "fedci"),
        (None, None, None, None, None),
    ]
    plain = json.loads(json.dumps(results[0].to_dict()))
    assert Diagnostics(**plain["diagnostics"]) == told
    assert results[1].to_dict()["diagnostics"] is None

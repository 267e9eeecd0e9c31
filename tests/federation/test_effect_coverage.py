"""Intervals of effects have the truth in them about as often as they say; ``benchmarks/effect_coverage.py`` does 500 studies a kind."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from tests.federation.effect_studies import OUTCOMES, Covered, coverage

STUDIES = 60


@pytest.mark.slow
@pytest.mark.parametrize("outcome", OUTCOMES)
def test_intervals_cover_and_standard_errors_are_those_of_estimates(outcome: str) -> None:
    """Bounds that right intervals break in one of a thousand runs; standard errors within a third of how estimates scatter."""
    by_name: dict[str, list[Covered]] = {}
    for one in coverage(outcome, STUDIES, seed=7):
        by_name.setdefault(one.name, []).append(one)
    assert len(by_name) == (3 if outcome == "ordinal" else 1)
    fewest = stats.binom.ppf(0.0005, STUDIES, 0.95)
    for found in by_name.values():
        errors, ses = np.array([one.error for one in found]), np.array([one.se for one in found])
        assert sum(one.covered for one in found) >= fewest
        assert ses.mean() == pytest.approx(errors.std(), rel=1 / 3)
        assert abs(errors.mean()) < 4 * errors.std() / STUDIES**0.5

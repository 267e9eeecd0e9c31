"""Real tables at time limits that are far too short, and at one that is not: what is said is true."""

from __future__ import annotations

import pytest

import consilience as cs
from tests.data.real_tables import RealStudy, studies
from tests.iod.said import check_sentences


@pytest.mark.slow
@pytest.mark.parametrize("study", studies(most=8), ids=str)
def test_no_sentence_is_false_whenever_the_search_is_ended(study: RealStudy) -> None:
    found = cs.discover(cs.pooled(study.clients()), time_limit=0.01)
    check_sentences(found)
    for alpha in (0.05, 0.01):
        for seconds in (0.01, 1.0):
            check_sentences(found.redecide(alpha=alpha, time_limit=seconds))

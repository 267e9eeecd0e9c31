"""Real tables at time limits that are far too short, and at one that is not: what is said is true."""

from __future__ import annotations

import pytest

import consilience as cs
from consilience.iod.headline import all_agree
from tests.data.real_tables import RealStudy, studies
from tests.iod.said import check_sentences


@pytest.mark.slow
@pytest.mark.parametrize("study", studies(), ids=str)
def test_a_summary_says_what_it_hangs_on(study: RealStudy) -> None:
    """On every table, ended at once or soon: there is an answer, and what it shares is said under its condition.

    ``benchmarks/iod_real.py --sentences`` does the same with ten seconds.
    """
    first = cs.discover(study.pooled(), time_limit=0.01)
    for found in (first, first.redecide(alpha=0.01, time_limit=0.01), first.redecide(time_limit=1.0)):
        check_sentences(found)
        assert found.pags
        assert str(found.summary).startswith("if the") == (not all_agree(found))
        assert str(cs.Discovery.from_dict(found.to_dict()).summary) == str(found.summary)


@pytest.mark.slow
@pytest.mark.parametrize("study", studies(most=8), ids=str)
def test_no_sentence_is_false_whenever_the_search_is_ended(study: RealStudy) -> None:
    found = cs.discover(study.pooled(), time_limit=0.01)
    check_sentences(found)
    for alpha in (0.05, 0.01):
        for seconds in (0.01, 1.0, 10.0):
            check_sentences(found.redecide(alpha=alpha, time_limit=seconds))

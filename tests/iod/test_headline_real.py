"""Real tables at time limits that are far too short, and at one that is not: what is said is true."""

from __future__ import annotations

import pytest

import consilience as cs
from consilience.iod.headline import all_agree
from tests.data.real_tables import RealStudy, studies
from tests.iod.said import check_sentences

LARGEST = {study.table: study for study in studies()}
"""Of every table, the cut with the most variables."""
LIMITS = {0.05: (1.0,), 0.01: (0.01,)}
"""Levels, and the seconds that another search may take."""
LONGER = {0.05: (0.01, 1.0, 10.0), 0.01: (0.01, 1.0, 10.0)}
"""Of tables with up to eight variables."""


@pytest.mark.slow
@pytest.mark.parametrize("study", dict.fromkeys([*studies(most=8), *LARGEST.values()]), ids=str)
def test_no_sentence_is_false_whenever_the_search_is_ended(study: RealStudy) -> None:
    """On every table, cut to eight variables and to the most there are, ended at once, soon or later: there is an answer, and what it
    shares is said under its condition.

    ``benchmarks/iod_real.py --sentences`` does the same with every cut and ten seconds for all of them, and reads the whole page.
    """
    first = cs.discover(study.pooled(), time_limit=0.01)
    others = LONGER if study.n <= 8 else LIMITS
    for found in (first, *(first.redecide(alpha=alpha, time_limit=limit) for alpha in others for limit in others[alpha])):
        check_sentences(found, whole=False)
        assert found.pags
        assert str(found.summary).startswith("if the") == (not all_agree(found))
        assert str(cs.Discovery.from_dict(found.to_dict()).summary) == str(found.summary)

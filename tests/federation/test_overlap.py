"""Which pairs a study can test, for every number of sites and every way to deal with few."""

from __future__ import annotations

import pytest

from consilience.federation.overlap import Fate, overlap_of
from consilience.settings import NetworkSettings, SingleSite


@pytest.mark.parametrize(
    ("sites", "least", "single", "fate"),
    [
        (0, 2, SingleSite.LOCAL, Fate.NEVER),
        (1, 2, SingleSite.LOCAL, Fate.ALONE),
        (1, 2, SingleSite.REFUSE, Fate.TOO_FEW),
        (2, 2, SingleSite.LOCAL, Fate.TOGETHER),
        (2, 3, SingleSite.LOCAL, Fate.TOO_FEW),
        (1, 3, SingleSite.LOCAL, Fate.ALONE),
        (3, 3, SingleSite.REFUSE, Fate.TOGETHER),
    ],
)
def test_the_fate_of_a_pair(sites: int, least: int, single: SingleSite, fate: Fate) -> None:
    settings = NetworkSettings(min_contributors=least, single_site=single)
    found = overlap_of("AB", [{"A", "B"}] * sites + [{"A"}, {"B"}], settings, by_site=True)
    assert [(pair.count, pair.fate) for pair in found.pairs] == [(sites, fate)]


def test_declared_sets_do_not_say_how_many_sites_there_are() -> None:
    found = overlap_of("ABC", [{"A", "B"}], NetworkSettings(min_contributors=3), by_site=False)
    assert [(pair.x, pair.y, pair.fate) for pair in found.pairs] == [
        ("A", "B", Fate.TOGETHER),
        ("A", "C", Fate.NEVER),
        ("B", "C", Fate.NEVER),
    ]
    assert found.of(Fate.TOGETHER)[0].count == 1

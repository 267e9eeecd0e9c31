"""Who holds what."""

from __future__ import annotations

import pytest

import consilience as cs
from consilience.simulate import from_graph, split_rows, split_variables


@pytest.mark.parametrize(("n", "sites"), [(5000, 4), (500, 12), (7, 7), (1000, 1)])
def test_rows_are_split_evenly_and_none_is_lost(n: int, sites: int) -> None:
    rows = split_rows(n, sites)
    assert sum(rows) == n
    assert len(rows) == sites
    assert max(rows) - min(rows) <= 1


def test_the_papers_example() -> None:
    made = from_graph("A --> B, B --> C, C --> D, D --> E", n=5000, sites=4, seed=1, exclusive="AE")
    assert [(frame.height, "".join(frame.columns)) for frame in made.frames.values()] == [(1250, "ABCD"), (1250, "BCDE")] * 2
    assert [client.name for client in made.clients()] == ["site1", "site2", "site3", "site4"]
    assert made.oracle().test("A", "E").informative is False


def test_three_exclusive_variables_and_none() -> None:
    assert ["".join(held) for held in split_variables("ABCD", "ACD", 4)] == ["AB", "BC", "BD", "AB"]
    assert set(split_variables("ABCD", "", 3)) == {tuple("ABCD")}


def test_bad_partitions() -> None:
    with pytest.raises(cs.errors.OptionError, match="n must be a number of at least 4"):
        split_rows(3, 4)
    for exclusive, sites, words in (("AZ", 4, "some of"), ("A", 4, "Two or more"), ("AA", 4, "Two or more"), ("ABC", 2, "needs a site")):
        with pytest.raises(cs.errors.OptionError, match=words):
            split_variables("ABCD", exclusive, sites)

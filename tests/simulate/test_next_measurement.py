"""What to measure next, against searching anew with each graph of the list as the truth and each site with one variable more."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

import consilience as cs
from consilience.graph import MAG, PAG, Oracle, is_valid_pag
from consilience.graph.errors import UnknownNodeError
from consilience.graph.members import member_marks
from consilience.simulate import next_measurement, random_pag


def open_ends(pags: tuple[PAG, ...]) -> int:
    """Ends about which graphs disagree, by asking each pair of variables in turn."""
    names = pags[0].labels
    return sum(len({pag.mark(a, b) for pag in pags}) > 1 for a in names for b in names if a != b)


def searched(pags: tuple[PAG, ...], sites: dict[str, str]) -> tuple[float, int, float]:
    """On average and at worst how much stays open, and how many graphs, if each graph in turn is the truth; by discovery."""
    lists = [cs.discover(Oracle(truth, sites.values()), limit=None, time_limit=None).pags for truth in pags]
    assert all(truth in found for truth, found in zip(pags, lists, strict=True))
    left = [open_ends(found) for found in lists]
    return float(np.mean(left)), max(left), float(np.mean([len(found) for found in lists]))


CASES = [
    ("A o-> C, B o-> C, C --> D", {"one": "ABC", "two": "BCD"}),
    ("A o-> C, B o-> C, C --> D, D --> E", {"north": "ABC", "south": "BCD", "west": "CDE"}),
    ("A o-o B, B o-o C", {"one": "AB", "two": "BC"}),
]


@pytest.mark.slow
@pytest.mark.parametrize(("text", "sites"), [*CASES, *((seed, {"one": "ABCD", "two": "BCDE"}) for seed in range(4))])
def test_the_same_as_searching_anew_with_every_graph_as_the_truth(text: str | int, sites: dict[str, str]) -> None:
    truth = PAG.parse(text) if isinstance(text, str) else random_pag(5, seed=text)
    found = cs.discover(Oracle(truth, sites.values()), limit=None, time_limit=None)
    told = next_measurement(found, sites)
    assert told.open == open_ends(found.pags) == told.rows_alone
    assert told.graphs == len(found.pags)
    asked = [(site, name) for site, has in sites.items() for name in truth.labels if name not in has]
    assert sorted(told.table.select("site", "variable").rows()) == sorted(asked)
    for row in told.table.iter_rows(named=True):
        larger = {site: has + row["variable"] * (site == row["site"]) for site, has in sites.items()}
        mean, most, graphs = searched(found.pags, larger)
        assert (row["open"], row["most"], row["graphs"]) == (pytest.approx(mean), most, pytest.approx(graphs)), row
        assert row["settled"] == pytest.approx(told.open - mean)
    assert told.table["open"].is_sorted()


def test_a_site_that_measures_all_settles_all_that_can_be() -> None:
    truth = PAG.parse("A o-> C, B o-> C, C --> D")
    found = cs.discover(Oracle(truth, ["ABC", "BCD"]))
    best = next_measurement(found, {"one": "ABC", "two": "BCD", "other": "BCD"}).table
    assert best.select("variable", "site", "open", "graphs").rows() == [
        ("A", "other", 0.0, 1.0),
        ("A", "two", 0.0, 1.0),
        ("D", "one", 0.0, 1.0),
    ]


def test_only_variables_that_could_be_measured() -> None:
    found = cs.discover(Oracle(PAG.parse("A o-> C, B o-> C, C --> D"), ["ABC", "BCD"]))
    told = next_measurement(found, variables="A")
    assert told.table.select("site", "variable").rows() == [("B, C, D", "A")]


def test_graphs_that_contradict_each_other_in_what_was_measured() -> None:
    """As where decisions were overruled: more rows alone tell them apart."""
    told = next_measurement([PAG.parse("A o-o B, C"), PAG.parse("A, B, C"), PAG.parse("A, B o-o C")], {"one": "AB", "two": "AC"})
    assert (told.open, told.rows_alone) == (4, pytest.approx(2 / 3 * 2))
    best = told.table.row(0, named=True)
    assert (best["variable"], best["open"]) == ("B", 0.0)


def test_nothing_is_open() -> None:
    found = cs.discover(Oracle(PAG.parse("A o-> C, B o-> C"), ["ABC"]))
    assert str(next_measurement(found)) == "0 marks are open in 1 graph"
    assert next_measurement(found).table.schema == next_measurement(found, {"x": "AB"}).table.schema
    two = [PAG.parse("A o-o B"), PAG.parse("A, B")]
    assert str(next_measurement(two, {"x": "AB"})) == "2 marks are open in 2 graphs; every site measures every variable"


def test_a_list_that_was_cut_short_says_so() -> None:
    found = cs.discover(Oracle(PAG.parse("A o-o B, B o-o C, C o-o D"), ["AB", "BC", "CD"]), limit=3)
    told = next_measurement(found)
    assert not told.complete
    assert "and there are more graphs than these" in str(told)


@pytest.mark.slow
def test_processes_change_nothing() -> None:
    found = cs.discover(Oracle(PAG.parse("A o-> C, B o-> C, C --> D, D --> E"), ["ABC", "BCD", "CDE"]))
    assert next_measurement(found, jobs=2).table.equals(next_measurement(found).table)


@pytest.mark.slow
def test_the_same_as_searching_anew_with_knowledge() -> None:
    """Graphs have marks that their classes do not share; what each says about independence is said by a MAG that has these marks."""
    known = cs.Knowledge(required=["A --> C"])
    sites = {"north": "ABC", "south": "BCD", "west": "CDE"}
    found = cs.discover(Oracle(PAG.parse("A o-> C, B o-> C, C --> D, D --> E"), sites.values()), knowledge=known)
    assert len(found.pags) > 1
    assert not all(map(is_valid_pag, found.pags))
    told = next_measurement(found, sites)
    for row in told.table.iter_rows(named=True):
        larger = [has + row["variable"] * (site == row["site"]) for site, has in sites.items()]
        truths = [MAG.from_working(member_marks(pag.working()), pag.labels) for pag in found.pags]
        left = [open_ends(cs.discover(Oracle(truth, larger), knowledge=known).pags) for truth in truths]
        assert (row["open"], row["most"]) == (pytest.approx(np.mean(left)), max(left)), row


def test_progress_is_told_and_can_cancel() -> None:
    found = cs.discover(Oracle(PAG.parse("A o-> C, B o-> C, C --> D, D --> E"), ["ABC", "BCD", "CDE"]))
    steps: list[tuple[int, int]] = []
    next_measurement(found, progress=lambda done, of: steps.append((done, of)))
    assert steps == [(k, 4) for k in range(1, 5)]  # ABCD and BCDE come from either side

    def cancel(done: int, _: int) -> None:
        if done == 2:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        next_measurement(found, progress=cancel)


def test_bad_input() -> None:
    pags = [PAG.parse("A o-o B")]
    with pytest.raises(cs.errors.OptionError, match="who measures what"):
        next_measurement(pags)
    with pytest.raises(cs.errors.OptionError, match="there is none in this list"):
        next_measurement([], {"x": "AB"})
    with pytest.raises(UnknownNodeError, match="got 'C'"):
        next_measurement(pags, {"x": "ABC"})
    with pytest.raises(UnknownNodeError, match="got 'C'"):
        next_measurement(pags, {"x": "A"}, variables="C")


def test_the_table_has_its_columns_and_is_sorted() -> None:
    found = cs.discover(Oracle(PAG.parse("A o-o B, B o-o C, C o-o D"), ["AB", "BC", "CD"]))
    table = next_measurement(found).table
    assert table.columns == ["site", "variable", "open", "settled", "most", "graphs"]
    assert table.equals(table.sort(pl.col("open")))

"""Power for graphs: against studies that are done one by one, against theory, and what is said of it."""

from __future__ import annotations

from itertools import combinations, permutations

import numpy as np
import polars as pl
import pytest
from scipy import stats

import consilience as cs
from consilience.data.kinds import Kind
from consilience.graph import DAG, MAG, PAG, Oracle
from consilience.graph.errors import UnknownNodeError
from consilience.simulate import GraphPower, Model, graph_power, random_model
from consilience.simulate.randomness import generator
from consilience.simulate.sites import as_mag

Y_GRAPH = "A o-> C, B o-> C, C --> D"
SITES = {"north": "ABC", "south": "BCD", "west": "ABC", "east": "BCD"}


def edge_status(pags: tuple[PAG, ...], x: str, y: str) -> str:
    having = sum(pag.adjacent(x, y) for pag in pags)
    return "all" if having == len(pags) else "some" if having else "none"


def mark_status(pags: tuple[PAG, ...], x: str, y: str, truth: PAG) -> str:
    marks = {pag.mark(x, y).name for pag in pags}
    if marks == {"NONE"}:
        return "absent"
    if len(marks) > 1 or marks <= {"CIRCLE"}:
        return "open"
    return "right" if marks == {truth.mark(x, y).name} else "wrong"


def studies_one_by_one(text: str, sites: dict[str, str], rows: int, seeds: list[tuple[int, int]]) -> list[tuple[PAG, ...]]:
    """The lists of studies with servers, clients, keys and masks."""
    mag, lists = as_mag(text), []
    for seed in seeds:
        rng = generator(seed)
        model = random_model(mag, len(sites), rng)
        complete = model.sample([rows] * len(sites), rng)
        clients = []
        for (name, held), frame in zip(sites.items(), complete, strict=True):
            kinds = {v: model.schema[v].kind for v in held}
            levels = {v: model.schema[v].levels for v in held if model.schema[v].levels}
            clients.append(cs.Client(name, frame.select(list(held)), kinds=kinds, levels=levels))
        lists.append(cs.discover(cs.Server(clients)).pags)
    return lists


@pytest.mark.slow
def test_shares_are_those_of_studies_done_one_by_one() -> None:
    told = graph_power(Y_GRAPH, sites=SITES, rows=150, replications=8, seed=5)
    lists = studies_one_by_one(Y_GRAPH, SITES, 150, [(5, k) for k in range(8)])
    truth = PAG.parse(Y_GRAPH)
    unlimited = cs.discover(Oracle(truth, SITES.values())).pags
    assert (told.truth, told.studies, told.listed) == (truth, 8, sum(truth in pags for pags in lists))
    assert told.edges.select("x", "y").rows() == list(combinations("ABCD", 2))
    for row in told.edges.iter_rows(named=True):
        seen = [edge_status(pags, row["x"], row["y"]) for pags in lists]
        assert row["unlimited"] == edge_status(unlimited, row["x"], row["y"])
        assert (row["in_all"], row["in_some"]) == (seen.count("all") / 8, seen.count("some") / 8)
        assert bool(row["edge"]) is truth.adjacent(row["x"], row["y"])
    ends = [(x, y) for x, y in permutations("ABCD", 2) if truth.adjacent(x, y)]
    assert sorted(told.marks.select("x", "y").rows()) == ends
    for row in told.marks.iter_rows(named=True):
        seen = [mark_status(pags, row["x"], row["y"], truth) for pags in lists]
        assert row["unlimited"] == mark_status(unlimited, row["x"], row["y"], truth)
        assert row["mark"] == truth.mark(row["x"], row["y"]).name.lower()
        assert [row[what] for what in ("right", "wrong", "open", "absent")] == [
            seen.count(what) / 8 for what in ("right", "wrong", "open", "absent")
        ]


def linear(text: str, coefficients: dict[tuple[str, str], float], sites: int) -> Model:
    """A model of continuous variables without site effects."""
    dag = DAG.parse(text)
    schema = cs.Schema(dict.fromkeys(dag.labels, "continuous"))
    weights = {child: {parent: np.array([[coefficients[parent, child]]]) for parent in dag.parents(child)} for child in dag.labels}
    return Model(dag, schema, weights, {name: np.zeros((sites, 1)) for name in dag.labels})


@pytest.mark.slow
def test_an_edge_is_found_as_often_as_theory_says_of_its_test() -> None:
    """Two sites of 30 rows: t² ~ noncentral F(1, 57) with noncentrality β² Σ (x - x̄_site)², about 58 β²."""
    found = graph_power(linear("A --> B", {("A", "B"): 0.4}, 2), sites=2, rows=30, replications=150, seed=7)
    expected = stats.ncf.sf(stats.f.isf(0.05, 1, 57), 1, 57, 58 * 0.16)
    row = found.edges.row(0, named=True)
    assert row["low"] - 0.02 <= expected <= row["high"] + 0.02
    assert found.listed / 150 == row["in_all"]


@pytest.mark.slow
def test_more_rows_find_more_up_to_what_the_design_allows() -> None:
    kinds = dict.fromkeys("ABCD", "continuous")
    few, many = (graph_power(Y_GRAPH, sites=SITES, rows=rows, kinds=kinds, replications=15) for rows in (40, 1000))
    assert few.edges.filter(edge="A o-> C")["in_all"].item() < many.edges.filter(edge="A o-> C")["in_all"].item()
    assert few.listed < many.listed
    # no site measures A and D together: an edge between them is in some graphs, however many rows there are
    row = many.edges.filter(x="A", y="D").row(0, named=True)
    assert (row["edge"], row["unlimited"]) == ("", "some")
    assert row["in_some"] > 0.9
    assert "no edge between A and D: one in all graphs in" in str(many)
    assert "in some with unlimited rows, too" in str(many)


def test_what_no_site_measures_is_latent() -> None:
    dag = DAG.parse("L --> A, L --> B, C --> A, D --> B")
    found = graph_power(dag, sites={"one": "ABCD", "two": "ABCD"}, rows=60, replications=2)
    assert found.truth == PAG.parse("A <-> B, C o-> A, D o-> B")
    assert found.sites == {"one": ("A", "B", "C", "D"), "two": ("A", "B", "C", "D")}
    model = random_model(MAG.parse("A <-> B, C --> A, D --> B"), 2, seed=1)
    assert graph_power(model, sites=2, rows=60, replications=1).truth == found.truth


def test_seeds_and_stopping() -> None:
    options = {"sites": 2, "rows": 60, "kinds": dict.fromkeys("AB", Kind.CONTINUOUS), "seed": 3}
    steps: list[tuple[int, int]] = []
    one = graph_power("A o-o B", replications=3, progress=lambda done, of: steps.append((done, of)), **options)  # type: ignore[arg-type]
    assert steps == [(k, 3) for k in range(1, 4)]
    stopped = graph_power("A o-o B", replications=3, stop=lambda: True, **options)  # type: ignore[arg-type]
    assert stopped.studies == 1
    again = graph_power("A o-o B", replications=3, **options)  # type: ignore[arg-type]
    assert again.edges.equals(one.edges)

    def cancel(done: int, _: int) -> None:
        if done == 2:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        graph_power("A o-o B", replications=3, progress=cancel, **options)  # type: ignore[arg-type]


@pytest.mark.slow
def test_processes_change_nothing_and_can_be_stopped() -> None:
    options = {"sites": 2, "rows": 60, "seed": 3, "replications": 6}
    one, two = (graph_power("A o-> C, B o-> C", jobs=jobs, **options) for jobs in (1, 2))  # type: ignore[arg-type]
    assert one.edges.equals(two.edges)
    assert one.marks.equals(two.marks)
    steps: list[int] = []
    stopped = graph_power(
        "A o-> C, B o-> C",
        jobs=2,
        progress=lambda done, _: steps.append(done),
        stop=lambda: len(steps) == 2,
        **options,  # type: ignore[arg-type]
    )
    assert stopped.studies == 2


def test_words_and_plain_values() -> None:
    edges = pl.DataFrame(
        [
            {"x": "A", "y": "C", "edge": "A o-> C", "unlimited": "all", "in_all": 0.75, "low": 0.3, "high": 0.95, "in_some": 0.25},
            {"x": "A", "y": "D", "edge": "", "unlimited": "some", "in_all": 0.0, "low": 0.0, "high": 0.5, "in_some": 1.0},
            {"x": "C", "y": "D", "edge": "", "unlimited": "none", "in_all": 0.0, "low": 0.0, "high": 0.5, "in_some": 0.0},
        ]
    )
    interval = {"low": 0.15, "high": 0.85}
    ends = [
        {"x": "C", "y": "A", "mark": "circle", "unlimited": "open", "right": 0.0, **interval, "wrong": 0.25, "open": 0.75, "absent": 0.0},
        {"x": "A", "y": "C", "mark": "arrow", "unlimited": "open", "right": 0.5, **interval, "wrong": 0.0, "open": 0.5, "absent": 0.0},
    ]
    told = GraphPower(edges, pl.DataFrame(ends), PAG.parse("A o-> C, D"), {"one": ("A", "C", "D")}, (50,), 4, 2)
    assert str(told).splitlines() == [
        "In 50% (15% to 85%) of 4 simulated studies the true graph is in the list.",
        "A o-> C: in all graphs in 75% (30% to 95%), in some in 25%",
        "  at A: rightly open in 75%, wrongly certain in 25%",
        "  arrowhead at C: right in 50% (15% to 85%), wrong in 0%, open in 50%; open with unlimited rows, too",
        "no edge between A and D: one in all graphs in 0% (0% to 50%), in some in 100%; in some with unlimited rows, too",
    ]
    plain = told.to_dict()
    assert (plain["truth"], plain["listed"]["share"], len(plain["marks"])) == ("A o-> C, D", 0.5, 2)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"replications": 0}, "replications"),
        ({"rows": [50]}, "for each of 2 sites"),
        ({"rows": 1}, "rows"),
        ({"sites": {}}, "needs a site"),
        ({"sites": {"one": "AB"}, "exclusive": "AB"}, "go with a number of sites"),
        ({"alpha": 2.0}, "alpha"),
        ({"colour": "red"}, "no setting 'colour'"),
        ({"truth": linear("A --> B", {("A", "B"): 0.4}, 3)}, "The model has 3 sites"),
        ({"truth": linear("A --> B", {("A", "B"): 0.4}, 2), "kinds": {"A": "binary"}}, "leave kinds out"),
    ],
)
def test_bad_input(options: dict[str, object], words: str) -> None:
    with pytest.raises(cs.errors.OptionError, match=words):
        graph_power(**{"truth": "A o-o B", "sites": 2, "rows": 30, "replications": 1, **options})  # type: ignore[arg-type]


def test_a_site_that_measures_what_is_not_there() -> None:
    with pytest.raises(UnknownNodeError, match="got 'Z'"):
        graph_power("A o-o B", sites={"one": "ABZ"}, rows=30, replications=1)

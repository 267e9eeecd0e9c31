"""Models: separations of the diagram, margins, coefficients, and the same data on every machine."""

from __future__ import annotations

import math
from hashlib import sha256
from itertools import combinations

import numpy as np
import polars as pl
import pytest

import consilience as cs
from consilience.graph import MAG, canonical_dag, m_separated
from consilience.reproduction.design import Run, study_graphs
from consilience.simulate import from_graph, random_kinds, random_mag, random_model
from consilience.simulate.scm import Model

DIAMOND = MAG.parse("A --> B, A --> C, B --> D, C --> D, B <-> C")


def test_the_canonical_diagram_has_the_separations_of_the_mag() -> None:
    for seed in range(25):
        mag = random_mag(5, seed, directed=0.35, bidirected=0.5)
        dag = canonical_dag(mag)
        for x, y in combinations(mag.labels, 2):
            others = [v for v in mag.labels if v not in (x, y)]
            for size in range(4):
                for given in combinations(others, size):
                    assert m_separated(dag, x, y, given) == m_separated(mag, x, y, given)


def model_of(kinds: str, *, sites: int = 3, seed: int = 1, mag: MAG = DIAMOND) -> Model:
    names = {"c": "continuous", "b": "binary", "o": "ordinal", "m": "multinomial"}
    return random_model(mag, sites, seed, kinds={v: names[k] for v, k in zip(mag.labels, kinds, strict=True)})


def test_coefficients_lie_where_the_paper_has_them() -> None:
    model = model_of("mobc")
    assert model.coefficients["B"]["A"].shape == (4, 1)
    assert model.coefficients["D"]["B"].shape == (4, 1)
    for child, parents in model.coefficients.items():
        for parent, weights in parents.items():
            discrete = parent in model.schema and model.schema[parent].kind.is_discrete
            assert np.all(weights[0] == 0.0) if discrete else np.all(weights[0] != 0.0), (child, parent)
            drawn = np.abs(weights[1:] if discrete else weights)
            assert ((drawn >= 0.2) & (drawn <= 1.0)).all()
    for shifts in model.shifts.values():  # the first site is the reference, every other one shifts every variable
        assert (shifts[0] == 0.0).all()
        assert ((np.abs(shifts[1:]) >= 0.2) & (np.abs(shifts[1:]) <= 1.0)).all()
    assert set(model.shifts) == set("ABCD")  # the latent cause of B and C has none
    assert model.coefficients["L(B,C)"] == {}


def test_margins_of_variables_without_parents() -> None:
    n = 40_000
    for kind, expected in (("b", [0.5, 0.5]), ("o", [0.25] * 4), ("m", [0.25] * 4)):
        frame = model_of(kind, sites=2, mag=MAG.parse("A")).sample([n, n], seed=5)[0]
        shares = [count / n for _, count in sorted(frame["A"].value_counts().iter_rows())]
        assert shares == pytest.approx(expected, abs=0.012)
    model = model_of("c", sites=2, mag=MAG.parse("A"))
    first, second = model.sample([n, n], seed=5)
    assert first["A"].mean() == pytest.approx(0.0, abs=0.03)
    assert second["A"].mean() == pytest.approx(model.shifts["A"][1, 0], abs=0.03)
    assert second["A"].std() == pytest.approx(1.0, abs=0.02)


def sigmoid(x: np.ndarray) -> np.ndarray:
    return 1.0 / (1.0 + np.exp(-x))


def test_a_shifted_margin_of_every_discrete_kind() -> None:
    """At the second site η is the site's coefficient; shares follow from the formulas in the module's docstring."""
    n = 60_000
    for kind in "bom":
        model = model_of(kind, sites=2, mag=MAG.parse("A"), seed=9)
        eta = model.shifts["A"][1]
        if kind == "b":
            expected = np.array([1 - sigmoid(eta[0]), sigmoid(eta[0])])
        elif kind == "o":
            expected = np.diff([0.0, *sigmoid(np.log([1 / 3, 1.0, 3.0]) - eta[0]), 1.0])
        else:
            weights = np.exp([0.0, *eta])
            expected = weights / weights.sum()
        frame = model.sample([1, n], seed=3)[1]
        counts = dict(frame["A"].value_counts().iter_rows())
        assert [counts[level] / n for level in sorted(counts)] == pytest.approx(expected.tolist(), abs=0.01)


def test_a_regression_finds_the_coefficients_of_a_continuous_variable() -> None:
    model = model_of("cbmc")
    frame = pl.concat(model.sample([30_000] * 3, seed=2))
    site = np.repeat(np.arange(3), 30_000)
    columns = [site == 1, site == 2, frame["B"].to_numpy(), *(frame["C"].to_numpy() == level for level in "qrs")]
    design = np.column_stack([np.ones(frame.height), *columns]).astype(float)
    found = np.linalg.lstsq(design, frame["D"].to_numpy(), rcond=None)[0]
    wanted = [0.0, *model.shifts["D"][1:, 0], model.coefficients["D"]["B"][1, 0], *model.coefficients["D"]["C"][1:, 0]]
    assert found == pytest.approx(wanted, abs=0.04)


def test_log_odds_are_the_coefficients_of_a_multinomial_variable() -> None:
    model = random_model(MAG.parse("A --> B"), 1, 4, kinds={"A": "binary", "B": "multinomial"})
    frame = model.sample([200_000], seed=1)[0]
    counts = {(bool(a), b): n for a, b, n in frame.group_by("A", "B").len().iter_rows()}
    for i, level in enumerate("qrs"):
        odds = [np.log(counts[a, level] / counts[a, "p"]) for a in (False, True)]
        assert odds[1] - odds[0] == pytest.approx(model.coefficients["B"]["A"][1, i], abs=0.05)


def test_counts_are_drawn_where_they_are_asked_for() -> None:
    kinds = {"A": "count", "B": "count", "C": "continuous"}
    model = random_model(MAG.parse("A --> B, A --> C"), sites=2, seed=3, kinds=kinds)
    frame = model.sample([4000, 1], seed=4)[0]
    assert frame.dtypes[:2] == [pl.Int64, pl.Int64]
    assert frame["A"].mean() == pytest.approx(math.e, rel=0.05)
    assert frame["A"].var() == pytest.approx(math.e, rel=0.1)
    slope = np.polyfit((frame["A"].to_numpy() - 3) / 4, frame["C"].to_numpy(), 1)[0]
    assert slope == pytest.approx(model.coefficients["C"]["A"][0, 0], abs=0.15)
    assert "count" not in random_kinds([f"v{i}" for i in range(200)], seed=1).values()


def test_kinds_are_equally_probable_given_two_continuous_ones() -> None:
    drawn = [tuple(random_kinds("ABCDE", seed).values()) for seed in range(1500)]
    assert all(kinds.count("continuous") >= 2 for kinds in drawn)
    other = [kind for kinds in drawn for kind in kinds if kind != "continuous"]
    for kind in ("binary", "ordinal", "multinomial"):
        assert other.count(kind) / len(other) == pytest.approx(1 / 3, abs=0.035)


def digest(frames: dict[str, pl.DataFrame]) -> str:
    return sha256("".join(name + frame.write_csv() for name, frame in frames.items()).encode()).hexdigest()[:16]


def test_seeds_give_the_same_data_everywhere() -> None:
    """Written down once. CSV has every digit of a float, so this is equality to the last bit."""
    made = from_graph("A o-> C, B o-> C, C --> D", n=600, sites=3, seed=7, exclusive="AD")
    assert digest(made.frames) == "2fe18adeed3e8e7a"
    graph = study_graphs(3)[2]
    run = from_graph(graph.pag, n=500, sites=12, seed=Run(4, 2, 500, 12).seed, exclusive=graph.exclusive)
    assert digest(run.frames) == "045c1c8365921ac0"
    assert digest(from_graph("A o-> C, B o-> C, C --> D", n=600, sites=3, seed=8, exclusive="AD").frames) != digest(made.frames)


def test_a_graph_may_be_text_a_dag_a_mag_or_a_pag() -> None:
    same = [
        from_graph(graph, n=50, sites=2, seed=1).frames for graph in ("A --> B, C", cs.DAG.parse("A --> B, C"), MAG.parse("A --> B, C"))
    ]
    assert digest(same[0]) == digest(same[1]) == digest(same[2])
    assert from_graph(cs.PAG.parse("A o-> B, B <-o C"), n=50, sites=2, seed=1).pag == cs.PAG.parse("A o-> B, B <-o C")
    for wrong in ("A o-o B, B o-> C", "A --> B, B --> C, A <-> C"):
        with pytest.raises(cs.errors.OptionError, match="is none of them"):
            from_graph(wrong, n=50, sites=2, seed=1)


def test_bad_input_names_the_rule() -> None:
    with pytest.raises(cs.errors.UnknownNodeError, match="nodes of the graph"):
        from_graph("A --> B", n=50, sites=2, seed=1, kinds={"Z": "binary"})
    with pytest.raises(cs.errors.OptionError, match="must be one of"):
        from_graph("A --> B", n=50, sites=2, seed=1, kinds={"A": "counts"})
    with pytest.raises(cs.errors.OptionError, match="3 sites"):
        model_of("cccc").sample([10, 10], seed=1)

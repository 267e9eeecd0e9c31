"""MAG to PAG and back, against the definition: the marks that all MAGs with one independence model share."""

from __future__ import annotations

import time
from random import Random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from consilience.graph import (
    DAG,
    MAG,
    PAG,
    MarkSets,
    Separation,
    is_mag_marks,
    is_valid_pag,
    is_valid_pag_marks,
    latent_projection,
    latent_projection_marks,
    m_separated,
    mag_to_pag,
    mag_to_pag_marks,
    markov_equivalent,
    pag_to_mag,
    pag_to_mag_marks,
    triples_with_order,
    triples_with_order_marks,
)
from consilience.graph.errors import InvalidPAGError
from consilience.graph.marks import CIRCLE
from tests.graph.helpers import LABELS, all_classes, all_mags, graph_of, independence_model, random_dag, random_mags

SMALL = [(3, False, 56, 11), (3, True, 72, 11), (4, False, 2492, 248), (4, True, 3045, 251)]


def shared_marks(members: tuple[MarkSets, ...]) -> np.ndarray:
    matrices = np.array([mag.to_matrix() for mag in members])
    return np.where((matrices == matrices[0]).all(axis=0), matrices[0], CIRCLE)


@pytest.mark.slow
@pytest.mark.parametrize(("n", "undirected", "mags", "classes"), SMALL)
def test_number_of_mags_and_classes(n: int, undirected: bool, mags: int, classes: int) -> None:
    assert len(all_mags(n, undirected)) == mags
    assert len(all_classes(n, undirected)) == classes


@pytest.mark.slow
@pytest.mark.parametrize(("n", "undirected"), [case[:2] for case in SMALL])
def test_the_pag_of_every_small_mag_shows_the_marks_that_its_class_shares(n: int, undirected: bool) -> None:
    for members in all_classes(n, undirected):
        expected = shared_marks(members)
        for mag in members:
            assert np.array_equal(mag_to_pag_marks(mag).to_matrix(), expected)


@pytest.mark.parametrize(("n", "undirected"), [case[:2] for case in SMALL])
def test_the_member_of_every_small_pag_is_in_its_class(n: int, undirected: bool) -> None:
    for members in all_classes(n, undirected):
        pag = mag_to_pag_marks(members[0])
        member = pag_to_mag_marks(pag)
        assert any(member.same_marks(mag) for mag in members)
        assert is_valid_pag_marks(pag)


@pytest.mark.parametrize(("n", "undirected"), [case[:2] for case in SMALL])
def test_classes_are_told_apart_by_adjacencies_and_colliders_with_order(n: int, undirected: bool) -> None:
    seen = set()
    for members in all_classes(n, undirected):
        triples = triples_with_order_marks(members[0])
        assert all(triples_with_order_marks(mag) == triples for mag in members)
        assert triples_with_order_marks(mag_to_pag_marks(members[0])) == triples
        seen.add((tuple(members[0].adjacent), frozenset(triple for triple, (collider, _) in triples.items() if collider)))
    assert len(seen) == len(all_classes(n, undirected))


def test_of_all_marks_on_three_nodes_only_the_classes_are_valid_pags() -> None:
    """Every graph with circles, arrowheads and tails, undirected edges and all."""
    states = [None, *((a, b) for a in (1, 2, 3) for b in (1, 2, 3))]
    valid = sum(is_valid_pag_marks(graph_of(3, [a, b, c])) for a in states for b in states for c in states)
    assert valid == 11


def test_a_changed_mark_makes_a_pag_invalid_or_another_one() -> None:
    pags = {mag_to_pag(MAG.from_working(members[0], "ABCD")) for members in all_classes(4, undirected=True)}
    for pag in sorted(pags, key=str)[::10]:
        for edge in pag.edges:
            for mark in (1, 2, 3):
                changed = pag.with_mark(edge.a, edge.b, mark)
                assert is_valid_pag(changed) is (changed in pags)


@settings(max_examples=200, deadline=None)
@given(random_mags(observed=8, latent=4))
def test_round_trips_on_random_mags(marks) -> None:
    mag = MAG.from_working(marks, LABELS[: marks.n])
    pag = mag_to_pag(mag)
    member = pag_to_mag(pag)
    assert mag_to_pag(member) == pag
    assert markov_equivalent(mag, member)
    assert is_valid_pag(pag)
    assert is_mag_marks(member.working())
    assert triples_with_order(pag) == triples_with_order(mag) == triples_with_order(member)
    for edge in pag.edges:
        for a, b, mark in ((edge.b, edge.a, edge.at_a), (edge.a, edge.b, edge.at_b)):
            assert mark == CIRCLE or mag.mark(a, b) == member.mark(a, b) == mark


@settings(deadline=None)
@given(random_mags(observed=6, latent=3))
def test_the_member_has_the_independence_model_of_the_mag(marks) -> None:
    assert independence_model(pag_to_mag_marks(mag_to_pag_marks(marks))) == independence_model(marks)


@settings(deadline=None)
@given(random_mags(), st.data())
def test_nothing_depends_on_the_order_of_the_labels(marks, data) -> None:
    mag = MAG.from_working(marks, LABELS[: marks.n])
    other = mag.reordered(data.draw(st.permutations(mag.labels)))
    assert mag_to_pag(other) == mag_to_pag(mag)
    assert triples_with_order(other) == triples_with_order(mag)
    assert markov_equivalent(other, mag)
    assert mag_to_pag(pag_to_mag(mag_to_pag(other))) == mag_to_pag(mag)


@settings(deadline=None)
@given(random_mags(observed=4, latent=3), random_mags(observed=4, latent=3))
def test_markov_equivalence_is_equality_of_independence_models(one, other) -> None:
    if one.n == other.n:
        first, second = (MAG.from_working(marks, LABELS[: marks.n]) for marks in (one, other))
        assert markov_equivalent(first, second) is (independence_model(one) == independence_model(other))


def test_markov_equivalence_needs_the_same_nodes() -> None:
    assert not markov_equivalent(MAG.parse("A --> B"), MAG.parse("A --> C"))


EXAMPLES = [
    ("one edge", "A --> B", "A o-o B"),
    ("chain", "A --> B, B --> C", "A o-o B, B o-o C"),
    ("collider", "A --> B, C --> B", "A o-> B, C o-> B"),
    ("Y structure: an effect without latent confounding", "A --> C, B --> C, C --> D", "A o-> C, B o-> C, C --> D"),
    ("confounded instrument", "Z --> X, X <-> Y", "Z o-> X, Y o-> X"),
    ("two instruments, confounded", "A --> X, B --> Y, X <-> Y", "A o-> X, X <-> Y, B o-> Y"),
    ("complete graph", "A --> B, A --> C, B <-> C", "A o-o B, A o-o C, B o-o C"),
    ("discriminating path, non-collider", "X --> A, B --> A, A --> C, B --> C", "X o-> A, B o-> A, A --> C, B --> C"),
    ("discriminating path, collider", "X --> A, A <-> B, A --> C, B <-> C", "X o-> A, A <-> B, A --> C, B <-> C"),
    ("a cycle that only selection explains", "A --- B, B --- C, C --- D, D --- A", "A --- B, B --- C, C --- D, D --- A"),
    (
        "after Zhang 2008, Journal of Machine Learning Research 9: what income, parents and genes do to smokers",
        "Income --> Smoking, Parents --> Smoking, Genotype --> Smoking, Genotype --> Cancer, Smoking --> Cancer",
        "Income o-> Smoking, Parents o-> Smoking, Genotype o-> Smoking, Genotype --> Cancer, Smoking --> Cancer",
    ),
    (
        "R3: a node between two causes of a collider",
        "A --> B, C --> B, D --> A, D --> C, D --> B",
        "A o-> B, C o-> B, A o-o D, C o-o D, D o-> B",
    ),
    (
        "R9: a tail by a path around",
        "A --> B, B --> C, C --> E, A --> E, D --> E",
        "A o-o B, B o-o C, C --> E, A --> E, D o-> E",
    ),
    (
        "R10: a tail at C by two ways, through A and through B",
        "E --> A, E --> B, E --> C, B --> C, C --> A, A --> D, B --> D, C --> D",
        "A o-o E, B o-o E, C o-o E, B o-o C, A o-o C, A --> D, B --> D, C --> D",
    ),
]


@pytest.mark.parametrize(("name", "mag", "pag"), EXAMPLES, ids=[example[0] for example in EXAMPLES])
def test_examples(name: str, mag: str, pag: str) -> None:
    assert mag_to_pag(MAG.parse(mag)) == PAG.parse(pag), name
    assert is_valid_pag(PAG.parse(pag))


def test_a_dag_with_latent_variables() -> None:
    """Spirtes, Glymour & Scheines' recipe: project, then forget what the class does not share."""
    dag = DAG.parse("L --> X, L --> Y, A --> X, B --> Y, X --> C, Y --> C")
    mag = latent_projection(dag, ["A", "B", "C", "X", "Y"])
    assert mag == MAG.parse("A --> X, X <-> Y, B --> Y, X --> C, Y --> C")
    assert mag_to_pag(mag) == PAG.parse("A o-> X, X <-> Y, B o-> Y, X --> C, Y --> C")


def test_orders_of_triples() -> None:
    """⟨X, P, Q, C⟩ discriminates for Q and ⟨X, P, Q, B, C⟩ for B; their inner colliders are unshielded."""
    mag = MAG.parse("X --> P, P <-> Q, P --> C, Q --> C, Q <-> B, B <-> C")
    assert {triple[:3]: triple[3:] for triple in triples_with_order(mag)} == {
        ("Q", "P", "X"): (True, 0),
        ("C", "P", "X"): (False, 0),
        ("B", "Q", "P"): (True, 0),
        ("B", "C", "P"): (True, 0),
        ("C", "Q", "P"): (False, 1),
        ("C", "B", "Q"): (True, 1),
    }


def test_an_order_of_two() -> None:
    """⟨A, C, D, E⟩ makes ⟨C, D, E⟩ a collider of order 1, with which ⟨E, D, C, F⟩ makes ⟨D, C, F⟩ a non-collider of order 2."""
    mag = MAG.parse("A --> C, B --> F, C <-> D, C --> E, C --> F, D <-> E, D --> F")
    higher = [(t.left + t.middle + t.right, t.collider, t.order) for t in triples_with_order(mag) if t.order]
    assert higher == [("CDE", True, 1), ("CDF", False, 1), ("DCF", False, 2)]


INVALID = [
    ("A o-> B, B o-o C", "R1 applies"),
    ("A --> B", "the tail is not shared"),
    ("A o-o B, B o-o C, C o-o D, D o-o A", "circles without a chord"),
    ("A --> B, B --> C, C --> A", "directed cycle"),
    ("A <-> B", "the arrowheads are not shared"),
    ("A <-> B, B <-> C, C <-> D, B --> D, C --> A", "not maximal"),
]


@pytest.mark.parametrize(("text", "why"), INVALID)
def test_invalid_pags(text: str, why: str) -> None:
    assert not is_valid_pag(PAG.parse(text)), why


@pytest.mark.parametrize("text", ["A o-o B, B o-o C, C o-o D, D o-o A", "A --> B, B --> C, C --> A"])
def test_an_invalid_pag_has_no_member(text: str) -> None:
    with pytest.raises(InvalidPAGError):
        pag_to_mag(PAG.parse(text))


@pytest.mark.parametrize(("latent", "share"), [(10, 0.08), (10, 0.15), (20, 0.3)])
def test_thirty_nodes(latent: int, share: float) -> None:
    mag = latent_projection_marks(random_dag(30 + latent, share, Random(7)), list(range(30)))
    began = time.perf_counter()
    pag = mag_to_pag_marks(mag)
    member = pag_to_mag_marks(pag)
    assert is_valid_pag_marks(pag)
    assert triples_with_order_marks(member) == triples_with_order_marks(mag)
    assert time.perf_counter() - began < 5  # about 0.05 s; an algorithm that tries all paths takes years


def test_seventy_nodes_need_more_bits_than_a_machine_word() -> None:
    chain = DAG.parse(", ".join(f"V{i:02} --> V{i + 1:02}" for i in range(69)))
    assert not m_separated(chain, "V00", "V69")
    assert m_separated(chain, "V00", "V69", ["V66"])
    ends = latent_projection(chain, ["V00", "V65", "V69"])
    assert ends == MAG.parse("V00 --> V65, V65 --> V69")
    assert Separation(chain.marks).ancestors[69] == 2**70 - 1

"""Random graphs: what they are, how dense, and that those of the study are hard in the paper's sense."""

from __future__ import annotations

from itertools import combinations, permutations

import numpy as np
import pytest

import consilience as cs
from consilience.graph import PAG, Mark, is_mag, is_valid_pag, mag_to_pag, separation_of
from consilience.reproduction.design import study_graphs
from consilience.simulate import graphs
from consilience.simulate.graphs import count_tails, discriminated_colliders, has_ordered_collider, random_mag, random_pag, random_pags
from consilience.simulate.randomness import generator


@pytest.mark.parametrize(("n", "directed", "bidirected"), [(3, 0.5, 0.5), (5, 0.4, 0.4), (6, 0.2, 0.9), (9, 0.3, 0.3)])
def test_random_mags_are_mags(n: int, directed: float, bidirected: float) -> None:
    rng = generator([n, 1])
    for _ in range(60):
        assert is_mag(random_mag(n, rng, directed=directed, bidirected=bidirected))


def test_some_draws_need_the_edges_that_make_them_maximal(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = []
    monkeypatch.setattr(graphs, "latent_projection", lambda graph, names: asked.append(1) or cs.graph.latent_projection(graph, names))
    for seed in range(300):
        assert is_mag(random_mag(6, seed, directed=0.2, bidirected=0.9))
    assert asked


@pytest.mark.slow
def test_densities_are_those_asked_for() -> None:
    """Directed edges: a share of all pairs. Bidirected ones: a share of the pairs of which neither causes the other."""
    rng, draws, pairs = generator(3), 1500, 0
    directed = bidirected = free = 0
    for _ in range(draws):
        mag = random_mag(5, rng, directed=0.3, bidirected=0.25)
        ancestors = separation_of(mag).ancestors
        for a, b in combinations(range(5), 2):
            pairs += 1
            ends = {int(mag.marks[a, b]), int(mag.marks[b, a])}
            directed += ends == {Mark.TAIL, Mark.ARROW}
            bidirected += ends == {Mark.ARROW}
            free += not (ancestors[a] >> b | ancestors[b] >> a) & 1
    assert directed / pairs == pytest.approx(0.3, abs=4 * np.sqrt(0.21 / pairs) + 0.003)  # edges that make it maximal are extra
    assert bidirected / free == pytest.approx(0.25, abs=4 * np.sqrt(0.19 / free) + 0.01)


def test_the_extremes() -> None:
    assert not random_mag(5, 1, directed=0.0, bidirected=0.0).edges
    complete = random_mag(5, 1, directed=1.0)
    assert len(complete.edges) == 10
    assert all((edge.at_a, edge.at_b) == (Mark.TAIL, Mark.ARROW) for edge in complete.edges)
    with pytest.raises(cs.errors.OptionError, match="probability"):
        random_mag(5, 1, directed=1.5)


def test_criteria_and_distinct_classes() -> None:
    found = []
    for pag in random_pags(4, 5, where=lambda p: count_tails(p) >= 2):
        found.append(pag)
        if len(found) == 12:
            break
    assert len(set(found)) == 12
    assert all(is_valid_pag(pag) and count_tails(pag) >= 2 for pag in found)


def test_criteria_that_nothing_meets(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(graphs, "ATTEMPTS", 20)
    with pytest.raises(cs.errors.OptionError, match="Loosen the criteria"):
        random_pag(3, 1, where=lambda _: False)


def quadruples(pag: PAG, datasets: tuple[tuple[str, ...], ...]) -> list[tuple[str, ...]]:
    """Discriminating paths ⟨x, a, b, c⟩ with a collider at b inside a data set, by their definition and nothing else."""

    def collider_path(x: str, a: str, b: str, c: str) -> bool:
        into_a = pag.mark(x, a) == pag.mark(b, a) == Mark.ARROW
        a_causes_c = (pag.mark(a, c), pag.mark(c, a)) == (Mark.ARROW, Mark.TAIL)
        into_b = pag.mark(a, b) == pag.mark(c, b) == Mark.ARROW
        return into_a and a_causes_c and into_b and not pag.adjacent(x, c)

    return [four for four in permutations("ABCDE", 4) if collider_path(*four) and any(set(four) <= set(held) for held in datasets)]


@pytest.mark.slow
def test_the_studys_graphs_are_hard() -> None:
    found = study_graphs(30)
    assert len({graph.pag for graph in found}) == 30
    for graph in found:
        assert is_valid_pag(graph.pag)
        assert count_tails(graph.pag) >= 3
        assert quadruples(graph.pag, graph.datasets)
        first, second = graph.datasets
        assert len(first) == len(second) == 4
        assert len(set(first) & set(second)) == 3


@pytest.mark.slow
def test_ordered_colliders_agree_with_their_definition() -> None:
    """On random graphs, with or without one. A path whose inner collider is unshielded gives order one; others may not give any."""
    seen = set()
    for seed in range(150):
        pag = mag_to_pag(random_mag(5, seed, directed=0.4, bidirected=0.5))
        four = {frozenset(path) for path in discriminated_colliders(pag) if len(path) == 4}
        paths = quadruples(pag, (tuple("ABCDE"),))
        assert four <= {frozenset(path) for path in paths}
        assert four >= {frozenset(path) for path in paths if not pag.adjacent(path[0], path[2])}
        seen.add(has_ordered_collider(pag))
    assert seen == {True, False}

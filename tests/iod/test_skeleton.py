"""The adjacency search: as right as full FCI, with fewer tests."""

from __future__ import annotations

from itertools import combinations
from random import Random

import numpy as np
import pytest

import consilience as cs
from consilience.graph import MAG, MarkSets, Separation, latent_projection_marks
from consilience.graph.marks import ARROW, TAIL
from consilience.graph.marksets import bits
from consilience.iod.local import read_local
from consilience.iod.skeleton import LocalSearch, search
from tests.iod.brute_force import Erring, World, random_datasets
from tests.iod.mag_enumeration import load
from tests.iod.searches import Numbered, answers_of, full_fci, mag_with_link, separable, some_datasets, with_link


def check_right(found: list[LocalSearch], separation: Separation, n: int) -> int:
    """Every local skeleton is that of the marginal MAG and every separating set separates, with nothing to spare; how many pairs."""
    everything, pairs = (1 << n) - 1, 0
    for local in found:
        assert not local.unknown
        assert not local.assumed
        for x, y in combinations(bits(local.variables), 2):
            inseparable = separation.inducing(x, y, everything & ~local.variables)
            assert (local.adjacent[x] >> y & 1) == (local.adjacent[y] >> x & 1) == inseparable == ((x, y) not in local.sepsets)
            if not inseparable:
                given = local.sepsets[x, y]
                assert given & ~local.variables == 0
                assert separation.separated(x, y, given)
                assert not any(separation.separated(x, y, given & ~(1 << z)) for z in bits(given))
            pairs += 1
    return pairs


def check_links(cases: int, seed: int, most: int = 13) -> tuple[int, int]:
    """Searches on graphs with D-sep links are right; how many pairs no set of neighbours separates, and how many pairs there are."""
    random, links, pairs = Random(seed), 0, 0
    for _ in range(cases):
        mag = mag_with_link(random, most)
        found = search(mag.n, some_datasets(random, mag.n), answers_of(Numbered(mag, mag.n)), None, lambda *_: None)
        separation = Separation(mag)
        pairs += check_right(found, separation, mag.n)
        for local in found:
            links += sum(
                not any(given & ~local.adjacent[v] == 0 for v in pair) and not _by_neighbours(separation, local, pair)
                for pair, given in local.sepsets.items()
            )
    return links, pairs


def _by_neighbours(separation: Separation, local: LocalSearch, pair: tuple[int, int]) -> bool:
    x, y = pair
    pools = [list(bits(local.adjacent[v])) for v in pair]
    return any(
        separation.separated(x, y, sum(1 << z for z in chosen))
        for pool in pools
        for size in range(len(pool) + 1)
        for chosen in combinations(pool, size)
    )


def test_edges_that_no_set_of_neighbours_takes_away() -> None:
    links, _ = check_links(20, seed=1, most=8)
    assert links > 5


@pytest.mark.slow
@pytest.mark.parametrize("block", range(4))
def test_many_edges_that_no_set_of_neighbours_takes_away(block: int) -> None:
    """A thousand graphs, in parts that several processes can share."""
    links, pairs = check_links(250, seed=20 + block)
    assert links > 100
    assert pairs > 12_500


@pytest.mark.slow
def test_the_local_graphs_are_those_of_full_fci() -> None:
    """Mark by mark, on random graphs with links and without."""
    random = Random(3)
    for case in range(600):
        mag = mag_with_link(random, most=10) if case % 2 else _random_mag(random)
        datasets = some_datasets(random, mag.n)
        found = search(mag.n, datasets, answers_of(Numbered(mag, mag.n)), None, lambda *_: None)
        wanted = full_fci(mag.n, datasets, answers_of(Numbered(mag, mag.n)))
        for one, other in zip(found, wanted, strict=True):
            assert read_local(one).marks.same_marks(read_local(other).marks)
            assert one.inseparable() == other.inseparable()


def _random_mag(random: Random) -> MarkSets:
    dag, n = with_link(random, most=9)
    for v in range(dag.n):  # half of the nodes lose an edge, and with it most links
        if random.random() < 0.5 and dag.adjacent[v]:
            dag.remove_edge(v, random.choice(list(bits(dag.adjacent[v]))))
    return latent_projection_marks(dag, list(range(n)))


@pytest.mark.slow
def test_classes_of_five_nodes() -> None:
    """Every fifth of the 24,259, whole and with one node unobserved. (All of them take five times as long; they are right.)"""
    every = load(5)
    first = np.unique(every.class_of, return_index=True)[1]
    assert len(first) == 24_259
    for matrix in every.mags[first[::5]]:
        mag = MarkSets.from_matrix(matrix)
        check_right(search(5, [0b11111, 0b01111], answers_of(Numbered(mag, 5)), None, lambda *_: None), Separation(mag), 5)


@pytest.mark.slow
def test_with_selection() -> None:
    """DAGs with latent variables and with selected common effects: what the search leaves adjacent, no set separates, and nothing else."""
    random = Random(4)
    for _ in range(300):
        dag, n = with_link(random, most=8)
        selecting = random.randint(1, 2)
        whole = MarkSets.empty(dag.n + selecting)
        for a in range(dag.n):
            for b in bits(dag.children(a)):
                whole.add_edge(a, b, TAIL, ARROW)
        for selected in range(dag.n, whole.n):
            for cause in random.sample(range(n), 2):
                whole.add_edge(cause, selected, TAIL, ARROW)
        test = Numbered(whole, n, always=sum(1 << v for v in range(dag.n, whole.n)))
        (found,) = search(n, [(1 << n) - 1], answers_of(test), None, lambda *_: None)
        for x, y in combinations(range(n), 2):
            assert bool(found.adjacent[x] >> y & 1) != separable(test, x, y, found.variables)


def test_what_separates_in_one_data_set_separates_in_all_that_hold_the_set() -> None:
    """Tests that err: no data set calls a pair inseparable that a test of its variables, asked for another, has separated."""
    world, shared = World(5), 0
    for seed in range(20):
        rng = np.random.default_rng(seed)
        test = world.test(world.some_class(rng), random_datasets(rng, 5, least=3), seed=seed, flips=0.1, silent=0.05, graded=True)
        assert isinstance(test, Erring)
        answers = answers_of(test)
        index = {name: i for i, name in enumerate(world.names)}
        held = [sum(1 << index[name] for name in data) for data in test.datasets]
        for local in search(5, held, answers, None, lambda *_: None):
            for x, y, given in answers.results:
                if (given | 1 << x | 1 << y) & ~local.variables == 0 and answers.independent((x, y, given)):
                    assert not local.adjacent[x] >> y & 1
                    shared += 1
    assert shared > 30


def test_a_bound_on_conditioning_sets_counts_the_rest_as_inseparable() -> None:
    """A and E need three others. With two at most the pair is assumed to be inseparable, and said to be; nothing larger is asked."""
    mag = MAG.parse("A --> B, A --> C, A --> D, B --> E, C --> E, D --> E")
    answers = answers_of(cs.Oracle(mag))
    (whole,) = search(5, [0b11111], answers, None, lambda *_: None)
    assert whole.sepsets[0, 4] == 0b01110
    answers = answers_of(cs.Oracle(mag))
    (cut,) = search(5, [0b11111], answers, 2, lambda *_: None)
    assert max(given.bit_count() for _, _, given in answers.results) == 2
    assert (0, 4) in cut.assumed
    assert (0, 4) in cut.inseparable()
    assert read_local(cut).assumed == cut.assumed


@pytest.mark.parametrize("most", [0, 1, 2, 3])
def test_what_a_bound_separates_is_right_and_what_it_leaves_no_small_set_separates(most: int) -> None:
    random = Random(most)
    for _ in range(25):
        mag = mag_with_link(random, most=9)
        test, everything = Numbered(mag, mag.n), (1 << mag.n) - 1
        answers = answers_of(test)
        (found,) = search(mag.n, [everything], answers, most, lambda *_: None)
        assert all(given.bit_count() <= most for _, _, given in answers.results)
        separation = Separation(mag)
        for x, y in combinations(range(mag.n), 2):
            if (x, y) in found.sepsets:
                assert separation.separated(x, y, found.sepsets[x, y])
            elif (x, y) not in found.assumed:
                assert separation.inducing(x, y)


@pytest.mark.slow
def test_marks_under_a_bound_are_right() -> None:
    """Although thousands of pairs are wrongly assumed to be inseparable, every arrowhead and tail says the truth about ancestors."""
    random, marks, wrongly = Random(5), 0, 0
    for _ in range(400):
        mag = mag_with_link(random, most=11)
        (found,) = search(mag.n, [(1 << mag.n) - 1], answers_of(Numbered(mag, mag.n)), random.randint(0, 3), lambda *_: None)
        separation, local = Separation(mag), read_local(found)
        wrongly += sum(not separation.inducing(x, y) for x, y in found.assumed)
        for v in range(mag.n):
            assert not any(separation.ancestors[w] >> v & 1 for w in bits(local.marks.arrow[v]))
            assert all(separation.ancestors[w] >> v & 1 for w in bits(local.marks.tail[v]))
            marks += (local.marks.arrow[v] | local.marks.tail[v]).bit_count()
    assert marks > 3000
    assert wrongly > 500


def test_fewer_tests_than_full_fci() -> None:
    """Ten variables in a ring, each confounded with the next: possible-d-sep sets hold all of them."""
    mag = MAG.parse(", ".join(f"{a} <-> {b}" for a, b in zip("ABCDEFGHIJ", "BCDEFGHIJA", strict=True)))
    ours, theirs = (answers_of(cs.Oracle(mag)) for _ in range(2))
    (found,) = search(10, [(1 << 10) - 1], ours, None, lambda *_: None)
    (wanted,) = full_fci(10, [(1 << 10) - 1], theirs)
    assert read_local(found).marks.same_marks(read_local(wanted).marks)
    assert len(ours.results) * 5 < len(theirs.results)

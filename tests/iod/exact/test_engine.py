"""The exact engine against the definition of what it should return, and against the published algorithm."""

from __future__ import annotations

import numpy as np
import pytest

import consilience as cs
from consilience import errors
from consilience.graph import DAG, MAG, PAG, Oracle, latent_projection, mag_to_pag
from tests.iod.brute_force import Evidence, World, random_datasets
from tests.iod.cases import NAMES, everything, oracle_of, random_case
from tests.iod.mag_enumeration import ARROW, TAIL

WORLDS = {n: World(n) for n in (3, 4, 5)}
LONG_FOR_THE_PUBLISHED_ALGORITHM = {7, 11, 20, 37, 45, 49, 51}


@pytest.mark.slow
@pytest.mark.parametrize("block", range(3))
def test_exactly_the_consistent_classes_on_300_cases(block: int) -> None:
    """The cases on which the published algorithm returns just these, too (``test_iod``)."""
    found = everything()
    for seed in range(100 * block, 100 * block + 100):
        truth, datasets = random_case(seed)
        wanted = {PAG.from_matrix(found.pags[c], NAMES) for c in found.consistent_classes(datasets, truth)}
        got = cs.discover(oracle_of(truth, datasets))
        assert set(got.pags) == wanted, seed
        assert len(got.pags) == len(wanted), seed
        assert got.complete
        assert got.conflicts == got.overruled == ()


def sparse_case(seed: int) -> Oracle:
    """A MAG over 6 or 7 variables of a random DAG with two more, and two or three data sets that lack one or two of them."""
    rng = np.random.default_rng(seed)
    n = 6 + seed % 2
    names, total = [chr(ord("A") + i) for i in range(n)], n + 2
    marks = np.zeros((total, total), dtype=np.int8)
    order = rng.permutation(total)
    for a in range(total):
        for b in range(a + 1, total):
            if rng.uniform() < 2.2 / (total - 1):
                marks[order[a], order[b]], marks[order[b], order[a]] = ARROW, TAIL
    mag = latent_projection(DAG.from_matrix(marks, [*names, "L1", "L2"]), names)
    while True:
        sizes = [n - int(rng.integers(1, 3)) for _ in range(int(rng.integers(2, 4)))]
        datasets = [rng.choice(names, size, replace=False).tolist() for size in sizes]
        if len(set().union(*datasets)) == n:
            return Oracle(mag, datasets)


@pytest.mark.slow
@pytest.mark.parametrize("block", range(5))
def test_both_engines_return_the_same_on_50_cases_with_six_and_seven_nodes(block: int) -> None:
    """Graph for graph, and in the same order."""
    seeds = [seed for seed in range(57) if seed not in LONG_FOR_THE_PUBLISHED_ALGORITHM]
    assert len(seeds) == 50
    for seed in seeds[10 * block : 10 * block + 10]:
        oracle = sparse_case(seed)
        exact, published = (cs.discover(oracle, engine=engine, limit=None) for engine in ("exact", "iod"))
        assert exact.pags == published.pags, seed
        assert exact.scores == published.scores, seed
        assert mag_to_pag(oracle.graph) in exact.pags, seed  # type: ignore[arg-type]


@pytest.mark.slow
def test_the_truth_is_listed_where_the_published_algorithm_takes_long() -> None:
    for seed in sorted(LONG_FOR_THE_PUBLISHED_ALGORITHM):
        oracle = sparse_case(seed)
        assert mag_to_pag(oracle.graph) in cs.discover(oracle, limit=None).pags, seed  # type: ignore[arg-type]


@pytest.mark.slow
@pytest.mark.parametrize(("n", "cases"), [(4, 40), pytest.param(5, 12, marks=pytest.mark.slow)])
def test_pairs_that_were_not_tested_to_the_end(n: int, cases: int) -> None:
    """Only recorded separations and inseparable pairs count, with conditioning sets bounded or answers missing."""
    world, seen = WORLDS[n], 0
    for seed in range(cases):
        rng = np.random.default_rng([n, seed])
        max_given = [None, 0 if n < 5 else 2, 1, 1][seed % 4]
        test = world.test(world.some_class(rng), random_datasets(rng, n, 3), seed=seed, silent=0.15 if seed % 4 != 2 else 0.0)
        evidence = Evidence(world, test, max_given)
        wanted = world.pags(evidence.consistent)
        found = cs.discover(test, max_given=max_given, limit=None, resolve="strict")
        assert set(found.pags) == wanted, seed
        assert len(found.pags) == len(wanted), seed
        if len(wanted) < 40:
            assert cs.discover(test, max_given=max_given, engine="iod", limit=None).pags == found.pags, seed
        seen += any(not local.complete for local in evidence.locals_)
    assert seen > cases / 2


@pytest.mark.slow
@pytest.mark.parametrize("n", [3, 4])
def test_erring_tests(n: int) -> None:
    """Decisions that fit some graphs, though the truth may not be among them, and those that fit none; both engines."""
    world, empty = WORLDS[n], 0
    for seed in range(60):
        rng = np.random.default_rng([n, seed])
        test = world.test(world.some_class(rng), random_datasets(rng, n), seed=seed, flips=0.15, graded=True)
        wanted = world.pags(Evidence(world, test).consistent)
        exact, published = cs.discover(test, resolve="strict"), cs.discover(test, engine="iod")
        assert set(exact.pags) == wanted, seed
        assert exact.pags == published.pags, seed
        assert exact.conflicts == published.conflicts, seed
        assert bool(exact.conflicts) == (not wanted), seed
        empty += not wanted
    assert 0 < empty < 60


@pytest.mark.slow
@pytest.mark.parametrize("engine", ["exact", "iod"])
@pytest.mark.parametrize(
    "datasets",
    [
        [(0, 1, 2, 3)],
        [(0,), (1, 2, 3)],
        [(0,), (1,), (2,), (3,)],
        [(0, 1), (2, 3)],
        [(0, 1, 2, 3), (1, 2)],
        [(0, 1, 2), (0, 1, 2), (0, 2, 3)],
        [(0, 1), (1, 2), (2, 3), (0, 3)],
    ],
    ids=str,
)
def test_data_sets_of_all_shapes(datasets: list[tuple[int, ...]], engine: str) -> None:
    """One alone, single variables, nothing in common, one within another, the same twice, and a ring of pairs."""
    world = WORLDS[4]
    for truth in (17, 100, 230):
        found = cs.discover(world.test(truth, datasets), engine=engine)
        assert set(found.pags) == world.pags(world.every.consistent_classes(datasets, truth))
        assert len(found.pags) == len(set(found.pags))


@pytest.mark.parametrize("engine", ["exact", "iod"])
@pytest.mark.parametrize(("text", "pag"), [("A --> B", "A o-o B"), ("A, B", "A, B"), ("A", "A")])
def test_one_and_two_variables(text: str, pag: str, engine: str) -> None:
    assert cs.discover(Oracle(MAG.parse(text)), engine=engine).pags == (PAG.parse(pag),)


def test_names_of_all_kinds() -> None:
    names = ("blood pressure", "脈拍", "adj(1,2)", 'say "no"')
    mag = MAG.from_matrix(MAG.parse("A --> B, B --> C, D --> C").marks, names)
    found = cs.discover(Oracle(mag, [names[:3], names[1:]]))
    plain = cs.discover(Oracle(MAG.parse("A --> B, B --> C, D --> C"), ["ABC", "BCD"]))
    assert set(found.pags) == {PAG.from_matrix(pag.marks, names) for pag in plain.pags}


@pytest.mark.slow
def test_two_runs_say_the_same_in_the_same_order() -> None:
    oracle = sparse_case(2)
    first, second = (cs.discover(oracle) for _ in range(2))
    assert len(first.pags) > 50
    assert first.pags == second.pags
    assert cs.discover(oracle, limit=10).pags == cs.discover(oracle, limit=10).pags


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"engine": "iod", "resolve": "optimal"}, "resolve='optimal' needs engine='exact'"),
        ({"engine": "iod", "selection_bias": True}, "selection_bias=True needs engine='exact'"),
        ({"resolve": "x"}, "resolve"),
        ({"engine": "asp"}, "engine"),
        ({"limit": 0}, "limit"),
        ({"limit": 1.5}, "limit"),
        ({"limit": "10"}, "limit"),
        ({"time_limit": -1}, "time_limit"),
        ({"time_limit": float("nan")}, "time_limit"),
        ({"time_limit": "1"}, "time_limit"),
        ({"max_given": 0.5}, "max_given"),
    ],
    ids=str,
)
def test_bad_options(options: dict[str, object], words: str) -> None:
    with pytest.raises(errors.OptionError, match=words):
        cs.discover(Oracle(MAG.parse("A --> B")), **options)  # type: ignore[arg-type]

"""The oracle is right: its counts, and its bits against path-based definitions that share nothing with it."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Iterator
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest

from tests.iod.mag_enumeration import ARROW, CIRCLE, COUNTS, NONE, TAIL, Enumeration, Marks, build, cache_path, load, questions, read, write

ROOT = Path(__file__).parents[2]
DAGS = {3: (25, 11), 4: (543, 185), 5: (29_281, 8_782)}  # OEIS A003024, A007984: DAGs and their Markov equivalence classes
SIZES = [3, 4, pytest.param(5, marks=pytest.mark.slow)]


@pytest.fixture(scope="module")
def enumerations() -> dict[int, Enumeration]:
    return {3: build(3), 4: build(4)}


@pytest.fixture(params=SIZES)
def every(request: pytest.FixtureRequest, enumerations: dict[int, Enumeration]) -> Enumeration:
    return enumerations.get(request.param) or load(request.param)


def ancestors(mag: Marks, nodes: set[int]) -> set[int]:
    """The nodes and their ancestors."""
    found = set(nodes)
    while True:
        more = {i for i in range(len(mag)) for j in found if mag[i, j] == ARROW and mag[j, i] == TAIL} - found
        if not more:
            return found
        found |= more


def paths(mag: Marks, i: int, j: int, before: tuple[int, ...] = ()) -> Iterator[tuple[int, ...]]:
    """All paths from i to j: no node twice."""
    before = (*before, i)
    if i == j:
        yield before
        return
    for k in range(len(mag)):
        if mag[i, k] != NONE and k not in before:
            yield from paths(mag, k, j, before)


def is_collider(mag: Marks, a: int, b: int, c: int) -> bool:
    return bool(mag[a, b] == ARROW and mag[c, b] == ARROW)


def connects(mag: Marks, path: tuple[int, ...], given: set[int], above: set[int]) -> bool:
    return all(b in above if is_collider(mag, a, b, c) else b not in given for a, b, c in zip(path, path[1:], path[2:], strict=False))


def separated(mag: Marks, i: int, j: int, given: set[int]) -> bool:
    """The definition: no path on which every collider is an ancestor of a given node and no other inner node is given."""
    above = ancestors(mag, given)
    return not any(connects(mag, path, given, above) for path in paths(mag, i, j))


def is_mag(mag: Marks) -> bool:
    """The definition by cycles and inducing paths."""
    n = len(mag)
    for i in range(n):
        parents = {p for p in range(n) if mag[p, i] == ARROW and mag[i, p] == TAIL}
        above = ancestors(mag, parents)
        if i in above or any(mag[i, s] == ARROW and mag[s, i] == ARROW for s in above):
            return False
    return not any(mag[i, j] == NONE and has_inducing_path(mag, i, j) for i, j in combinations(range(n), 2))


def has_inducing_path(mag: Marks, i: int, j: int) -> bool:
    above = ancestors(mag, {i, j})
    return any(
        all(is_collider(mag, a, b, c) and b in above for a, b, c in zip(path, path[1:], path[2:], strict=False))
        for path in paths(mag, i, j)
    )


def mixed_graph(code: int, n: int) -> Marks:
    """State k of the pair (i, j), i < j: 0 none, 1 i -> j, 2 i <- j, 3 i <-> j."""
    marks = np.zeros((n, n), dtype=np.int8)
    for i, j in combinations(range(n), 2):
        code, state = divmod(code, 4)
        marks[i, j], marks[j, i] = [(NONE, NONE), (ARROW, TAIL), (TAIL, ARROW), (ARROW, ARROW)][state]
    return marks


def nodes_of(mask: int) -> set[int]:
    return {k for k in range(mask.bit_length()) if mask >> k & 1}


def random_datasets(rng: np.random.Generator, n: int) -> list[tuple[int, ...]]:
    return [tuple(int(v) for v in rng.permutation(n)[: rng.integers(2, n)]) for _ in range(rng.integers(1, 4))]


def test_counts(every: Enumeration) -> None:
    expected = {3: (56, 11), 4: (2_492, 248), 5: (328_924, 24_259)}[every.n]
    assert COUNTS[every.n] == expected
    assert (len(every.mags), len(every.pags)) == expected
    assert every.models.shape == (expected[1], {3: 6, 4: 24, 5: 80}[every.n])
    assert np.unique(every.codes).size == expected[0]
    assert np.array_equal(np.unique(every.class_of), np.arange(expected[1]))


def test_counts_of_dags_and_their_classes(every: Enumeration) -> None:
    bidirected = (every.mags == ARROW) & (every.mags.transpose(0, 2, 1) == ARROW)
    dags = ~bidirected.any(axis=(1, 2))
    assert (dags.sum(), np.unique(every.class_of[dags]).size) == DAGS[every.n]


@pytest.mark.parametrize("n", [3, 4])
def test_exactly_the_mags_are_kept(n: int, enumerations: dict[int, Enumeration]) -> None:
    graphs = [mixed_graph(code, n) for code in range(4 ** (n * (n - 1) // 2))]
    assert np.array_equal(enumerations[n].mags, [graph for graph in graphs if is_mag(graph)])


@pytest.mark.slow
def test_exactly_the_mags_are_kept_of_a_sample_with_five_nodes() -> None:
    kept = set(load(5).codes.tolist())
    codes = np.random.default_rng(1).choice(4**10, 20_000, replace=False).tolist()
    assert [code for code in codes if is_mag(mixed_graph(code, 5))] == [code for code in codes if code in kept]


def test_bits_are_m_separation_by_paths(every: Enumeration) -> None:
    sample = np.random.default_rng(2).choice(len(every.mags), min(len(every.mags), 400), replace=False)
    for k in sample:
        mag, class_id = every.mags[k], int(every.class_of[k])
        slow = [separated(mag, i, j, nodes_of(mask)) for i, j, mask in questions(every.n)]
        assert every.models[class_id].tolist() == slow, mag


def test_index_and_separated_say_the_same(every: Enumeration) -> None:
    for position, (i, j, mask) in enumerate(questions(every.n)):
        assert every.index(i, j, mask) == every.index(j, i, mask) == position
        assert every.separated(7, j, i, nodes_of(mask)) == every.models[7, position]


@pytest.mark.parametrize(("i", "j", "mask"), [(0, 0, 0), (0, 1, 1), (0, 1, 2), (0, 4, 0), (-1, 2, 0), (0, 1, 16)])
def test_index_refuses_what_is_no_question(i: int, j: int, mask: int, enumerations: dict[int, Enumeration]) -> None:
    with pytest.raises(ValueError, match="no such question"):
        enumerations[4].index(i, j, mask)


def test_marks_of_pags_are_those_that_all_members_share(every: Enumeration) -> None:
    classes = np.random.default_rng(3).choice(len(every.pags), min(len(every.pags), 100), replace=False)
    for class_id in classes:
        members, pag = every.members(int(class_id)), every.pags[class_id]
        for i in range(every.n):
            for j in range(every.n):
                marks = set(members[:, i, j].tolist())
                assert pag[i, j] == (marks.pop() if len(marks) == 1 else CIRCLE)


def test_pags_differ_between_classes(every: Enumeration) -> None:
    assert len(np.unique(every.pags.reshape(len(every.pags), -1), axis=0)) == len(every.pags)


def test_known_pags(enumerations: dict[int, Enumeration]) -> None:
    three, four = enumerations[3], enumerations[4]
    collider = [[NONE, NONE, ARROW], [NONE, NONE, ARROW], [CIRCLE, CIRCLE, NONE]]  # 0 o-> 2 <-o 1
    (found,) = np.flatnonzero((three.pags == collider).all(axis=(1, 2))).tolist()
    assert three.separated(found, 0, 1)
    assert not three.separated(found, 0, 1, [2])
    y = np.zeros((4, 4), dtype=np.int8)  # 0 o-> 2 <-o 1 and 2 -> 3
    y[0, 2] = y[1, 2] = y[2, 3] = ARROW
    y[2, 0] = y[2, 1] = CIRCLE
    y[3, 2] = TAIL
    (found,) = np.flatnonzero((four.pags == y).all(axis=(1, 2))).tolist()
    assert four.separated(found, 0, 3, {2})


def test_consistent_classes_by_definition(every: Enumeration) -> None:
    rng = np.random.default_rng(4)
    for _ in range(3):
        truth, datasets = int(rng.integers(len(every.pags))), random_datasets(rng, every.n)
        asked = [
            (i, j, given)
            for dataset in datasets
            for i, j in combinations(dataset, 2)
            for size in range(len(dataset) - 1)
            for given in combinations(set(dataset) - {i, j}, size)
        ]
        answers = [every.separated(truth, *question) for question in asked]
        slow = [c for c in range(len(every.pags)) if all(every.separated(c, *q) == a for q, a in zip(asked, answers, strict=True))]
        assert every.consistent_classes(datasets, truth).tolist() == slow


def test_consistent_classes_contain_the_truth(every: Enumeration) -> None:
    rng = np.random.default_rng(5)
    for _ in range(50):
        truth = int(rng.integers(len(every.pags)))
        assert truth in every.consistent_classes(random_datasets(rng, every.n), truth)


def test_one_complete_data_set_leaves_only_the_truth(every: Enumeration) -> None:
    for truth in np.random.default_rng(6).integers(len(every.pags), size=50).tolist():
        assert every.consistent_classes([range(every.n)], truth).tolist() == [truth]
        assert every.consistent_classes([(0, 1), tuple(reversed(range(every.n)))], truth).tolist() == [truth]


def test_without_data_every_class_is_consistent(every: Enumeration) -> None:
    assert len(every.consistent_classes([], 0)) == len(every.consistent_classes([(1,)], 0)) == len(every.pags)


def test_unknown_nodes_are_refused(enumerations: dict[int, Enumeration]) -> None:
    with pytest.raises(ValueError, match="not among the 4"):
        enumerations[4].consistent_classes([(0, 4)], 0)


@pytest.mark.slow
def test_consistent_classes_are_found_fast() -> None:
    five = load(5)
    times = []
    for truth in range(20):
        start = time.perf_counter()
        five.consistent_classes([(0, 1, 2, 3), (1, 2, 3, 4)], truth)
        times.append(time.perf_counter() - start)
    assert np.median(times) < 0.05


def test_cache_returns_what_was_written(tmp_path: Path, enumerations: dict[int, Enumeration]) -> None:
    path = tmp_path / "new" / "mags-4.npz"
    assert read(path, 4) is None
    write(enumerations[4], path)
    found = read(path, 4)
    assert found is not None
    for name in ("codes", "class_of", "models", "pags", "mags"):
        array = getattr(found, name)
        assert np.array_equal(array, getattr(enumerations[4], name))
        assert array.dtype == getattr(enumerations[4], name).dtype
        assert not array.flags.writeable
    assert [p.name for p in path.parent.iterdir()] == ["mags-4.npz"]
    assert read(path, 3) is None


@pytest.mark.parametrize("keep", [0, 100, 5_000])
def test_damaged_cache_counts_as_none(keep: int, tmp_path: Path, enumerations: dict[int, Enumeration]) -> None:
    path = tmp_path / "mags-4.npz"
    write(enumerations[4], path)
    path.write_bytes(path.read_bytes()[:keep])
    assert read(path, 4) is None


def test_cache_of_another_version_counts_as_none(
    tmp_path: Path, enumerations: dict[int, Enumeration], monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "mags-4.npz"
    with monkeypatch.context() as patch:
        patch.setattr("tests.iod.mag_enumeration._source", lambda: "older")
        write(enumerations[4], path)
    assert read(path, 4) is None


def test_cache_folder(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("CONSILIENCE_CACHE", str(tmp_path))
    assert cache_path(5) == tmp_path / "mags-5.npz"
    monkeypatch.delenv("CONSILIENCE_CACHE")
    assert cache_path(5) == Path.home() / ".cache" / "consilience" / "mags-5.npz"


def test_command_builds_then_reads(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("CONSILIENCE_CACHE", str(tmp_path))
    for how in ("built", "read"):
        command = [sys.executable, "-m", "tests.iod.mag_enumeration", "--nodes", "4"]
        done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        assert done.stdout.startswith(f"4 nodes: 2492 MAGs in 248 classes, {how} in ")
    assert (tmp_path / "mags-4.npz").exists()


def test_other_sizes_are_refused() -> None:
    with pytest.raises(ValueError, match="number of nodes"):
        build(6)

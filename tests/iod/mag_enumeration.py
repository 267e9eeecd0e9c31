"""Every MAG over 3, 4 or 5 nodes, grouped by independence model: an oracle for graph code and for IOD.

Nothing here comes from the package, so that it can judge the package. Definitions only, no orientation rule, no theorem on equivalence:

- a mixed graph has one of four states per pair of nodes: no edge, i -> j, i <- j, i <-> j; with selection bias a fifth,
  i --- j;
- it is ancestral if no arrowhead points at an ancestor of the node at the other end (so: no directed and no almost directed cycle), nor at
  the end of an undirected edge;
- it is maximal if every pair that is not adjacent is m-separated by some set of other nodes;
- two MAGs are equivalent if they have the same m-separations, all of them; the PAG of a class has the marks that all its members share.

The work is done for all graphs at once: one bit per graph, so that a Boolean operation on one array is the operation on every graph.

    python -m tests.iod.mag_enumeration --nodes 5

builds and caches (folder: $CONSILIENCE_CACHE, else ~/.cache/consilience). A cache that another version of this file wrote is rebuilt.
"""

from __future__ import annotations

import argparse
import contextlib
import hashlib
import os
import sys
import tempfile
import time
import zipfile
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from functools import cache, cached_property
from itertools import combinations
from pathlib import Path
from typing import Final

import numpy as np
import numpy.typing as npt

NONE, CIRCLE, ARROW, TAIL = 0, 1, 2, 3
"""The marks, coded as in pcalg: m[i][j] is the mark at j of the edge between i and j."""

COUNTS: Final = {2: (4, 2), 3: (56, 11), 4: (2_492, 248), 5: (328_924, 24_259)}
"""Number of nodes: (MAGs, Markov equivalence classes)."""

COUNTS_WITH_SELECTION: Final = {1: (1, 1), 2: (5, 2), 3: (72, 11), 4: (3_045, 251), 5: (379_052, 24_566)}
"""The same if there may be undirected edges."""

Bools = npt.NDArray[np.bool_]
Marks = npt.NDArray[np.int8]
Codes = npt.NDArray[np.uint32]
Bits = npt.NDArray[np.uint8]  # the last axis holds one bit per graph


@cache
def questions(n: int) -> tuple[tuple[int, int, int], ...]:
    """What each bit of a model answers: is i m-separated from j (i < j) given the nodes of the mask (bit k: node k)?"""
    return tuple((i, j, z) for i, j in combinations(range(n), 2) for z in range(2**n) if not z & (1 << i | 1 << j))


@cache
def _positions(n: int) -> dict[tuple[int, int, int], int]:
    return {question: position for position, question in enumerate(questions(n))}


def _mask(nodes: Iterable[int]) -> int:
    mask = 0
    for node in nodes:
        mask |= 1 << node
    return mask


@dataclass(frozen=True, eq=False)
class Enumeration:
    """All MAGs over `n` nodes. MAGs are in the order of their codes, classes in the order of their models; the arrays are read-only."""

    n: int
    codes: Codes
    """[N] a digit per pair, pairs in the order of `combinations`: 0 no edge, 1 an arrowhead at j, 2 at i, 3 at both, 4 at neither."""
    class_of: npt.NDArray[np.int32]
    """[N] the class of each MAG."""
    models: Bools
    """[C, bits] the m-separations of each class; `index` gives the bit."""
    pags: Marks
    """[C, n, n] the PAG of each class."""
    states: int = 4
    """The base of the codes; 5 if there may be undirected edges."""

    def __post_init__(self) -> None:
        for array in (self.codes, self.class_of, self.models, self.pags):
            array.flags.writeable = False

    @cached_property
    def mags(self) -> Marks:
        """[N, n, n] the marks of each MAG."""
        marks = _marks(self.codes, self.n, self.states)
        marks.flags.writeable = False
        return marks

    @cached_property
    def _columns(self) -> Bools:
        """The models with classes last: a question is one contiguous row."""
        return np.ascontiguousarray(self.models.T)

    def index(self, i: int, j: int, mask: int) -> int:
        """The bit of a model that says whether i and j are m-separated given the nodes of the mask (bit k: node k)."""
        try:
            return _positions(self.n)[min(i, j), max(i, j), mask]
        except KeyError:
            message = f"no such question over {self.n} nodes: is {i} separated from {j} given mask {mask:#b}"
            raise ValueError(message) from None

    def separated(self, class_id: int, i: int, j: int, given: Iterable[int] = ()) -> bool:
        """Whether i and j are m-separated given these nodes in the MAGs of this class."""
        return bool(self.models[class_id, self.index(i, j, _mask(given))])

    def members(self, class_id: int) -> Marks:
        """[members, n, n] the MAGs of this class."""
        members: Marks = self.mags[self.class_of == class_id]
        return members

    def consistent_classes(self, datasets: Iterable[Collection[int]], truth_class: int) -> npt.NDArray[np.intp]:
        """The classes whose independence model restricted to each data set's nodes is that of the true class, in ascending order."""
        asked: set[int] = set()
        for dataset in datasets:
            if not set(dataset) <= set(range(self.n)):
                message = f"data set {tuple(dataset)} has nodes that are not among the {self.n}"
                raise ValueError(message)
            inside = _mask(dataset)
            asked.update(p for p, (i, j, z) in enumerate(questions(self.n)) if (1 << i | 1 << j | z) & ~inside == 0)
        rows = self._columns[sorted(asked)]
        agree: Bools = (rows == rows[:, truth_class, None]).all(axis=0)
        return np.flatnonzero(agree)


def build(n: int, *, selection_bias: bool = False) -> Enumeration:
    """Enumerate all MAGs over n nodes, without the cache."""
    counts = COUNTS_WITH_SELECTION if selection_bias else COUNTS
    if n not in counts:
        message = f"number of nodes must be one of {sorted(counts)}, not {n}"
        raise ValueError(message)
    states = 5 if selection_bias else 4
    codes: Codes = np.arange(states ** (n * (n - 1) // 2), dtype=np.uint32)
    codes = codes[_ancestral(*_ends(codes, n, states), len(codes))]
    models = _separations(*_ends(codes, n, states), len(codes))
    maximal = _maximal(codes, models, n, states)
    codes, models = codes[maximal], models[maximal]
    packed, inverse = np.unique(np.packbits(models, axis=1), axis=0, return_inverse=True)
    class_of = inverse.reshape(-1).astype(np.int32)
    classes: Bools = np.unpackbits(packed, axis=1, count=models.shape[1]).astype(bool)
    found = Enumeration(n, codes, class_of, classes, _invariant_marks(_marks(codes, n, states), class_of), states)
    _check_counts(found)
    return found


def _check_counts(found: Enumeration) -> None:
    counts = len(found.codes), len(found.models)
    expected = (COUNTS if found.states == 4 else COUNTS_WITH_SELECTION)[found.n]
    if counts != expected:
        message = f"{found.n} nodes: {counts} MAGs and classes, not {expected}"
        raise AssertionError(message)


def _digit(codes: Codes, pair: int, states: int) -> Codes:
    digit: Codes = codes // np.uint32(states**pair) % np.uint32(states)
    return digit


def _ends(codes: Codes, n: int, states: int) -> tuple[Bits, Bits]:
    """[n, n, graphs / 8], twice: at [i, j], which graphs have an arrowhead, and which a tail, at j on an edge between i and j."""
    heads, tails = (np.zeros((n, n, -(-len(codes) // 8)), dtype=np.uint8) for _ in range(2))
    for pair, (i, j) in enumerate(combinations(range(n), 2)):
        state = _digit(codes, pair, states)
        for a, b, head, tail in ((i, j, (1, 3), (2, 4)), (j, i, (2, 3), (1, 4))):
            heads[a, b] = np.packbits(np.isin(state, head))
            tails[a, b] = np.packbits(np.isin(state, tail))
    return heads, tails


def _marks(codes: Codes, n: int, states: int) -> Marks:
    """[graphs, n, n]: the marks of each graph."""
    at = np.array([NONE, ARROW, TAIL, ARROW, TAIL], dtype=np.int8)  # by state (none, i -> j, i <- j, i <-> j, i --- j): the mark at j
    mirrored = np.array([NONE, TAIL, ARROW, ARROW, TAIL], dtype=np.int8)
    marks = np.zeros((len(codes), n, n), dtype=np.int8)
    for pair, (i, j) in enumerate(combinations(range(n), 2)):
        state = _digit(codes, pair, states)
        marks[:, i, j] = at[state]
        marks[:, j, i] = mirrored[state]
    return marks


def _descent(heads: Bits, tails: Bits) -> Bits:
    """At [i, j], which graphs have a directed path with at least one edge from i to j."""
    n = len(heads)
    descent = heads & tails.transpose(1, 0, 2)
    for k in range(n):
        for i in range(n):
            descent[i] |= descent[i, k] & descent[k]
    return descent


def _ancestral(heads: Bits, tails: Bits, graphs: int) -> Bools:
    """Which graphs have no arrowhead at an ancestor of the node at the other end, nor at the end of an undirected edge."""
    bad = np.bitwise_or.reduce(heads & _descent(heads, tails).transpose(1, 0, 2), axis=(0, 1))
    pointed, undirected = np.bitwise_or.reduce(heads, axis=0), np.bitwise_or.reduce(tails & tails.transpose(1, 0, 2), axis=0)
    bad |= np.bitwise_or.reduce(pointed & undirected, axis=0)
    ancestral: Bools = np.unpackbits(bad, count=graphs) == 0
    return ancestral


def _separations(heads: Bits, tails: Bits, graphs: int) -> Bools:
    """[graphs, bits]: the independence model of each graph."""
    n = len(heads)
    ancestor = _descent(heads, tails)
    ancestor[range(n), range(n)] = 0xFF  # of itself
    model = np.empty((len(questions(n)), heads.shape[-1]), dtype=np.uint8)
    for source in range(n - 1):
        for given in range(2**n):
            if given >> source & 1:
                continue
            reached = _reached(source, given, heads, tails, ancestor)
            for target in range(source + 1, n):
                if not given >> target & 1:
                    model[_positions(n)[source, target, given]] = ~reached[target]
    return np.ascontiguousarray(np.unpackbits(model, axis=1, count=graphs).T).astype(bool)


def _reached(source: int, given: int, heads: Bits, tails: Bits, ancestor: Bits) -> Bits:
    """At [v], in which graphs some m-connecting walk given these nodes leads from the source to v.

    A walk connects if its colliders are ancestors of given nodes and its other inner nodes are not given. The states are the node and
    whether the walk arrived there by an arrowhead or by a tail. There is a connecting walk iff there is a connecting path.
    """
    n = len(heads)
    others = [v for v in range(n) if v != source]
    opened = np.zeros_like(heads[0])  # as a collider
    for z in range(n):
        if given >> z & 1:
            opened |= ancestor[:, z]
    by_head, by_tail = heads[source].copy(), tails[source].copy()
    changed = True
    while changed:
        changed = False
        for v in others:
            for w in others:
                if v == w:
                    continue
                go = by_head[v] & heads[w, v] & opened[v]
                if not given >> v & 1:
                    go |= by_head[v] & tails[w, v] | by_tail[v]
                new_head, new_tail = go & heads[v, w] & ~by_head[w], go & tails[v, w] & ~by_tail[w]
                if new_head.any() or new_tail.any():
                    by_head[w] |= new_head
                    by_tail[w] |= new_tail
                    changed = True
    reached: Bits = by_head | by_tail
    return reached


def _maximal(codes: Codes, models: Bools, n: int, states: int) -> Bools:
    """Which graphs separate every pair without an edge by some set; that no set separates a pair with an edge is asserted."""
    maximal = np.ones(len(codes), dtype=bool)
    sets = 2 ** (n - 2)
    for pair in range(n * (n - 1) // 2):
        adjacent = _digit(codes, pair, states) != 0
        separable = models[:, pair * sets : (pair + 1) * sets].any(axis=1)
        if (adjacent & separable).any():
            message = "an adjacent pair is separated"
            raise AssertionError(message)
        maximal &= adjacent | separable
    return maximal


def _invariant_marks(marks: Marks, class_of: npt.NDArray[np.int32]) -> Marks:
    """[classes, n, n]: the mark that all members of a class have, or a circle where they differ."""
    order = np.argsort(class_of, kind="stable")
    starts = np.flatnonzero(np.diff(class_of[order], prepend=-1))
    least: Marks = np.minimum.reduceat(marks[order], starts, axis=0)
    most: Marks = np.maximum.reduceat(marks[order], starts, axis=0)
    if ((least == NONE) != (most == NONE)).any():
        message = "equivalent MAGs have different skeletons"
        raise AssertionError(message)
    return np.where(least == most, least, np.int8(CIRCLE))


@cache
def load(n: int) -> Enumeration:
    """The enumeration over n nodes: from the cache, else built and, where the folder can be written, cached.

    >>> three = load(3)
    >>> len(three.mags), len(three.pags)
    (56, 11)
    >>> three.consistent_classes([(0, 1, 2)], truth_class=4).tolist()
    [4]
    """
    found = read(cache_path(n), n)
    if found is None:
        found = build(n)
        with contextlib.suppress(OSError):
            write(found, cache_path(n))
    return found


@cache
def load_with_selection(n: int) -> Enumeration:
    """The enumeration over n nodes with undirected edges; used so rarely that it is not worth a file.

    >>> len(load_with_selection(3).mags), len(load_with_selection(3).pags)
    (72, 11)
    """
    return build(n, selection_bias=True)


def cache_path(n: int) -> Path:
    """Where the enumeration over n nodes is cached."""
    folder = os.environ.get("CONSILIENCE_CACHE")
    return (Path(folder) if folder else Path.home() / ".cache" / "consilience") / f"mags-{n}.npz"


def _source() -> str:
    return hashlib.sha256(Path(__file__).read_bytes()).hexdigest()


def write(found: Enumeration, path: Path) -> None:
    """Write the cache: whoever reads at the same time finds the old file or the new one, never a part."""
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(prefix=path.stem, suffix=".part", dir=path.parent)
    part = Path(name)
    try:
        with os.fdopen(handle, "wb") as file:
            np.savez(
                file,
                source=np.array(_source()),
                n=np.array(found.n),
                codes=found.codes,
                class_of=found.class_of,
                models=found.models,
                pags=found.pags,
            )
        part.replace(path)
    finally:
        part.unlink(missing_ok=True)


def read(path: Path, n: int) -> Enumeration | None:
    """What is cached, or None if nothing is, or nothing that this version of the file wrote for n nodes."""
    try:
        with path.open("rb") as file, np.load(file) as stored:
            if str(stored["source"]) != _source() or int(stored["n"]) != n:
                return None
            found = Enumeration(n, stored["codes"], stored["class_of"], stored["models"], stored["pags"])
    except (OSError, EOFError, KeyError, ValueError, zipfile.BadZipFile):
        return None
    _check_counts(found)
    return found


def main() -> None:
    """Build and cache the enumeration, and say what it holds."""
    parser = argparse.ArgumentParser(prog="python -m tests.iod.mag_enumeration", description=main.__doc__)
    parser.add_argument("--nodes", type=int, choices=sorted(COUNTS), default=5)
    parser.add_argument("--rebuild", action="store_true", help="even if it is cached")
    chosen = parser.parse_args()
    path = cache_path(chosen.nodes)
    start = time.perf_counter()
    found = None if chosen.rebuild else read(path, chosen.nodes)
    how = "read"
    if found is None:
        found, how = build(chosen.nodes), "built"
        write(found, path)
    seconds = time.perf_counter() - start
    what = f"{found.n} nodes: {len(found.codes)} MAGs in {len(found.models)} classes"
    sys.stdout.write(f"{what}, {how} in {seconds:.2f} s, cached in {path}\n")


if __name__ == "__main__":
    main()

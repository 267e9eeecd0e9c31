"""IOD on one complete data set is FCI: against the definition of a PAG and against causal-learn.

Random MAGs over 6 to 10 nodes (random DAGs whose latent nodes are projected out). From the m-separations of each, ``discover`` must list
exactly one PAG, and it must be ``mag_to_pag`` of the MAG. Both are judged by the definition: every MAG with the same m-separations, all of
them, is listed, by code that shares nothing with the package and uses no orientation rule, and the marks that these MAGs share are the PAG.
causal-learn's FCI answers the same questions with the same oracle; where it differs, the definition says who is right. In version 0.1.4.8
it does where R9 or R10 matter: its R9 misses uncovered paths (each node is visited once, by whichever path comes first, and only a finished
path is checked for being uncovered), its R10 takes any semi-directed path, also one that is covered or leads back through α::

    python benchmarks/fci_check.py

Needs causal-learn. Exit code 1 if this package is ever wrong.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache, reduce
from itertools import combinations
from operator import or_
from typing import Any

import numpy as np
from causallearn.search.ConstraintBased.FCI import fci
from causallearn.utils.cit import CIT_Base, register_ci_test

from consilience.graph import DAG, MAG, PAG, Oracle, latent_projection, mag_to_pag, triples_with_order
from consilience.iod import discover

SIZES = (6, 7, 8, 9, 10)
DEGREE = 2.5
NONE, CIRCLE, ARROW, TAIL = 0, 1, 2, 3
Matrix = list[list[int]]


# Random MAGs


def common_causes(n: int, rng: np.random.Generator) -> MAG:
    """A MAG over n nodes: a random DAG over them, n // 2 latent common causes of two random nodes each, and one of three nodes."""
    names = [f"X{i}" for i in range(n)]
    causes = [2] * (n // 2) + [3]
    latent = [f"L{i}" for i in range(len(causes))]
    edges = _random_edges([names[i] for i in rng.permutation(n)], round(n * DEGREE / 2) - n // 2 - 2, rng)
    for name, children in zip(latent, causes, strict=True):
        edges += [f"{name} --> X{child}" for child in rng.choice(n, size=children, replace=False)]
    return latent_projection(DAG.parse(", ".join(edges), labels=[*names, *latent]), names)


def hidden_nodes(n: int, rng: np.random.Generator) -> MAG:
    """A MAG over n nodes: a random DAG over n + n // 3 nodes, of which any n // 3 are latent."""
    names = [*(f"X{i}" for i in range(n)), *(f"L{i}" for i in range(n // 3))]
    edges = _random_edges([names[i] for i in rng.permutation(len(names))], round(len(names) * DEGREE / 2), rng)
    return latent_projection(DAG.parse(", ".join(edges), labels=names), names[:n])


def _random_edges(order: list[str], count: int, rng: np.random.Generator) -> list[str]:
    """Some edges of a DAG with this order of its nodes."""
    pairs = list(combinations(order, 2))
    return [f"{pairs[k][0]} --> {pairs[k][1]}" for k in rng.choice(len(pairs), size=count, replace=False)]


# The definition, on matrices of marks: m[i][j] is the mark at j of the edge between i and j


def model(marks: Matrix) -> Iterator[tuple[int, ...]]:
    """For each node in turn and each later one, as one number of 2^n bits, the sets given which the two are m-connected: bit Z for set Z.

    All sets at once: a walk from the source arrives at v by an arrowhead, or by a tail, under the sets in ``by_head[v]``, ``by_tail[v]``,
    and goes on through v as a collider if v is an ancestor of a given node, else if v is not given.
    """
    n = len(marks)
    full = (1 << (1 << n)) - 1
    contains = sets_with(n)
    below = descendants(marks)
    opened = [reduce(or_, (contains[w] for w in range(n) if below[v] >> w & 1)) for v in range(n)]
    steps = [
        (v, w, full & ~contains[v], opened[v] if marks[w][v] == ARROW else full & ~contains[v], marks[v][w] == ARROW)
        for v in range(n)
        for w in range(n)
        if marks[v][w] != NONE
    ]
    for source in range(n - 1):
        by_head = [full if mark == ARROW else 0 for mark in marks[source]]
        by_tail = [full if mark == TAIL else 0 for mark in marks[source]]
        onward = [step for step in steps if source not in step[:2]]
        changed = True
        while changed:
            changed = False
            for v, w, free, turning, into in onward:
                go = by_tail[v] & free | by_head[v] & turning
                side = by_head if into else by_tail
                if go & ~side[w]:
                    side[w] |= go
                    changed = True
        yield tuple((by_head[t] | by_tail[t]) & full & ~contains[source] & ~contains[t] for t in range(source + 1, n))


@cache
def sets_with(n: int) -> list[int]:
    """For each node, the sets that contain it, as bits."""
    return [sum(1 << z for z in range(1 << n) if z >> v & 1) for v in range(n)]


def descendants(marks: Matrix) -> list[int]:
    """For each node, itself and its descendants, as bits."""
    n = len(marks)
    below = [1 << v for v in range(n)]
    edges = [(v, w) for v in range(n) for w in range(n) if marks[v][w] == ARROW and marks[w][v] == TAIL]
    changed = True
    while changed:
        changed = False
        for v, w in edges:
            if below[w] & ~below[v]:
                below[v] |= below[w]
                changed = True
    return below


def is_ancestral(marks: Matrix) -> bool:
    """No arrowhead at an ancestor of the node at the other end of its edge."""
    below = descendants(marks)
    return not any(mark == ARROW and below[w] >> v & 1 for v, row in enumerate(marks) for w, mark in enumerate(row))


def members(mag: Matrix, limit: int) -> Iterator[Matrix]:
    """Every MAG without undirected edges that has the m-separations of ``mag``; ``OverflowError`` if it takes more than ``limit`` steps.

    Equivalent MAGs have the adjacencies of ``mag`` (a pair is adjacent iff no set separates it) and its unshielded colliders (the middle of
    an unshielded triple is in no separating set of its ends if it is a collider, else in all of them). All graphs with these are tried.
    """
    n = len(mag)
    wanted = list(model(mag))
    edges = _connected_order([(i, j) for i, j in combinations(range(n), 2) if mag[i][j] != NONE])
    marks = [[NONE] * n for _ in range(n)]
    tried = 0

    def extend(k: int) -> Iterator[Matrix]:
        nonlocal tried
        if k == len(edges):
            if all(one == other for one, other in zip(model(marks), wanted, strict=True)):
                yield [row.copy() for row in marks]
            return
        i, j = edges[k]
        for at_i, at_j in ((TAIL, ARROW), (ARROW, TAIL), (ARROW, ARROW)):
            marks[i][j], marks[j][i] = at_j, at_i
            if _fits(marks, mag, i, j) and is_ancestral(marks):
                tried += 1
                if tried > limit:
                    raise OverflowError
                yield from extend(k + 1)
        marks[i][j] = marks[j][i] = NONE

    return extend(0)


def _fits(marks: Matrix, mag: Matrix, i: int, j: int) -> bool:
    """True if the unshielded triples with the edge i–j whose marks are set are colliders where those of ``mag`` are."""
    for a, b in ((i, j), (j, i)):
        for c in range(len(mag)):
            if c != a and marks[c][b] != NONE and mag[a][c] == NONE:
                collider = mag[a][b] == ARROW == mag[c][b]
                if collider != (marks[a][b] == ARROW == marks[c][b]):
                    return False
    return True


def _connected_order(edges: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """Edges so that each touches an earlier one where it can: triples are then complete early."""
    order: list[tuple[int, int]] = []
    touched: set[int] = set()
    left = list(edges)
    while left:
        best = max(left, key=lambda e: (e[0] in touched) + (e[1] in touched))
        left.remove(best)
        order.append(best)
        touched |= set(best)
    return order


def pag_by_definition(mag: MAG, limit: int) -> tuple[PAG | None, int]:
    """The marks that all members of the class share, and their number; None if there are too many graphs to try."""
    try:
        listed = [np.array(marks, dtype=np.int8) for marks in members(mag.to_matrix().tolist(), limit)]
    except OverflowError:
        return None, 0
    same = np.logical_and.reduce([marks == listed[0] for marks in listed])
    return PAG.from_matrix(np.where(same, listed[0], CIRCLE), mag.labels), len(listed)


# causal-learn


class MSeparation(CIT_Base):
    """The oracle as a test of causal-learn: p is 1 for separation, 0 for connection."""

    def __init__(self, data: np.ndarray, oracle: Oracle, names: tuple[str, ...], **kwargs: Any) -> None:
        super().__init__(data, **kwargs)
        self.check_cache_method_consistent("m_separation", "NO SPECIFIED PARAMETERS")
        self.oracle, self.names = oracle, names

    def __call__(self, X: int, Y: int, condition_set: Any = None) -> float:
        """The p-value of one question."""
        (x,), (y,), given, key = self.get_formatted_XYZ_and_cachekey(X, Y, condition_set)
        if key not in self.pvalue_cache:
            self.pvalue_cache[key] = self.oracle.test(self.names[x], self.names[y], [self.names[z] for z in given]).p_value
        return self.pvalue_cache[key]


register_ci_test("m_separation", MSeparation)


def causal_learn(mag: MAG) -> PAG:
    """The PAG of causal-learn's FCI with the oracle; the data are a placeholder."""
    data = np.zeros((len(mag) + 1, len(mag)))
    names = tuple(mag.labels)
    with contextlib.redirect_stdout(io.StringIO()):
        graph, _ = fci(data, "m_separation", show_progress=False, node_names=list(names), oracle=Oracle(mag), names=names)
    return PAG.from_causallearn(graph).reordered(mag.labels)


# The comparison


@dataclass(frozen=True, slots=True)
class Case:
    """One MAG and the three answers; ``truth`` is the definition's."""

    mag: MAG
    truth: PAG | None
    members: int
    projected: PAG
    listed: tuple[PAG, ...]
    foreign: PAG
    seconds: float

    @property
    def ours_right(self) -> bool:
        """One PAG, the same from both ways, and that of the definition where it could be worked out."""
        return self.listed == (self.projected,) and self.truth in {None, self.projected}

    @property
    def higher_order(self) -> bool:
        """A collider of order 1 or more."""
        return any(t.collider and t.order for t in triples_with_order(self.mag))


def run(n: int, seed: int, limit: int) -> Case:
    """One random MAG, of either kind in turn."""
    mag = (common_causes, hidden_nodes)[seed % 2](n, np.random.default_rng([seed, n]))
    start = time.process_time()
    listed = discover(Oracle(mag), time_limit=None).pags
    seconds = time.process_time() - start
    truth, count = pag_by_definition(mag, limit)
    return Case(mag, truth, count, mag_to_pag(mag), tuple(p.reordered(mag.labels) for p in listed), causal_learn(mag), seconds)


def difference(right: PAG, wrong: PAG) -> str:
    """What is wrong with ``wrong``: edges and marks."""
    kinds = {"edge missing": 0, "edge too many": 0, "circle where a mark is shared": 0, "mark that is not shared": 0, "wrong mark": 0}
    for i, j in combinations(range(len(right)), 2):
        if (right.marks[i, j] == NONE) != (wrong.marks[i, j] == NONE):
            kinds["edge missing" if wrong.marks[i, j] == NONE else "edge too many"] += 1
            continue
        for a, b in ((right.marks[i, j], wrong.marks[i, j]), (right.marks[j, i], wrong.marks[j, i])):
            if a != b:
                kinds["circle where a mark is shared" if b == CIRCLE else "mark that is not shared" if a == CIRCLE else "wrong mark"] += 1
    return ", ".join(f"{count} x {kind}" for kind, count in kinds.items() if count)


def main() -> int:
    """Run all cases, print the table and every difference; exit code 1 if this package is ever wrong."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--each", type=int, default=40, help="MAGs per number of nodes")
    parser.add_argument("--limit", type=int, default=100_000, help="steps of the search for the members of a class, at most")
    args = parser.parse_args()
    start = time.perf_counter()
    cases: list[Case] = []
    columns = [
        "nodes",
        "MAGs",
        "degree",
        "order>0",
        "most members",
        "judged",
        "discover = mag_to_pag",
        "= definition",
        "= causal-learn",
        "CPU s max",
    ]
    print("  ".join(columns))
    for n in SIZES:
        part = [run(n, seed, args.limit) for seed in range(args.each)]
        cases += part
        judged = [c for c in part if c.truth is not None]
        row = (
            n,
            len(part),
            f"{np.mean([2 * len(c.mag.edges) / n for c in part]):.2f}",
            sum(c.higher_order for c in part),
            max(c.members for c in part),
            len(judged),
            sum(c.listed == (c.projected,) for c in part),
            sum(c.truth == c.projected for c in judged),
            sum(c.foreign == c.projected for c in part),
            f"{max(c.seconds for c in part):.3f}",
        )
        print("  ".join(str(cell).rjust(len(name)) for cell, name in zip(row, columns, strict=True)), flush=True)
    return report(cases, time.perf_counter() - start)


def report(cases: list[Case], seconds: float) -> int:
    """Every difference, and the verdict."""
    for case in cases:
        if case.ours_right and case.foreign == case.projected:
            continue
        judge = f"definition, {case.members} members" if case.truth is not None else "too many graphs to try"
        print(f"\n{case.mag}\n  {judge}: {case.truth}\n  mag_to_pag: {case.projected}")
        print(f"  discover: {' | '.join(map(str, case.listed)) or 'nothing'}\n  causal-learn: {case.foreign}")
        if case.foreign != case.projected:
            who = "causal-learn" if case.truth == case.projected else "undecided" if case.truth is None else "this package"
            print(f"  wrong: {who}; causal-learn has {difference(case.projected, case.foreign)}")
    wrong = sum(not case.ours_right for case in cases)
    foreign = sum(case.truth is not None and case.foreign != case.truth for case in cases)
    judged = sum(case.truth is not None for case in cases)
    print(f"\n{len(cases)} MAGs, {judged} judged by definition: this package wrong {wrong}, causal-learn wrong {foreign}; {seconds:.0f} s")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())

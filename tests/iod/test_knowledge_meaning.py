"""What exogenous and unconfounded mean, from DAGs with latent and selection variables to MAGs, by enumeration.

DAGs are written as what they come to over the measured variables: directed edges, and <-> for a latent cause of two of them. That is every
DAG as far as MAGs can tell, since a latent variable with other latent causes or with more children may be replaced by such ones; where a
latent cause has three children, all three pairs have an edge.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import combinations, product

import pytest

from consilience.graph import DAG, MAG, has_inducing_path, latent_projection
from consilience.iod.knowledge import Knowledge
from tests.iod.mag_enumeration import load, load_with_selection

Pair = tuple[str, str]


def subsets(pairs: Iterable[Pair]) -> Iterator[tuple[Pair, ...]]:
    pairs = list(pairs)
    return (chosen for size in range(len(pairs) + 1) for chosen in combinations(pairs, size))


def dags(nodes: str) -> Iterator[list[Pair]]:
    """Directed edges without a cycle."""
    pairs = list(combinations(nodes, 2))
    for states in product((0, 1, 2), repeat=len(pairs)):
        edges = [(a, b) if state == 1 else (b, a) for (a, b), state in zip(pairs, states, strict=True) if state]
        left, before = set(nodes), None
        while left != before:
            before = set(left)
            left = {v for v in left if any(b == v and a in left for a, b in edges)}
        if not left:
            yield edges


def dag_of(nodes: str, directed: Iterable[Pair], confounded: Iterable[Pair]) -> DAG:
    edges = [f"{a} --> {b}" for a, b in directed]
    edges += [f"latent{number} --> {child}" for number, pair in enumerate(confounded) for child in pair]
    return DAG.parse(", ".join([*edges, *nodes]))


@pytest.mark.slow
@pytest.mark.parametrize("exogenous", ["A", "AB", "ABC"])
def test_exogenous_allows_exactly_the_mags_of_dags_with_exogenous_variables(exogenous: str) -> None:
    """Nothing outside causes these, and no latent variable causes one of them and one outside; among themselves anything goes."""
    nodes, others = "ABCD", [v for v in "ABCD" if v not in exogenous]
    within = [*combinations(exogenous, 2)], [*combinations(others, 2)]
    across = [(e, y) for e in exogenous for y in others]
    made = {
        latent_projection(dag_of(nodes, (*first, *second, *between), (*one, *two)), list(nodes))
        for first, second in product(dags(exogenous), dags("".join(others)))
        for between in subsets(across)
        for one in subsets(within[0])
        for two in subsets(within[1])
    }
    known = Knowledge(exogenous=list(exogenous))
    assert made == {mag for mag in (MAG.from_matrix(marks, nodes) for marks in load(4).mags) if known.allows(mag)}


def mag_under_selection(dag: DAG, nodes: str, selected: Iterable[str]) -> MAG:
    """By definition: edges are pairs that no set separates given selection, tails are ancestors of the other end or of selection."""
    given = set(selected)
    latent = set(dag.labels) - set(nodes) - given
    above = _ancestors(dag)
    lines = []
    for a, b in combinations(nodes, 2):
        rest = [v for v in nodes if v not in (a, b)]
        if all(_connected(dag, a, b, {*chosen, *given}) for size in range(len(rest) + 1) for chosen in combinations(rest, size)):
            left = "-" if above[b] | set().union(*(above[s] for s in given)) >= {a} else "<"
            right = "-" if above[a] | set().union(*(above[s] for s in given)) >= {b} else ">"
            lines.append(f"{a} {left}-{right} {b}")
    assert latent.isdisjoint(nodes)
    return MAG.parse(", ".join([*lines, *nodes]))


def _ancestors(dag: DAG) -> dict[str, set[str]]:
    found = {v: {v, *dag.parents(v)} for v in dag.labels}
    for _ in dag.labels:
        found = {v: set().union(*(found[u] for u in found[v])) for v in dag.labels}
    return found


def _connected(dag: DAG, a: str, b: str, given: set[str]) -> bool:
    """By reachability: a node and whether it was reached from a child."""
    above = _ancestors(dag)
    opened = set().union(*(above[v] for v in given)) if given else set()
    queue, seen = [(a, True)], set[tuple[str, bool]]()
    while queue:
        here = queue.pop()
        if here in seen:
            continue
        seen.add(here)
        node, from_child = here
        if node == b:
            return True
        if from_child and node not in given:
            queue += [(parent, True) for parent in dag.parents(node)] + [(child, False) for child in dag.children(node)]
        if not from_child:
            queue += [(child, False) for child in dag.children(node)] if node not in given else []
            queue += [(parent, True) for parent in dag.parents(node)] if node in opened else []
    return False


@pytest.mark.slow
@pytest.mark.parametrize("exogenous", ["A", "AB"])
def test_with_selection_too(exogenous: str) -> None:
    """Selection may depend on any variables and share causes with those that are not exogenous."""
    nodes, others = "ABC", [v for v in "ABC" if v not in exogenous]
    made = set()
    for first, second in product(dags(exogenous), dags("".join(others))):
        for between in subsets((e, y) for e in exogenous for y in others):
            for confounded in subsets([*combinations(exogenous, 2), *combinations([*others, "S"], 2)]):
                for causes in subsets((v, "S") for v in nodes):
                    dag = dag_of(nodes + "S", (*first, *second, *between, *causes), confounded)
                    made.add(mag_under_selection(dag, nodes, "S"))
    known = Knowledge(exogenous=list(exogenous))
    allowed = {mag for mag in (MAG.from_matrix(marks, nodes) for marks in load_with_selection(3).mags) if known.allows(mag)}
    assert made <= allowed
    for mag in allowed:  # some take several selection variables; its canonical DAG makes each
        ends = {"-->": list[Pair](), "<->": list[Pair](), "---": list[Pair]()}
        for edge in mag.edges:
            ends[str(edge).split()[1]].append((edge.a, edge.b))
        selected = [f"S{number}" for number, _ in enumerate(ends["---"])]
        causes = [(end, s) for s, pair in zip(selected, ends["---"], strict=True) for end in pair]
        assert not any(b in exogenous and a not in exogenous for a, b in ends["-->"])
        assert all((a in exogenous) == (b in exogenous) for a, b in ends["<->"])
        assert mag_under_selection(dag_of(nodes, [*ends["-->"], *causes], ends["<->"]), nodes, selected) == mag


@pytest.mark.slow
def test_unconfounded_is_what_it_says_and_no_more() -> None:
    """Where no chain of latent causes joins two variables, the MAG has no <-> between them, and where the MAG has none, a DAG without a
    latent cause of the two makes it. Not the reverse: a chain through a measured variable that causes one of the two makes <-> as well.
    """
    nodes = "ABC"
    known = Knowledge(unconfounded=[["A", "B"]])
    without, apart = set(), set()
    for directed in dags(nodes):
        for confounded in subsets(combinations(nodes, 2)):
            mag = latent_projection(dag_of(nodes, directed, confounded), list(nodes))
            if ("A", "B") not in confounded:
                without.add(mag)
                if len(confounded) < 2:
                    apart.add(mag)
    allowed = {mag for mag in (MAG.from_matrix(marks, nodes) for marks in load(3).mags) if known.allows(mag)}
    assert apart <= allowed <= without
    chains = ("C --> A, B <-> C", "C --> B, A <-> C", "C --> A, C --> B")
    assert without - allowed == {MAG.parse(f"A <-> B, {chain}") for chain in chains}


def test_the_chain_that_unconfounded_excludes_too() -> None:
    chain = dag_of("ABC", [("C", "A")], [("A", "C"), ("C", "B")])
    assert has_inducing_path(chain, "A", "B", ["latent0", "latent1"])
    assert latent_projection(chain, list("ABC")) == MAG.parse("A <-> B, C --> A, B <-> C")
    assert not Knowledge(unconfounded=[["A", "B"]]).allows(latent_projection(chain, list("ABC")))


def test_a_common_cause_behind_an_effect_is_the_same_graph_as_none() -> None:
    hidden, plain = dag_of("AB", [("A", "B")], [("A", "B")]), dag_of("AB", [("A", "B")], [])
    assert latent_projection(hidden, ["A", "B"]) == latent_projection(plain, ["A", "B"]) == MAG.parse("A --> B")
    assert Knowledge(unconfounded=[["A", "B"]]).allows(MAG.parse("A --> B"))


def test_separate_means_that_variables_of_the_study_separate_them() -> None:
    """Indicators of a trait: with the trait in the study they have no edge; without it they are confounded by it."""
    scale = DAG.parse("trait --> item1, trait --> item2")
    known = Knowledge(separate=[["item1", "item2"]])
    assert known.allows(latent_projection(scale, ["item1", "item2", "trait"]))
    measured = latent_projection(scale, ["item1", "item2"])
    assert measured == MAG.parse("item1 <-> item2")
    assert not known.allows(measured)
    assert Knowledge(forbidden=["item1 => item2", "item2 => item1"]).allows(measured)

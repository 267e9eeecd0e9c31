"""m-separation and inducing paths against their definitions, path by path."""

from __future__ import annotations

from itertools import combinations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from consilience.citest.errors import ConditioningError, SameVariableError
from consilience.graph import (
    DAG,
    MAG,
    PAG,
    MixedGraph,
    Oracle,
    Separation,
    ancestors,
    bits,
    canonical_dag,
    has_inducing_path,
    is_ancestral,
    latent_projection,
    m_separated,
    mask_of,
)
from consilience.graph.errors import CircleMarkError, LabelError, UndirectedEdgeError, UnknownNodeError
from tests.graph.helpers import (
    LABELS,
    all_mags,
    ancestors_by_definition,
    inducing_by_definition,
    mixed_graphs,
    random_dags,
    random_mags,
    separated_by_definition,
    subsets,
)


def test_chain_fork_collider() -> None:
    for text in ("A --> B, B --> C", "B --> A, B --> C", "A --- B, B --- C"):
        graph = MixedGraph.parse(text)
        assert (m_separated(graph, "A", "C"), m_separated(graph, "A", "C", "B")) == (False, True)
    for text in ("A --> B, C --> B, B --> D", "A <-> B, C <-> B, B --> D"):
        graph = MixedGraph.parse(text)
        assert [m_separated(graph, "A", "C", given) for given in ((), ["B"], ["D"], ["B", "D"])] == [True, False, False, False]


def test_m_bias() -> None:
    graph = DAG.parse("U --> A, U --> M, W --> M, W --> B")
    assert m_separated(graph, "A", "B")
    assert not m_separated(graph, "A", "B", ["M"])
    assert m_separated(graph, "A", "B", ["M", "U"])


@settings(deadline=None)
@given(mixed_graphs())
def test_separation_is_what_its_definition_says_even_with_directed_cycles(marks) -> None:
    separation = Separation(marks)
    for x, y in combinations(range(marks.n), 2):
        for chosen in subsets([v for v in range(marks.n) if v not in (x, y)]):
            expected = separated_by_definition(marks, x, y, chosen)
            assert separation.separated(x, y, mask_of(chosen)) is expected
            assert separation.separated(y, x, mask_of(chosen)) is expected
            assert (separation.connected(x, mask_of(chosen)) >> y & 1 == 0) is expected


@pytest.mark.slow
@settings(max_examples=300, deadline=None)
@given(mixed_graphs(most=5, undirected=True))
def test_separation_in_ancestral_graphs_with_undirected_edges(marks) -> None:
    if not is_ancestral(MixedGraph.from_working(marks, LABELS[: marks.n])):
        return
    separation = Separation(marks)
    for x, y in combinations(range(marks.n), 2):
        for chosen in subsets([v for v in range(marks.n) if v not in (x, y)]):
            assert separation.separated(x, y, mask_of(chosen)) is separated_by_definition(marks, x, y, chosen)


@settings(deadline=None)
@given(mixed_graphs(), st.integers(0, 31))
def test_ancestors_are_what_their_definition_says(marks, chosen: int) -> None:
    nodes = set(bits(chosen & ((1 << marks.n) - 1)))
    assert set(bits(Separation(marks).ancestors_of(mask_of(nodes)))) == ancestors_by_definition(marks, nodes)


@settings(deadline=None)
@given(mixed_graphs(), st.integers(0, 31))
def test_inducing_paths_are_what_their_definition_says(marks, chosen: int) -> None:
    separation = Separation(marks)
    for x, y in combinations(range(marks.n), 2):
        latent = set(bits(chosen & ((1 << marks.n) - 1))) - {x, y}
        assert separation.inducing(x, y, mask_of(latent)) is inducing_by_definition(marks, x, y, latent)


@settings(deadline=None)
@given(random_mags(observed=5, latent=3), st.integers(0, 31))
def test_there_is_an_inducing_path_iff_no_observed_set_separates(marks, chosen: int) -> None:
    separation = Separation(marks)
    for x, y in combinations(range(marks.n), 2):
        latent = chosen & ((1 << marks.n) - 1) & ~(1 << x | 1 << y)
        observed = [v for v in range(marks.n) if v not in (x, y) and not latent >> v & 1]
        separable = any(separation.separated(x, y, mask_of(chosen)) for chosen in subsets(observed))
        assert separation.inducing(x, y, latent) is not separable


@settings(deadline=None)
@given(random_dags(most=7), st.data())
def test_a_projection_keeps_exactly_the_separations_among_observed_variables(dag, data) -> None:
    graph = DAG.from_working(dag, LABELS[: dag.n])
    observed = data.draw(st.lists(st.sampled_from(graph.labels), min_size=2, max_size=5, unique=True))
    mag = latent_projection(graph, observed)
    assert mag.labels == tuple(observed)
    for x, y in combinations(observed, 2):
        assert (x in ancestors(graph, y)) == (x in ancestors(mag, y))
        for size in range(len(observed) - 1):
            for chosen in combinations([v for v in observed if v not in (x, y)], size):
                assert m_separated(graph, x, y, chosen) == m_separated(mag, x, y, chosen)


@settings(deadline=None)
@given(random_mags(), st.data())
def test_projections_can_be_taken_one_after_the_other(marks, data) -> None:
    mag = MAG.from_working(marks, LABELS[: marks.n])
    order = data.draw(st.permutations(mag.labels))
    first, second = order[: max(2, len(order) - 1)], order[: max(2, len(order) - 2)]
    assert latent_projection(latent_projection(mag, first), second) == latent_projection(mag, second)
    assert latent_projection(mag, mag.labels) == mag


@pytest.mark.slow
def test_projection_of_mags_with_undirected_edges() -> None:
    """Marginals of 4-node MAGs are MAGs with the same separations."""
    for marks in all_mags(4, undirected=True)[::11]:
        mag = MAG.from_working(marks, "ABCD")
        for observed in (["A", "B", "C"], ["B", "C", "D"], ["A", "C", "D"]):
            marginal = latent_projection(mag, observed)
            for x, y in combinations(observed, 2):
                for chosen in ((), tuple(v for v in observed if v not in (x, y))):
                    assert m_separated(mag, x, y, chosen) == m_separated(marginal, x, y, chosen)


def test_projection_examples() -> None:
    assert latent_projection(DAG.parse("A --> B, B --> C"), ["A", "C"]) == MAG.parse("A --> C")
    assert latent_projection(DAG.parse("L --> A, L --> B"), ["A", "B"]) == MAG.parse("A <-> B")
    assert latent_projection(MAG.parse("A --- B, B --> C"), ["A", "C"]) == MAG.parse("A --> C")
    # An edge without a cause or a common cause: the instrument of a confounded effect.
    assert latent_projection(DAG.parse("Z --> X, X --> Y, U --> X, U --> Y"), ["X", "Y", "Z"]) == MAG.parse("Z --> X, X --> Y, Z --> Y")
    nearly = MixedGraph.parse("A <-> B, B <-> C, C <-> D, B --> D, C --> A")
    assert latent_projection(nearly, nearly.labels) == MAG.parse("A <-> B, B <-> C, C <-> D, B --> D, C --> A, A <-> D")


@pytest.mark.slow
@settings(deadline=None)
@given(random_mags())
def test_the_canonical_dag_projects_on_its_mag(marks) -> None:
    mag = MAG.from_working(marks, LABELS[: marks.n])
    assert latent_projection(canonical_dag(mag), mag.labels) == mag


def test_the_canonical_dag_names_its_latent_variables() -> None:
    mag = MAG.parse('A <-> B, "L(A,B)"')
    dag = canonical_dag(mag)
    assert dag.labels == ("A", "B", "L(A,B)", "L(A,B)'")
    assert dag.children("L(A,B)'") == ("A", "B")
    with pytest.raises(UndirectedEdgeError, match="A --- B"):
        canonical_dag(MAG.parse("A --- B"))


def test_bad_questions() -> None:
    graph = DAG.parse("A --> B, C")
    with pytest.raises(SameVariableError):
        m_separated(graph, "A", "A")
    with pytest.raises(ConditioningError):
        m_separated(graph, "A", "B", ["A"])
    with pytest.raises(UnknownNodeError):
        m_separated(graph, "A", "B", ["D"])
    with pytest.raises(ConditioningError):
        has_inducing_path(graph, "A", "B", ["B"])
    with pytest.raises(LabelError):
        latent_projection(graph, ["A", "A"])
    circles = MixedGraph.parse("A o-> B")
    for ask in (lambda: m_separated(circles, "A", "B"), lambda: Separation(circles.marks), lambda: latent_projection(circles, ["A", "B"])):
        with pytest.raises(CircleMarkError, match="pag_to_mag"):
            ask()


def test_separation_takes_labels_with_several_letters_as_one() -> None:
    graph = DAG.parse("age --> dose, dose --> cure")
    assert m_separated(graph, "age", "cure", "dose")
    assert ancestors(graph, "dose") == {"age", "dose"}


def test_an_oracle_says_what_it_answers_from() -> None:
    oracle = Oracle(PAG.parse("A o-> C, B o-> C, C --> D"), datasets=["BCA", "BCD"])
    assert repr(oracle) == "Oracle(MAG.parse('A --> C, B --> C, C --> D'), datasets=[['A', 'B', 'C'], ['B', 'C', 'D']])"
    again = eval(repr(oracle), {"Oracle": Oracle, "MAG": MAG})
    assert (again.graph, again.datasets, again.variables) == (oracle.graph, oracle.datasets, oracle.variables)

"""Adjustment sets: examples from papers, questions that have no answer, and what people read."""

from __future__ import annotations

from itertools import chain, combinations

import pytest

from consilience.citest.errors import ConditioningError, SameVariableError
from consilience.errors import GraphError, OptionError
from consilience.graph import DAG, MAG, PAG, Identification, MixedGraph, adjustment_sets, is_adjustment_set, is_valid_pag
from consilience.graph.errors import InvalidPAGError, UnknownNodeError

ADJUSTED, ZERO, HIDDEN, OPEN, APART, SELECTION = Identification


def answer(text: str, x: str = "X", y: str = "Y", kind: type[PAG | MAG | DAG] = PAG) -> tuple[str, tuple[tuple[str, ...], ...]]:
    graph = kind.parse(text)
    assert not isinstance(graph, PAG) or is_valid_pag(graph)
    found = adjustment_sets(graph, x, y)
    return found.identification, found.sets


def all_sets(names: str) -> list[tuple[str, ...]]:
    return list(chain.from_iterable(combinations(names.split(), size) for size in range(len(names.split()) + 1)))


# Figures of papers, with the answers that the papers give, and pcalg's examples and tests of ``gac`` after them.


def test_perkovic_2018_example_3_a_pag_that_is_not_amenable() -> None:
    assert answer("V1 o-o X, V2 o-o X, V2 o-o Y, X o-o Y") == (HIDDEN, ())


def test_perkovic_2018_example_3_a_mag_of_it_whose_edges_may_hide_a_common_cause() -> None:
    assert answer("X --> V1, X --> V2, V2 --> Y, X --> Y", kind=MAG) == (HIDDEN, ())


def test_perkovic_2018_example_3_another_mag_of_it_with_visible_edges() -> None:
    assert answer("V1 --> X, X --> V2, V2 --> Y, X --> Y", kind=MAG) == (ADJUSTED, ((),))


def test_perkovic_2018_example_4_figure_4a_one_variable_must_and_two_may_be_in_the_set() -> None:
    """The edge V3–Y has an arrowhead at Y there, which the class does not share; the answers are the same with it."""
    for text in ("V3 o-o Y", "V3 o-> Y"):
        pag = PAG.parse(f"V1 o-> X, V2 o-> X, V4 o-> X, V4 --> V3, V4 --> Y, X --> V3, X --> Y, {text}")
        assert is_valid_pag(pag) is ("o-o" in text)
        good = {z for z in all_sets("V1 V2 V3 V4") if is_adjustment_set(pag, "X", "Y", z)}
        assert good == {("V4",), ("V1", "V4"), ("V2", "V4"), ("V1", "V2", "V4")}
        found = adjustment_sets(pag, "X", "Y")
        assert (found.sets, found.canonical, found.forbidden) == ((("V4",),), ("V1", "V2", "V4"), ("V3", "Y"))


def test_perkovic_2018_example_4_figure_4b_amenable_and_yet_no_set() -> None:
    text = "V1 o-> X, V2 o-> X, V4 <-> X, X --> V3, V3 <-> V4, V3 --> Y, V4 --> Y"
    assert answer(text) == (OPEN, ())
    assert not any(is_adjustment_set(PAG.parse(text), "X", "Y", z) for z in all_sets("V1 V2 V3 V4"))
    assert adjustment_sets(PAG.parse(text), "X", "Y").path == "X <-> V4 <-> V3 --> Y"


@pytest.mark.parametrize(("z", "adjusts"), [("", True), ("B", False), ("D", True), ("E", False), ("F", False), ("DE", False)], ids=str)
def test_pcalg_a_dag_with_a_chain_and_what_hangs_on_it(z: str, adjusts: bool) -> None:
    assert is_adjustment_set(DAG.parse("A --> B, A --> D, B --> C, B --> E, C --> F"), "A", "C", list(z)) is adjusts


@pytest.mark.parametrize(
    ("z", "adjusts"), [("A", True), ("C", True), ("E", False), ("AE", False), ("AB", True), ("AC", True), ("B", False), ("", True)]
)
def test_pcalg_a_dag_with_a_collider_on_the_other_way(z: str, adjusts: bool) -> None:
    """With B alone given, D <-- A --> B <-- C --> E is open."""
    dag = DAG.parse("A --> B, A --> D, C --> B, C --> E, D --> E, E --> F")
    assert is_adjustment_set(dag, "D", "F", list(z)) is adjusts


def test_zhang_2008_smoking_and_cancer() -> None:
    """With the genotype measured, adjusting for it identifies what smoking does; what the genotype does stays open."""
    pag = "Income o-> Smoking, Parents o-> Smoking, Genotype o-> Smoking, Genotype --> Cancer, Smoking --> Cancer"
    assert answer(pag, "Smoking", "Cancer") == (ADJUSTED, (("Genotype",),))
    assert answer(pag, "Genotype", "Cancer") == (HIDDEN, ())
    assert answer(pag, "Income", "Cancer") == (HIDDEN, ())
    assert answer(pag, "Cancer", "Income") == (ZERO, ())


def test_pearl_2009_m_bias_nothing_is_adjusted_for_rather_than_the_collider() -> None:
    dag = DAG.parse("A --> X, A --> M, B --> M, B --> Y, X --> Y")
    assert adjustment_sets(dag, "X", "Y").sets == ((),)
    assert not is_adjustment_set(dag, "X", "Y", "M")
    assert all(is_adjustment_set(dag, "X", "Y", ["M", other]) for other in "AB")


def test_pearl_2009_the_front_door_is_no_adjustment() -> None:
    """The mediator alone would identify the effect, but not by adjusting for it: what would have to be measured is U."""
    dag = DAG.parse("U --> X, U --> Y, X --> M, M --> Y")
    found = adjustment_sets(dag, "X", "Y", among=["X", "M", "Y"])
    assert (found.identification, found.wanted) == (APART, (("U",),))


def test_several_minimal_sets_of_several_sizes() -> None:
    dag = DAG.parse("C --> X, C --> A, C --> B, A --> Y, B --> Y, X --> Y")
    assert adjustment_sets(dag, "X", "Y").sets == (("C",), ("A", "B"))
    every = adjustment_sets(dag, "X", "Y", minimal=False)
    assert every.sets == (("C",), ("A", "B"), ("A", "C"), ("B", "C"), ("A", "B", "C"))
    assert every.complete
    fewer = adjustment_sets(dag, "X", "Y", minimal=False, most=2)
    assert (len(fewer.sets), fewer.complete) == (2, False)


# Data sets


CONFOUNDED = DAG.parse("C --> X, C --> A, C --> B, A --> Y, B --> Y, X --> Y")


@pytest.mark.parametrize(
    ("datasets", "sets"),
    [
        (["XYC", "ABXY"], (("C",), ("A", "B"))),
        (["XYAB", "XYA", "XC"], (("A", "B"),)),
        (["XYA", "XYC", "YC"], (("C",),)),
        (["XYA", "XYB"], ()),
        (["XAB", "YC"], ()),
        ([], ()),
    ],
)
def test_only_sets_that_a_data_set_has_with_both_variables(datasets: list[str], sets: tuple[tuple[str, ...], ...]) -> None:
    found = adjustment_sets(CONFOUNDED, "X", "Y", datasets=datasets)
    assert found.sets == sets
    assert found.identification is (ADJUSTED if sets else APART)
    assert found.canonical == ("A", "B", "C")


def test_a_set_that_would_do_is_named_where_the_two_are_measured_together() -> None:
    assert adjustment_sets(CONFOUNDED, "X", "Y", among="XYA").wanted == (("C",), ("A", "B"))
    assert adjustment_sets(CONFOUNDED, "X", "Y", among="XA").wanted == ()


def test_zero_needs_no_data() -> None:
    assert adjustment_sets(CONFOUNDED, "Y", "X", datasets=[]).identification is ZERO


# What cannot be asked, and graphs that have no answer


def test_selection() -> None:
    square = PAG.parse("A --- B, B --- C, C --- D, D --- A")
    found = adjustment_sets(square, "A", "C")
    assert (found.identification, str(found.edge)) == (SELECTION, "A --- B")
    assert not is_adjustment_set(square, "A", "C", ["B", "D"])
    assert adjustment_sets(PAG.parse("A --o B"), "A", "B").identification is SELECTION


def test_questions_that_have_no_meaning() -> None:
    pag = PAG.parse("A o-> X, B o-> X, X --> Y")
    with pytest.raises(SameVariableError, match="both are 'X'"):
        adjustment_sets(pag, "X", "X")
    with pytest.raises(UnknownNodeError, match="No node 'Z'"):
        adjustment_sets(pag, "X", "Z")
    with pytest.raises(UnknownNodeError, match="No node 'Z'"):
        adjustment_sets(pag, "X", "Y", among=["X", "Y", "Z"])
    with pytest.raises(ConditioningError, match="take them out"):
        is_adjustment_set(pag, "X", "Y", ["A", "Y"])
    with pytest.raises(OptionError, match="most"):
        adjustment_sets(pag, "X", "Y", most=0)
    with pytest.raises(OptionError, match="give one of the two"):
        adjustment_sets(pag, "X", "Y", among="XY", datasets=["XY"])
    with pytest.raises(InvalidPAGError):
        adjustment_sets(PAG.parse("A o-o B, B o-o C, C o-o D, D o-o A"), "A", "B")
    with pytest.raises(GraphError, match="DAGs, MAGs and PAGs"):
        adjustment_sets(MixedGraph.parse("A --> B, B --> A2, A2 --> A"), "A", "B")


# What people read


@pytest.mark.parametrize(
    ("text", "x", "y", "words"),
    [
        (
            "Age o-> Dose, Sex o-> Dose, Dose --> Cure",
            "Dose",
            "Cure",
            "The effect of Dose on Cure can be estimated without adjusting for anything.",
        ),
        ("Age o-> Dose, Sex o-> Dose, Dose --> Cure", "Cure", "Age", "Cure is no possible cause of Age: the effect is zero."),
        (
            "Age o-> Dose, Sex o-> Dose, Dose --> Cure",
            "Age",
            "Cure",
            "The effect of Age on Cure is not identifiable by adjustment: the edge Age o-> Dose leaves open whether Age is a cause of Dose "
            "at all, or a common cause that nobody measured explains it, with which the way Age o-> Dose --> Cure begins.",
        ),
        (
            "A o-o B",
            "A",
            "B",
            "The effect of A on B is not identifiable by adjustment: the edge A o-o B leaves open whether A is a cause of B at all, "
            "or B a cause of A, or a common cause that nobody measured explains it.",
        ),
        (
            "A --- B, B --- C, C --- D, D --- A",
            "A",
            "B",
            "The effect of A on B is not identifiable by adjustment: the edge A --- B says that who is in the data depends on what is "
            "measured (selection), and no set adjusts for that.",
        ),
    ],
)
def test_words(text: str, x: str, y: str, words: str) -> None:
    assert adjustment_sets(PAG.parse(text), x, y).in_words() == words


def test_words_of_a_visible_cause_and_a_doubtful_one() -> None:
    mag = MAG.parse("X --> Y")
    assert "the edge X --> Y might hide a common cause of X and Y that nobody measured." in adjustment_sets(mag, "X", "Y").in_words()


def test_words_of_data_sets() -> None:
    one = adjustment_sets(CONFOUNDED, "X", "Y", datasets=["XYA"]).in_words()
    assert one.endswith("no data set measures X and Y together with C, or with A and B, for which to adjust.")
    assert adjustment_sets(CONFOUNDED, "X", "Y", datasets=["XA"]).in_words().endswith("no data set measures X and Y together.")


def test_words_of_sets() -> None:
    assert adjustment_sets(CONFOUNDED, "X", "Y").in_words().endswith("can be estimated by adjusting for C, or for A and B.")
    assert adjustment_sets(CONFOUNDED, "X", "Y", minimal=False).in_words().endswith("by adjusting for C, or for A and B (5 sets would do).")

"""What is said of several variables at once: how it is read and written, refused, told in words, and what it says of a MAG."""

from __future__ import annotations

import re
from collections.abc import Callable
from itertools import combinations
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import consilience as cs
from consilience.data.kinds import Kind
from consilience.errors import KnowledgeError
from consilience.graph import MAG, Oracle
from consilience.iod.discover import knowledge_of
from consilience.iod.groups import Form, Group
from consilience.iod.knowledge import Knowledge
from consilience.iod.report.sections import knowledge
from consilience.iod.report.sentences import certain
from consilience.service.contract import Contract, decode_contract
from consilience.service.settings import VariableSpec, check_knowledge, checked
from consilience.settings import NetworkSettings, Settings
from tests.iod.mag_enumeration import load, load_with_selection
from tests.iod.test_knowledge import agrees, names

LABELS = tuple("ABCD")
some_names = st.lists(names, min_size=2, max_size=5, unique=True)


@st.composite
def groups(draw: st.DrawFn, variables: st.SearchStrategy[list[str]] = some_names) -> Knowledge:
    """Knowledge of all forms that have no contradictions: nothing is required."""
    return Knowledge(
        exogenous=draw(variables)[: draw(st.integers(0, 2))],
        unconfounded=draw(st.lists(variables, max_size=2)),
        separate=draw(st.lists(variables, max_size=2)),
    )


# Reading and writing


@pytest.mark.slow
@given(groups())
@settings(deadline=None)
def test_text_file_plain_types_and_settings_hold_everything(tmp_path_factory: pytest.TempPathFactory, known: Knowledge) -> None:
    path = tmp_path_factory.getbasetemp() / "groups.toml"
    path.write_text(known.to_toml(), encoding="utf-8")
    assert Knowledge.from_toml(path) == known
    assert Knowledge.from_dict(known.to_dict()) == known
    assert eval(repr(known)) == known
    assert (knowledge_of(Settings(**known.to_settings())) or Knowledge()) == known
    assert hash(Knowledge(**known.to_settings())) == hash(known)


@given(st.sampled_from(Form), some_names)
def test_a_group_reads_back_from_its_text(form: Form, said: list[str]) -> None:
    known = Knowledge(required=[str(Group(form, tuple(said)))])
    assert known == (Knowledge(exogenous=said) if form is Form.EXOGENOUS else Knowledge(**{form: [said]}))  # type: ignore[arg-type]


def test_a_file_as_people_write_it(tmp_path: Path) -> None:
    path = tmp_path / "known.toml"
    path.write_text(
        'exogenous = ["age", "sex"]\nunconfounded = [["dose", "pulse"]]\nseparate = [["item 1", "item 2"], ["item 3", "item 4"]]\n',
        encoding="utf-8",
    )
    known = Knowledge.from_toml(path)
    assert known == Knowledge(
        required=["exogenous age, sex", 'unconfounded "dose" pulse', '  separate "item 1" "item 2" ', 'separate "item 3","item 4"']
    )
    assert known.variables == ("age", "dose", "item 1", "item 2", "item 3", "item 4", "pulse", "sex")
    assert known.to_toml().splitlines()[:4] == ["exogenous = [", '  "age",', '  "sex",', "]"]
    assert known


def test_what_is_said_twice_is_kept_once() -> None:
    known = Knowledge(required=["exogenous B A", "separate B A"], exogenous=["A"], separate=[["A", "B", "A"]], unconfounded=[{"B", "A"}])
    assert (known.exogenous, known.separate, known.unconfounded) == (("A", "B"), (("A", "B"),), (("A", "B"),))


def test_a_variable_may_be_called_like_a_form() -> None:
    known = Knowledge(required=["exogenous => separate", "exogenous exogenous"])
    assert [*map(str, known.required)] == ["exogenous => separate"]
    assert known.exogenous == ("exogenous",)


def test_settings_and_contracts_need_no_fields_of_their_own() -> None:
    assert Knowledge(exogenous=["age"], required=["A => B"]).to_settings() == {
        "tiers": (),
        "required": ("A => B", "exogenous age"),
        "forbidden": (),
    }


REFUSED: list[tuple[Callable[[], object], str]] = [
    (lambda: Knowledge(exogenous="age"), r"exogenous is a list of names.*got 'age'. Put it in brackets"),
    (lambda: Knowledge(exogenous=[1]), r"named by text.*got 1"),  # type: ignore[list-item]
    (lambda: Knowledge(unconfounded=["A", "B"]), r"unconfounded is a list of lists.*got 'A'. Put the group in brackets"),
    (lambda: Knowledge(separate="AB"), r"separate is a list of lists.*got 'AB'"),
    (lambda: Knowledge(separate=[["A"]]), r"What is separate are two variables or more; got \['A'\]"),
    (lambda: Knowledge(unconfounded=[["A", "A"]]), r"What is unconfounded are two variables or more"),
    (lambda: Knowledge(required=["separate A"]), r"two variables or more"),
    (lambda: Knowledge(required=["exogenous"]), r"followed by the names of variables, as in 'exogenous A B'"),
    (lambda: Knowledge(required=["exogeneous age sex"]), r"begins with its word, as in 'exogenous A B'; got 'exogeneous age sex'"),
    (lambda: Knowledge(required=["age is exogenous"]), r"begins with its word, as in 'exogenous A B'"),
    (lambda: Knowledge(required=["Exogenous age"]), r"as in 'exogenous A B'; got 'Exogenous age'"),
    (lambda: Knowledge(required=["exogenous -> B"]), r"Did you mean 'exogenous --> B'"),
    (lambda: Knowledge(required=["exogenous A => B"]), r"A statement reads"),
    (lambda: Knowledge(required=['exogenous "A\\q"']), r"JSON string"),
    (lambda: Knowledge(required=['exogenous ""']), r"not empty"),
    (lambda: Knowledge(forbidden=["exogenous age"]), r"said in required, and cannot be forbidden; got 'exogenous age'"),
    (lambda: Knowledge.from_dict({"exogeneous": ["A"]}), r"did you mean 'exogenous'\?"),
    (lambda: Knowledge(exogenous=["Age"]).check(["age", "sex"]), r"got 'Age' \(did you mean 'age'\?\)"),
    (lambda: Knowledge(separate=[["itm1", "item2"]]).items(["item1", "item2"]), r"'itm1' \(did you mean 'item"),
]


@pytest.mark.parametrize(("make", "message"), REFUSED, ids=[message for _, message in REFUSED])
def test_what_cannot_be_read_is_refused(make: Callable[[], object], message: str) -> None:
    with pytest.raises(KnowledgeError, match=f"(?s){message}"):
        make()


CONTRADICTIONS: list[tuple[dict[str, Any], str]] = [
    ({"exogenous": ["A"], "required": ["B => A"]}, r"by 'B => A', required, 'B' causes 'A', but 'A' is exogenous"),
    ({"exogenous": ["A"], "required": ["B --> C", "C => A"]}, r"but 'A' is exogenous"),
    ({"exogenous": ["A", "C"], "required": ["B => C", "C => A"]}, r"by 'B => C', required, 'B' causes 'C', but 'C' is exogenous"),
    ({"exogenous": ["A"], "required": ["B *-> A"]}, r"by 'B \*-> A', required, an edge between 'B' and 'A' has an arrowhead at 'A'"),
    ({"exogenous": ["A"], "required": ["A <-> B"]}, r"an edge between 'B' and 'A' has an arrowhead at 'A', but 'A' is exogenous"),
    ({"unconfounded": [["A", "B", "C"]], "required": ["C <-> A"]}, r"'A' and 'C' are unconfounded, but 'C <-> A' is required"),
    ({"unconfounded": [["A", "B"]], "required": ["A *-> B", "B *-> A"]}, r"but 'A \*-> B' and 'B \*-> A' are required"),
    ({"separate": [["A", "B"]], "required": ["B --> A"]}, r"'A' and 'B' are separate, but 'B --> A' is required"),
    ({"separate": [["A", "B"]], "required": ["A *-* B"]}, r"'A' and 'B' are separate, but 'A \*-\* B' is required"),
]


@pytest.mark.parametrize(("parts", "message"), CONTRADICTIONS, ids=[message for _, message in CONTRADICTIONS])
def test_contradictions_that_show_without_data(parts: dict[str, Any], message: str) -> None:
    with pytest.raises(KnowledgeError, match=f"must not contradict itself.*{message}.*Take one of these out"):
        Knowledge(**parts)
    alone = [Knowledge(**{key: [one]}) for key, values in parts.items() if key != "exogenous" for one in values]
    alone += [Knowledge(exogenous=parts.get("exogenous", []))]
    for marks in (*load(4).mags[::7], *load_with_selection(4).mags[::7]):
        mag = MAG.from_matrix(marks, LABELS)
        assert not all(piece.allows(mag) for piece in alone)


@pytest.mark.parametrize(
    "parts",
    [
        {"exogenous": ["A", "B"], "required": ["A => B"]},
        {"exogenous": ["A", "B"], "required": ["A <-> B"]},
        {"exogenous": ["A"], "required": ["A *-* B", "A *-> C"]},
        {"tiers": [["B"], ["A"]], "exogenous": ["A"]},
        {"unconfounded": [["A", "B"]], "required": ["A *-> B"]},
        {"separate": [["A", "B"]], "required": ["A => B"]},
    ],
    ids=str,
)
def test_what_some_graph_obeys_is_no_contradiction(parts: dict[str, Any]) -> None:
    known = Knowledge(**parts)
    assert any(known.allows(MAG.from_matrix(marks, LABELS)) for marks in load(4).mags)


# What it says


def by_definition(known: Knowledge, marks: np.ndarray, labels: tuple[str, ...]) -> bool:
    """Read off the matrix of marks: at [i, j] the mark at j, 2 an arrowhead."""
    at = {name: i for i, name in enumerate(labels)}
    outside = [at[name] for name in labels if name not in known.exogenous]
    return (
        not any(marks[y, at[e]] == 2 for e in known.exogenous for y in outside)
        and not any(marks[at[a], at[b]] == 2 == marks[at[b], at[a]] for group in known.unconfounded for a, b in combinations(group, 2))
        and not any(marks[at[a], at[b]] for group in known.separate for a, b in combinations(group, 2))
    )


@pytest.mark.slow
@pytest.mark.parametrize("selection_bias", [False, True])
@pytest.mark.parametrize(
    "parts",
    [
        {"exogenous": ["A"]},
        {"exogenous": ["A", "C"]},
        {"exogenous": ["A", "B", "C", "D"]},
        {"unconfounded": [["A", "B"]]},
        {"unconfounded": [["A", "B", "C"], ["C", "D"]]},
        {"separate": [["A", "B", "C"]]},
        {"exogenous": ["B"], "unconfounded": [["A", "D"]], "separate": [["C", "D"]]},
    ],
    ids=str,
)
def test_every_mag_of_four_nodes(parts: dict[str, Any], selection_bias: bool) -> None:
    known = Knowledge(**parts)
    items, allowed = known.items(LABELS), 0
    every = load_with_selection(4) if selection_bias else load(4)
    for marks in every.mags:
        mag = MAG.from_matrix(marks, LABELS)
        wanted = by_definition(known, marks, LABELS)
        assert known.allows(mag) == agrees(items, mag) == wanted, str(mag)
        allowed += wanted
    free = len(parts.get("exogenous", [])) == 4
    assert allowed == len(every.mags) if free else 0 < allowed < len(every.mags)


def test_one_item_for_each_exogenous_variable_and_each_group() -> None:
    items = Knowledge(exogenous=["A", "B"], unconfounded=[["C", "D"]], separate=[["D", "E"], ["C", "E"]]).items("ABCDE")
    assert [item.text for item in items] == [
        "A is exogenous, so an edge between it and a variable that is not has no arrowhead at A",
        "B is exogenous, so an edge between it and a variable that is not has no arrowhead at B",
        "unconfounded: C and D; no two of them have an edge <->",
        "separate: D and E; no two of them have an edge between them",
        "separate: C and E; no two of them have an edge between them",
    ]
    assert {fact.x for clause in items[0].clauses for fact in clause} == {"C", "D", "E"}


def test_sentences() -> None:
    assert Knowledge(exogenous=["age"], separate=[["b", "c"]], unconfounded=[["b", "d", "e"]]).lines() == [
        "Exogenous: age; no other variable causes it, and nothing unmeasured causes both it and another variable.",
        "Unconfounded: b, d and e; no two of them have an edge <->.",
        "Separate: b and c; no two of them have an edge between them.",
    ]
    assert Knowledge(exogenous=["age", "sex"]).lines() == [
        "Exogenous: age and sex; no other variable causes one of them, and nothing unmeasured causes both one of them and another "
        "variable; how they are related among themselves is left open."
    ]


def test_the_report_does_not_explain_what_was_left_open() -> None:
    """Three exogenous variables whose association the data orient: shown in the graph, told in no sentence."""
    clinic = Oracle(MAG.parse("age <-> sex, income <-> sex, sex --> pulse, pulse <-> pain"))
    found = cs.discover(clinic, knowledge=Knowledge(exogenous=["age", "sex", "income"]))
    assert str(found.pags[0]) == "age o-> sex, income o-> sex, pain o-> pulse, sex --> pulse"
    said = [re.sub(r"<[^>]+>", "", sentence) for sentence in certain(found)]
    assert said == ["sex is a cause of pulse, directly or through others.", "pulse is not a cause of pain."]
    told = re.sub(r"<[^>]+>", " ", knowledge(found))
    assert "Exogenous: age, sex and income" in told
    assert "Those of each data set alone know nothing of it." in told


def test_owners_of_sites_read_it_in_the_contract() -> None:
    variables = tuple(VariableSpec(name, Kind.CONTINUOUS) for name in ("age", "pulse"))
    contract = Contract("00112233aabbccdd", "trial", variables, (("age", "pulse"),), NetworkSettings(required=("exogenous age",)), ())
    again = decode_contract(msgspec.msgpack.encode(contract))
    assert again == contract
    assert "Exogenous: age; no other variable causes it, and nothing unmeasured causes both it and another variable." in again.lines()
    with pytest.raises(KnowledgeError, match="said in required"):
        checked(NetworkSettings(forbidden=("exogenous age",)))
    with pytest.raises(KnowledgeError, match="did you mean 'age'"):
        check_knowledge(NetworkSettings(required=("exogenous Age",)), contract.schema)

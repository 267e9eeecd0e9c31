"""Knowledge: what it reads and refuses, what it says to an engine, and that this is what it says of a MAG."""

from __future__ import annotations

import copy
import pickle
import tomllib
from collections.abc import Callable
from itertools import combinations, permutations
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from consilience.errors import ConsilienceError, KnowledgeError
from consilience.graph import MAG, Mark, ancestors
from consilience.iod.knowledge import Item, Knowledge
from consilience.iod.relations import Relation, Statement
from tests.iod.mag_enumeration import load

LABELS = ("A", "B", "C", "D")
MAGS = [MAG.from_matrix(marks, LABELS) for marks in load(4).mags[:: len(load(4).mags) // 250]]
STRANGE_NAMES = [
    "blood pressure",
    "a,b",
    'say "no"',
    "it's",
    "back\\slash",
    "-->",
    "=>",
    "*-*",
    "new\nline",
    "\x7f",
    "\t",
    "ß",
    "脈拍",
    "🫀",
    "#",
]

names = st.one_of(st.sampled_from(STRANGE_NAMES), st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=6))


@st.composite
def knowledge(draw: st.DrawFn, variables: st.SearchStrategy[str] = names) -> Knowledge:
    """Knowledge without contradictions: required statements go forward in one order, and so do the tiers."""
    order = draw(st.lists(variables, min_size=2, max_size=6, unique=True))
    cuts = sorted(draw(st.sets(st.integers(1, len(order) - 1))))
    tiers = [order[i:j] for i, j in zip([0, *cuts], [*cuts, len(order)], strict=True)] if draw(st.booleans()) else []
    pairs = list(combinations(order, 2))
    forward = [relation for relation in Relation if relation is not Relation.BOTH]
    required = draw(st.lists(st.tuples(st.sampled_from(pairs), st.sampled_from(forward)), max_size=3))
    forbidden = draw(st.lists(st.tuples(st.sampled_from([(b, a) for a, b in pairs]), st.sampled_from(["-->", "=>"])), max_size=3))
    return Knowledge(
        tiers=tiers,
        required=[(a, relation, b) for (a, b), relation in required],
        forbidden=[(a, relation, b) for (a, b), relation in forbidden],
    )


# Reading and writing


@pytest.mark.slow
@given(knowledge())
def test_text_file_and_plain_types_hold_everything(tmp_path_factory: pytest.TempPathFactory, known: Knowledge) -> None:
    path = tmp_path_factory.getbasetemp() / "knowledge.toml"
    path.write_text(known.to_toml(), encoding="utf-8")
    assert Knowledge.from_toml(path) == known == Knowledge.from_toml(str(path))
    assert Knowledge.from_dict(known.to_dict()) == known
    assert tomllib.loads(known.to_toml()) == {key: value for key, value in known.to_dict().items() if value}
    assert eval(repr(known)) == known
    assert pickle.loads(pickle.dumps(known)) == copy.deepcopy(known) == known
    assert hash(Knowledge(tiers=known.tiers, required=known.required, forbidden=known.forbidden)) == hash(known)


@given(names, st.sampled_from(Relation), names)
def test_a_statement_reads_back_from_its_text(a: str, relation: Relation, b: str) -> None:
    if a != b:
        statement = Statement(a, relation, b)
        assert Knowledge(required=[str(statement)]).required == (statement,)


def test_a_file_as_people_write_it(tmp_path: Path) -> None:
    path = tmp_path / "study.toml"
    text = """\ufeff# what we know
tiers = [["age", "sex"], ["smoking"], ["stroke"]]
required = ['"blood pressure" => stroke', ["smoking", "-->", "stroke"]]
forbidden = ["age *-* sex"]
"""
    path.write_text(text, encoding="utf-8")
    assert Knowledge.from_toml(path) == Knowledge(
        tiers=(("age", "sex"), ("smoking",), ("stroke",)),
        required=[("blood pressure", "=>", "stroke"), "smoking --> stroke"],
        forbidden=["age *-* sex"],
    )


def test_strings_are_written_so_that_people_can_read_them() -> None:
    text = Knowledge(required=['"blood pressure" => stroke', 'it\'s => "a b"']).to_toml()
    assert text == 'required = [\n  \'"blood pressure" => stroke\',\n  "it\'s => \\"a b\\"",\n]\n'


def test_nothing_known_is_false_and_says_nothing() -> None:
    nothing = Knowledge()
    assert not nothing
    assert Knowledge(tiers=[[], ()]) == nothing
    assert nothing.items("AB") == () == nothing.variables
    assert nothing.lines() == []
    assert nothing.to_toml() == ""
    assert repr(nothing) == "Knowledge()"
    assert all(map(nothing.allows, MAGS))
    assert all([Knowledge(tiers=[["A"]]), Knowledge(required=["A => B"]), Knowledge(forbidden=["A => B"])])


def test_one_tier_orders_nothing() -> None:
    known = Knowledge(tiers=[["A", "B"]])
    assert known.items("AB") == ()
    assert known.lines() == []
    assert known.variables == ("A", "B")


def test_what_is_said_twice_is_kept_once() -> None:
    known = Knowledge(required=["A *-* B", "B *-* A", "A => B", ("A", "=>", "B")])
    assert [*map(str, known.required)] == ["A *-* B", "A => B"]
    assert [*map(str, Knowledge(forbidden=["A => B", "B => A"]).forbidden)] == ["A => B", "B => A"]
    assert [*map(str, Knowledge(required=["A <-> B", "B <-> A", "A *-> B", "B *-> A"]).required)] == ["A <-> B", "A *-> B", "B *-> A"]


def test_a_tier_may_be_a_set() -> None:
    assert Knowledge(tiers=[{"C", "A", "B"}, ("D",)]).tiers == (("A", "B", "C"), ("D",))


# Errors: the rule, the value and the way out

REFUSED: list[tuple[Callable[[], object], str]] = [
    (lambda: Knowledge(tiers="AB"), r"list of lists of names.*got 'AB'"),
    (lambda: Knowledge(tiers=5), r"list of lists of names.*got 5"),  # type: ignore[arg-type]
    (lambda: Knowledge(tiers={frozenset("A"), frozenset("B")}), r"earliest first; got \{"),  # type: ignore[arg-type]
    (lambda: Knowledge(tiers=["age", "sex"]), r"A tier is a list of names.*got 'age'. Put it in brackets"),
    (lambda: Knowledge(tiers=[["A", 1]]), r"named by text.*got 1"),  # type: ignore[list-item]
    (lambda: Knowledge(tiers=[["A"], [""]]), r"not empty; got ''"),
    (lambda: Knowledge(tiers=[["\ud800"]]), r"UTF-8 can hold.*Rename"),
    (lambda: Knowledge(tiers=[["A"], ["B", "A"]]), r"one tier at most.*got 'A' twice"),
    (lambda: Knowledge(tiers=[["A", "A"]]), r"there once; got 'A' twice"),
    (lambda: Knowledge(required="A => B"), r"required is a list of statements.*got 'A => B'"),
    (lambda: Knowledge(forbidden={"A => B"}), r"forbidden is a list of statements"),  # type: ignore[arg-type]
    (lambda: Knowledge(required=["A => B, C => D"]), r"got 'A => B, C => D'.*list of several"),
    (lambda: Knowledge(required=["A=>B"]), r"blanks around the arrow"),
    (lambda: Knowledge(required=["blood pressure => stroke"]), r"quote names that have blanks"),
    (lambda: Knowledge(required=[""]), r"A statement reads.*got ''"),
    (lambda: Knowledge(required=[7]), r"A statement reads.*got 7"),  # type: ignore[list-item]
    (lambda: Knowledge(required=[("A", "B")]), r"triple such as.*got \('A', 'B'\)"),  # type: ignore[list-item]
    (lambda: Knowledge(required=[("A", 2, "B")]), r"got \('A', 2, 'B'\)"),  # type: ignore[list-item]
    (lambda: Knowledge(required=['"A\\q" => B']), r'JSON string; got "A\\q"'),
    (lambda: Knowledge(required=['"" => B']), r"not empty; got ''"),
    (lambda: Knowledge(required=["A => A"]), r"about two variables; got 'A => A'"),
    (lambda: Knowledge(required=["A -> B"]), r"mean 'A --> B'\?"),
    (lambda: Knowledge(required=["A <-- B"]), r"mean 'B --> A'\?"),
    (lambda: Knowledge(required=["A ⇒ B"]), r"mean 'A => B'\?"),
    (lambda: Knowledge(required=["A <= B"]), r"mean 'B => A'\?"),
    (lambda: Knowledge(required=["A --- B"]), r"mean 'A \*-\* B'\?"),
    (lambda: Knowledge(required=["A ↔ B"]), r"mean 'A <-> B'\?"),
    (lambda: Knowledge(required=["A o-> B"]), r"B does not cause A.*say 'A \*-> B'"),
    (lambda: Knowledge(required=["A <-o B"]), r"A does not cause B.*say 'B \*-> A'"),
    (lambda: Knowledge(required=["A ~~ B"]), r"got 'A ~~ B'.*stroke'\.$"),
    (
        lambda: Knowledge.from_dict({"teirs": []}),
        r"keys of knowledge are tiers, required.*got 'teirs' \(did you mean 'tiers'\?\)",
    ),
    (lambda: Knowledge.from_dict({"x": []}), r"got 'x'\.$"),
    (lambda: Knowledge.from_dict([]), r"mapping with the keys"),  # type: ignore[arg-type]
    (lambda: Knowledge(tiers=[["A"]]).check(["a", "B"]), r"\(B, a\); got 'A' \(did you mean 'a'\?\). Correct"),
    (lambda: Knowledge(required=["xyz => A"]).items(["A"]), r"got 'xyz'\. Correct"),
    (
        lambda: Knowledge(forbidden=["xyz => Bloop"]).allows(MAG.parse("A --> Blood")),
        r"'Bloop' \(did you mean 'Blood'\?\) and 'xyz'\.",
    ),
    (lambda: Knowledge(tiers=[["A"]]).check([]), r"got 'A'"),
]


@pytest.mark.parametrize(("make", "message"), REFUSED, ids=[message for _, message in REFUSED])
def test_what_cannot_be_read_is_refused(make: Callable[[], object], message: str) -> None:
    with pytest.raises(KnowledgeError, match=f"(?s){message}") as caught:
        make()
    assert isinstance(caught.value, ConsilienceError)
    assert isinstance(caught.value, ValueError)


CONTRADICTIONS: list[tuple[dict[str, Any], str]] = [
    ({"required": ["A => B"], "forbidden": ["A => B"]}, r"'A => B' is forbidden, but follows from what is required: 'A => B'"),
    ({"required": ["A *-* B"], "forbidden": ["B *-* A"]}, r"'B \*-\* A' is forbidden.*'A \*-\* B'"),
    ({"required": ["A --> B"], "forbidden": ["A *-* B"]}, r"required: 'A --> B'\."),
    ({"required": ["A --> B"], "forbidden": ["A => B"]}, r"required: 'A --> B'\."),
    ({"required": ["A --> B"], "forbidden": ["A --> B"]}, r"required: 'A --> B'\."),
    ({"required": ["B *-* A", "A => B"], "forbidden": ["A --> B"]}, r"required: 'B \*-\* A' and 'A => B'"),
    ({"required": ["A => B", "B --> C"], "forbidden": ["A => C"]}, r"required: 'A => B' and 'B --> C'"),
    ({"required": ["A *-* C", "A => B", "B --> C"], "forbidden": ["A --> C"]}, r"'A \*-\* C' and 'A => B' and 'B --> C'"),
    ({"required": ["A => B", "B => A"]}, r"'A => B' and 'B => A', which are required, 'A' would cause itself"),
    ({"required": ["A --> B", "B => C", "C --> A"]}, r"'A' would cause itself"),
    ({"required": ["A <-> B"], "forbidden": ["B <-> A"]}, r"'B <-> A' is forbidden.*required: 'A <-> B'"),
    ({"required": ["A *-> B", "B *-> A"], "forbidden": ["A <-> B"]}, r"required: 'A \*-> B' and 'B \*-> A'"),
    ({"required": ["A *-> B"], "forbidden": ["B *-* A"]}, r"required: 'A \*-> B'"),
    ({"required": ["A --> B"], "forbidden": ["A *-> B"]}, r"'A \*-> B' is forbidden.*required: 'A --> B'"),
    ({"required": ["A *-* B", "A => B"], "forbidden": ["A *-> B"]}, r"required: 'A \*-\* B' and 'A => B'"),
    ({"required": ["A *-> B", "B => A"]}, r"'A \*-> B' and 'B => A', which are required.*an arrowhead at 'B' though 'B' causes 'A'"),
    ({"required": ["A <-> B", "A => C", "C => B"]}, r"an arrowhead at 'A' though 'A' causes 'B'"),
    ({"tiers": [["A"], ["B"]], "required": ["B => A"]}, r"by 'B => A', required, 'B' causes 'A', but 'A' is in an earlier tier than 'B'"),
    ({"tiers": [["A"], ["B"]], "required": ["B --> C", "C => A"]}, r"by 'B --> C' and 'C => A'"),
]


@pytest.mark.parametrize(("parts", "message"), CONTRADICTIONS, ids=[message for _, message in CONTRADICTIONS])
def test_contradictions_that_show_without_data(parts: dict[str, Any], message: str) -> None:
    with pytest.raises(KnowledgeError, match=f"must not contradict itself.*{message}.*Take one of these out"):
        Knowledge(**parts)


@pytest.mark.parametrize(
    "parts",
    [
        {"required": ["A *-* B"], "forbidden": ["A => B", "B => A"]},
        {"required": ["A *-* B"], "forbidden": ["A --> B"]},
        {"required": ["A => B"], "forbidden": ["A --> B"]},
        {"required": ["A => B"], "forbidden": ["A *-* B"]},
        {"tiers": [["A"], ["B"]], "required": ["A --> B"], "forbidden": ["B => A"]},
        {"tiers": [["A", "B"]], "required": ["B => A"]},
        {"required": ["A <-> B", "A *-> B"], "forbidden": ["A --> B"]},
        {"required": ["A *-> B"], "forbidden": ["A <-> B", "B => A"]},
        {"tiers": [["A"], ["B"]], "required": ["B *-* A"]},
    ],
    ids=str,
)
def test_what_some_graph_obeys_is_no_contradiction(parts: dict[str, Any]) -> None:
    known = Knowledge(**parts)
    assert any(known.allows(mag) for mag in (MAG.from_matrix(marks, LABELS) for marks in load(4).mags))


@pytest.mark.slow
@given(
    st.lists(st.sampled_from(LABELS), max_size=4, unique=True),
    st.lists(st.tuples(st.sampled_from([*permutations(LABELS, 2)]), st.sampled_from(Relation), st.booleans()), max_size=6),
)
@settings(deadline=None, max_examples=60)
def test_no_graph_obeys_what_is_called_a_contradiction(order: list[str], said: list[tuple[tuple[str, str], Relation, bool]]) -> None:
    tiers = [[name] for name in order]
    required, forbidden = ([(a, relation, b) for (a, b), relation, true in said if true is wanted] for wanted in (True, False))
    pieces = [Knowledge(tiers=tiers), *(Knowledge(required=[s]) for s in required), *(Knowledge(forbidden=[s]) for s in forbidden)]
    obeying = [mag for mag in MAGS if all(piece.allows(mag) for piece in pieces)]
    try:
        known = Knowledge(tiers=tiers, required=required, forbidden=forbidden)
    except KnowledgeError:
        assert not obeying
    else:
        assert [mag for mag in MAGS if known.allows(mag)] == obeying


def test_files_that_cannot_be_read(tmp_path: Path) -> None:
    with pytest.raises(KnowledgeError, match=r"'.*absent\.toml' cannot be read: No such file"):
        Knowledge.from_toml(tmp_path / "absent.toml")
    path = tmp_path / "bad.toml"
    for content, message in [
        (b"tiers = [", r"TOML file in UTF-8; '.*bad\.toml' is none"),
        (b"tiers = [['\xff']]", r"UTF-8; '.*bad\.toml' is none"),
        (b"tier = []", r"In '.*bad\.toml': The keys.*did you mean 'tiers'"),
        (b"required = ['A => B']\nforbidden = ['A => B']", r"In '.*bad\.toml': Knowledge must not contradict"),
        (b"tiers = 'A'", r"In '.*bad\.toml': tiers is a list"),
    ]:
        path.write_bytes(content)
        with pytest.raises(KnowledgeError, match=message):
            Knowledge.from_toml(path)


# What an engine is told


def agrees(items: tuple[Item, ...], mag: MAG) -> bool:
    """The clauses, read off the graph by definition."""
    true = {("adj", x, y): mag.adjacent(x, y) for x, y in permutations(mag.labels, 2)}
    true |= {("anc", x, y): x in ancestors(mag, y) for x, y in permutations(mag.labels, 2)}
    true |= {("head", x, y): mag.mark(x, y) is Mark.ARROW for x, y in permutations(mag.labels, 2)}
    return all(any(true[kind, x, y] is holds for kind, x, y, holds in clause) for item in items for clause in item.clauses)


@pytest.mark.slow
@given(knowledge(st.sampled_from(LABELS)), st.data())
@settings(deadline=None)
def test_clauses_say_what_allows_says(known: Knowledge, data: st.DataObject) -> None:
    items = known.items(LABELS)
    for mag in data.draw(st.lists(st.sampled_from(MAGS), min_size=5, max_size=20)):
        assert agrees(items, mag) == known.allows(mag)


@pytest.mark.parametrize("relation", Relation)
@pytest.mark.parametrize("key", ["required", "forbidden"])
def test_each_statement_on_every_mag_of_three_nodes(relation: Relation, key: str) -> None:
    """Against the matrix of marks: 2 is an arrowhead, 3 a tail."""
    known = Knowledge(**{key: [("A", relation, "B")]})
    seen = set()
    for marks in load(3).mags:
        direct = marks[0, 1] == 2 and marks[1, 0] == 3
        through = all(marks[i, j] == 2 and marks[j, i] == 3 for i, j in ((0, 2), (2, 1)))
        both = marks[0, 1] == 2 == marks[1, 0]
        true = {"*-*": marks[0, 1] != 0, "-->": direct, "*->": marks[0, 1] == 2, "<->": both, "=>": direct or through}[relation]
        mag = MAG.from_matrix(marks, "ABC")
        assert known.allows(mag) == agrees(known.items("ABC"), mag) == (bool(true) is (key == "required"))
        seen.add(known.allows(mag))
    assert seen == {True, False}


def test_tiers_on_every_mag_of_three_nodes() -> None:
    known = Knowledge(tiers=[["A"], ["B"]])  # C is free, and a way from B to A may lead through it
    for marks in load(3).mags:
        back = np.array([[marks[i, j] == 2 and marks[j, i] == 3 for j in range(3)] for i in range(3)])
        assert known.allows(MAG.from_matrix(marks, "ABC")) == (not (back[1, 0] or (back[1, 2] and back[2, 0])))


def test_every_pair_of_tiers_is_one_item() -> None:
    items = Knowledge(tiers=[["A", "B"], ["C"], ["D", "E"]]).items("ABCDEF")
    assert [item.text for item in items] == [
        "A and B are in an earlier tier than C, so C causes none of these",
        "A and B are in an earlier tier than D and E, so none of the latter causes any of the former",
        "C is in an earlier tier than D and E, so none of the latter causes any of the former",
    ]
    assert items[1].clauses == tuple((("anc", late, early, False),) for early in "AB" for late in "DE")


def test_sentences_stay_short_where_tiers_are_large() -> None:
    known = Knowledge(tiers=[[f"a{i}" for i in range(30)], ["b"]])
    (item,) = known.items(known.variables)
    assert item.text == "a0, a1, a2, a3, a4, a5 and 24 more are in an earlier tier than b, so b causes none of these"
    assert len(item.clauses) == 30
    assert "a29" in known.lines()[0]


def test_statements_in_words() -> None:
    required = Knowledge(required=["A *-* B", "A --> B", "A => B"])
    forbidden = Knowledge(forbidden=["A *-* B", "A --> B", "A => B"])
    marks = Knowledge(required=["A *-> B", "C <-> B"], forbidden=["B *-> A", "A <-> C"])
    assert [item.text for item in marks.items("ABC")] == [
        "required: A and B have an edge with an arrowhead at B",
        "required: C and B have an edge C <-> B: neither causes the other",
        "forbidden: B and A have no edge with an arrowhead at A",
        "forbidden: A and C have no edge A <-> C",
    ]
    assert [item.text for item in (*required.items("AB"), *forbidden.items("AB"))] == [
        "required: A and B have an edge between them",
        "required: A and B have an edge A --> B",
        "required: A causes B, directly or through others",
        "forbidden: A and B have no edge between them",
        "forbidden: A and B have no edge A --> B",
        "forbidden: A causes B neither directly nor through others",
    ]
    assert forbidden.lines()[2] == "Forbidden: A causes B neither directly nor through others."


def test_knowledge_never_changes() -> None:
    known = Knowledge(tiers=[["A"], ["B"]])
    with pytest.raises(AttributeError):
        known.tiers = ()  # type: ignore[misc]

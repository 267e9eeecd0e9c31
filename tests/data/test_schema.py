"""One kind and one list of levels per variable, or an error that names both sites and the way out."""

from __future__ import annotations

from itertools import permutations
from typing import Any

import polars as pl
import pytest

from consilience import Client, Kind, Schema, Server, Variable
from consilience.data.errors import KindConflictError, KindError, LevelConflictError, UnknownLevelError, UnknownVariableError
from consilience.data.infer import declare
from consilience.data.schema import unite
from consilience.errors import ConsilienceError, OptionError


def united(*sites: Any) -> Variable:
    """The common variable S of sites given as values or as (values, kind, levels)."""
    said = {}
    for name, site in zip(["muenster", "marburg", "mainz"], sites, strict=False):
        values, kind, levels = site if isinstance(site, tuple) else (site, None, None)
        said[name] = declare(pl.DataFrame({"S": values}), name, kind and {"S": kind}, levels and {"S": levels})
    return unite(said)["S"]


@pytest.mark.parametrize(
    ("sites", "kind", "levels"),
    [
        ([["p", "q"], ["r", "q"]], "multinomial", ("p", "q", "r")),
        ([[1, 2], [9, 10], [3, 4]], "ordinal", ("1", "2", "3", "4", "9", "10")),
        ([[0, 1], [True, False], [1, 1]], "binary", ("0", "1")),
        ([[1.5], [2.5]], "continuous", ()),
        ([[1.5], list(range(12))], "continuous", ()),
        ([([1.0, 3.0], "ordinal", None), [2, 3]], "ordinal", ("1", "2", "3")),
        ([(["f", "f"], "binary", None), (["m", "m"], "binary", None)], "binary", ("f", "m")),
        ([(["lo"], "ordinal", ["lo", "mid", "hi"]), (["hi"], "ordinal", ["lo", "mid", "hi"])], "ordinal", ("lo", "mid", "hi")),
        ([(["q"], None, ["r", "q", "p"]), ["p", "q"]], "multinomial", ("r", "q", "p")),
        ([["p", "q"], (["q"], None, ["r", "q", "p"])], "multinomial", ("r", "q", "p")),
    ],
    ids=str,
)
def test_the_union(sites: list[Any], kind: str, levels: tuple[str, ...]) -> None:
    found = united(*sites)
    assert (found.kind.value, found.levels) == (kind, levels)


def test_the_union_does_not_depend_on_the_order_of_sites() -> None:
    for sites in permutations([["p", "q"], ["r"], ["q", "s"]]):
        assert united(*sites).levels == ("p", "q", "r", "s")


def test_variables_are_united_one_by_one_and_sorted() -> None:
    one = declare(pl.DataFrame({"B": [1.5], "A": ["x"]}), "one")
    two = declare(pl.DataFrame({"C": [True], "A": ["y"]}), "two")
    schema = unite({"one": one, "two": two})
    assert list(schema) == ["A", "B", "C"]
    assert schema["A"].levels == ("x", "y")


@pytest.mark.parametrize(
    ("sites", "words"),
    [
        (([1.5], ["x"]), ["continuous at 'muenster' (decimal numbers)", "multinomial at 'marburg' (text)"]),
        (([1, 2], list(range(12))), ["ordinal at 'muenster' (integers, 2", "continuous at 'marburg' (integers, 12"]),
        (([0, 1], [1, 2]), ["binary at 'muenster' (integers 0 and 1)", "ordinal at 'marburg'"]),
        (([1, 2], [1, 3], (["x"], "multinomial", None)), ["ordinal at 'muenster'", "multinomial at 'mainz' (declared)"]),
        ((([1, 2], "continuous", None), [1, 2]), ["continuous at 'muenster' (declared)", "ordinal at 'marburg'"]),
        ((["x", "y"], (["x"], None, ["x", "y"])), ["multinomial at 'muenster' (text)", "binary at 'marburg'"]),
    ],
)
def test_sites_that_disagree_on_the_kind(sites: Any, words: list[str]) -> None:
    with pytest.raises(KindConflictError) as caught:
        united(*sites)
    for word in [*words, "kinds={'S'", "schema"]:
        assert word in str(caught.value)


@pytest.mark.parametrize(
    ("sites", "words"),
    [
        (
            [(["p"], None, ["p", "q", "r"]), (["p"], None, ["p", "q", "s"])],
            ["'muenster'", "['p', 'q', 'r']", "'marburg'", "['p', 'q', 's']"],
        ),
        ([([1], None, [1, 2, 3]), ([1], None, [3, 2, 1])], ["'muenster'", "['1', '2', '3']", "'marburg'", "['3', '2', '1']", "same order"]),
        ([(["p"], None, ["p", "q", "r"]), ["p", "z"]], ["'marburg' has 'S' = 'z'", "'muenster' declares", "['p', 'q', 'r']"]),
        ([[1, 9], ([1], None, [1, 2, 3])], ["'muenster' has 'S' = '9'", "'marburg' declares", "['1', '2', '3']"]),
    ],
    ids=["other level", "other order", "value outside", "value outside, declared later"],
)
def test_sites_that_disagree_on_declared_levels(sites: Any, words: list[str]) -> None:
    with pytest.raises(LevelConflictError) as caught:
        united(*sites)
    for word in [*words, "levels={'S'"]:
        assert word in str(caught.value)


@pytest.mark.parametrize(
    ("sites", "named"),
    [
        ([(["f", "m"], "binary", None), (["f", "w"], "binary", None)], ["muenster", "marburg"]),
        ([(["f", "m"], "binary", None), (["f", "m"], "binary", None), (["x"], "binary", None)], ["muenster", "mainz"]),
        ([(["f"], "binary", None), (["m"], "binary", None), (["x"], "binary", None)], ["muenster", "marburg"]),
    ],
    ids=["three in two sites", "the third site", "one each"],
)
def test_a_binary_variable_with_three_labels_over_all_sites(sites: Any, named: list[str]) -> None:
    with pytest.raises(LevelConflictError, match=r"'S' is binary.*3 in all.*'multinomial'") as caught:
        united(*sites)
    assert all(f"'{name}'" in str(caught.value) for name in named)


@pytest.mark.parametrize(
    ("spec", "kind", "levels"),
    [
        ("continuous", Kind.CONTINUOUS, ()),
        (Kind.CONTINUOUS, Kind.CONTINUOUS, ()),
        ("binary", Kind.BINARY, ("0", "1")),
        (("binary", "fm"), Kind.BINARY, ("f", "m")),
        (("ordinal", [1, 2.0, 10]), Kind.ORDINAL, ("1", "2", "10")),
        (Variable("S", Kind.MULTINOMIAL, ("q", "p")), Kind.MULTINOMIAL, ("q", "p")),
    ],
)
def test_specifications_of_a_schema(spec: Any, kind: Kind, levels: tuple[str, ...]) -> None:
    assert Schema({"S": spec})["S"] == Variable("S", kind, levels)


@pytest.mark.parametrize(
    ("spec", "error", "message"),
    [
        ("number", OptionError, r"'S'.*continuous, binary, ordinal, multinomial, count.*'number'"),
        ("ordinal", KindError, "'S' is ordinal and needs levels"),
        (("continuous", [1, 2]), KindError, "'S' is continuous and cannot have levels"),
        (("binary", "abc"), LevelConflictError, "'S' is binary.*two levels"),
        (("ordinal", [1, 1.0]), LevelConflictError, "'S' must differ"),
    ],
)
def test_specifications_that_mean_nothing(spec: Any, error: type[ConsilienceError], message: str) -> None:
    with pytest.raises(error, match=message):
        Schema({"S": spec})


def test_a_schema_says_each_variable_once_and_under_its_own_name() -> None:
    """A variable declared twice, or under a name that is not its own, is a mistake that must not pass in silence."""
    one, other = Variable("S", Kind.CONTINUOUS), Variable("S", Kind.BINARY, ("0", "1"))
    with pytest.raises(ConsilienceError, match="'S'"):
        Schema([one, other])
    with pytest.raises(ConsilienceError, match="'T'"):
        Schema({"T": one})


def test_a_schema_is_a_mapping_that_names_what_it_has() -> None:
    schema = Schema({"B": "continuous", "A": ("ordinal", "12")})
    assert (list(schema), len(schema), "A" in schema, "Q" in schema) == (["A", "B"], 2, True, False)
    assert repr(schema) == "Schema(A: ordinal ['1', '2']; B: continuous)"
    with pytest.raises(UnknownVariableError, match=r"'Q'.*A, B"):
        schema["Q"]


# what a study's schema does to its clients


def joined(client: Client, schema: dict[str, Any]) -> Schema:
    return Server([client], schema=schema).schema


@pytest.mark.parametrize("spec", ["continuous", ("multinomial", [3, 2, 1]), ("ordinal", [1, 2, 3, 4])])
def test_the_schema_of_the_study_wins_over_inference(spec: Any) -> None:
    assert joined(Client("muenster", pl.DataFrame({"S": [1, 2, 3]})), {"S": spec}) == Schema({"S": spec})


def test_the_schema_of_the_study_settles_what_sites_disagree_on() -> None:
    clients = [Client("muenster", pl.DataFrame({"S": [1, 2]})), Client("marburg", pl.DataFrame({"S": [1.0, 2.5]}))]
    assert Server(clients, schema={"S": "continuous"}).schema["S"].kind is Kind.CONTINUOUS


def test_a_kind_that_a_site_declares_is_not_overruled() -> None:
    client = Client("muenster", pl.DataFrame({"S": [1, 2, 3]}), kinds={"S": "ordinal"})
    with pytest.raises(KindConflictError, match=r"'muenster' declares 'S' as ordinal, the study's schema as continuous.*kinds=\{'S'"):
        joined(client, {"S": "continuous"})
    assert joined(client, {"S": ("ordinal", [1, 2, 3])})["S"].kind is Kind.ORDINAL


def test_a_value_outside_the_schema_of_the_study() -> None:
    with pytest.raises(UnknownLevelError, match=r"'muenster' has 'S' = '3'.*\['1', '2'\].*schema"):
        joined(Client("muenster", pl.DataFrame({"S": [1, 2, 3]})), {"S": ("ordinal", [1, 2])})


@pytest.mark.parametrize("values", [["abc", "1.5"], ["1.5", "abc"]])
def test_text_where_the_study_says_continuous(values: list[str]) -> None:
    with pytest.raises(KindError, match=r"'S' is continuous, but 'muenster' holds 'abc'.*schema"):
        joined(Client("muenster", pl.DataFrame({"S": values})), {"S": "continuous"})


def test_columns_outside_the_schema_are_left_alone() -> None:
    server = Server([Client("muenster", pl.DataFrame({"S": [1.5, 2.5], "T": ["x", "y"]}))], schema={"S": "continuous", "U": "binary"})
    assert server.variables == ("S", "U")
    assert server.datasets == (frozenset({"S"}),)

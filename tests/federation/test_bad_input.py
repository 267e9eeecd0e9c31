"""Bad input is an error of ours that names what was wrong and a way out; data that cannot speak are no error at all."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import consilience as cs
from consilience import errors

NAN, INF = float("nan"), float("inf")


def frame(n: int = 60, seed: int = 0) -> pl.DataFrame:
    """Five variables of mixed kinds that are all associated."""
    return cs.simulate.mixed_sites(n=n, sites=1, seed=seed)["site1"]


def clients() -> list[cs.Client]:
    return [cs.Client("muenster", frame(seed=1)), cs.Client("marburg", frame(seed=2))]


MAKERS: dict[str, Callable[..., cs.CITest]] = {"fedci": cs.Server, "fisher": cs.fisher, "pooled": cs.pooled}
makers = pytest.mark.parametrize("make", MAKERS.values(), ids=MAKERS)


# questions


@makers
@pytest.mark.parametrize(
    ("question", "error", "words"),
    [
        (("A", "Q"), errors.UnknownVariableError, ["'Q'", "A, B, C, D, E"]),
        (("Q", "A"), errors.UnknownVariableError, ["'Q'", "A, B, C, D, E"]),
        (("A", "B", ["C", "Q"]), errors.UnknownVariableError, ["'Q'", "A, B, C, D, E"]),
        (("A", "a"), errors.UnknownVariableError, ["'a'", "A, B, C, D, E"]),
        (("A", "A"), errors.SameVariableError, ["'A'", "two variables"]),
        (("A", "B", ["A"]), errors.ConditioningError, ["'A'", "take it out of given=['A']"]),
        (("A", "B", ["C", "B"]), errors.ConditioningError, ["'B'", "take it out of given=['C', 'B']"]),
        (("A", "B", ["C", "C"]), errors.ConditioningError, ["['C', 'C']", "once"]),
    ],
)
def test_questions_without_a_meaning(make: Callable[..., cs.CITest], question: Any, error: type[Exception], words: list[str]) -> None:
    with pytest.raises(error) as caught:
        make(clients()).test(*question)
    assert isinstance(caught.value, errors.QuestionError)
    for word in words:
        assert word in str(caught.value)


def test_every_question_is_checked_before_the_first_is_answered() -> None:
    server = cs.Server(clients())
    with pytest.raises(errors.UnknownVariableError):
        server.test_many([("A", "B"), ("A", "Q")])
    assert server.rounds == 0


def test_one_conditioning_variable_may_be_plain_text() -> None:
    assert cs.Server(clients()).test("A", "B", "C").given == ("C",)


# studies


@makers
def test_no_clients(make: Callable[..., cs.CITest]) -> None:
    with pytest.raises(errors.NoClientsError, match="at least one client"):
        make([])


@makers
def test_two_clients_of_one_name(make: Callable[..., cs.CITest]) -> None:
    with pytest.raises(errors.DuplicateClientError, match=r"2 are called 'muenster'.*Rename"):
        make([cs.Client("muenster", frame()), cs.Client("marburg", frame()), cs.Client("muenster", frame())])


@makers
def test_two_clients_that_disagree_on_a_kind(make: Callable[..., cs.CITest]) -> None:
    other = cs.Client("marburg", frame().with_columns(pl.when(pl.col("A") > 0).then(pl.lit("high")).otherwise(pl.lit("low")).alias("A")))
    test = make([cs.Client("muenster", frame()), other])
    with pytest.raises(errors.KindConflictError) as caught:
        test.test("A", "B")
    for word in ["'A'", "continuous at 'muenster'", "multinomial at 'marburg'", "kinds={'A'", "schema"]:
        assert word in str(caught.value)


@makers
def test_a_level_outside_the_schema_names_the_site_that_has_it(make: Callable[..., cs.CITest]) -> None:
    with pytest.raises(errors.UnknownLevelError) as caught:
        make(clients()[:1], schema={"A": "continuous", "E": ("multinomial", "pqr")})
    for word in ["'muenster'", "'E' = 's'", "['p', 'q', 'r']", "schema"]:
        assert word in str(caught.value)


@makers
@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"ordinal": "probit"}, ["ordinal", "proportional, generalized", "'probit'"]),
        ({"ridge": -1.0}, ["ridge", "at least 0", "-1.0"]),
        ({"ridge": NAN}, ["ridge", "at least 0", "nan"]),
        ({"ridge": INF}, ["ridge", "inf"]),
        ({"ridge": "much"}, ["ridge", "'much'"]),
    ],
    ids=str,
)
def test_options_that_do_not_exist(make: Callable[..., cs.CITest], options: dict[str, Any], words: list[str]) -> None:
    with pytest.raises(errors.OptionError) as caught:
        make(clients(), **options)
    for word in words:
        assert word in str(caught.value)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"method": "meta"}, ["method", "fedci, fisher", "'meta'"]),
        ({"method": None}, ["method", "fedci, fisher", "None"]),
        ({"site_effects": "mixed"}, ["site_effects", "profiled, coordinate, joint, none, random", "'mixed'"]),
        ({"site_effects": True}, ["site_effects", "profiled, coordinate, joint, none", "True"]),
    ],
    ids=str,
)
def test_options_of_the_server_alone(options: dict[str, Any], words: list[str]) -> None:
    with pytest.raises(errors.OptionError) as caught:
        cs.Server(clients(), **options)
    for word in words:
        assert word in str(caught.value)


@pytest.mark.parametrize("name", ["", "  ", None, 7])
def test_names_of_clients(name: Any) -> None:
    with pytest.raises(errors.StudyError, match="name"):
        cs.Client(name, frame())


def test_data_that_are_no_client() -> None:
    with pytest.raises(errors.StudyError, match=r"DataFrame.*consilience\.Client"):
        cs.Server([clients()[0], pl.DataFrame({"A": [1.0]})])  # type: ignore[list-item]


# data


@pytest.mark.parametrize(
    ("data", "error", "words"),
    [
        (pl.DataFrame(), errors.EmptyDataError, ["'muenster'", "0 rows and 0 columns", "Leave the site out"]),
        (pl.DataFrame({"A": [], "B": []}), errors.EmptyDataError, ["'muenster'", "0 rows and 2 columns", "Leave the site out"]),
        (Path("nowhere.csv"), errors.ReadError, ["'muenster'", "nowhere.csv", "no such file"]),
        ("site.xlsx", errors.ReadError, ["'muenster'", "site.xlsx"]),
        ([[1, 2]], errors.ReadError, ["'muenster'", "list", ".csv", ".parquet"]),
    ],
    ids=["empty", "no rows", "no file", "no file either", "list"],
)
def test_data_that_cannot_be_used(data: Any, error: type[Exception], words: list[str]) -> None:
    with pytest.raises(error) as caught:
        cs.Client("muenster", data)
    assert isinstance(caught.value, errors.DataError)
    for word in words:
        assert word in str(caught.value)


@pytest.mark.parametrize(
    ("data", "error", "words"),
    [
        (frame().with_columns(B=None), errors.KindError, ["'B' of 'muenster'", "no values at all"]),
        (frame().with_columns(B=NAN), errors.KindError, ["'B' of 'muenster'", "no values at all"]),
        (frame().with_columns(pl.col("A") * INF), errors.InfiniteValueError, ["'A' of 'muenster'", "60 rows", "leave them empty"]),
        (frame().with_columns(A=pl.lit("2020-01-01").str.to_date()), errors.KindError, ["'A' of 'muenster'", "2020-01-01", "'date'"]),
    ],
    ids=["nulls", "nan", "infinite", "dates"],
)
def test_a_column_that_cannot_be_used_is_an_error_for_whoever_uses_it(data: Any, error: type[Exception], words: list[str]) -> None:
    test = cs.pooled([cs.Client("muenster", data)])
    with pytest.raises(error) as caught:
        test.test("A", "B")
    for word in words:
        assert word in str(caught.value)


@makers
def test_one_infinite_value_among_many(make: Callable[..., cs.CITest]) -> None:
    broken = frame().with_columns(pl.when(pl.int_range(pl.len()) == 7).then(INF).otherwise(pl.col("A")).alias("A"))
    with pytest.raises(errors.InfiniteValueError, match=r"'A' of '.*' is infinite in 1 row\b"):
        make([cs.Client("muenster", broken)]).test("A", "B")


# data that cannot speak


def silent(result: cs.CIResult, *, reason: str = "") -> None:
    assert not result.informative
    assert result.p_value == 1.0
    assert reason in result.reason
    assert result.reason
    assert result.converged
    assert all((d.df, d.p_value, d.statistic) == (0, 1.0, 0.0) and d.reason for d in result.directions)


RNG = np.random.default_rng(3)
Z = RNG.normal(size=40).round(3)
Y = RNG.normal(size=40).round(3)
LETTERS = np.tile(list("pqrs"), 10)

CANNOT: dict[str, tuple[list[dict[str, Any]], list[str]]] = {
    "constant numbers": ([{"X": np.full(40, 0.1), "Y": Y}], []),
    "both constant": ([{"X": np.full(40, 0.1), "Y": np.full(40, 3.0)}], []),
    "a constant factor": ([{"X": np.full(40, "p"), "Y": Y}], []),
    "a constant binary": ([{"X": np.zeros(40, dtype=int), "Y": LETTERS}], []),
    "constant at every site, at another value": ([{"X": np.full(40, 1.5), "Y": Y}, {"X": np.full(40, 2.5), "Y": Y}], []),
    "a factor constant at every site": ([{"X": np.full(40, "p"), "Y": Y}, {"X": np.full(40, "q"), "Y": Z}], []),
    "collinear": ([{"X": 2 * Z, "Y": Y, "Z": Z}], ["Z"]),
    "collinear over two sites": ([{"X": 2 * Z, "Y": Y, "Z": Z}, {"X": 2 * Y, "Y": Z, "Z": Y}], ["Z"]),
    "collinear up to rounding": ([{"X": Z / 3.0 + 0.1, "Y": Y, "Z": Z}], ["Z"]),
    "one row": ([{"X": [1.5], "Y": [2.5]}], []),
    "two rows": ([{"X": [1.5, 2.0], "Y": [2.5, 1.0]}], []),
    "two rows with factors": ([{"X": ["p", "q"], "Y": ["u", "v"]}], []),
    "one row at each of many sites": ([{"X": [x], "Y": [y]} for x, y in zip(Z, Y, strict=True)], []),
    "as many parameters as rows": ([{"X": Z[:4], "Y": Y[:4], "Z": LETTERS[:4]}], ["Z"]),
    "no complete row": ([{"X": [1.5, None, 2.5, None], "Y": [None, 1.5, None, 2.5]}], []),
    "no complete row at either site": ([{"X": [1.5, None], "Y": [None, 1.5]}, {"X": [None, 2.5], "Y": [1.0, None]}], []),
    "no site with both": ([{"X": Z, "Z": Y}, {"Y": Y, "Z": Z}], []),
    "no site with the conditioning variable": ([{"X": Z, "Y": Y}, {"Z": Y, "Y": Z}], ["Z"]),
}


@makers
@pytest.mark.parametrize("case", CANNOT)
def test_not_informative_is_a_result_and_no_exception(make: Callable[..., cs.CITest], case: str) -> None:
    sites, given = CANNOT[case]
    held = [cs.Client(f"site{i}", pl.DataFrame(site)) for i, site in enumerate(sites)]
    silent(make(held).test("X", "Y", given))


@pytest.mark.parametrize("effects", ["profiled", "coordinate", "joint"])
@pytest.mark.parametrize("ordinal", ["proportional", "generalized"])
@pytest.mark.parametrize("values", [["p", "q", "r"], [2, 3, 4], [0, 1], [1.5, 2.5]], ids=str)
def test_a_response_constant_within_each_site(values: list[Any], ordinal: str, effects: str) -> None:
    """Sites differ, rows within a site do not: with site effects nothing is left to compare."""
    sites = [cs.Client(f"site{i}", pl.DataFrame({"X": [value] * 40, "Y": np.roll(Y, i)})) for i, value in enumerate(values)]
    silent(cs.Server(sites, ordinal=ordinal, site_effects=effects).test("X", "Y"), reason="X does not vary within any site")


@pytest.mark.parametrize(
    ("case", "reason"),
    [
        ("constant numbers", "X does not vary"),
        ("collinear", "X does not vary within any site once Z is known"),
        ("two rows", "4 rows are too few for the 4 parameters of the model of Y"),
        ("no complete row", "no site has a row with values for X, Y together"),
        ("no site with both", "no site has a row with values for X, Y together"),
        ("no site with the conditioning variable", "no site has a row with values for X, Y, Z together"),
    ],
)
def test_the_reason_says_what_is_wrong(case: str, reason: str) -> None:
    """Every site twice, so that sums are made; what one site cannot tell alone it does not explain."""
    sites, given = CANNOT[case]
    held = [cs.Client(f"site{i}", pl.DataFrame(site)) for i, site in enumerate([*sites, *sites])]
    silent(cs.Server(held, min_rows=1).test("X", "Y", given), reason=reason)


def test_one_site_alone_says_only_that_it_cannot_tell() -> None:
    held = [cs.Client("site", pl.DataFrame({"X": [1.0] * 20, "Y": [float(i % 7) for i in range(20)]}))]
    silent(cs.Server(held).test("X", "Y"), reason="the one site that measures these variables cannot tell from its rows")


@makers
def test_a_function_of_a_conditioning_factor_is_flagged(make: Callable[..., cs.CITest]) -> None:
    """Z predicts X perfectly: the likelihood of X is at its supremum before Y comes in, so nothing speaks against independence."""
    site = pl.DataFrame({"X": (LETTERS > "q").astype(int), "Y": Y, "Z": LETTERS})
    result = make([cs.Client("muenster", site)]).test("X", "Y", ["Z"])
    assert result.p_value == pytest.approx(1.0, abs=1e-3)
    assert result.converged
    assert all(d.separated for d in result.directions if d.informative)


@makers
def test_a_variable_of_the_schema_that_no_site_measures(make: Callable[..., cs.CITest]) -> None:
    result = make(clients(), schema={"A": "continuous", "Q": "binary"}).test("A", "Q")
    silent(result)
    assert (result.n, result.contributors) == (0, 0)


def test_a_site_without_complete_rows_changes_nothing() -> None:
    good = clients()
    empty = frame().with_columns(pl.when(pl.int_range(pl.len()) % 2 == 0).then(pl.col("A")).alias("A"))
    empty = empty.with_columns(pl.when(pl.col("A").is_null()).then(pl.col("B")).alias("B"))
    with_it, without = cs.Server([*good, cs.Client("mainz", empty)]), cs.Server(clients())
    for question in [("A", "B"), ("A", "B", ["C"]), ("C", "D", ["A", "B"])]:
        one, other = with_it.test(*question), without.test(*question)
        assert one.informative
        assert (one.n, one.contributors) == (other.n, other.contributors) == (120, 2)
        assert one.p_value == pytest.approx(other.p_value, rel=1e-9)


@pytest.mark.parametrize("kind", ["X", "Y"])
def test_one_silent_direction_does_not_silence_the_other(kind: str) -> None:
    """Too few rows for a factor of many levels as response, enough for it as predictor: the direction that can speaks."""
    n = 24
    data = {"F": [f"l{i}" for i in range(8)] * 3, "A": RNG.normal(size=n)}
    x, y = ("F", "A") if kind == "X" else ("A", "F")
    result = cs.Server([cs.Client("muenster", pl.DataFrame(data))]).test(x, y)
    assert result.informative
    assert {d.response for d in result.directions if d.informative} >= {"A"}


# a study goes on


@makers
@pytest.mark.parametrize("question", [("A", "B"), ("C", "D", ["A"]), ("D", "E")], ids=str)
def test_a_question_may_be_asked_again(make: Callable[..., cs.CITest], question: Any) -> None:
    """Nothing is left to ask the sites then, and the answer is the same."""
    test = make(clients())
    first, again = test.test(*question), test.test(*question)
    assert again.p_value == first.p_value
    assert again.directions == first.directions


@makers
@pytest.mark.parametrize("most", [None, 0])
def test_a_study_with_nothing_to_ask(make: Callable[..., cs.CITest], most: int | None) -> None:
    one = make([cs.Client("muenster", frame().select("A"))])
    assert one.test_all(max_given=most).height == 0
    assert one.test_many([]) == []


@pytest.mark.parametrize(
    "other",
    [{"C": "binary", "D": ("ordinal", [2, 1, 4, 3])}, {"C": "binary", "D": ("ordinal", [0, 1, 2, 3, 4])}, {"A": "continuous"}],
    ids=["levels in another order", "more levels", "without the variables"],
)
def test_a_client_may_be_in_two_studies(other: dict[str, Any]) -> None:
    """What a study made of a client's data must not change when another study begins."""
    expected = cs.Server(clients()).test("D", "C")
    shared = clients()
    server = cs.Server(shared)
    cs.Server(shared, schema=other)
    assert server.test("D", "C").p_value == pytest.approx(expected.p_value, rel=1e-9)


def test_two_studies_of_the_same_clients_may_take_turns() -> None:
    """Their models differ; where one left its search over intercepts is no start for the other."""
    shared = clients()
    narrow, wide = cs.Server(shared), cs.Server(shared, ordinal="generalized")
    narrow.test("D", "A")
    assert wide.test("D", "A").p_value == pytest.approx(cs.Server(clients(), ordinal="generalized").test("D", "A").p_value, rel=1e-9)

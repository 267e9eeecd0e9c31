"""Sentences on disclosure: what they promise holds, and they say what is there."""

from __future__ import annotations

import itertools

import msgspec
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from consilience.data.schema import Schema
from consilience.disclosure.census import Census
from consilience.disclosure.shield import shield
from consilience.disclosure.statement import Statement
from consilience.disclosure.words import MOST_LINES, SOLVED, contract_lines, in_words, result_lines, site_lines
from consilience.settings.choices import Cells, Dropout, Isolation, Method, SingleSite
from consilience.settings.terms import Terms
from tests.disclosure.sites import SCHEMA, random_site, table

AGGREGATE = Terms(min_cell=5, on_dropout=Dropout.STOP)
STRICT = Terms(min_cell=5, isolation=Isolation.STRICT, single_site=SingleSite.REFUSE, on_dropout=Dropout.STOP)


def said(lines: list[str]) -> str:
    assert all(line and line == line.strip() and line.isprintable() for line in lines)
    assert len(set(lines)) == len(lines)
    return "\n".join(lines)


# --- the contract -------------------------------------------------------------------------------------------------------------------


def test_the_contract_names_every_limit() -> None:
    text = said(contract_lines(AGGREGATE))
    for words in ("fewer than 2 sites", "fewer than 10 rows", "no count from 1 to 4", "isolation='aggregate'", "tests that one site alone"):
        assert words in text
    assert "not protected" not in text


def test_the_contract_says_that_a_rule_is_off() -> None:
    text = said(contract_lines(Terms()))
    assert text.count("not protected") == 2
    assert "one site alone (isolation='aggregate')" in text
    strict = said(contract_lines(Terms(isolation=Isolation.STRICT)))
    assert "not protected by a rule of their own (min_cell=1)" in strict


def test_the_contract_of_a_strict_study() -> None:
    text = said(contract_lines(Terms(min_cell=5, min_contributors=3, isolation=Isolation.STRICT, single_site=SingleSite.REFUSE)))
    assert "about at least 3 sites together" in text
    assert "one site alone can do" not in text


@pytest.mark.parametrize("method", Method)
def test_the_contract_tells_of_small_counts_of_numbers_where_there_are_any(method: Method) -> None:
    told = "between given values" in said(contract_lines(Terms(min_cell=5, method=method)))
    assert told == (method in (Method.RESIDUAL, Method.AUTO))


# --- one site -----------------------------------------------------------------------------------------------------------------------


def lines_of(columns: dict[str, list[object]], terms: Terms = AGGREGATE, min_cell: int = 5) -> str:
    return said(site_lines(shield(table(columns), terms, min_cell), terms, min_cell))


def test_a_site_without_gaps() -> None:
    text = lines_of({"A": [1.0, 2.0] * 15, "B": [0, 1] * 15, "D": ["p", "q", "p"] * 10})
    assert "sums over all 30 rows that this site contributes may be worked out, of the variables A, B, D" in text
    assert "if another site contributes exactly these variables" in text
    assert "levels of two or more variables together" in text
    assert "no row and no value of this site is left out" in text
    assert "contributes A, B, D, that no value of these is missing, and that it has at least 10 rows" in text
    assert "gone" not in text


def test_a_site_with_gaps_reads_of_its_groups() -> None:
    columns: dict[str, list[object]] = {"A": [1.0, 2.0] * 15 + [None] * 12, "B": [0, 1] * 21, "C": [0.5] * 40 + [None] * 2}
    text = lines_of(columns, Terms(min_cell=5, on_dropout=Dropout.RESTART))
    assert "sums over each of 2 groups" in text
    assert "a group of 30 rows with values of A, B, C" in text
    assert "a group of 10 rows with values of B, C" in text
    assert "left out at this site: 2 of 42 rows; 2 values in all" in text
    assert "left out: 2 rows that lack values" in text
    assert "the difference is this site's part" in text
    assert "that some values of these are missing" in text
    assert "levels of two" not in text, "one of its variables has levels"


def test_many_groups_and_levels_are_not_all_named() -> None:
    gaps = [gap for size in (0, 1, 2, 3, 4) for gap in itertools.combinations("ABCDE", size)]
    columns = {name: [None if name in gap else i % 2 + 1 for gap in gaps for i in range(40)] for name in "ABCDE"}
    levels = {"B": {1: 0, 2: 1}, "D": {1: "p", 2: "q"}}
    columns = {name: [levels.get(name, {}).get(value, value) for value in column] for name, column in columns.items()}  # type: ignore[call-overload]
    text = lines_of(columns)
    assert text.count("a group of") == MOST_LINES
    assert "more" in text


def test_what_is_left_out_and_why() -> None:
    columns: dict[str, list[object]] = {"A": [1.0, 2.0] * 20, "D": ["p", "q"] * 19 + ["r"] * 2, "B": [0, 1] * 20}
    assert "left out: 2 rows with D = r, a level that fewer than 5 rows of a group have" in lines_of(columns)
    small: dict[str, list[object]] = {"A": [1.0, 2.0] * 6, "B": [0] * 9 + [1] * 3, "C": [1.0, 2.0] * 6}
    text = lines_of(small)
    assert "left out: 12 values of rows that stay" in text
    assert "not contributed, since nothing of them is left: B" in text


def test_a_site_that_sits_out() -> None:
    for terms in (AGGREGATE, STRICT):
        text = lines_of({"A": [1.0] * 4}, terms)
        assert text.startswith("nothing about this site's rows can be worked out")
        assert "everybody in the study sees that this site sits out" in text


def test_a_site_of_a_strict_study() -> None:
    text = lines_of({"A": [1.0, 2.0] * 15, "B": [0, 1] * 14 + [None] * 2}, STRICT)
    assert "nothing about this site alone can be worked out by adding and subtracting sums" in text
    assert "this site contributes 28 rows with values of A, B" in text
    assert "what it costs" in text


def test_a_site_without_rules() -> None:
    assert lines_of({"A": [1.0]}, Terms(), 1).startswith("sums over any of this site's rows may be worked out, down to a single row")
    raised = lines_of({"A": [1.0, 2.0] * 8}, Terms(), 5)
    assert "no part of this site's rows with fewer than 10 rows" in raised
    assert "everybody" not in raised, "where the study has no rules nothing is stated"


@given(st.integers(0, 2**32 - 1).map(np.random.default_rng), st.sampled_from([AGGREGATE, STRICT, Terms()]), st.sampled_from([1, 3, 7]))
def test_there_are_words_for_every_site(rng: np.random.Generator, terms: Terms, own: int) -> None:
    least = max(own, terms.min_cell)
    assert said(site_lines(shield(random_site(rng, 90), terms, least), terms, least))


# --- the result ---------------------------------------------------------------------------------------------------------------------


def test_the_result_of_a_study_without_rules_says_nothing() -> None:
    assert result_lines(Census({b"1": Statement(("A",), True, 3)}, Terms(), SCHEMA), {}) == []


def test_the_result_says_what_was_refused() -> None:
    statements = {bytes([i]): Statement(tuple(names), True, 10) for i, names in enumerate(("ABC", "ABC", "AB"))}
    census = Census({**statements, b"\xab" * 32: Statement((), True, 0)}, STRICT, SCHEMA)
    text = said(result_lines(census, {}, [("B", "A"), ("A", "B"), ("A", "B", "D")]))
    assert "abababab sits out: fewer than 10 rows to contribute or gaps in them" in text
    assert "2 of the 3 pairs of variables that at least 2 sites contribute may be tested; 3 tests refused" in text
    assert "refused: tests over A, B\nrefused: tests over A, B, D" in text
    many = [names for size in (2, 3) for names in itertools.combinations("ABCDE", size)]
    assert "and over 8 other variable sets" in said(result_lines(census, {}, many))


@pytest.mark.parametrize("terms", [AGGREGATE, Terms(min_cell=5, isolation=Isolation.STRICT, single_site=SingleSite.REFUSE)])
@pytest.mark.parametrize("gaps", [0, 20])
def test_either_isolation_says_that_counts_of_few_sites_can_be_solved_for(terms: Terms, gaps: int) -> None:
    """tests/disclosure/test_what_remains.py does so, for two to four sites."""
    columns = {"A": [float(i % 7) for i in range(80)], "B": [None] * gaps + [i % 2 for i in range(80 - gaps)]}
    for lines in (contract_lines(terms), site_lines(shield(table(columns), terms, 5), terms, 5)):
        (line,) = [line for line in lines if SOLVED in line]
        assert "two to four" in line
        assert "rows" in line
        assert "level" in line


@pytest.mark.parametrize("alone", list(SingleSite))
def test_no_statistic_of_one_site_is_promised(alone: SingleSite) -> None:
    text = said(contract_lines(Terms(min_cell=5, single_site=alone)))
    assert ("p-value of three digits" in text) == (alone is SingleSite.LOCAL)
    assert ("not answered" in text) == (alone is SingleSite.REFUSE)


@pytest.mark.parametrize("terms", [AGGREGATE, STRICT])
def test_what_fitted_models_tell_is_said(terms: Terms) -> None:
    """tests/disclosure/test_attacks_steep.py tries what is promised, tests/disclosure/test_what_remains.py what is not."""
    text = said(contract_lines(terms))
    assert f"in place of sums that are about fewer than {terms.min_cell} of its rows" in text
    assert "not covered: a row that is alone in having its levels of two variables" in text
    off = said(contract_lines(Terms(min_cell=1, isolation=Isolation.STRICT, single_site=SingleSite.REFUSE)))
    assert "random numbers" not in off
    assert "can ask for steep models of its choice" in off


@pytest.mark.parametrize("cells", list(Cells))
def test_what_fitted_models_tell_is_said_wherever_models_are_fitted(cells: Cells) -> None:
    """Effects are of regressions, also where tests are of residuals; a rule on cells is none on what a model foresees of their rows."""
    residual = Terms(min_cell=5, method=Method.RESIDUAL, network=True, cells=cells)
    effects = said(contract_lines(msgspec.structs.replace(residual, estimates=(("A", "B"),))))
    for words in ("in place of sums that are about fewer than 5 of its rows", "in what a model does not foresee"):
        assert words in effects
        assert words in said(contract_lines(Terms(min_cell=5, cells=cells)))
        assert words not in said(contract_lines(residual))


def test_a_rule_on_cells_without_a_least_count_says_nothing_of_cells() -> None:
    """It said that the site has no cell of 1 to 0 rows. A strict study may have min_cell=1, and a site too."""
    terms = Terms(isolation=Isolation.STRICT, single_site=SingleSite.REFUSE, network=True)
    columns = {"A": [float(i % 7) for i in range(80)], "B": [i % 2 for i in range(80)]}
    found = shield(table(columns), terms, 1, Cells.REFUSE)
    assert found.cells is Cells.TOLD
    assert "cell of" not in said(site_lines(found, terms, 1))


def test_a_bound_on_how_many_variables_are_shown_together_is_not_given_as_few_rows() -> None:
    terms = Terms(min_cell=5, cells=Cells.REFUSE)
    bound, both = (Statement(("B", "C", "D"), True, 10, sets, 2) for sets in ((), ((0, 1),)))
    assert "that no value of these is missing, that it is in no sum over more than 2 discrete variables, and" in in_words(bound, terms)
    words = "that few rows have given levels together of 1 set of them, which are named, that it is in no sum over more than 2 discrete"
    assert words in in_words(both, terms)
    schema = Schema(dict.fromkeys("BCD", "binary"))
    lines = said(result_lines(Census({b"1": bound}, terms, schema), {b"1": "bonn"}))
    assert "bonn stays out of sums over more than 2 discrete variables, whose cells are too many to look at" in lines
    assert "few of its rows" not in lines

"""``cells="refuse"``: no site tells of few rows that have given levels of several variables together."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import combinations
from typing import Any

import numpy as np
import polars as pl
import pytest

import consilience as cs
from consilience.data.apart import Apart
from consilience.data.schema import Schema
from consilience.data.table import Table
from consilience.disclosure import cells as module
from consilience.disclosure.cells import MOST_APART, TIMES, apart_of
from consilience.disclosure.census import Census
from consilience.disclosure.errors import StatementError
from consilience.disclosure.patterns import patterns_of
from consilience.disclosure.resampling import Draws
from consilience.disclosure.shield import shield
from consilience.disclosure.statement import Statement, decode_statement
from consilience.disclosure.words import contract_lines, in_words, site_lines
from consilience.errors import OptionError
from consilience.federation.site.own_tests import desk_for
from consilience.protocol.products import Products
from consilience.protocol.survey import Survey
from consilience.service.agent.policy import Policy, _limits
from consilience.service.contract import Contract
from consilience.settings import NetworkSettings, settings_of
from consilience.settings.choices import Cells, Isolation, SingleSite
from consilience.settings.terms import Terms
from tests.disclosure.scenes import AGGREGATE, MIN_CELL
from tests.disclosure.sites import random_site

KINDS = Schema({"C": ("multinomial", "pqr"), "D": "binary", "E": "binary", "X": "continuous"})
REFUSE = Terms(min_cell=MIN_CELL, cells=Cells.REFUSE)


def site(rng: np.random.Generator, n: int, lacking: float = 0.0) -> pl.DataFrame:
    """Levels that go with each other, and values that are missing by chance."""
    d = rng.integers(2, size=n)
    columns: dict[str, list[Any]] = {
        "C": [("p", "q", "r")[i] for i in rng.choice(3, size=n, p=[0.5, 0.3, 0.2])],
        "D": d.tolist(),
        "E": np.where(rng.random(n) < 0.7, d, 1 - d).tolist(),
        "X": (rng.normal(size=n) + d).tolist(),
    }
    if lacking:
        for name in ("D", "X"):
            columns[name] = [None if rng.random() < lacking else value for value in columns[name]]
    return pl.DataFrame(columns, schema={"C": pl.String, "D": pl.Int64, "E": pl.Int64, "X": pl.Float64})


def small_cells(table: Table, variables: tuple[str, ...], least: int) -> list[int]:
    """Counts of 1 to ``least`` - 1 rows, one by one, within the groups of rows that have values of all these variables."""
    found, patterns = list[int](), patterns_of(table)
    discrete = [name for name in variables if name in table.codes]
    for group, has in enumerate(patterns.has):
        if all(has[patterns.columns.index(name)] for name in variables):
            rows = np.flatnonzero(patterns.of_row == group)
            cells = list(zip(*(table.codes[name][rows].tolist() for name in discrete), strict=True))
            found += [n for n in map(cells.count, set(cells)) if n < least]
    return found


def expected_too_small(table: Table, variables: tuple[str, ...], least: float) -> bool:
    """Whether some count would be small if two of the variables were independent given the others; by loops over rows."""
    patterns = patterns_of(table)
    for group, has in enumerate(patterns.has):
        if not all(has[patterns.columns.index(name)] for name in variables):
            continue
        rows = [tuple(int(table.codes[name][i]) for name in variables) for i in np.flatnonzero(patterns.of_row == group)]
        for a, b in combinations(range(len(variables)), 2):
            for stratum in {tuple(v for i, v in enumerate(row) if i not in (a, b)) for row in rows}:
                inside = [row for row in rows if tuple(v for i, v in enumerate(row) if i not in (a, b)) == stratum]
                of_a, of_b = ([row[k] for row in inside] for k in (a, b))
                smallest = min(map(of_a.count, set(of_a))) * min(map(of_b.count, set(of_b))) / len(inside)
                if smallest < least:
                    return True
    return False


@pytest.mark.parametrize("seed", range(40))
def test_what_is_kept_apart_is_what_brute_force_finds(seed: int) -> None:
    rng = np.random.default_rng(seed)
    made = random_site(rng, most=400) if seed % 2 else Table(site(rng, int(rng.integers(20, 900)), 0.2 * (seed % 4 == 0)), KINDS, "m")
    least = int(rng.integers(2, 6))
    names = tuple(name for name in made.schema if name in made.codes)
    few = {
        one
        for size in range(2, len(names) + 1)
        for one in combinations(names, size)
        if small_cells(made, one, least) or expected_too_small(made, one, TIMES * least)
    }
    found = apart_of(made, least)
    for size in range(1, len(names) + 1):
        for one in combinations(names, size):
            wanted = any(set(part) <= set(one) for part in few)
            assert (found is not None and found.parts(one)) == wanted, one
    if found is not None:
        assert not any(a < b for a in found.sets for b in found.sets), "each is named without those that contain it"


def test_where_sets_are_too_many_fewer_variables_are_looked_at_together(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(1)
    schema = Schema(dict.fromkeys("CDEFG", "binary"))
    table = Table(pl.DataFrame({name: rng.integers(2, size=2000) for name in schema}), schema, "m")
    assert apart_of(table, 5) is None
    monkeypatch.setattr(module, "MOST_TABLES", 12)  # ten pairs, and not the ten triples
    found = apart_of(table, 5)
    assert found == Apart(frozenset(), frozenset("CDEFG"), 2)
    assert found.parts("CDE")
    assert not found.parts("CD")


def test_a_desk_adds_nothing_to_sums_over_variables_that_are_kept_apart() -> None:
    d = np.repeat([0, 1], [60, 60])
    e = np.concatenate([np.tile([0, 1], 30), [1], np.zeros(59, dtype=int)])
    table = Table(pl.DataFrame({"D": d, "E": e, "X": np.arange(120.0)}), KINDS, "muenster")
    told, kept = shield(table, Terms(min_cell=MIN_CELL), MIN_CELL), shield(table, REFUSE, MIN_CELL)
    assert small_cells(told.table, ("D", "E"), MIN_CELL) == [1]
    assert kept.statement.apart == ((1, 2),)
    ask = Survey((("D", "E"), ("D", "X"), ("D", "E", "X")))
    assert desk_for(told.table, fewest=5).answer(ask)[:6].tolist() == [1.0, 120.0] * 3
    assert desk_for(kept.table, fewest=5).answer(ask)[:6].tolist() == [0.0, 0.0, 1.0, 120.0, 0.0, 0.0]
    products = Products((("D", "E"),), {})
    assert desk_for(told.table, fewest=5).answer(products).any()
    assert not desk_for(kept.table, fewest=5).answer(products).any()
    assert kept.table.repeated(np.ones(120, dtype=np.intp)).holds(("D", "X"))
    assert not kept.table.repeated(np.ones(120, dtype=np.intp)).holds(("D", "E"))


def studied(frames: Mapping[str, pl.DataFrame], rules: Mapping[str, Any], **more: Any) -> tuple[cs.Server, list[cs.CIResult]]:
    server = cs.Server([cs.Client(name, frame) for name, frame in frames.items()], schema=KINDS, **{**rules, **more})
    results = server.test_all(max_given=2).rows(named=True)
    return server, results


def three(seed: int, sizes: tuple[int, ...] = (900, 700, 60)) -> dict[str, pl.DataFrame]:
    rng = np.random.default_rng(seed)
    return {f"site{i}": site(rng, n) for i, n in enumerate(sizes)}


@pytest.mark.parametrize("method", ["fedci", pytest.param("residual", marks=pytest.mark.slow), "fisher", "auto"])
def test_a_test_is_that_of_the_sites_that_stay(method: str) -> None:
    """The small site keeps its levels apart: its rows are in tests with numbers, and in no others."""
    frames = three(3)
    server, results = studied(frames, AGGREGATE, cells="refuse", method=method, min_contributors=2)
    census = Census({k.encode(): shield(Table(f, KINDS, k), REFUSE, MIN_CELL).statement for k, f in frames.items()}, REFUSE, KINDS)
    some_without = False
    _, others = studied({k: f for k, f in frames.items() if k != "site2"}, AGGREGATE, cells="refuse", method=method)
    by_question = {(r["x"], r["y"], tuple(r["given"])): r for r in others}
    for r in results:
        sites = census.contributors((r["x"], r["y"], *r["given"]))
        if r["informative"]:
            assert r["contributors"] == len(sites)
        if sites == {b"site0", b"site1"} and method in ("fedci", "fisher"):
            some_without = True
            assert r["p_value"] == pytest.approx(by_question[r["x"], r["y"], tuple(r["given"])]["p_value"], rel=1e-9, nan_ok=True)
    assert some_without or method in ("residual", "auto")
    assert any("site2 stays out of sums over C and D together" in line for line in server.withheld()), server.withheld()


def chained(seed: int, n: int, *, few: bool) -> pl.DataFrame:
    """D and E go with X; C and E have a small cell where ``few``, and no other two variables have."""
    rng = np.random.default_rng(seed)
    x, c = rng.normal(size=n), np.arange(n) % 2
    d, e = (rng.random(n) < 1 / (1 + np.exp(-2 * x)), rng.random(n) < 1 / (1 + np.exp(-2 * x)))
    if few:
        e &= (c == 0) | (np.cumsum(e & (c == 1)) <= 3)
    return pl.DataFrame({"C": ["pq"[i] for i in c], "D": d.astype(int), "E": e.astype(int), "X": x})


@pytest.mark.slow
@pytest.mark.parametrize("isolation", ["aggregate", "strict"])
def test_what_else_is_tested_does_not_change_who_is_in_a_test(isolation: str) -> None:
    """Tests with the same rows share their means. c and d keep C and E apart, and stay in a test of D and E whatever means it shares: of
    the rows of C and X, say, which are those of D, E and X, they would say nothing of E.
    """
    frames = {name: chained(i, 400 + 500 * (i > 1), few=i > 1) for i, name in enumerate("abcd")}
    rules = {**AGGREGATE, "isolation": isolation, "single_site": "refuse"}
    questions = [("C", "D", ["X"]), ("D", "E", ["X"])]
    found = dict[str, list[cs.CIResult]]()
    for cells in ("told", "refuse"):
        servers = [
            cs.Server([cs.Client(*one) for one in frames.items()], schema=KINDS, **rules, cells=cells, method="residual") for _ in "12"
        ]
        found[cells] = [servers[0].test_many(questions)[1], servers[1].test(*questions[1])]
        assert (" stays out of sums over C and E together" in " ".join(servers[0].withheld())) is (cells == "refuse")
    assert {(one.n, one.contributors) for each in found.values() for one in each} == {(2600, 4)}
    assert [one.p_value for each in found.values() for one in each] == pytest.approx([found["told"][0].p_value] * 4, rel=1e-9)


def test_a_test_that_too_few_sites_stay_in_is_refused_with_the_reason() -> None:
    server, results = studied(three(5, (60, 70, 80)), AGGREGATE, cells="refuse")
    refused = [r for r in results if not r["informative"]]
    assert refused
    assert all("keep them apart, since few rows have given levels of them together; that leaves 0 sites" in r["reason"] for r in refused)
    done = {frozenset({r["x"], r["y"], *r["given"]}) for r in results if r["informative"]}
    assert done == {frozenset("CX"), frozenset("DX"), frozenset("EX"), frozenset("DE"), frozenset("DEX")}
    assert f"cells='refuse': {len(refused)} tests refused, since too few sites stay" in server.withheld()


def test_told_is_as_it_was() -> None:
    frames = three(7)
    _, told = studied(frames, AGGREGATE, cells="told")
    _, before = studied(frames, AGGREGATE)
    assert told == before


@pytest.mark.slow
def test_random_studies_tell_of_no_small_cell() -> None:
    """Everything that is answered, of 300 studies: cells within groups of rows, and combinations about few sites."""
    broken, answered, kept = list[str](), 0, 0
    sets = [one for size in range(1, 5) for one in combinations(KINDS, size)]
    for seed in range(300):
        rng = np.random.default_rng(seed)
        strict = bool(rng.random() < 0.5)
        terms = Terms(
            min_cell=int(rng.choice([3, 5])),
            min_contributors=int(rng.integers(2, 4)),
            isolation=Isolation.STRICT if strict else Isolation.AGGREGATE,
            single_site=SingleSite.REFUSE,
            cells=Cells.REFUSE,
        )
        made = {
            bytes([k]) * 32: shield(
                Table(site(rng, int(rng.choice([40, 120, 400, 1500])), 0.1 * (k % 2)), KINDS, "m"), terms, terms.min_cell
            )
            for k in range(int(rng.integers(3, 7)))
        }
        census = Census({name: each.statement for name, each in made.items()}, terms, KINDS)
        open_sets = [s for s in sets if not census.refusal(s) and len(census.contributors(s)) >= terms.min_contributors]
        answered += len(open_sets)
        for s in open_sets:
            for name in census.contributors(s):
                assert made[name].table.holds(s)
                broken += [f"seed {seed}: {s} has a cell of {n}" for n in small_cells(made[name].table, s, terms.min_cell)]
        kept += sum(each.table.apart is not None for each in made.values())
        sites = [name for name in made if not census.sits_out(name)]
        matrix = np.array([[float(name in census.contributors(s)) for name in sites] for s in open_sets]).reshape(len(open_sets), -1)
        if strict and matrix.size:
            rank = np.linalg.matrix_rank(matrix)
            for size in range(1, terms.min_contributors):
                for some in combinations(range(len(sites)), size):
                    rest = np.delete(matrix, some, axis=1)
                    if (np.linalg.matrix_rank(rest) if rest.size else 0) < rank:
                        broken.append(f"seed {seed}: a combination about {size} sites")
    assert broken == []
    assert answered > 900
    assert kept > 300


def test_strict_does_not_tell_apart_sites_by_what_they_keep_apart() -> None:
    """Three sites with the same variables, one of which keeps two apart: sums over all and over two would be subtracted."""
    said = {bytes([k]): Statement(("C", "D", "E", "X"), True, 10) for k in range(2)} | {
        b"k": Statement(("C", "D", "E", "X"), True, 10, ((1, 2),))
    }
    census = Census(said, Terms(min_cell=5, isolation=Isolation.STRICT, single_site=SingleSite.REFUSE), KINDS)
    assert census.contributors(("D", "E")) == {b"\0", b"\1"}
    refused = [one for one in (("D", "X"), ("D", "E")) if census.refusal(one)]
    assert len(refused) == 1, "one of the two, since their difference is one site's"


@pytest.mark.parametrize("apart", [((2, 1),), ((1,),), ((1, 1),), ((1, 2), (0, 1)), ((0, 3),), ((1, 9),)])
def test_what_is_no_set_that_is_kept_apart(apart: tuple[tuple[int, ...], ...]) -> None:
    with pytest.raises(StatementError, match="once and in order"):
        decode_statement(Statement(("C", "D", "E", "X"), True, 10, apart).encoded(), KINDS)


def test_a_statement_names_no_more_sets_than_a_site_does() -> None:
    """Every set is looked at by everybody: one statement of 32,000 sets of three cost a minute at each site."""
    schema = Schema({f"V{i:02}": "binary" for i in range(30)})
    sets = tuple(combinations(range(30), 3))[: MOST_APART + 1]
    assert decode_statement(Statement(tuple(schema), True, 10, sets[:-1]).encoded(), schema).apart == sets[:-1]
    with pytest.raises(StatementError, match="at most 4000 sets"):
        decode_statement(Statement(tuple(schema), True, 10, sets).encoded(), schema)


def test_levels_that_a_site_does_not_have_are_no_matter() -> None:
    """A study may name a hundred levels of each variable, of which three make a million cells."""
    rng = np.random.default_rng(2)
    frame = pl.DataFrame({name: rng.choice(["17", "60"], size=300, p=[0.6, 0.4]) for name in "CDE"} | {"F": [None] * 300})
    frame = frame.with_columns(pl.when(pl.int_range(300) < 200).then("C").alias("C"), F=pl.lit(None, dtype=pl.String))
    few, many = ([str(i) for i in levels] for levels in ((17, 60), range(100)))
    tables = [Table(frame, Schema(dict.fromkeys("CDEF", ("multinomial", levels))), "m") for levels in (few, many)]
    assert apart_of(tables[0], 5) == apart_of(tables[1], 5)
    assert apart_of(tables[1], 20) is not None


def test_a_statement_with_sets_that_are_kept_apart() -> None:
    said = Statement(("C", "D", "E"), True, 10, ((0, 1), (1, 2)), 2)
    assert decode_statement(said.encoded(), KINDS) == said


def test_a_site_may_ask_for_it_itself_over_a_network() -> None:
    frame = three(3)["site2"]
    own = cs.Client("bonn", frame, cells="refuse")
    assert own.shielded(KINDS, Terms(min_cell=5, network=True)).table.apart is not None
    assert own.shielded(KINDS, Terms(min_cell=5)).table.apart is None
    assert cs.Client("bonn", frame).shielded(KINDS, Terms(min_cell=5, network=True)).table.apart is None
    with pytest.raises(OptionError, match="cells must be one of told, refuse; got 'no'"):
        cs.Client("bonn", frame, cells="no")


def test_no_row_is_drawn_where_cells_are_not_told() -> None:
    table = Table(site(np.random.default_rng(1), 300), KINDS, "m")
    draws = Draws(table, b"secret", fixed=True)
    assert not draws.drawn.any()
    assert (draws.times(1) == 1).all()


@pytest.mark.parametrize(
    ("more", "words"), [({"min_cell": 1}, "min_cell=1 is no rule"), ({"min_cell": 5, "bootstrap": 20}, "bootstrap=20 needs")]
)
def test_what_does_not_go_with_it(more: dict[str, Any], words: str) -> None:
    with pytest.raises(OptionError, match=words):
        settings_of(cells="refuse", **more)


# --- what is said -------------------------------------------------------------------------------------------------------------------


def test_the_contract_says_which_of_the_two_holds() -> None:
    told, refused = ("\n".join(contract_lines(terms)) for terms in (Terms(min_cell=5), REFUSE))
    assert "not covered: counts of rows by the levels of two or more variables together, which may be small" in told
    assert "not covered: a row that is alone in having its levels of two variables" in told
    assert "no site tells of 1 to 4 of its rows that have given levels of two or more variables together" in refused
    assert "alone in having" not in refused
    assert "which may be small" not in refused


def test_an_owner_reads_what_his_site_stays_out_of() -> None:
    made = shield(Table(three(3)["site2"], KINDS, "m"), REFUSE, MIN_CELL)
    lines = site_lines(made, REFUSE, MIN_CELL)
    assert "this site stays out of all sums over C and D together" in lines
    assert not any("also if they are fewer than 5" in line for line in lines)
    assert any("that few rows have given levels together of" in line for line in lines), "everybody sees it"
    large = shield(Table(site(np.random.default_rng(1), 4000), KINDS, "m"), REFUSE, MIN_CELL)
    assert any(line.startswith("this site has no cell of 1 to 4 rows") for line in site_lines(large, REFUSE, MIN_CELL))
    assert "few rows" not in in_words(large.statement, REFUSE)


def test_a_policy_may_ask_for_it() -> None:
    words = _limits(Policy(cells=Cells.REFUSE), Contract("00", "trial", (), (), NetworkSettings(), ()))
    assert words == [
        "cells must be refuse by this site's policy; the contract has told. Ask the study's owner to change it, or change the policy."
    ]
    assert _limits(Policy(cells=Cells.REFUSE), Contract("00", "trial", (), (), NetworkSettings(cells=Cells.REFUSE), ())) == []

"""A study with rules on disclosure, in one program: shielded tables, statements that travel with keys, and what they decide."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any

import numpy as np
import polars as pl
import pytest

import consilience as cs
from consilience import errors
from consilience.citest.question import all_questions
from consilience.data.table import Table
from consilience.disclosure.statement import decode_statement
from consilience.protocol.history import History
from consilience.protocol.messages import Announced
from consilience.protocol.products import Products
from consilience.protocol.survey import Survey
from consilience.settings.choices import Dropout, Isolation, SingleSite
from tests.federation.helpers import Spy, Wire, mixed_clients, mixed_frames, refused

RULES: dict[str, Any] = {"min_cell": 5, "single_site": "refuse", "on_dropout": "stop"}
STRICT: dict[str, Any] = RULES | {"isolation": "strict"}


def frame_of(table: Table) -> pl.DataFrame:
    """A table as it was before it was encoded."""
    columns = dict[str, Any]()
    for name in table.schema:
        if name in table.codes:
            levels = np.array([*table.schema[name].levels, None], dtype=object)
            columns[name] = pl.Series(levels[table.codes[name]].tolist(), dtype=pl.String)
        elif name in table.numbers:
            columns[name] = pl.Series(table.numbers[name]).fill_nan(None)
    return pl.DataFrame(columns)


def answering(server: cs.Server) -> list[Table]:
    """The tables from which the sites of a server answer."""
    sites: list[Any] = server._transport._sites  # type: ignore[attr-defined]
    return [site._desk.table for site in sites]


def columns(frames: Sequence[pl.DataFrame], *names: str) -> list[cs.Client]:
    """Clients of which each has only some columns."""
    return [cs.Client(f"site{i}", frame.select(list(held))) for i, (frame, held) in enumerate(zip(frames, names, strict=True))]


# nothing changes where there are no rules


def test_without_rules_nothing_is_stated() -> None:
    server = cs.Server(mixed_clients(3))
    server.test("A", "B")
    assert server.census is None
    assert {stated.statement for stated in server._transport.statements()} == {b""}
    assert not any("in the open" in line for client in server.clients for line in client.ledger["what"])


def test_rules_that_leave_nothing_out_change_no_bit_and_cost_no_round() -> None:
    frames = [frame.select("A", "B", "C") for frame in mixed_frames(3)]
    plain, ruled = (cs.Server([cs.Client(f"s{i}", f) for i, f in enumerate(frames)], **options) for options in ({}, RULES))
    assert plain.test_all(max_given=1).equals(ruled.test_all(max_given=1))
    assert (plain.rounds, plain.bytes) == (ruled.rounds, ruled.bytes)
    assert plain.census is None
    assert ruled.census is not None


# equality: what is answered is what all shielded rows in one place say


@pytest.mark.slow
@pytest.mark.parametrize("options", [RULES, STRICT], ids=["aggregate", "strict"])
@pytest.mark.parametrize("method", ["fedci", "residual"])
def test_federated_is_pooled_of_the_shielded_tables(options: dict[str, Any], method: str) -> None:
    clients = mixed_clients(3, missing=0.05, seed=8)
    server = cs.Server(clients, method=method, **options)
    # curves of tests of residuals are altered where they are about few rows: that they are pooled, too, is in test_residual_altered
    questions = [q for q in all_questions(tuple(server.schema), 1) if method == "fedci" or all(server.schema[g].levels for g in q.given)]
    asked = [(q.x, q.y, q.given) for q in questions]
    found = server.test_many(asked)
    tables = answering(server)
    assert sum(table.n_rows for table in tables) > 0
    assert any(
        frame_of(t).null_count().sum_horizontal()[0] < c.frame.null_count().sum_horizontal()[0]
        for t, c in zip(tables, clients, strict=True)
    )
    wanted = cs.pooled([frame_of(table) for table in tables], schema=server.schema, method=method).test_many(asked)
    both = [(one, other) for one, other in zip(found, wanted, strict=True) if one.informative and other.informative]
    assert len(both) > 10
    silent = [way for one, _ in both for way in one.directions if "min_cell" in way.reason]
    assert len(silent) < 0.1 * sum(len(one.directions) for one, _ in both)  # models that are steep at a site are left out
    for one, other in both:
        assert one.n == other.n
        for way, its in zip(one.directions, other.directions, strict=True):
            if way not in silent:
                assert way.p_value == pytest.approx(its.p_value, rel=0.0, abs=1e-10)
        if not set(one.directions) & set(silent):
            assert one.p_value == pytest.approx(other.p_value, rel=0.0, abs=1e-10)


def test_no_group_of_rows_that_can_be_singled_out_is_small() -> None:
    server = cs.Server(mixed_clients(3, missing=0.05, seed=8), **RULES)
    server.test("A", "B")
    for table in answering(server):
        sets = {tuple(sorted(rng)) for rng in (("A",), ("A", "B"), ("A", "B", "C"), ("A", "B", "C", "D"), tuple("ABCDE"))}
        counts = sorted(table.complete(names).n for names in sets if table.holds(names))
        differences = [b - a for a, b in pairwise(counts)]
        assert all(d == 0 or d >= 10 for d in differences), counts


# keys are bound to the study and to what was agreed to


def test_sites_that_were_given_different_contracts_refuse_each_other_by_name() -> None:
    clients = mixed_clients(2)
    wire = Wire(clients, min_rows=10)
    other = clients[1].join("study", wire.schema, wire.terms, wire.members, contract=bytes(32))
    keys = [wire.participants[0].offer(b"run 1"), other.offer(b"run 1")]
    with refused(clients[0], errors.WrongContractError) as caught:
        wire.participants[0].enter(b"run 1", keys)
    assert clients[1].identity.fingerprint_text in str(caught.value)
    with refused(clients[1], errors.WrongContractError):
        other.enter(b"run 1", keys)


def test_in_one_program_terms_and_variables_stand_for_a_contract() -> None:
    clients = mixed_clients(2)
    one, other = (Wire(clients, min_rows=rows) for rows in (10, 11))
    keys = [one.participants[0].offer(b"run 1"), other.participants[1].offer(b"run 1")]
    with refused(clients[0], errors.WrongContractError):
        one.participants[0].enter(b"run 1", keys)


def test_a_key_of_another_study_is_refused() -> None:
    clients = mixed_clients(2)
    wire = Wire(clients)
    other = clients[1].join("another study", wire.schema, wire.terms, wire.members)
    keys = [wire.participants[0].offer(b"run 1"), other.offer(b"run 1")]
    with refused(clients[0], errors.WrongContractError) as caught:
        wire.participants[0].enter(b"run 1", keys)
    assert "another study" in str(caught.value)


# statements


def smaller(client: cs.Client, columns: list[str]) -> cs.Client:
    """The same site with other data."""
    return cs.Client(client.name, client.frame.select(columns), identity=client.identity)


@pytest.mark.parametrize(
    "change",
    [
        lambda frame: frame.select("A", "B"),
        lambda frame: frame.with_columns(A=pl.when(pl.int_range(pl.len()) == 7).then(pl.col("A") + 1e-9).otherwise("A")),
        lambda frame: frame.head(39),
    ],
    ids=["another statement", "one value", "one row fewer"],
)
def test_a_site_whose_table_has_changed_says_nothing_more_in_the_study(change: Callable[[pl.DataFrame], pl.DataFrame]) -> None:
    clients, history = mixed_clients(2, columns="ABC"), History()
    wire = Wire(clients, min_cell=5)
    first = clients[0].join("study", wire.schema, wire.terms, wire.members, history=history)
    first.enter(b"run 1", [first.offer(b"run 1"), wire.participants[1].offer(b"run 1")])
    assert set(history.stated) == set(wire.members)
    same = cs.Client(clients[0].name, clients[0].frame.sample(fraction=1.0, shuffle=True, seed=1), identity=clients[0].identity)
    same.join("study", wire.schema, wire.terms, wire.members, history=history).offer(b"run 2")  # the order of rows says nothing
    changed = cs.Client(clients[0].name, change(clients[0].frame), identity=clients[0].identity)
    again = changed.join("study", wire.schema, wire.terms, wire.members, history=history)
    with refused(changed, errors.ChangedStatementError) as caught:
        again.offer(b"run 2")
    assert "same table" in str(caught.value)


@pytest.mark.parametrize("own", [0, 5], ids=["no rule", "its own rule"])
def test_rows_stay_what_they_are_also_where_only_the_site_has_a_rule(own: int) -> None:
    """A study over a network without rules. Without one of its own, a site tells of a new patient by what its sums are before and after;
    with one its owner was told that nobody can, and still it was so.
    """
    clients, histories = [cs.Client(c.name, c.frame, min_cell=own) for c in mixed_clients(2, columns="ABC")], [History(), History()]
    wire, counts = Wire(clients, network=True), dict[bytes, np.ndarray]()

    def begin(run: bytes, frame: pl.DataFrame) -> None:
        first = cs.Client(clients[0].name, frame, identity=clients[0].identity, min_cell=own)
        both = zip([first, clients[1]], histories, strict=True)
        wire.participants = [client.join("study", wire.schema, wire.terms, wire.members, history=history) for client, history in both]
        wire.begin(wire.participants, run)
        counts[run] = wire.total(Survey((("A", "B", "C"),)))

    begin(b"run 1", clients[0].frame.head(39))
    if own:
        with pytest.raises(errors.ChangedStatementError, match="same table"):
            begin(b"run 2", clients[0].frame)
    else:
        begin(b"run 2", clients[0].frame)
        assert (counts[b"run 2"] - counts[b"run 1"]).round().tolist() == [0.0, 1.0]


def test_another_statement_of_another_site_is_refused_by_name() -> None:
    clients, history = mixed_clients(2), History()
    wire = Wire(clients, min_cell=5)
    first = clients[0].join("study", wire.schema, wire.terms, wire.members, history=history)
    first.enter(b"run 1", [first.offer(b"run 1"), wire.participants[1].offer(b"run 1")])
    changed = smaller(clients[1], ["A", "B"]).join("study", wire.schema, wire.terms, wire.members)
    for half in (first, clients[0].join("study", wire.schema, wire.terms, wire.members, history=history)):  # and in a new process
        keys = [half.offer(b"run 2"), changed.offer(b"run 2")]
        with refused(clients[0], errors.ChangedStatementError) as caught:
            half.enter(b"run 2", keys)
        assert clients[1].identity.fingerprint_text in str(caught.value)
        changed = smaller(clients[1], ["A", "B"]).join("study", wire.schema, wire.terms, wire.members)


def test_a_statement_that_is_none_is_refused() -> None:
    clients = mixed_clients(2)
    wire = Wire(clients, min_cell=5)
    silent = Wire(clients)  # a site that knows no such rules; to the other it says that it has the same contract
    silent.participants[1]._binding = wire.participants[0]._binding
    keys = [wire.participants[0].offer(b"run 1"), silent.participants[1].offer(b"run 1")]
    with refused(clients[0], errors.OutsideSchemaError) as caught:
        wire.participants[0].enter(b"run 1", keys)
    assert clients[1].identity.fingerprint_text in str(caught.value)


def test_what_is_stated_is_in_the_ledger() -> None:
    server = cs.Server(mixed_clients(2, columns="ABC"), **RULES)
    server.test("A", "B")
    for client, stated in zip(server.clients, server._transport.statements(), strict=True):
        lines = client.ledger.filter(pl.col("what").str.contains("in the open"))
        assert lines["bytes"].to_list() == [len(stated.statement)]
        assert lines["masked_with"].to_list() == [0]
        assert "A, B, C" in lines["what"][0]
        assert decode_statement(stated.statement, server.schema).variables == ("A", "B", "C")


# a site that sits out


def test_a_site_that_is_too_small_contributes_zeros_and_still_masks() -> None:
    frames = [f.select("A", "B", "C") for f in mixed_frames(3)]
    frames[2] = frames[2].head(6)
    server = cs.Server([cs.Client(f"s{i}", f) for i, f in enumerate(frames)], **RULES)
    found = server.test("A", "B", ["C"])
    assert (found.n, found.contributors) == (80, 2)
    assert answering(server)[2].names == frozenset()
    without = cs.Server([cs.Client(f"s{i}", f) for i, f in enumerate(frames[:2])]).test("A", "B", ["C"])
    assert found.p_value == pytest.approx(without.p_value)
    assert {line for client in server.clients for line in client.ledger["masked_with"].to_list()} == {0, 2}


# strict


def overlapping() -> list[cs.Client]:
    """Two sites have A, B, C and one lacks C: what it alone contributes is the difference of sums with and without C."""
    return columns(mixed_frames(3), "ABC", "ABC", "AB")


def test_strict_isolation_makes_no_two_sums_whose_difference_is_one_site() -> None:
    server = cs.Server(overlapping(), **STRICT)
    spy = Spy(server)
    results = {(r.x, r.y, r.given): r for r in server.test_many([("A", "B"), ("A", "B", "C"), ("A", "C"), ("B", "C")])}
    census = server.census
    assert census is not None
    contributors = {census.contributors(s) for request in spy.of(Survey) for s in request.sets}  # type: ignore[attr-defined]
    assert all(len(a ^ b) != 1 for a in contributors for b in contributors)
    withheld = [r for r in results.values() if not r.informative]
    assert withheld
    assert all(r.reason and r.contributors == 0 for r in withheld)
    assert any(r.informative for r in results.values())


@pytest.mark.parametrize("method", ["fedci", "fisher", "residual", "auto"])
def test_every_method_refuses_without_asking(method: str) -> None:
    server = cs.Server(overlapping(), method=method, **STRICT)
    spy = Spy(server)
    results = server.test_many([("A", "B"), ("A", "B", "C"), ("A", "C")])
    census = server.census
    assert census is not None
    refused_sets = [names for names in (("A", "B"), ("A", "B", "C"), ("A", "C")) if census.refusal(names)]
    assert refused_sets
    for request, _, told, answered in spy.seen:
        assert answered
        assert not any(census.refusal(names) for names in (request.sets if isinstance(request, Survey) else ()))
        assert not any(census.refusal(names) for names in told)
    for result in results:
        names = tuple(sorted((result.x, result.y, *result.given)))
        if names in refused_sets:
            assert not result.informative
            assert census.refusal(names) in result.reason


def test_a_site_refuses_what_a_server_should_not_ask() -> None:
    terms = {"min_cell": 5, "isolation": Isolation.STRICT, "single_site": SingleSite.REFUSE, "on_dropout": Dropout.STOP}
    wire = Wire.open(overlapping(), **terms)
    census = wire.participants[0]._guard.census
    assert census is not None
    names = next(s for s in (("A", "B"), ("A", "B", "C")) if census.refusal(s))
    with refused(wire.clients[0], errors.DisclosureError) as caught:
        wire.send(Survey((names,)))
    assert census.refusal(names) in str(caught.value)


def test_strict_needs_settings_that_go_with_it() -> None:
    for change in ({"single_site": "local"}, {"on_dropout": "restart"}, {"site_effects": "joint"}):
        with pytest.raises(errors.OptionError, match="strict"):
            cs.Server(overlapping(), **STRICT | change)


# counts that a server announces


def lied(clients: Sequence[cs.Client], announced: Announced, **terms: Any) -> None:
    wire = Wire.open(clients, min_cell=5, **terms)
    with refused(clients[0], errors.FalseCountsError):
        wire.send(Products((announced.variables,), {}), [announced])
    with refused(clients[0], errors.StudyClosedError):  # and it is the last word
        wire.send(Survey((announced.variables,)))


@pytest.mark.parametrize(("contributors", "rows"), [(3, 120), (2, 80), (1, 39), (0, 0)])
def test_a_server_that_lies_about_who_contributes_is_found_out(contributors: int, rows: int) -> None:
    """One site alone has A and C: announced with three, its sums would be its own numbers."""
    lied(columns(mixed_frames(3), "AC", "AB", "BC"), Announced(("A", "C"), contributors, rows))


def test_nobody_contributes_fewer_rows_than_a_study_asks_for() -> None:
    lied(columns(mixed_frames(3), "ABC", "ABC", "ABC"), Announced(("A", "B"), 3, 40 + 2 * 10 - 1))


def test_true_counts_are_believed_where_sites_lack_values() -> None:
    """Who has gaps may have no row for a set; honest counts pass, whatever the gaps are."""
    for seed in range(5):
        server = cs.Server(mixed_clients(4, missing=0.2, seed=seed), **RULES)
        results = server.test_all(max_given=1)
        assert not any(line for client in server.clients for line in client.ledger["refused"])
        assert results.height > 0


# what a result says of it


def test_a_result_says_what_was_kept_out_of_its_sums() -> None:
    server = cs.Server(overlapping(), **STRICT)
    assert server.withheld() == ()
    found = cs.discover(server, max_given=1)
    lines = found.settings["withheld"]
    assert any("refused" in line for line in lines)
    assert "kept out of its sums" in found.to_html()
    assert cs.Discovery.from_dict(found.to_dict()).settings["withheld"] == lines
    assert found.redecide(alpha=0.01).settings["withheld"] == lines


def test_a_result_without_rules_says_nothing_of_them() -> None:
    found = cs.discover(cs.Server(mixed_clients(3, columns="AB")))
    assert "withheld" not in found.settings
    assert "kept out of its sums" not in found.to_html()

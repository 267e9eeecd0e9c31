"""Which sums are made at all. What is refused is an answer that says so, never an error and never independence."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from scipy import stats

import consilience as cs
from consilience import errors
from consilience.citest.question import all_questions
from consilience.citest.rounding import told_statistic
from consilience.protocol.evaluate import Evaluate
from consilience.protocol.local_tests import LocalTests
from consilience.protocol.locate import Locate
from consilience.protocol.products import AloneAnswer, Products
from consilience.protocol.survey import Survey
from tests.federation.helpers import ROWS, Spy, mixed_clients, mixed_frames, tap, told

EFFECTS = ("profiled", "coordinate", "joint", "none")


def two_sites() -> list[cs.Client]:
    """The published example: one site measures {A, B, C, E}, the other {A, C, D, E}."""
    return mixed_clients(2, seed=3, absent={0: ["D"], 1: ["B"]})


def holders(clients: list[cs.Client], result: cs.CIResult) -> list[cs.Client]:
    return [c for c in clients if {result.x, result.y, *result.given} <= set(c.frame.columns)]


def answers(server: cs.CITest, max_given: int | None = None) -> list[cs.CIResult]:
    return server.answer(all_questions(server.variables, max_given))


def assert_refused(result: cs.CIResult, *words: str) -> None:
    assert not result.informative
    assert result.p_value == 1.0
    assert all(word in result.reason for word in words)
    assert all(d.df == 0 and not d.informative for d in result.directions)


# limits


@pytest.mark.parametrize("method", ["fedci", "fisher"])
def test_a_sum_over_too_few_sites_is_not_made(method: str) -> None:
    clients = mixed_clients(3, absent={0: ["B"]})
    server = cs.Server(clients, method=method, min_contributors=3)
    spy = Spy(server)
    assert_refused(server.test("A", "B"), "only 2 sites", "at least 3")
    assert not spy.of(Products, Evaluate, LocalTests)
    assert server.test("A", "C").informative


@pytest.mark.parametrize("method", ["fedci", "fisher"])
def test_a_sum_over_too_few_rows_is_not_made(method: str) -> None:
    frames = mixed_frames(2)
    clients = [cs.Client("s0", frames[0][:5]), cs.Client("s1", frames[1][:4])]
    server = cs.Server(clients, method=method)
    spy = Spy(server)
    assert_refused(server.test("A", "B"), "9 rows are fewer than the 10")
    assert not spy.of(Products, Evaluate, LocalTests)
    assert cs.Server([clients[0], cs.Client("s1", frames[1][:5])]).test("A", "B").informative


@pytest.mark.parametrize("method", ["fedci", "fisher"])
def test_limits_hold_for_a_site_alone_too(method: str) -> None:
    frames = mixed_frames(2)
    clients = [cs.Client("s0", frames[0][:9]), cs.Client("s1", frames[1].drop("B"))]
    assert_refused(cs.Server(clients, method=method).test("A", "B"), "9 rows")


def test_a_batch_has_answers_and_refusals_side_by_side() -> None:
    server = cs.Server(mixed_clients(3, absent={0: ["B"]}), min_contributors=3)
    for result in answers(server, 1):
        if "B" in (result.x, result.y, *result.given):
            assert_refused(result, "only 2 sites")
        else:
            assert result.informative


def test_a_limit_above_the_number_of_clients_is_an_error_at_once() -> None:
    with pytest.raises(errors.TooFewClientsError, match=r"fewer than 3.*there are 2"):
        cs.Server(mixed_clients(2), min_contributors=3)


@pytest.mark.parametrize("options", [{"min_contributors": 0}, {"min_rows": 0}, {"min_rows": math.nan}, {"single_site": "maybe"}], ids=str)
def test_limits_that_are_none(options: dict[str, Any]) -> None:
    with pytest.raises(errors.OptionError):
        cs.Server(mixed_clients(2), **options)


def test_with_a_limit_of_one_a_single_site_answers_like_any_other() -> None:
    clients = two_sites()
    found = cs.Server(clients, min_contributors=1).test("A", "B", ["C"])
    wanted = cs.pooled(clients[:1]).test("A", "B", ["C"])
    assert found.contributors == 1
    assert found.p_value == pytest.approx(wanted.p_value, rel=1e-7)


# one site alone


@pytest.mark.slow
@pytest.mark.parametrize("effects", EFFECTS)
def test_in_the_published_layout_every_test_answers_but_those_of_b_and_d_together(effects: str) -> None:
    clients = two_sites()
    server = cs.Server(clients, site_effects=effects)
    alone = {c.name: cs.pooled([c], schema=server.schema) for c in clients}
    both = cs.pooled(clients, site_effects=effects != "none")
    for result in answers(server):
        used = {result.x, result.y, *result.given}
        able = holders(clients, result)
        assert result.contributors == len(able)
        if {"B", "D"} <= used:
            assert_refused(result, "no site has a row")
            continue
        wanted = (both if len(able) == 2 else alone[able[0].name]).test(result.x, result.y, result.given)
        assert result.informative
        assert result.n == wanted.n
        if len(able) == 1:
            assert result.p_value == told(wanted.p_value)
        else:
            assert result.p_value == pytest.approx(wanted.p_value, rel=1e-5, abs=1e-12)
        for got, want in zip(result.directions, wanted.directions, strict=True):
            assert (got.response, got.df, got.separated, got.converged) == (want.response, want.df, want.separated, want.converged)
            assert (
                math.isnan(got.statistic)
                if len(able) == 1 and got.df
                else got.statistic == pytest.approx(want.statistic, rel=1e-6, abs=1e-9)
            )


@pytest.mark.slow
@pytest.mark.parametrize("effects", EFFECTS)
def test_what_one_site_does_alone_leaves_it_as_a_p_value_only(effects: str) -> None:
    """No cross-products, no score, no information, no location of rows that one site has alone; and it is asked of all."""
    server = cs.Server(two_sites(), site_effects=effects)
    spy = Spy(server)
    answers(server)
    counts = server._sums.counts
    single = {variables for variables, (contributors, _) in counts.items() if contributors == 1}
    assert single
    asked_alone = set()
    for request, names, announced, _ in spy.seen:
        assert names == ("site0", "site1")
        assert all((a.contributors, a.rows) == counts[v] for v, a in announced.items())
        if isinstance(request, Products):
            asked_alone |= {q.variables for q in request.alone}
            assert not single & set(request.sets)
        elif not isinstance(request, Survey):
            assert not single & set(request.samples())
    assert asked_alone == {v for v in single if len(v) > 1 and v in {tuple(sorted((q.x, q.y, *q.given))) for q in all_questions("ABCDE")}}


def test_what_others_send_in_a_test_of_one_site_is_zeros() -> None:
    """Before masks. So the server does not even learn who answered."""
    server = cs.Server(two_sites(), masking=False)
    sent, spy = tap(server), Spy(server)
    server.test("B", "C", ["A"])
    (request,) = spy.of(Products)
    assert isinstance(request, Products)
    assert (request.sets, len(request.alone)) == ((), 1)
    assert not spy.of(Evaluate)
    mine, other = sent["site0"][-1], sent["site1"][-1]
    assert len(mine) == len(other) == len(AloneAnswer._fields)
    assert mine.any()
    assert not other.any()


def test_in_a_mixed_round_the_part_of_single_sites_is_zero_elsewhere() -> None:
    server = cs.Server(two_sites(), masking=False)
    sent, spy = tap(server), Spy(server)
    answers(server, 1)
    (where,) = (i for i, (request, *_) in enumerate(spy.seen) if isinstance(request, Products))
    request = spy.seen[where][0]
    assert isinstance(request, Products)
    parts = {
        name: replies[where][-len(AloneAnswer._fields) * len(request.alone) :].reshape(-1, len(AloneAnswer._fields))
        for name, replies in sent.items()
    }
    for i, question in enumerate(request.alone):
        holder, other = ("site0", "site1") if "B" in question.variables else ("site1", "site0")
        assert parts[holder][i].any()
        assert not parts[other][i].any()
    assert len(request.alone) > 10


@pytest.mark.parametrize("method", ["fedci", "fisher"])
def test_a_study_may_refuse_what_one_site_alone_could_do(method: str) -> None:
    server = cs.Server(two_sites(), method=method, single_site="refuse")
    spy = Spy(server)
    for result in answers(server, 1):
        used = {result.x, result.y, *result.given}
        if {"B", "D"} <= used:
            assert_refused(result, "no site")
        elif used & {"B", "D"}:
            assert_refused(result, "only one site", "at least 2")
        else:
            assert result.informative
    assert not any(request.alone for request in spy.of(Products))  # type: ignore[union-attr]


def test_a_test_that_one_site_cannot_answer_is_unknown() -> None:
    """The one site with B has no variation in it."""
    frames = mixed_frames(2)
    clients = [cs.Client("s0", frames[0].with_columns(B=np.ones(ROWS))), cs.Client("s1", frames[1].drop("B"))]
    assert_refused(cs.Server(clients).test("A", "B"), "cannot tell")


def test_a_study_of_one_site_has_answers_without_a_single_model_leaving_it() -> None:
    client = mixed_clients(1)
    server = cs.Server(client)
    spy = Spy(server)
    result, wanted = server.test("A", "C", ["E"]), cs.pooled(client).test("A", "C", ["E"])
    assert result.p_value == told(wanted.p_value)
    assert not spy.of(Evaluate)
    assert all(not request.sets for request in spy.of(Products))  # type: ignore[union-attr]


# locations


def test_no_location_of_a_variable_with_one_holder() -> None:
    clients = mixed_clients(3, absent={1: ["B"], 2: ["B"]})
    server = cs.Server(clients, site_effects="none")
    spy = Spy(server)
    answers(server, 1)
    (request,) = spy.of(Locate)
    assert isinstance(request, Locate)
    assert request.variables == ("A",)


def test_no_location_below_the_limits() -> None:
    clients = mixed_clients(3, absent={1: ["B"]})
    server = cs.Server(clients, site_effects="none", min_contributors=3)
    spy = Spy(server)
    answers(server, 1)
    assert [request.variables for request in spy.of(Locate)] == [("A",)]  # type: ignore[union-attr]


@pytest.mark.parametrize("effects", ["profiled", "coordinate", "joint"])
def test_with_site_effects_no_location_is_asked_for(effects: str) -> None:
    server = cs.Server(two_sites(), site_effects=effects)
    spy = Spy(server)
    answers(server, 1)
    assert not spy.of(Locate)
    for request, *_ in spy.seen:
        assert getattr(request, "locations", None) is None


# Fisher's method


@pytest.mark.slow
def test_fisher_combines_the_p_values_of_the_sites_own_tests() -> None:
    clients = mixed_clients(3, absent={2: ["B"]}, missing=0.03)
    server = cs.fisher(clients)
    spy = Spy(server)
    own = {c.name: cs.pooled([c], schema=server.schema) for c in clients}
    for result in answers(server, 1):
        local = [own[c.name].test(result.x, result.y, result.given) for c in holders(clients, result)]
        local = [r for r in local if r.informative]
        assert (result.contributors, result.n) == (len(local), sum(r.n for r in local))
        statistic = sum(told_statistic(r.log_p) for r in local)
        wanted = stats.chi2.sf(statistic, 2 * len(local)) if len(local) > 1 else told(local[0].p_value)
        assert result.p_value == pytest.approx(wanted, rel=1e-9)
    assert {type(request) for request, *_ in spy.seen} == {Survey, LocalTests}
    assert server.rounds <= 3


def test_fisher_with_one_site_gives_that_sites_p_value() -> None:
    clients = two_sites()
    found, wanted = cs.fisher(clients).test("A", "B", ["C"]), cs.pooled(clients[:1]).test("A", "B", ["C"])
    assert (found.contributors, found.n) == (1, ROWS)
    assert found.p_value == pytest.approx(told(wanted.p_value), rel=1e-9)


def test_fisher_in_full_precision_where_no_site_answers_alone() -> None:
    clients = mixed_clients(2)
    found = cs.fisher(clients, single_site="refuse").test("A", "C")
    own = [cs.pooled([c], schema=cs.Server(clients).schema).test("A", "C") for c in clients]
    statistic = -2.0 * sum(math.log(r.p_value) for r in own)
    assert found.p_value == pytest.approx(stats.chi2.sf(statistic, 4), rel=1e-9)


def test_a_sites_own_p_value_stays_there_if_only_it_can_test() -> None:
    """Two sites have the rows, but one of them cannot test: the sum is the other's p-value, which this study refuses to take."""
    frames = mixed_frames(2)
    clients = [cs.Client("s0", frames[0]), cs.Client("s1", frames[1].with_columns(B=np.ones(ROWS)))]
    result = cs.fisher(clients, single_site="refuse").test("A", "B")
    assert not result.informative, "one site's own p-value has left it"

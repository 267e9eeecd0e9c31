"""Counts alone; a server that lies about them; and sites that were told different things.

Attacks on counts are passive and stand twice, with and without the rules. Those of a dishonest server worked before sites held
announced counts against the statements of all sites, and before run keys were bound to the contract: the sums came out to every digit.
"""

from __future__ import annotations

from typing import Any

import polars as pl
import pytest

import consilience as cs
from consilience import errors
from consilience.data.basis import Expansion
from consilience.data.responses import Coded
from consilience.data.schema import Schema
from consilience.federation.transport.local import LocalTransport
from consilience.protocol.mean_products import MeanProducts, MeanSet, MeanTotal
from consilience.protocol.messages import Announced
from consilience.protocol.products import Products
from consilience.settings.terms import Terms
from tests.disclosure.derivation import Record, assert_same, own
from tests.disclosure.scenes import AGGREGATE, KINDS, MIN_ROWS, OFF, STRICT, serve, studied, table

both = pytest.mark.parametrize("rules", [AGGREGATE, STRICT], ids=["aggregate", "strict"])
methods = pytest.mark.parametrize("method", ["fisher", "fedci", "residual"])

# counts of rows

GAPS = {"a": table(1), "b": table(2), "c": table(3, lacking={"Z": {"q": 1}})}


def small_counts(record: Record) -> list[tuple[tuple[str, ...], tuple[str, ...], int]]:
    """Pairs of nested sets whose announced rows differ by a few, or sets with a few rows."""
    counts = record.counts()
    pairs = [(v, w, n - m) for s, v, _, n in counts for t, w, _, m in counts if s == t and set(v) < set(w)]
    return [(v, w, n) for v, w, n in [*pairs, *((v, v, n) for _, v, _, n in counts)] if 0 < n < MIN_ROWS]


@methods
def test_without_rules_counts_alone_tell_how_many_rows_lack_a_value(method: str) -> None:
    """Fisher's method sums no cross-products at all; the rows of {C, X} and of {C, X, Z} are counted, and one patient is between them."""
    found = small_counts(studied(GAPS, OFF, method=method))
    assert (("C", "X"), ("C", "X", "Z"), 1) in found


@methods
@both
def test_with_rules_counts_differ_by_many_rows_or_none(method: str, rules: dict[str, Any]) -> None:
    record = studied(GAPS, rules, method=method)
    assert record.counts()
    assert small_counts(record) == []


# a server that lies about counts

ONE_HAS_W = {"a": table(1, columns="CX"), "b": table(2, columns="CX"), "c": table(3, columns="CX"), "d": table(4, columns="CXW")}
WANTED = ("C", "W", "X")


def lie(server: cs.Server, record: Record) -> None:
    """Three contributors are announced, and there is one."""
    server._transport.ask(Products((WANTED,), {}), [Announced(WANTED, 3, 300)])
    (found,) = [r.part for r in record.sums() if r.variables == WANTED]
    assert_same(found, own(ONE_HAS_W["d"], record.schema, WANTED))
    pytest.fail("the sum is one site's own")


@both
def test_sites_do_not_believe_how_many_contribute(rules: dict[str, Any]) -> None:
    """Before: d's exact sums, and nobody refused. d cannot tell, and a, b and c could only say that not all four contribute."""
    server, record = serve(ONE_HAS_W, rules)
    with pytest.raises(errors.RefusalError):
        lie(server, record)
    assert not record.sums()


@both
def test_a_server_that_lied_gets_nothing_more_from_who_saw_it(rules: dict[str, Any]) -> None:
    """A refusal that depends on data, or on what others have said of theirs, must not be asked for again in variations."""
    server, record = serve(ONE_HAS_W, rules)
    for contributors in (3, 2):
        with pytest.raises((errors.RefusalError, errors.ProtocolError)):
            server._transport.ask(Products((WANTED,), {}), [Announced(WANTED, contributors, 300)])
    assert not record.sums()


# different contracts


# counts that are true, and a mean that is none of the test's

ONE_HAS_BOTH = {"a": table(1, columns="CX"), "b": table(2, columns="CX"), "c": table(3, columns="XW"), "d": table(4, columns="CXW")}


def mean_of_c_where_w_is(rules: dict[str, Any]) -> MeanTotal:
    """Two sites have W and three have C, which is announced and true; one has both. Asked for are means of C over rows with W."""
    server, _ = serve(ONE_HAS_BOTH, rules, method="residual")
    request = MeanProducts((MeanSet(("W",), Expansion((), 0, -1), ("C",)),), Coded({}), slopes=True, features=False)
    total = server._transport.ask(request, [Announced(("W",), 2, 164), Announced(("C",), 3, 246)])
    return request.read(total, server.schema)[0]


def test_without_rules_a_mean_over_rows_of_another_variable_is_one_sites_own() -> None:
    """One request and no subtraction; before, it was so with rules, too, although statements say that one site has both."""
    counts = mean_of_c_where_w_is(OFF).counts["C"]
    assert counts.tolist() == [(ONE_HAS_BOTH["d"]["C"] == level).sum() for level in "pqr"]


@both
def test_no_mean_is_summed_over_fewer_sites_than_agreed(rules: dict[str, Any]) -> None:
    with pytest.raises(errors.DisclosureError, match="C, W"):
        mean_of_c_where_w_is(rules)


def joined(*terms: Terms) -> tuple[LocalTransport, Schema]:
    """Sites of one study, each on the terms that it was told."""
    frames = [table(i) for i in range(len(terms))]
    clients = [cs.Client(f"s{i}", frame) for i, frame in enumerate(frames)]
    schema = Schema({name: KINDS[name] for name in "CXZ"})
    members = [client.identity.fingerprint for client in clients]
    sites = [client.join("study", schema, each, members) for client, each in zip(clients, terms, strict=True)]
    return LocalTransport(sites), schema


ASK = Products((("C", "X"),), {})
TOLD = [Announced(("C", "X"), 3, 3 * 82)]


def test_sites_on_the_same_terms_have_a_sum() -> None:
    transport, schema = joined(*[Terms(min_cell=5)] * 3)
    total = ASK.read(transport.ask(ASK, TOLD), schema).sets["C", "X"]
    assert total.n == pl.concat([table(i) for i in range(3)]).height


@pytest.mark.parametrize(
    "other", [Terms(min_cell=5, min_rows=1), Terms(min_cell=1), Terms(min_cell=5, min_contributors=3)], ids=["rows", "cell", "sites"]
)
def test_sites_that_were_told_different_terms_have_none(other: Terms) -> None:
    """Before: masks cancelled, and the sum was exact; each site checked its own terms, and none knew that there were others."""
    transport, _ = joined(Terms(min_cell=5), Terms(min_cell=5), other)
    with pytest.raises(errors.ConsilienceError):
        transport.ask(ASK, TOLD)

"""Statements: one encoding each, and nothing outside the study."""

from __future__ import annotations

import msgspec
import polars as pl
import pytest

import consilience as cs
from consilience.disclosure.errors import StatementError
from consilience.disclosure.statement import MOST_BYTES, Statement, decode_statement
from consilience.errors import ProtocolError
from tests.disclosure.sites import SCHEMA


def test_there_and_back() -> None:
    for said in (Statement((), True, 0), Statement(("A", "D"), False, 10)):
        assert decode_statement(said.encoded(), SCHEMA) == said


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"", "not the statement"),
        (b"\xff" * 9, "not the statement"),
        (msgspec.msgpack.encode([["A"], True]), "not the statement"),
        (msgspec.msgpack.encode([["A"], True, 10, 1]), "not the statement"),
        (msgspec.msgpack.encode([["A"], 1, 10]), "not the statement"),
        (msgspec.msgpack.encode([["A"], True, 10.5]), "not the statement"),
        (b"\x93\x91\xa1\xff\xc3\x0a", "not the statement"),
        (Statement(("X",), True, 10).encoded(), "names X"),
        (Statement(("A", "A"), True, 10).encoded(), "names A, A"),
        (Statement(("B", "A"), True, 10).encoded(), "in this order"),
        (Statement(("A",), True, -1).encoded(), "at least 0"),
        (b"\x93\x91\xa1A\xc3\xcc\x0a", "one encoding"),
        (b"\x00" * (MOST_BYTES + 1), "at most"),
    ],
)
def test_what_is_no_statement(data: bytes, words: str) -> None:
    with pytest.raises(StatementError, match=words) as caught:
        decode_statement(data, SCHEMA)
    assert isinstance(caught.value, ProtocolError)


def test_the_ledger_has_the_words_of_the_consent() -> None:
    """Before it had its own, and said of a site that sits out that it "has 0 rows or more"."""
    few, many = pl.DataFrame({"A": [1.0, 2.0, 4.0]}), pl.DataFrame({"A": [float(i % 7) for i in range(40)]})
    clients = [cs.Client("few", few), cs.Client("many", many), cs.Client("more", many)]
    cs.Server(clients, schema={"A": "continuous"}, min_cell=5, single_site="refuse", on_dropout="stop")._transport._open_run()
    first, second, _ = (client.ledger["what"][0] for client in clients)
    assert first == "in the open, to all sites: that this site sits out, since it has fewer than 10 rows to contribute"
    assert second.endswith("that this site contributes A, that no value of these is missing, and that it has at least 10 rows")

"""Statements: one encoding each, and nothing outside the study."""

from __future__ import annotations

import msgspec
import pytest

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

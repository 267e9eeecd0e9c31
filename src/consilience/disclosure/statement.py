"""What a site says of itself to everybody, before anything is summed.

It is short on purpose: the variables that it contributes, whether it lacks values, and whether it has the rows to take part. Whoever has
all statements of a run knows who contributes to which variable set, and need not believe a server that tells it.
"""

from __future__ import annotations

import msgspec

from consilience.data.schema import Schema
from consilience.disclosure.errors import StatementError

__all__ = ["MOST_BYTES", "Statement", "decode_statement"]

MOST_BYTES = 1 << 16
"""Longer ones are not read: 64 variables with names of 200 characters of four bytes are 51,200."""


class Statement(msgspec.Struct, frozen=True, array_like=True, forbid_unknown_fields=True):
    """What one site contributes.

    ``variables`` are in the order of the schema. ``whole`` says that every row that it contributes has a value for each of them. ``rows``
    is the number of rows, but never more than the study's ``min_rows``: whoever reads it learns that there are enough, and not how many.

    >>> Statement(("A", "B"), True, 10).encoded().hex()
    '9392a141a142c30a'
    """

    variables: tuple[str, ...]
    whole: bool
    rows: int

    def encoded(self) -> bytes:
        """The bytes that are signed: the same for the same statement, on every machine."""
        return msgspec.msgpack.encode(self)


def decode_statement(data: bytes, schema: Schema) -> Statement:
    """Read a statement; :class:`StatementError` if it is none, or not one of this study, or not in the one form that it can have.

    >>> schema = Schema({"A": "continuous", "B": "binary"})
    >>> decode_statement(Statement(("B",), True, 10).encoded(), schema)
    Statement(variables=('B',), whole=True, rows=10)
    >>> decode_statement(Statement(("C",), True, 10).encoded(), schema)
    Traceback (most recent call last):
    consilience.disclosure.errors.StatementError: A site may contribute the study's variables A, B, each once and in this order; its \
statement names C.
    """
    if len(data) > MOST_BYTES:
        raise StatementError(f"A site's statement has at most {MOST_BYTES} bytes; got {len(data)}.")
    try:
        found = msgspec.msgpack.decode(data, type=Statement)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
        raise StatementError(f"These bytes are not the statement of a site: {error}. Use the same version at all sites.") from None
    if found.variables != tuple(name for name in schema if name in set(found.variables)):
        raise StatementError(
            f"A site may contribute the study's variables {', '.join(schema)}, each once and in this order; its statement names "
            f"{', '.join(found.variables) or 'none'}."
        )
    if found.rows < 0:
        raise StatementError(f"A site's statement gives a number of rows that is at least 0; got {found.rows}.")
    if found.encoded() != data:  # two encodings of one statement would be two statements to a signature
        raise StatementError("A site's statement has one encoding, the shortest; this is another. Use the same version at all sites.")
    return found

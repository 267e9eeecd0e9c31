"""What a site says of itself to everybody, before anything is summed.

It is short on purpose: the variables that it contributes, whether it lacks values, and whether it has the rows to take part. Whoever has
all statements of a run knows who contributes to which variable set, and need not believe a server that tells it.
"""

from __future__ import annotations

import msgspec

from consilience.data.apart import Apart
from consilience.data.schema import Schema
from consilience.disclosure.cells import MOST_APART
from consilience.disclosure.errors import StatementError
from consilience.typed import from_msgpack

__all__ = ["MOST_BYTES", "Statement", "decode_statement", "stated_apart"]

MOST_BYTES = 1 << 17
"""Longer ones are not read: 64 variables with names of 200 characters of four bytes are 51,200, and sets that are kept apart the rest."""


class Statement(msgspec.Struct, frozen=True, array_like=True, forbid_unknown_fields=True):
    """What one site contributes.

    ``variables`` are in the order of the schema. ``whole`` says that every row that it contributes has a value for each of them. ``rows``
    is the number of rows, but never more than the study's ``min_rows``: whoever reads it learns that there are enough, and not how many.
    ``apart`` are sets of discrete variables, by their places in the schema, that the site contributes no sums over
    (:mod:`consilience.disclosure.cells`), and ``most`` is how many discrete variables it does so for at most; 0 is no bound.

    >>> Statement(("A", "B"), True, 10).encoded().hex()
    '9592a141a142c30a9000'
    """

    variables: tuple[str, ...]
    whole: bool
    rows: int
    apart: tuple[tuple[int, ...], ...] = ()
    most: int = 0

    def encoded(self) -> bytes:
        """The bytes that are signed: the same for the same statement, on every machine."""
        return msgspec.msgpack.encode(self)

    def kept_apart(self, schema: Schema) -> Apart | None:
        """The variables that the site keeps apart; None where there are none.

        >>> schema = Schema(dict.fromkeys("BCD", "binary"))
        >>> Statement(("B", "C"), True, 10, ((0, 1),)).kept_apart(schema).parts(["B", "C"])
        True
        """
        if not self.apart and not self.most:
            return None
        names = tuple(schema)
        sets = frozenset(frozenset(names[i] for i in one) for one in self.apart)
        return Apart(sets, frozenset(name for name in names if schema[name].kind.is_discrete), self.most)


def stated_apart(apart: Apart | None, schema: Schema) -> tuple[tuple[tuple[int, ...], ...], int]:
    """The same as a statement has it.

    >>> stated_apart(Apart(frozenset({frozenset("DB")}), frozenset("BCD")), Schema(dict.fromkeys("BCD", "binary")))
    (((0, 2),), 0)
    """
    if apart is None:
        return (), 0
    place = {name: i for i, name in enumerate(schema)}
    return tuple(sorted(tuple(sorted(place[name] for name in one)) for one in apart.sets)), apart.most


def decode_statement(data: bytes, schema: Schema) -> Statement:
    """Read a statement; :class:`StatementError` if it is none, or not one of this study, or not in the one form that it can have.

    >>> schema = Schema({"A": "continuous", "B": "binary"})
    >>> decode_statement(Statement(("B",), True, 10).encoded(), schema)
    Statement(variables=('B',), whole=True, rows=10, apart=(), most=0)
    >>> decode_statement(Statement(("C",), True, 10).encoded(), schema)
    Traceback (most recent call last):
    consilience.disclosure.errors.StatementError: A site may contribute the study's variables A, B, each once and in this order; its \
statement names C.
    """
    if len(data) > MOST_BYTES:
        raise StatementError(f"A site's statement has at most {MOST_BYTES} bytes; got {len(data)}.")
    try:
        found = from_msgpack(data, Statement)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
        raise StatementError(f"These bytes are not the statement of a site: {error}. Use the same version at all sites.") from None
    if found.variables != tuple(name for name in schema if name in set(found.variables)):
        raise StatementError(
            f"A site may contribute the study's variables {', '.join(schema)}, each once and in this order; its statement names "
            f"{', '.join(found.variables) or 'none'}."
        )
    if found.rows < 0:
        raise StatementError(f"A site's statement gives a number of rows that is at least 0; got {found.rows}.")
    _check_apart(found, schema)
    if found.encoded() != data:  # two encodings of one statement would be two statements to a signature
        raise StatementError("A site's statement has one encoding, the shortest; this is another. Use the same version at all sites.")
    return found


def _check_apart(found: Statement, schema: Schema) -> None:
    """Sets of at least two of the site's discrete variables, no more than a site names, each set and variable once and in order."""
    discrete = {i for i, name in enumerate(schema) if schema[name].kind.is_discrete and name in found.variables}
    ordered = list(found.apart) == sorted(set(found.apart)) and all(list(one) == sorted(set(one)) for one in found.apart)
    if (
        not ordered
        or found.most < 0
        or len(found.apart) > MOST_APART
        or not all(len(one) > 1 and discrete.issuperset(one) for one in found.apart)
    ):
        raise StatementError(
            f"A site keeps at most {MOST_APART} sets of two or more of its discrete variables apart, by their places in the schema, each "
            f"once and in order; its statement has others."
        )

"""Statements about two variables: what they say, how they are written and read.

===========  ================================================================================================
``A => B``   A is an ancestor of B: it causes B, directly or through others
``A --> B``  A and B are adjacent and A is an ancestor of B: the graph has the edge A --> B
``A *-> B``  A and B are adjacent, with an arrowhead at B: the edge is A --> B or A <-> B
``A <-> B``  A and B are adjacent, with arrowheads at both: the graph has the edge A <-> B
``A *-* B``  A and B are adjacent: the graph has an edge between them, whatever its marks
===========  ================================================================================================

A name with blanks, commas or quotation marks is quoted as in JSON: ``"blood pressure" => stroke``.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence, Set
from enum import StrEnum
from typing import NamedTuple, TypeGuard

from consilience.errors import KnowledgeError
from consilience.graph.text import quoted

__all__ = ["Relation", "Statement", "in_words", "is_list", "read_name", "read_statements", "read_tiers", "unquoted", "words_against"]

_NAME = r'("(?:[^"\\]|\\.)*"|[^\s,"]+)'
_TEXT = re.compile(rf"\s*{_NAME}\s+(\S+)\s+{_NAME}\s*")


class Relation(StrEnum):
    """What a statement says of its two variables."""

    EDGE = "*-*"
    DIRECTED = "-->"
    INTO = "*->"
    BOTH = "<->"
    CAUSES = "=>"


class Statement(NamedTuple):
    """A relation between two variables.

    >>> print(Statement("blood pressure", Relation.CAUSES, "stroke"))
    "blood pressure" => stroke
    """

    a: str
    relation: Relation
    b: str

    def __str__(self) -> str:
        return f"{quoted(self.a)} {self.relation} {quoted(self.b)}"


def in_words(statement: Statement) -> str:
    """What a statement says, in words."""
    a, relation, b = statement
    match relation:
        case Relation.EDGE:
            return f"{a} and {b} have an edge between them"
        case Relation.DIRECTED:
            return f"{a} and {b} have an edge {statement}"
        case Relation.INTO:
            return f"{a} and {b} have an edge with an arrowhead at {b}"
        case Relation.BOTH:
            return f"{a} and {b} have an edge {statement}: neither causes the other"
        case Relation.CAUSES:
            return f"{a} causes {b}, directly or through others"


def words_against(statement: Statement) -> str:
    """What its negation says, in words."""
    a, relation, b = statement
    match relation:
        case Relation.EDGE:
            return f"{a} and {b} have no edge between them"
        case Relation.DIRECTED:
            return f"{a} and {b} have no edge {statement}"
        case Relation.INTO:
            return f"{a} and {b} have no edge with an arrowhead at {b}"
        case Relation.BOTH:
            return f"{a} and {b} have no edge {statement}"
        case Relation.CAUSES:
            return f"{a} causes {b} neither directly nor through others"


def read_tiers(tiers: object) -> tuple[tuple[str, ...], ...]:
    """Tiers as given by a user, checked; empty ones are left out."""
    if not is_list(tiers):
        raise KnowledgeError(f"tiers is a list of lists of names, the earliest first; got {tiers!r}.")
    found, seen = [], set[str]()
    for tier in tiers:
        if not (is_list(tier) or isinstance(tier, Set)):
            raise KnowledgeError(f"A tier is a list of names, as in [['age', 'sex'], ['smoking']]; got {tier!r}. Put it in brackets.")
        names = [read_name(name) for name in tier]
        for name in names:
            if name in seen:
                raise KnowledgeError(f"A variable is in one tier at most, and there once; got {name!r} twice. Keep one of the two.")
            seen.add(name)
        found.append(tuple(sorted(names) if isinstance(tier, Set) else names))
    return tuple(tier for tier in found if tier)


def read_statements(key: str, statements: object) -> tuple[Statement, ...]:
    """Statements as given by a user, each a line of text or the triple of its parts, checked."""
    if not is_list(statements):
        raise KnowledgeError(f"{key} is a list of statements, as in ['A => B']; got {statements!r}.")
    found: dict[tuple[object, ...], Statement] = {}
    for statement in map(_read_statement, statements):
        a, relation, b = statement
        # an edge whose ends are alike says the same both ways round, and is kept as it was said first
        ends: object = frozenset((a, b)) if relation in (Relation.EDGE, Relation.BOTH) else (a, b)
        found.setdefault((relation, ends), statement)
    return tuple(found.values())


def _read_statement(given: object) -> Statement:
    if isinstance(given, str):
        match = _TEXT.fullmatch(given)
        if match is None:
            raise KnowledgeError(_how_to_write(given))
        a, symbol, b = unquoted(match[1]), match[2], unquoted(match[3])
    elif isinstance(given, list | tuple) and len(given) == 3:
        a, symbol, b = given
    else:
        raise KnowledgeError(_how_to_write(given))
    a, b = read_name(a), read_name(b)
    if symbol not in tuple(Relation):
        raise KnowledgeError(f"{_how_to_write(given)}{_instead(a, symbol, b)}")
    if a == b:
        raise KnowledgeError(f"A statement is about two variables; got {given!r}. No variable is a cause of itself.")
    return Statement(a, Relation(symbol), b)


def _how_to_write(given: object) -> str:
    return (
        "A statement reads 'A => B' (A causes B, directly or through others), 'A --> B' (an edge out of A into B), 'A *-> B' (an edge into "
        "B), 'A <-> B' (an edge into both) or 'A *-* B' (an edge with any marks), or is a triple such as ('A', '=>', 'B'); "
        f"got {given!r}. Leave blanks around the arrow, make a list of several statements, and quote names that have blanks, commas or "
        "quotation marks in them: '\"blood pressure\" => stroke'."
    )


def _instead(a: str, symbol: object, b: str) -> str:
    """How to say what was probably meant by an arrow that is no relation."""
    edge, there, back = Statement(a, Relation.EDGE, b), Statement(a, Relation.CAUSES, b), Statement(b, Relation.CAUSES, a)
    match symbol:
        case "->" | "→":
            return f" Did you mean '{Statement(a, Relation.DIRECTED, b)}'?"
        case "<--" | "<-" | "←":
            return f" Did you mean '{Statement(b, Relation.DIRECTED, a)}'?"
        case "⇒" | "==>":
            return f" Did you mean '{there}'?"
        case "<=" | "⇐" | "<==":
            return f" Did you mean '{back}'?"
        case "---" | "--" | "-" | "o-o" | "—":
            return f" Did you mean '{edge}'?"
        case "↔":
            return f" Did you mean '{Statement(a, Relation.BOTH, b)}'?"
        case "o->":
            return f" To say that {b} does not cause {a} although an edge joins them, say '{Statement(a, Relation.INTO, b)}'."
        case "<-o" | "<-*":
            return f" To say that {a} does not cause {b} although an edge joins them, say '{Statement(b, Relation.INTO, a)}'."
    return ""


def unquoted(token: str) -> str:
    """A name as it stands in the text, without its quotation marks if it has any."""
    if not token.startswith('"'):
        return token
    try:
        return str(json.loads(token))
    except json.JSONDecodeError:
        raise KnowledgeError(f"A quoted name reads like a JSON string; got {token}.") from None


def read_name(name: object) -> str:
    """A variable's name as given by a user, checked."""
    if not isinstance(name, str) or not name:
        raise KnowledgeError(f"A variable is named by text that is not empty; got {name!r}.")
    try:
        name.encode()
    except UnicodeEncodeError:
        raise KnowledgeError(f"A variable is named by text that UTF-8 can hold; got {name!r}. Rename it.") from None
    return name


def is_list(value: object) -> TypeGuard[Sequence[object]]:
    """True for a list or a tuple, and not for text."""
    return isinstance(value, Sequence) and not isinstance(value, str | bytes)

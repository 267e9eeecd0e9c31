"""Statements about several variables at once: what they say, how they are written and read.

======================  ====================================================================================================
``exogenous A B``       no other variable causes one of these, and nothing unmeasured causes one of these and another variable
``unconfounded A B C``  no two of these have an edge <->
``separate A B C``      no two of these have an edge between them
======================  ====================================================================================================

As text they stand among the statements that are required, so that a study's settings, and the contract that sites sign, need no fields of
their own for them.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterable, Sequence, Set
from difflib import get_close_matches
from enum import StrEnum
from itertools import combinations
from typing import NamedTuple

from consilience.errors import KnowledgeError
from consilience.graph.text import quoted
from consilience.iod.relations import is_list, read_name, unquoted

__all__ = ["Form", "Group", "group_in_words", "listed", "pairs_of", "read_exogenous", "read_groups", "split_groups"]

_LONGEST = 6  # names that a sentence spells out
_TOKEN = re.compile(r'(?:"(?:[^"\\]|\\.)*"|[^\s,"]+)')
_TOKENS = re.compile(rf"\s*{_TOKEN.pattern}(?:[\s,]+{_TOKEN.pattern})*\s*")
_ARROW = re.compile(r"[-<>=*o~]*[-=~→←⇒⇐↔—][-<>=*o~]*")


class Form(StrEnum):
    """What is said of the variables of a group."""

    EXOGENOUS = "exogenous"
    UNCONFOUNDED = "unconfounded"
    SEPARATE = "separate"


class Group(NamedTuple):
    """Something said of several variables.

    >>> print(Group(Form.SEPARATE, ("item 1", "item 2", "=>")))
    separate "item 1" "item 2" "=>"
    """

    form: Form
    names: tuple[str, ...]

    def __str__(self) -> str:
        # what looks like an arrow is quoted, or the text would read as a statement about two variables
        names = (json.dumps(name, ensure_ascii=False) if _ARROW.fullmatch(name) else quoted(name) for name in self.names)
        return " ".join((self.form, *names))


def group_in_words(group: Group, longest: int = _LONGEST) -> str:
    """What a group says, in words."""
    form, names = group
    said = listed(names, longest)
    match form:
        case Form.EXOGENOUS if len(names) == 1:
            return f"{said}; no other variable causes it, and nothing unmeasured causes both it and another variable"
        case Form.EXOGENOUS:
            return (
                f"{said}; no other variable causes one of them, and nothing unmeasured causes both one of them and another variable; "
                "how they are related among themselves is left open"
            )
        case Form.UNCONFOUNDED:
            return f"{said}; no two of them have an edge <->"
        case Form.SEPARATE:
            return f"{said}; no two of them have an edge between them"


def listed(names: Sequence[str], longest: int = _LONGEST) -> str:
    """Names as a person lists them.

    >>> listed("ABC"), listed("ABC", 2)
    ('A, B and C', 'A, B and 1 more')
    """
    shown = list(names) if len(names) <= longest else [*names[:longest], f"{len(names) - longest} more"]
    return f"{', '.join(shown[:-1])} and {shown[-1]}" if len(shown) > 1 else shown[0]


def pairs_of(groups: Iterable[Collection[str]]) -> list[tuple[str, str]]:
    """Every two variables of a group, as they are listed there.

    >>> pairs_of(["AB", "ACD"])
    [('A', 'B'), ('A', 'C'), ('A', 'D'), ('C', 'D')]
    """
    return [pair for group in groups for pair in combinations(group, 2)]


def read_exogenous(given: object, more: Iterable[Group] = ()) -> tuple[str, ...]:
    """Names as given by a user, and those of groups; each once."""
    if not (is_list(given) or isinstance(given, Set)):
        raise KnowledgeError(f"exogenous is a list of names, as in ['age', 'sex']; got {given!r}. Put it in brackets.")
    found = dict.fromkeys(read_name(name) for name in _in_order(given))
    return tuple(found | dict.fromkeys(name for group in more if group.form is Form.EXOGENOUS for name in group.names))


def read_groups(form: Form, given: object, more: Iterable[Group] = ()) -> tuple[tuple[str, ...], ...]:
    """Groups of names as given by a user, and those that were read as text; each once."""
    if not is_list(given):
        raise KnowledgeError(f"{form} is a list of lists of names, as in [['A', 'B', 'C']]; got {given!r}.")
    found: dict[frozenset[str], tuple[str, ...]] = {}
    for names in (*given, *(group.names for group in more if group.form is form)):
        if not (is_list(names) or isinstance(names, Set)):
            raise KnowledgeError(f"{form} is a list of lists of names, as in [['A', 'B', 'C']]; got {names!r}. Put the group in brackets.")
        group = tuple(dict.fromkeys(read_name(name) for name in _in_order(names)))
        if len(group) < 2:
            raise KnowledgeError(f"What is {form} are two variables or more; got {list(group)!r}.")
        found.setdefault(frozenset(group), group)
    return tuple(found.values())


def _in_order(names: Sequence[object] | Set[object]) -> Sequence[object]:
    return sorted(names, key=str) if isinstance(names, Set) else names


def split_groups(key: str, given: object) -> tuple[object, list[Group]]:
    """Statements about two variables, still to be read, and groups; what is no list is left to who reads statements."""
    if not is_list(given):
        return given, []
    others, groups = [], []
    for one in given:
        group = _read_group(one) if isinstance(one, str) else None
        if group is None:
            others.append(one)
        elif key == "forbidden":
            raise KnowledgeError(f"What is {group.form} is said in required, and cannot be forbidden; got {one!r}. Move it there.")
        else:
            groups.append(group)
    return others, groups


def _read_group(text: str) -> Group | None:
    """A group from a line of text; None if that is a statement about two variables, or nothing that can be read."""
    tokens = _TOKEN.findall(text) if _TOKENS.fullmatch(text) else []
    if not tokens or any(map(_ARROW.fullmatch, tokens)):
        return None
    word, *names = tokens
    if word in tuple(Form):
        if not names:
            raise KnowledgeError(f"{word!r} is followed by the names of variables, as in '{word} A B'; got {text!r}.")
        return Group(Form(word), tuple(read_name(unquoted(name)) for name in names))
    meant = [close[0] for token in tokens if (close := get_close_matches(token.casefold(), tuple(Form), n=1, cutoff=0.8))]
    if meant:
        raise KnowledgeError(f"What is said of several variables begins with its word, as in '{meant[0]} A B'; got {text!r}.")
    return None

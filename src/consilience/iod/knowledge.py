"""What is known before the data are looked at: time order, and edges and causes that must or must not be there.

A *statement* (:mod:`~consilience.iod.relations`) is a line of text, or the triple of its parts, about the MAG over the variables of the
study: ``A => B``, ``A --> B`` or ``A *-* B``.
To forbid a statement is to say that it is false: without ``A --> B`` there may still be A <-> B, or a way from A to B through others.

An engine sees neither tiers nor statements but :class:`Item`: conditions on adjacencies and ancestries in conjunctive normal form.
"""

from __future__ import annotations

import json
import tomllib
from collections import deque
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from itertools import combinations
from pathlib import Path
from typing import Any, Literal, NamedTuple, Self

from consilience.errors import KnowledgeError
from consilience.graph.graphs import MAG
from consilience.graph.separation import ancestors
from consilience.iod.relations import Relation, Statement, in_words, read_statements, read_tiers, words_against

__all__ = ["Fact", "Item", "Knowledge"]

_LONGEST = 6  # names of a tier that a sentence spells out


class Fact(NamedTuple):
    """One condition on a MAG: x and y are adjacent (``adj``), or x is an ancestor of y (``anc``); or are not, or is none."""

    kind: Literal["adj", "anc"]
    x: str
    y: str
    holds: bool


@dataclass(frozen=True, slots=True)
class Item:
    """One piece of knowledge in words, and as clauses: of each clause at least one fact is true.

    >>> Knowledge(forbidden=["A --> B"]).items("AB")[0].clauses
    ((Fact(kind='adj', x='A', y='B', holds=False), Fact(kind='anc', x='A', y='B', holds=False)),)
    """

    text: str
    clauses: tuple[tuple[Fact, ...], ...]


@dataclass(frozen=True, slots=True, init=False, repr=False)
class Knowledge:
    """What is known before the data: tiers in time order, and statements that are required to be true or forbidden to be.

    Parameters
    ----------
    tiers : sequence of collection of str, optional
        The earliest first. A variable of a later tier is no cause, direct or indirect, of one of an earlier tier; within a tier, and for
        variables in no tier, everything stays open.
    required, forbidden : sequence of str or (str, str, str), optional
        Statements that are true, and statements that are false: ``"A => B"`` (A causes B, directly or through others), ``"A --> B"`` (an
        edge out of A into B), ``"A *-* B"`` (an edge with any marks), or triples such as ``("A", "=>", "B")``.

    Attributes
    ----------
    tiers : tuple of tuple of str
        Without empty ones.
    required, forbidden : tuple of Statement
        Each once.

    Raises
    ------
    KnowledgeError
        If something cannot be read, or contradicts the rest as far as that shows without data.

    Examples
    --------
    >>> known = Knowledge(tiers=[["age", "sex"], ["smoking"], ["cancer"]], required=["smoking => cancer"], forbidden=["age *-* sex"])
    >>> known.allows(MAG.parse("age --> smoking, smoking --> cancer, sex"))
    True
    >>> known.allows(MAG.parse("age <-- smoking, smoking --> cancer, sex"))
    False
    >>> for line in known.lines():
    ...     print(line)
    In time order: age and sex, then smoking, then cancer; nothing causes what is in an earlier tier.
    Required: smoking causes cancer, directly or through others.
    Forbidden: age and sex have no edge between them.
    """

    tiers: tuple[tuple[str, ...], ...]
    required: tuple[Statement, ...]
    forbidden: tuple[Statement, ...]

    def __init__(
        self,
        *,
        tiers: Sequence[Collection[str]] = (),
        required: Sequence[str | tuple[str, str, str]] = (),
        forbidden: Sequence[str | tuple[str, str, str]] = (),
    ) -> None:
        object.__setattr__(self, "tiers", read_tiers(tiers))
        object.__setattr__(self, "required", read_statements("required", required))
        object.__setattr__(self, "forbidden", read_statements("forbidden", forbidden))
        wrong = _contradiction(self)
        if wrong:
            raise KnowledgeError(f"Knowledge must not contradict itself; {wrong}. Take one of these out.")

    # Files and plain types

    @classmethod
    def from_toml(cls, path: str | Path) -> Self:
        """Knowledge from a TOML file.

        Parameters
        ----------
        path : str or Path
            A file with the keys ``tiers``, ``required`` and ``forbidden``, each of which may be left out.

        Returns
        -------
        Knowledge

        Raises
        ------
        KnowledgeError
            If the file cannot be read, or what it says is none.
        """
        try:
            return cls.from_dict(tomllib.loads(Path(path).read_text(encoding="utf-8-sig")))
        except OSError as error:
            raise KnowledgeError(f"Knowledge is read from a TOML file; {str(path)!r} cannot be read: {error.strerror or error}.") from None
        except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
            raise KnowledgeError(f"Knowledge is read from a TOML file in UTF-8; {str(path)!r} is none: {error}.") from None
        except KnowledgeError as error:
            raise KnowledgeError(f"In {str(path)!r}: {error}") from None

    def to_toml(self) -> str:
        """The text of a file that :meth:`from_toml` reads.

        Returns
        -------
        str

        Examples
        --------
        >>> print(Knowledge(tiers=[["age"], ["smoking"]], required=["age *-* smoking"]).to_toml(), end="")
        tiers = [
          ["age"],
          ["smoking"],
        ]
        required = [
          "age *-* smoking",
        ]
        """
        rows = {
            "tiers": [f"[{', '.join(map(_toml_string, tier))}]" for tier in self.tiers],
            "required": [_toml_string(str(statement)) for statement in self.required],
            "forbidden": [_toml_string(str(statement)) for statement in self.forbidden],
        }
        return "".join(f"{key} = [\n{''.join(f'  {row},{chr(10)}' for row in values)}]\n" for key, values in rows.items() if values)

    @classmethod
    def from_dict(cls, plain: Mapping[str, Any]) -> Self:
        """Knowledge from plain types.

        Parameters
        ----------
        plain : mapping
            With the keys ``tiers``, ``required`` and ``forbidden``, each of which may be left out.

        Returns
        -------
        Knowledge

        Raises
        ------
        KnowledgeError
            If a key does not exist, or its value cannot be read.
        """
        if not isinstance(plain, Mapping):
            raise KnowledgeError(f"Knowledge is a mapping with the keys {', '.join(_KEYS)}; got {plain!r}.")
        strange = [key for key in plain if key not in _KEYS]
        if strange:
            raise KnowledgeError(f"The keys of knowledge are {', '.join(_KEYS)}; got {_with_hint(strange[0], _KEYS)}.")
        return cls(**plain)

    def to_dict(self) -> dict[str, list[Any]]:
        """Plain types, for JSON.

        Returns
        -------
        dict of str to list

        Examples
        --------
        >>> Knowledge(tiers=[["A"], ["B", "C"]], required=[("A", "=>", "B")]).to_dict()
        {'tiers': [['A'], ['B', 'C']], 'required': ['A => B'], 'forbidden': []}
        """
        return {
            "tiers": [list(tier) for tier in self.tiers],
            "required": [str(statement) for statement in self.required],
            "forbidden": [str(statement) for statement in self.forbidden],
        }

    # What it says

    @property
    def variables(self) -> tuple[str, ...]:
        """The variables that it names, sorted."""
        stated = [name for s in (*self.required, *self.forbidden) for name in (s.a, s.b)]
        return tuple(sorted({*stated, *(name for tier in self.tiers for name in tier)}))

    def check(self, names: Iterable[str]) -> None:
        """Raise if it names a variable that the study does not have.

        Parameters
        ----------
        names : iterable of str
            The variables of the study.

        Raises
        ------
        KnowledgeError
            With the name that was probably meant.

        Examples
        --------
        >>> Knowledge(required=["smokng => cancer"]).check(["smoking", "cancer"])  # doctest: +ELLIPSIS
        Traceback (most recent call last):
        consilience.errors.KnowledgeError: Knowledge is about variables of the study...; got 'smokng' (did you mean 'smoking'?)...
        """
        known = sorted(names)
        strange = [name for name in self.variables if name not in known]
        if strange:
            got = _listed([_with_hint(name, known) for name in strange])
            raise KnowledgeError(
                f"Knowledge is about variables of the study ({', '.join(known)}); got {got}. "
                "Correct the names, or take out what names them."
            )

    def items(self, names: Iterable[str]) -> tuple[Item, ...]:
        """What an engine needs: one item per pair of tiers and one per statement.

        Parameters
        ----------
        names : iterable of str
            The variables of the study.

        Returns
        -------
        tuple of Item

        Raises
        ------
        KnowledgeError
            If it names a variable that the study does not have.

        Examples
        --------
        >>> for item in Knowledge(tiers=[["age"], ["smoking"]], required=["age --> smoking"]).items(["age", "smoking"]):
        ...     print(item.text, [[tuple(fact) for fact in clause] for clause in item.clauses])
        age is in an earlier tier than smoking, so smoking does not cause it [[('anc', 'smoking', 'age', False)]]
        required: age and smoking have an edge age --> smoking [[('adj', 'age', 'smoking', True)], [('anc', 'age', 'smoking', True)]]
        """
        self.check(names)
        order = (_tier_item(early, late) for early, late in combinations(self.tiers, 2))
        required = (Item(f"required: {in_words(s)}", tuple((fact,) for fact in _facts(s, holds=True))) for s in self.required)
        forbidden = (Item(f"forbidden: {words_against(s)}", (_facts(s, holds=False),)) for s in self.forbidden)
        return (*order, *required, *forbidden)

    def allows(self, mag: MAG) -> bool:
        """True if a MAG agrees with everything that is known.

        Parameters
        ----------
        mag : MAG
            Over the variables of the study.

        Returns
        -------
        bool

        Raises
        ------
        KnowledgeError
            If the MAG lacks a variable that the knowledge names.

        Examples
        --------
        >>> Knowledge(forbidden=["A --> C"]).allows(MAG.parse("A --> B, B --> C"))
        True
        """
        self.check(mag.labels)
        causes = {name: ancestors(mag, name) for name in self.variables}

        def holds(statement: Statement) -> bool:
            a, relation, b = statement
            match relation:
                case Relation.EDGE:
                    return mag.adjacent(a, b)
                case Relation.DIRECTED:
                    return b in mag.children(a)
                case Relation.CAUSES:
                    return a in causes[b]

        in_order = all(causes[name].isdisjoint(late) for early, late in combinations(self.tiers, 2) for name in early)
        return in_order and all(map(holds, self.required)) and not any(map(holds, self.forbidden))

    def lines(self) -> list[str]:
        """What is known, in sentences for people.

        Returns
        -------
        list of str
        """
        found = []
        if len(self.tiers) > 1:
            order = ", then ".join(_listed(tier, len(tier)) for tier in self.tiers)
            found.append(f"In time order: {order}; nothing causes what is in an earlier tier.")
        found += [f"Required: {in_words(statement)}." for statement in self.required]
        return found + [f"Forbidden: {words_against(statement)}." for statement in self.forbidden]

    def __bool__(self) -> bool:
        return bool(self.tiers or self.required or self.forbidden)

    def __repr__(self) -> str:
        return f"Knowledge({', '.join(f'{key}={value!r}' for key, value in self.to_dict().items() if value)})"


_KEYS = ("tiers", "required", "forbidden")


# Words and facts


def _facts(statement: Statement, *, holds: bool) -> tuple[Fact, ...]:
    """The facts whose conjunction the statement is, or their opposites."""
    a, relation, b = statement
    adjacent, ancestor = Fact("adj", a, b, holds), Fact("anc", a, b, holds)
    return {Relation.EDGE: (adjacent,), Relation.DIRECTED: (adjacent, ancestor), Relation.CAUSES: (ancestor,)}[relation]


def _tier_item(early: tuple[str, ...], late: tuple[str, ...]) -> Item:
    # every pair of tiers, not only neighbouring ones: a way back may lead through variables that are in no tier
    if len(early) == len(late) == 1:
        so = f"so {late[0]} does not cause it"
    else:
        so = "so none of the latter causes any of the former" if len(late) > 1 else f"so {late[0]} causes none of these"
    text = f"{_listed(early)} {'are' if len(early) > 1 else 'is'} in an earlier tier than {_listed(late)}, {so}"
    return Item(text, tuple((Fact("anc", b, a, False),) for a in early for b in late))


def _listed(names: Sequence[str], longest: int = _LONGEST) -> str:
    """Names as a person lists them.

    >>> _listed("ABC"), _listed("ABC", 2)
    ('A, B and C', 'A, B and 1 more')
    """
    shown = list(names) if len(names) <= longest else [*names[:longest], f"{len(names) - longest} more"]
    return f"{', '.join(shown[:-1])} and {shown[-1]}" if len(shown) > 1 else shown[0]


def _with_hint(name: object, known: Iterable[str]) -> str:
    """What was received and, if some name that exists is close to it, the question whether that was meant.

    >>> _with_hint("Teirs", ["tiers"]), _with_hint("x", ["tiers"])
    ("'Teirs' (did you mean 'tiers'?)", "'x'")
    """
    folded = {other.casefold(): other for other in known}
    close = get_close_matches(str(name).casefold(), folded, n=1)
    return f"{name!r} (did you mean {folded[close[0]]!r}?)" if close else repr(name)


def _toml_string(text: str) -> str:
    """A TOML string: without escapes where these would only be in the way of a reader.

    JSON's escapes are TOML's too; but TOML wants the delete character escaped.
    """
    if text.isprintable() and "'" not in text and ('"' in text or "\\" in text):
        return f"'{text}'"
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")


# Contradictions


def _contradiction(known: Knowledge) -> str | None:
    """Why no graph at all can agree, as far as tiers and statements show it; the rest is for the engine to find."""
    chains = _chains(known.required)
    tier_of = {name: i for i, tier in enumerate(known.tiers) for name in tier}
    for (a, b), chain in chains.items():
        if a == b:
            return f"by {_and(chain)}, which are required, {a!r} would cause itself"
        if a in tier_of and b in tier_of and tier_of[a] > tier_of[b]:
            return f"by {_and(chain)}, required, {a!r} causes {b!r}, but {b!r} is in an earlier tier than {a!r}"
    joined = {frozenset((s.a, s.b)): s for s in known.required if s.relation is not Relation.CAUSES}
    for statement in known.forbidden:
        a, relation, b = statement
        edge, chain = joined.get(frozenset((a, b))), chains.get((a, b), ())
        needs_edge, needs_chain = relation is not Relation.CAUSES, relation is not Relation.EDGE
        if (edge or not needs_edge) and (chain or not needs_chain):
            reasons = dict.fromkeys([*([edge] if edge and needs_edge else []), *(chain if needs_chain else ())])
            return f"'{statement}' is forbidden, but follows from what is required: {_and(reasons)}"
    return None


def _chains(required: Iterable[Statement]) -> dict[tuple[str, str], tuple[Statement, ...]]:
    """For each (a, b) such that a must be an ancestor of b, a shortest chain of required statements that says so."""
    after: dict[str, list[Statement]] = {}
    for statement in required:
        if statement.relation is not Relation.EDGE:
            after.setdefault(statement.a, []).append(statement)
    chains: dict[tuple[str, str], tuple[Statement, ...]] = {}
    for start in after:
        queue: deque[tuple[str, tuple[Statement, ...]]] = deque([(start, ())])
        while queue:
            here, chain = queue.popleft()
            for statement in after.get(here, ()):
                if (start, statement.b) not in chains:
                    chains[start, statement.b] = (*chain, statement)
                    queue.append((statement.b, chains[start, statement.b]))
    return chains


def _and(statements: Iterable[Statement]) -> str:
    return " and ".join(f"'{statement}'" for statement in statements)

"""What is known before the data are looked at: time order, edges and causes that must or must not be there, and groups of variables.

A *statement* (:mod:`~consilience.iod.relations`) is a line of text, or the triple of its parts, about the MAG over the variables of the
study: ``A => B``, ``A --> B``, ``A *-> B``, ``A <-> B`` or ``A *-* B``.
To forbid a statement is to say that it is false: without ``A --> B`` there may still be A <-> B, or a way from A to B through others.
A *group* (:mod:`~consilience.iod.groups`) says one thing of several variables: that they are exogenous, unconfounded or separate.

An engine sees neither tiers nor statements nor groups but :class:`Item`: conditions on adjacencies, ancestries and arrowheads in
conjunctive normal form.

**Exogenous variables.** Let E be these variables, and let the others, the latent ones and those that selection depends on make up a DAG
with them such that (1) no variable outside E is an ancestor of one in E, and (2) every directed path from a latent ancestor of a variable
in E to a variable outside E, or to selection, leads through E. (Assumptions 1 and 2 of joint causal inference: Mooij, Magliacane &
Claassen, JMLR 21(99), 2020; ``jci="12"`` of pcalg.) Then the MAG has no arrowhead at e in E on an edge to y outside E, and every MAG
without such arrowheads is that of such a DAG: nothing is lost and nothing is added by saying it on MAGs.

*Sound*: were there an arrowhead at e, e would be no ancestor of y nor of selection, and the inducing path between the two would leave e
backwards, to a latent parent. Along it, as long as it goes backwards from nodes of E and from latent ancestors of these, it meets latent
ancestors of E only, by (1) and because a variable of E cannot be passed as a non-collider. Where it first goes forward to a node that is
no ancestor of E and not in E, it goes on to y, or to a collider that is an ancestor of y or of selection (not of e): a directed path from
a latent ancestor of E that avoids E, against (2). So it never arrives at y. *Complete*: the canonical DAG of the MAG, a latent parent for
the ends of each <-> and a selection variable below those of each ---, obeys (1) and (2).

How the variables of E are related among themselves is left open, which is why an edge between two of them may have any marks. Age and sex
are associated in many clinics, by who comes there; to forbid that would contradict the data, and to explain it is nobody's question.
"""

from __future__ import annotations

import json
import tomllib
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from itertools import combinations
from pathlib import Path
from typing import Any, Literal, NamedTuple, Self

from consilience.errors import KnowledgeError
from consilience.graph.graphs import MAG
from consilience.graph.marks import Mark
from consilience.graph.separation import ancestors
from consilience.iod.coherence import Known, contradiction
from consilience.iod.groups import Form, Group, group_in_words, listed, pairs_of, read_exogenous, read_groups, split_groups
from consilience.iod.relations import Relation, Statement, in_words, read_statements, read_tiers, words_against
from consilience.showing import escaped

__all__ = ["Fact", "Item", "Knowledge"]


class Fact(NamedTuple):
    """One condition on a MAG, or its opposite.

    x and y are adjacent (``adj``), x is an ancestor of y (``anc``), or an edge x–y has an arrowhead at y (``head``).
    """

    kind: Literal["adj", "anc", "head"]
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
    """What is known before the data: tiers in time order, statements that are required to be true or forbidden to be, and groups.

    Parameters
    ----------
    tiers : sequence of collection of str, optional
        The earliest first. A variable of a later tier is no cause, direct or indirect, of one of an earlier tier; within a tier, and for
        variables in no tier, everything stays open.
    required, forbidden : sequence of str or (str, str, str), optional
        Statements that are true, and statements that are false: ``"A => B"`` (A causes B, directly or through others), ``"A --> B"`` (an
        edge out of A into B), ``"A *-> B"`` (an edge into B), ``"A <-> B"`` (an edge into both), ``"A *-* B"`` (an edge with any marks),
        or triples such as ``("A", "=>", "B")``. Among those required, groups may be told as text, too: ``"exogenous age sex"``,
        ``"unconfounded A B"``, ``"separate A B C"``.
    exogenous : collection of str, optional
        Variables that no other variable causes, directly or through others, and that share no unmeasured cause with another variable (nor
        with who is in the data): age, sex, an experimenter's choice. An edge between one of them and another variable has no arrowhead
        at it. How they are related among themselves is left open.
    unconfounded : sequence of collection of str, optional
        Groups of which no two variables have an edge ``<->``: one causes the other, or some variables of the study separate them. That
        excludes the common cause of the two that nobody measured where it is all that joins them, and also a chain of such causes
        through measured variables that cause one of the two. An edge ``-->`` in which a common cause hides behind the effect is the same
        graph as one without, and stays.
    separate : sequence of collection of str, optional
        Groups of which no two variables have an edge, such as the indicators of a scale whose score is a variable of the study: for
        any two of them some variables of the study separate them. (Where the score is no variable of the study, it is a common cause that
        nobody measured, and joins its indicators by ``<->``; then forbid that one causes the other instead.)

    Attributes
    ----------
    tiers : tuple of tuple of str
        Without empty ones.
    required, forbidden : tuple of Statement
        Each once.
    exogenous : tuple of str
        Each once, from all that was said.
    unconfounded, separate : tuple of tuple of str
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

    Time order alone does not exclude a common cause that nobody measured; that a variable is exogenous does:

    >>> Knowledge(tiers=[["age"], ["pulse"]]).allows(MAG.parse("age <-> pulse"))
    True
    >>> Knowledge(exogenous=["age"]).allows(MAG.parse("age <-> pulse"))
    False
    >>> Knowledge(exogenous=["age", "sex"]).allows(MAG.parse("age --> pulse, age <-> sex"))
    True

    Variables that are not confounded with each other, and indicators that only their score joins:

    >>> Knowledge(unconfounded=[["dose", "pulse", "pressure"]]).allows(MAG.parse("dose --> pulse, pulse <-> pressure"))
    False
    >>> Knowledge(separate=[["item 1", "item 2"]]).allows(MAG.parse('score --> "item 1", score --> "item 2"'))
    True

    As text, which is what a study's settings hold:

    >>> Knowledge(required=["exogenous age sex", "unconfounded dose pulse"]) == Knowledge(
    ...     exogenous=["age", "sex"], unconfounded=[["dose", "pulse"]]
    ... )
    True
    """

    tiers: tuple[tuple[str, ...], ...]
    required: tuple[Statement, ...]
    forbidden: tuple[Statement, ...]
    exogenous: tuple[str, ...]
    unconfounded: tuple[tuple[str, ...], ...]
    separate: tuple[tuple[str, ...], ...]

    def __init__(
        self,
        *,
        tiers: Sequence[Collection[str]] = (),
        required: Sequence[str | tuple[str, str, str]] = (),
        forbidden: Sequence[str | tuple[str, str, str]] = (),
        exogenous: Collection[str] = (),
        unconfounded: Sequence[Collection[str]] = (),
        separate: Sequence[Collection[str]] = (),
    ) -> None:
        (true, groups), (false, _) = split_groups("required", required), split_groups("forbidden", forbidden)
        parts = Known(
            tiers=read_tiers(tiers),
            required=read_statements("required", true),
            forbidden=read_statements("forbidden", false),
            exogenous=read_exogenous(exogenous, groups),
            unconfounded=read_groups(Form.UNCONFOUNDED, unconfounded, groups),
            separate=read_groups(Form.SEPARATE, separate, groups),
        )
        for key, part in parts._asdict().items():
            object.__setattr__(self, key, part)
        wrong = contradiction(parts)
        if wrong:
            raise KnowledgeError(f"Knowledge must not contradict itself; {wrong}. Take one of these out.")

    # Files and plain types

    @classmethod
    def from_toml(cls, path: str | Path) -> Self:
        """Knowledge from a TOML file.

        Parameters
        ----------
        path : str or Path
            A file with the keys ``tiers``, ``required``, ``forbidden``, ``exogenous``, ``unconfounded`` and ``separate``, each of which
            may be left out.

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
        rows = {key: [_toml_value(value) for value in values] for key, values in self.to_dict().items()}
        return "".join(f"{key} = [\n{''.join(f'  {row},{chr(10)}' for row in values)}]\n" for key, values in rows.items() if values)

    @classmethod
    def from_dict(cls, plain: Mapping[str, Any]) -> Self:
        """Knowledge from plain types.

        Parameters
        ----------
        plain : mapping
            With the keys ``tiers``, ``required``, ``forbidden``, ``exogenous``, ``unconfounded`` and ``separate``, each of which may be
            left out.

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
        >>> Knowledge(exogenous=["A"]).to_dict()
        {'tiers': [], 'required': [], 'forbidden': [], 'exogenous': ['A']}
        """
        found: dict[str, list[Any]] = {
            "tiers": [list(tier) for tier in self.tiers],
            "required": [str(statement) for statement in self.required],
            "forbidden": [str(statement) for statement in self.forbidden],
        }
        groups: dict[str, list[Any]] = {
            "exogenous": list(self.exogenous),
            "unconfounded": [list(group) for group in self.unconfounded],
            "separate": [list(group) for group in self.separate],
        }
        return found | {key: value for key, value in groups.items() if value}

    def to_settings(self) -> dict[str, tuple[Any, ...]]:
        """The settings of a study that say the same: groups stand as text among what is required.

        Returns
        -------
        dict of str to tuple

        Examples
        --------
        >>> Knowledge(required=["A => B"], exogenous=["age"], separate=[["B", "C"]]).to_settings()
        {'tiers': (), 'required': ('A => B', 'exogenous age', 'separate B C'), 'forbidden': ()}
        """
        required = (*map(str, self.required), *map(str, self._groups()))
        return {"tiers": self.tiers, "required": required, "forbidden": tuple(map(str, self.forbidden))}

    # What it says

    @property
    def variables(self) -> tuple[str, ...]:
        """The variables that it names, sorted."""
        stated = [name for s in (*self.required, *self.forbidden) for name in (s.a, s.b)]
        grouped = [name for group in (*self.tiers, *self.unconfounded, *self.separate) for name in group]
        return tuple(sorted({*stated, *grouped, *self.exogenous}))

    def _groups(self) -> list[Group]:
        """What is said of several variables at once."""
        found = [Group(Form.EXOGENOUS, self.exogenous)] if self.exogenous else []
        found += [Group(Form.UNCONFOUNDED, group) for group in self.unconfounded]
        return found + [Group(Form.SEPARATE, group) for group in self.separate]

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
            got = listed([_with_hint(name, known) for name in strange])
            raise KnowledgeError(
                f"Knowledge is about variables of the study ({', '.join(known)}); got {got}. "
                "Correct the names, or take out what names them."
            )

    def items(self, names: Iterable[str]) -> tuple[Item, ...]:
        """What an engine needs: one item per pair of tiers, statement, exogenous variable and group.

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
        names = sorted(names)
        self.check(names)
        order = (_tier_item(early, late) for early, late in combinations(self.tiers, 2))
        required = (Item(f"required: {in_words(s)}", tuple((fact,) for fact in _facts(s, holds=True))) for s in self.required)
        forbidden = (Item(f"forbidden: {words_against(s)}", (_facts(s, holds=False),)) for s in self.forbidden)
        alone = (_exogenous_item(name, [other for other in names if other not in self.exogenous]) for name in self.exogenous)
        groups = (_group_item(group) for group in self._groups() if group.form is not Form.EXOGENOUS)
        return (*order, *required, *forbidden, *alone, *groups)

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
        caused = {s.b for s in (*self.required, *self.forbidden) if s.relation is Relation.CAUSES}
        causes = {name: ancestors(mag, name) for name in caused.union(*self.tiers)}

        def holds(statement: Statement) -> bool:
            a, relation, b = statement
            match relation:
                case Relation.EDGE:
                    return mag.adjacent(a, b)
                case Relation.DIRECTED:
                    return mag.mark(a, b) is Mark.ARROW and mag.mark(b, a) is Mark.TAIL
                case Relation.INTO:
                    return mag.mark(a, b) is Mark.ARROW
                case Relation.BOTH:
                    return mag.mark(a, b) is Mark.ARROW and mag.mark(b, a) is Mark.ARROW
                case Relation.CAUSES:
                    return a in causes[b]

        in_order = all(causes[name].isdisjoint(late) for early, late in combinations(self.tiers, 2) for name in early)
        heads = {name: {other for other in mag.neighbours(name) if mag.mark(other, name) is Mark.ARROW} for name in self.exogenous}
        return (
            in_order
            and all(map(holds, self.required))
            and not any(map(holds, self.forbidden))
            and all(into <= set(self.exogenous) for into in heads.values())
            and not any(b in mag.spouses(a) for a, b in pairs_of(self.unconfounded))
            and not any(mag.adjacent(a, b) for a, b in pairs_of(self.separate))
        )

    def lines(self) -> list[str]:
        """What is known, in sentences for people.

        Returns
        -------
        list of str
        """
        found = []
        if len(self.tiers) > 1:
            order = ", then ".join(listed(tier, len(tier)) for tier in self.tiers)
            found.append(f"In time order: {order}; nothing causes what is in an earlier tier.")
        found += [f"{group.form.capitalize()}: {group_in_words(group, len(group.names))}." for group in self._groups()]
        found += [f"Required: {in_words(statement)}." for statement in self.required]
        return found + [f"Forbidden: {words_against(statement)}." for statement in self.forbidden]

    def __bool__(self) -> bool:
        return bool(self.tiers or self.required or self.forbidden or self._groups())

    def __repr__(self) -> str:
        return f"Knowledge({', '.join(f'{key}={value!r}' for key, value in self.to_dict().items() if value)})"

    def _repr_html_(self) -> str:
        """What a notebook shows: what is known, in sentences."""
        lines = "".join(f"<li>{escaped(line)}</li>" for line in self.lines() or ["Nothing is known beforehand."])
        return f'<ul class="consilience-knowledge">{lines}</ul>'


_KEYS = ("tiers", "required", "forbidden", "exogenous", "unconfounded", "separate")


# Words and facts


def _facts(statement: Statement, *, holds: bool) -> tuple[Fact, ...]:
    """The facts whose conjunction the statement is, or their opposites."""
    a, relation, b = statement
    adjacent, ancestor = Fact("adj", a, b, holds), Fact("anc", a, b, holds)
    there, back = Fact("head", a, b, holds), Fact("head", b, a, holds)
    return {
        Relation.EDGE: (adjacent,),
        Relation.DIRECTED: (adjacent, ancestor),
        Relation.INTO: (there,),
        Relation.BOTH: (there, back),
        Relation.CAUSES: (ancestor,),
    }[relation]


def _exogenous_item(name: str, others: Sequence[str]) -> Item:
    # Who is no ancestor follows from the arrowheads, but only when all of them are said; as facts of their own they are at hand for what
    # is deduced before the solver starts.
    clauses = [clause for other in others for clause in ((Fact("anc", other, name, False),), (Fact("head", other, name, False),))]
    return Item(f"{name} is exogenous, so an edge between it and a variable that is not has no arrowhead at {name}", tuple(clauses))


def _group_item(group: Group) -> Item:
    relation = {Form.UNCONFOUNDED: Relation.BOTH, Form.SEPARATE: Relation.EDGE}[group.form]
    clauses = tuple(_facts(Statement(a, relation, b), holds=False) for a, b in pairs_of([group.names]))
    return Item(f"{group.form}: {group_in_words(group)}", clauses)


def _tier_item(early: tuple[str, ...], late: tuple[str, ...]) -> Item:
    # every pair of tiers, not only neighbouring ones: a way back may lead through variables that are in no tier
    if len(early) == len(late) == 1:
        so = f"so {late[0]} does not cause it"
    else:
        so = "so none of the latter causes any of the former" if len(late) > 1 else f"so {late[0]} causes none of these"
    text = f"{listed(early)} {'are' if len(early) > 1 else 'is'} in an earlier tier than {listed(late)}, {so}"
    return Item(text, tuple((Fact("anc", b, a, False),) for a in early for b in late))


def _with_hint(name: object, known: Iterable[str]) -> str:
    """What was received and, if some name that exists is close to it, the question whether that was meant.

    >>> _with_hint("Teirs", ["tiers"]), _with_hint("x", ["tiers"])
    ("'Teirs' (did you mean 'tiers'?)", "'x'")
    """
    folded = {other.casefold(): other for other in known}
    close = get_close_matches(str(name).casefold(), folded, n=1)
    return f"{name!r} (did you mean {folded[close[0]]!r}?)" if close else repr(name)


def _toml_value(value: str | list[str]) -> str:
    return _toml_string(value) if isinstance(value, str) else f"[{', '.join(map(_toml_string, value))}]"


def _toml_string(text: str) -> str:
    """A TOML string: without escapes where these would only be in the way of a reader.

    JSON's escapes are TOML's too; but TOML wants the delete character escaped.
    """
    if text.isprintable() and "'" not in text and ('"' in text or "\\" in text):
        return f"'{text}'"
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")

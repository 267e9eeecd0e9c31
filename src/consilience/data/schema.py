"""The study's schema: one kind and one list of levels per variable, the same for every site.

A schema is declared in advance (the private way: nothing about the sites is asked) or made as the union of what the sites
hold. The union never guesses: sites that disagree are an error that names both and the way out.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import combinations
from typing import Any

from consilience.data.errors import KindConflictError, LevelConflictError, UnknownVariableError
from consilience.data.kinds import Kind, Variable, as_kind, level_label, sort_levels
from consilience.errors import SchemaError

__all__ = ["Declaration", "Schema", "unite"]

Spec = Variable | str | Kind | tuple[str | Kind, Iterable[Any]]


class Schema(Mapping[str, Variable]):
    """The variables of a study, sorted by name: a mapping from names to :class:`Variable`.

    Parameters
    ----------
    variables : mapping or iterable of Variable
        A mapping gives, by name, a kind (``"continuous"``; ``"count"``; ``"binary"`` with the levels 0 and 1), a pair of kind and levels,
        or a :class:`Variable`.

    Raises
    ------
    SchemaError
        If a variable is there twice, or under another name than its own.
    KindError, LevelConflictError
        If kind and levels do not fit together.

    Examples
    --------
    >>> schema = Schema({"age": "continuous", "stage": ("ordinal", ["I", "II", "III"]), "smoker": "binary"})
    >>> list(schema)
    ['age', 'smoker', 'stage']
    >>> schema["stage"].levels
    ('I', 'II', 'III')
    """

    __slots__ = ("_variables",)

    def __init__(self, variables: Mapping[str, Spec] | Iterable[Variable]) -> None:
        if isinstance(variables, Mapping):
            found = [_variable(name, spec) for name, spec in variables.items()]
        else:
            found = list(variables)
        # sorted: columns, digests and answers are in this order at every site, however each of them wrote its schema
        self._variables = {v.name: v for v in sorted(found, key=lambda v: v.name)}
        if len(self._variables) < len(found):
            names = [v.name for v in found]
            twice = next(name for name in names if names.count(name) > 1)
            raise SchemaError(f"Every variable may be declared once; {twice!r} is there {names.count(twice)} times.")

    def __getitem__(self, name: str) -> Variable:
        try:
            return self._variables[name]
        except KeyError:
            raise UnknownVariableError(f"No variable {name!r} in this study. It has: {', '.join(self._variables)}.") from None

    def __contains__(self, name: object) -> bool:
        return name in self._variables

    def __iter__(self) -> Iterator[str]:
        return iter(self._variables)

    def __len__(self) -> int:
        return len(self._variables)

    def __repr__(self) -> str:
        rows = (
            f"{v.name}: {v.kind.value}" + (f" {list(v.levels)}" if v.levels else "") + (f" {v.measured}" if v.measured else "")
            for v in self.values()
        )
        return f"Schema({'; '.join(rows)})"


def _variable(name: str, spec: Spec) -> Variable:
    if isinstance(spec, Variable):
        if spec.name != name:
            raise SchemaError(f"A variable must be declared under its own name; got {spec.name!r} under {name!r}.")
        return spec
    if isinstance(spec, str):
        kind = as_kind(spec, name)
        return Variable(name, kind, ("0", "1") if kind is Kind.BINARY else ())
    given, levels = spec
    return Variable(name, as_kind(given, name), tuple(level_label(level) for level in levels))


@dataclass(frozen=True, slots=True)
class Declaration:
    """What one site says of one variable: ``declared_*`` tell what its owner fixed and what was inferred.

    A kind that was inferred from a single value, ``only``, gives way to what other sites see.
    """

    variable: Variable
    declared_kind: bool = False
    declared_levels: bool = False
    reason: str = ""
    only: str = ""


def unite(sites: Mapping[str, Mapping[str, Declaration]]) -> Schema:
    """The union schema over sites; disagreement is an error that names both sites.

    >>> from consilience.data.kinds import Kind, Variable
    >>> one = {"E": Declaration(Variable("E", Kind.MULTINOMIAL, ("p", "q")))}
    >>> two = {"E": Declaration(Variable("E", Kind.MULTINOMIAL, ("q", "r")))}
    >>> unite({"one": one, "two": two})["E"].levels
    ('p', 'q', 'r')
    """
    holders: dict[str, list[tuple[str, Declaration]]] = {}
    for site, declarations in sites.items():
        for name, declaration in declarations.items():
            holders.setdefault(name, []).append((site, declaration))
    return Schema([_unite_one(name, held) for name, held in holders.items()])


def _unite_one(name: str, held: list[tuple[str, Declaration]]) -> Variable:
    # Kinds are never reconciled, say from ordinal and continuous to continuous: that would be a modelling decision, made by which sites
    # happen to take part. Only a kind guessed from a single value gives way.
    firm = [(site, d) for site, d in held if not d.only] or held
    first_site, first = firm[0]
    kind = first.variable.kind
    for site, other in firm[1:]:
        if other.variable.kind is not kind:
            raise KindConflictError(
                f"{name!r} is {kind.in_words} at {first_site!r} ({first.reason}) "
                f"but {other.variable.kind.in_words} at {site!r} ({other.reason}). "
                f"Declare one kind at both with kinds={{{name!r}: ...}}, or give the study a schema."
            )
    if not kind.is_discrete:
        # the unit that the first site says; the tables of sites that say another are converted to it, or refused
        return Variable(name, kind, unit=next((d.variable.unit for _, d in held if d.variable.unit), ""))
    return Variable(name, kind, _unite_levels(name, kind, held))


def _unite_levels(name: str, kind: Kind, held: list[tuple[str, Declaration]]) -> tuple[str, ...]:
    declared = [(site, d.variable.levels) for site, d in held if d.declared_levels]
    # Levels that were only seen are united, since a level that nobody has at one site is no disagreement. Levels that were declared are
    # somebody's word on order and completeness: two such words must be equal, and all that was seen must be among them.
    if not declared:
        levels = sort_levels(level for _, d in held for level in ((d.only,) if d.only else d.variable.levels))
        if kind is Kind.BINARY and set(levels) <= {"0", "1"}:
            return ("0", "1")
        if kind is Kind.BINARY and len(levels) > 2:
            (one, a), (two, b) = _disagreeing([(site, d.variable.levels) for site, d in held])
            raise LevelConflictError(
                f"{name!r} is binary, but {one!r} has the levels {list(a)} and {two!r} has {list(b)}: {len(levels)} in all. "
                f"Recode one site, or declare the variable multinomial at every site with kinds={{{name!r}: 'multinomial'}}."
            )
        return levels
    owner, levels = declared[0]
    for site, other in declared[1:]:
        if other != levels:
            raise LevelConflictError(
                f"{owner!r} declares the levels of {name!r} as {list(levels)}, {site!r} as {list(other)}. "
                f"Declare the same levels in the same order at both with levels={{{name!r}: [...]}}."
            )
    for site, declaration in held:
        strange = [level for level in declaration.variable.levels if level not in levels]
        if strange:
            raise LevelConflictError(
                f"{site!r} has {name!r} = {strange[0]!r}, which is not among the levels {list(levels)} that {owner!r} declares. "
                f"Correct the value at {site!r}, or declare the same, longer list at both with levels={{{name!r}: [...]}}."
            )
    return levels


def _disagreeing(held: list[tuple[str, tuple[str, ...]]]) -> tuple[tuple[str, tuple[str, ...]], tuple[str, tuple[str, ...]]]:
    """Two sites that have more than two levels between them, or at least different ones."""
    pairs = list(combinations(held, 2))
    return next((p for p in pairs if len({*p[0][1], *p[1][1]}) > 2), pairs[0])

"""The study's schema: one kind and one list of levels per variable, the same for every site.

A schema is declared in advance (the private way: nothing about the sites is asked) or made as the union of what the sites
hold. The union never guesses: sites that disagree are an error that names both and the way out.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import combinations
from typing import Any

from consilience.data.checking.spelling import same_meaning
from consilience.data.errors import KindConflictError, LevelConflictError, UnknownVariableError, error_of
from consilience.data.finding import Finding, Grade, Remedy, Step
from consilience.data.kinds import Kind, Variable, as_kind, level_label, sort_levels
from consilience.errors import ConsilienceError, SchemaError
from consilience.showing import first, table
from consilience.wording import counted

__all__ = ["Declaration", "Schema", "agreement", "conflict_error", "shown_levels", "unite"]

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

    def _repr_html_(self) -> str:
        """What a notebook shows: one row for each variable."""
        rows = ((v.name, v.kind.value, shown_levels(v), v.measured) for v in self.values())
        return table(counted(len(self), "variable"), ("variable", "kind", "levels", "measured"), rows)


def shown_levels(variable: Variable) -> str:
    """Levels for a cell of a table; those that have an order with its sign.

    >>> shown_levels(Variable("stage", Kind.ORDINAL, ("I", "II"))), shown_levels(Variable("sex", Kind.BINARY, ("f", "m")))
    ('I < II', 'f, m')
    """
    return first(variable.levels, " < " if variable.kind is Kind.ORDINAL else ", ")


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

    A kind that was inferred from a single value, ``only``, gives way to what other sites see; so does one that was inferred from decimal
    numbers that happen to be ``whole`` here, where another site has fractions.
    """

    variable: Variable
    declared_kind: bool = False
    declared_levels: bool = False
    reason: str = ""
    only: str = ""
    whole: bool = False


def unite(sites: Mapping[str, Mapping[str, Declaration]], names: Collection[str] | None = None) -> Schema:
    """The union schema over sites; disagreement is an error that names all that disagree.

    ``names`` are the variables in use: what sites say of others is left alone.

    >>> from consilience.data.kinds import Kind, Variable
    >>> one = {"E": Declaration(Variable("E", Kind.MULTINOMIAL, ("p", "q")))}
    >>> two = {"E": Declaration(Variable("E", Kind.MULTINOMIAL, ("q", "r")))}
    >>> unite({"one": one, "two": two})["E"].levels
    ('p', 'q', 'r')
    """
    schema, conflicts = agreement(sites, names)
    if conflicts:
        raise conflict_error(conflicts.values())
    return schema


def agreement(sites: Mapping[str, Mapping[str, Declaration]], names: Collection[str] | None = None) -> tuple[Schema, dict[str, Finding]]:
    """The variables on which all sites agree, and what stands against each of the others.

    >>> from consilience.data.kinds import Kind, Variable
    >>> one = {"A": Declaration(Variable("A", Kind.CONTINUOUS)), "E": Declaration(Variable("E", Kind.CONTINUOUS))}
    >>> two = {"E": Declaration(Variable("E", Kind.ORDINAL, ("1", "2")))}
    >>> schema, conflicts = agreement({"one": one, "two": two})
    >>> list(schema), [finding.code for finding in conflicts.values()]
    (['A'], ['kind-conflict'])
    """
    holders: dict[str, list[tuple[str, Declaration]]] = {}
    for site, declarations in sites.items():
        for name, declaration in declarations.items():
            if names is None or name in names:
                holders.setdefault(name, []).append((site, declaration))
    found = {name: _unite_one(name, held) for name, held in holders.items()}
    agreed = [variable for variable in found.values() if isinstance(variable, Variable)]
    return Schema(agreed), {name: finding for name, finding in found.items() if isinstance(finding, Finding)}


def conflict_error(conflicts: Iterable[Finding]) -> ConsilienceError:
    """One error for all that sites disagree on.

    >>> str(conflict_error([Finding("kind-conflict", Grade.REFUSED, "'E' has two kinds.")]))
    "'E' has two kinds."
    """
    conflicts = tuple(conflicts)
    kinds = any(finding.code == "kind-conflict" for finding in conflicts)
    return error_of(KindConflictError if kinds else LevelConflictError, *conflicts)


def _unite_one(name: str, held: list[tuple[str, Declaration]]) -> Variable | Finding:
    # Kinds are never reconciled, say from ordinal and continuous to continuous: that would be a modelling decision, made by which sites
    # happen to take part. Only a kind guessed from a single value gives way; and decimals that are whole by chance, to fractions.
    firm = [(site, d) for site, d in held if not d.only] or held
    if any(d.variable.kind is Kind.CONTINUOUS for _, d in firm):
        firm = [(site, d) for site, d in firm if not d.whole]
    first_site, first = firm[0]
    kind = first.variable.kind
    if all(d.only for _, d in held):  # one value at each: nobody knows, and none contradicts another
        kind = Kind.BINARY if {d.only for _, d in held} <= {"0", "1"} else Kind.ORDINAL
        return _unite_levels(name, kind, held)
    for site, other in firm[1:]:
        if other.variable.kind is not kind:
            words = (
                f"{name!r} is {kind.in_words} at {first_site!r} ({first.reason}) "
                f"but {other.variable.kind.in_words} at {site!r} ({other.reason}). One kind is needed at both, or a schema for the study."
            )
            return _conflict("kind-conflict", name, (first_site, site), words, *_kinds(name, kind, other.variable.kind))
    if not kind.is_discrete:
        # the unit that the first site says; the tables of sites that say another are converted to it, or refused
        unit = next((d.variable.unit for _, d in held if d.variable.unit), "")
        return Variable(name, kind, unit=unit, range=next((d.variable.range for _, d in held if d.variable.range), None))
    return _unite_levels(name, kind, held)


def _kinds(name: str, *kinds: Kind) -> tuple[Remedy, ...]:
    return tuple(Remedy(Step.KIND, name, kind.value) for kind in kinds)


def _conflict(code: str, name: str, sites: tuple[str, ...], words: str, *remedies: Remedy) -> Finding:
    return Finding(code, Grade.REFUSED, words, (name,), sites, remedies)


def _unite_levels(name: str, kind: Kind, held: list[tuple[str, Declaration]]) -> Variable | Finding:
    declared = [(site, d.variable.levels) for site, d in held if d.declared_levels]
    # Levels that were only seen are united, since a level that nobody has at one site is no disagreement. Levels that were declared are
    # somebody's word on order and completeness: two such words must be equal, and all that was seen must be among them.
    seen = [(site, (d.only,) if d.only else d.variable.levels) for site, d in held]
    if not declared:
        return _unite_seen(name, kind, seen)
    owner, levels = declared[0]
    for site, other in declared[1:]:
        if other != levels:
            said = "They must be the same, in the same order."
            words = f"{owner!r} declares the levels of {name!r} as {list(levels)}, {site!r} as {list(other)}. {said}"
            return _conflict("level-conflict", name, (owner, site), words, Remedy(Step.LEVELS, name, ",".join(levels)))
    for site, found in seen:
        strange = [level for level in found if level not in levels]
        if strange:
            words = f"{site!r} has {name!r} = {strange[0]!r}, which is not among the levels {list(levels)} that {owner!r} declares."
            longer = Remedy(Step.LEVELS, name, ",".join((*levels, strange[0])))
            return _conflict("level-conflict", name, (owner, site), words, Remedy(Step.RECODE, name, f"{strange[0]!r} = …"), longer)
    return Variable(name, kind, levels)


def _unite_seen(name: str, kind: Kind, seen: list[tuple[str, tuple[str, ...]]]) -> Variable | Finding:
    """Levels that nobody declared: all of them, unless some are one level in two spellings, or too many for the kind."""
    for (one, a), (two, b) in combinations(seen, 2):
        same = same_meaning(b, a)
        if same:
            pairs = ", ".join(f"{ours!r} and {theirs!r}" for ours, theirs in same.items())
            words = f"{name!r} has levels that mean the same and are spelled differently at {two!r} and {one!r}: {pairs}."
            recode = Remedy(Step.RECODE, name, ", ".join(f"{ours!r} = {theirs!r}" for ours, theirs in same.items()))
            every = Remedy(Step.LEVELS, name, ",".join(sort_levels((*a, *b))))
            return _conflict("spelling-conflict", name, (one, two), words, recode, every)
    levels = sort_levels(level for _, found in seen for level in found)
    if kind is Kind.BINARY and set(levels) <= {"0", "1"}:
        return Variable(name, kind, ("0", "1"))
    if kind is Kind.BINARY and len(levels) > 2:
        (one, a), (two, b) = _disagreeing(seen)
        words = f"{name!r} is binary, but {one!r} has the levels {list(a)} and {two!r} has {list(b)}: {len(levels)} in all."
        recode = Remedy(Step.RECODE, name, "'old' = 'new', …")
        return _conflict("level-conflict", name, (one, two), words, recode, Remedy(Step.KIND, name, Kind.MULTINOMIAL.value))
    return Variable(name, kind, levels)


def _disagreeing(held: list[tuple[str, tuple[str, ...]]]) -> tuple[tuple[str, tuple[str, ...]], tuple[str, tuple[str, ...]]]:
    """Two sites that have more than two levels between them, or at least different ones."""
    pairs = list(combinations(held, 2))
    return next((p for p in pairs if len({*p[0][1], *p[1][1]}) > 2), pairs[0])

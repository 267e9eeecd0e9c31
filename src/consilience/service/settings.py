"""A study over a network: its settings, its variables and its variable sets, checked before they are stored, sent or agreed to.

The settings themselves are declared in :mod:`consilience.settings`; what differs over a network is a table there.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from math import comb, inf, isfinite
from typing import Any

import msgspec

from consilience.data.kinds import Kind, Variable
from consilience.data.schema import Schema
from consilience.errors import OptionError
from consilience.settings import Batching, NetworkSettings, check_settings, terms_of
from consilience.settings.declaration import MOST_VARIABLES

__all__ = [
    "JOINT_WARNING",
    "Batching",
    "VariableSpec",
    "check_batch",
    "check_cluster",
    "check_datasets",
    "check_knowledge",
    "checked",
    "schema_of",
    "spec_from",
    "spec_of",
    "specs_of",
    "terms_of",
]

JOINT_WARNING = (
    "The information matrix of a model with site dummies holds each site's number of rows, level counts and sums exactly, masked or not."
)
"""What every site reads before it consents to ``site_effects="joint"``."""
MOST_LEVELS, MOST_DATASETS, MOST_NAME = 64, 256, 200
"""Bounds on what comes from outside: a contract is read by people, and held in memory by every site."""
MOST_UNIT = 40
MOST_AT_ONCE = 100_000


class VariableSpec(msgspec.Struct, frozen=True, array_like=True):
    """A variable of the study as it travels and is stored; ``low`` and ``high`` are its range, None for an end that is open."""

    name: str
    kind: Kind
    levels: tuple[str, ...] = ()
    unit: str = ""
    low: float | None = None
    high: float | None = None

    @property
    def measured(self) -> bool:
        """True if it has a unit or a range."""
        return bool(self.unit) or self.low is not None or self.high is not None

    def variable(self) -> Variable:
        """As the library has it."""
        ends = (-inf if self.low is None else self.low, inf if self.high is None else self.high)
        levels = self.levels or (("0", "1") if self.kind is Kind.BINARY else ())
        return Variable(self.name, self.kind, levels, self.unit, None if self.low is None and self.high is None else ends)

    def plain(self) -> tuple[Any, ...]:
        """As a contract has it: what was declared before there were units has the bytes that it had."""
        return msgspec.structs.astuple(self)[: 6 if self.measured else 3]


def checked(settings: NetworkSettings) -> NetworkSettings:
    """Return ``settings`` if they make sense together; ``OptionError`` else, or ``KnowledgeError`` if what is known contradicts itself.

    >>> checked(NetworkSettings(alpha=0.01)).alpha
    0.01
    >>> checked(NetworkSettings(min_contributors=1))
    Traceback (most recent call last):
    consilience.errors.OptionError: min_contributors must be a whole number of at least 2 and at most 1000; got 1.
    """
    from consilience.iod.discover import knowledge_of  # noqa: PLC0415  engines and reports, for a process that may only list its studies

    check_settings(settings)
    knowledge_of(settings)
    return settings


def check_knowledge(settings: NetworkSettings, schema: Schema) -> None:
    """``KnowledgeError`` unless what is known speaks of variables of the study; ``UnknownVariableError`` unless its effects do.

    >>> check_knowledge(NetworkSettings(tiers=(("A",), ("B",))), Schema({"A": "continuous", "B": "continuous"}))
    """
    from consilience.iod.discover import knowledge_of  # noqa: PLC0415
    from consilience.iod.estimating import pairs_of  # noqa: PLC0415

    known = knowledge_of(settings)
    if known is not None:
        known.items(tuple(schema))
    pairs_of(settings.effects, tuple(schema))


def check_cluster(settings: NetworkSettings, schema: Schema | None) -> None:
    """``OptionError`` if the column that marks clusters would leave a site: as a variable, or because sites tell all their columns.

    >>> check_cluster(NetworkSettings(method="residual", cluster="ward"), Schema({"A": "continuous"}))
    >>> check_cluster(NetworkSettings(method="residual", cluster="ward"), None)  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    consilience.errors.OptionError: A site that is asked for its variables tells all its columns, 'ward' among them: declare the ...
    """
    if settings.cluster is None:
        return
    if schema is None:
        told = f"A site that is asked for its variables tells all its columns, {settings.cluster!r} among them"
        raise OptionError(f"{told}: declare the variables of a study with clusters.")
    if settings.cluster in schema:
        raise OptionError(f"{settings.cluster!r} marks clusters and never leaves a site: it cannot be a variable of the study as well.")


def check_batch(settings: NetworkSettings, datasets: Iterable[Collection[str]]) -> None:
    """``OptionError`` if ``batching="all"`` would ask more tests at once than a server can hold. They are counted, not made.

    >>> check_batch(NetworkSettings(batching=Batching.ALL), [range(12)])
    >>> check_batch(NetworkSettings(batching=Batching.ALL), [range(20)])  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    consilience.errors.OptionError: batching='all' asks up to 100000 tests at once; here they would be 49807360. Set max_given, or ...
    """
    if settings.batching is not Batching.ALL:
        return
    count = 0
    for size in map(len, datasets):
        most = size - 2 if settings.max_given is None else min(settings.max_given, size - 2)
        count += comb(size, 2) * sum(comb(size - 2, given) for given in range(most + 1))
    if count > MOST_AT_ONCE:
        raise OptionError(
            f"batching='all' asks up to {MOST_AT_ONCE} tests at once; here they would be {count}. Set max_given, or batching='levels'."
        )


def schema_of(variables: tuple[VariableSpec, ...]) -> Schema:
    """The library's schema; an error if the variables cannot be one.

    >>> list(schema_of((VariableSpec("C", Kind.BINARY, ("0", "1")),)))
    ['C']
    """
    if not 1 <= len(variables) <= MOST_VARIABLES:
        raise OptionError(f"A study has 1 to {MOST_VARIABLES} variables; got {len(variables)}.")
    for spec in variables:
        if not spec.name.strip() or len(spec.name) > MOST_NAME or not spec.name.isprintable():
            raise OptionError(f"A variable's name is 1 to {MOST_NAME} printable characters; got {spec.name[:40]!r}.")
        if len(spec.levels) > MOST_LEVELS or any(not 1 <= len(level) <= MOST_NAME or not level.isprintable() for level in spec.levels):
            raise OptionError(f"A variable has up to {MOST_LEVELS} levels of 1 to {MOST_NAME} printable characters; check {spec.name!r}.")
        if (
            len(spec.unit) > MOST_UNIT
            or not spec.unit.isprintable()
            or any(x is not None and not isfinite(x) for x in (spec.low, spec.high))
        ):
            raise OptionError(
                f"A unit has up to {MOST_UNIT} printable characters, and the ends of a range are finite; check {spec.name!r}."
            )
    return Schema([spec.variable() for spec in variables])


def specs_of(schema: Schema) -> tuple[VariableSpec, ...]:
    """A schema as it travels."""
    return tuple(spec_of(variable) for variable in schema.values())


def spec_from(told: Mapping[str, Any]) -> VariableSpec:
    """One variable as the REST interface tells it; servers that know no units leave them out.

    >>> spec_from({"name": "chol", "kind": "continuous", "levels": [], "range": [0.5, None]}).low
    0.5
    """
    low, high = told.get("range") or (None, None)
    numbers = (None if end is None else float(end) for end in (low, high))
    return VariableSpec(str(told["name"]), Kind(told["kind"]), tuple(told["levels"]), str(told.get("unit", "")), *numbers)


def spec_of(variable: Variable) -> VariableSpec:
    """One variable as it travels.

    >>> spec_of(Variable("chol", Kind.CONTINUOUS, unit="mmol/l", range=(0.5, inf))).low
    0.5
    """
    low, high = (None if not isfinite(end) else end for end in variable.range or (-inf, inf))
    return VariableSpec(variable.name, variable.kind, variable.levels, variable.unit, low, high)


def check_datasets(datasets: tuple[tuple[str, ...], ...], schema: Schema) -> tuple[tuple[str, ...], ...]:
    """The variable sets, each sorted and known; an error that names what is not.

    >>> check_datasets((("B", "A"),), Schema({"A": "continuous", "B": "continuous"}))
    (('A', 'B'),)
    """
    if not 1 <= len(datasets) <= MOST_DATASETS:
        raise OptionError(f"A study declares 1 to {MOST_DATASETS} variable sets; got {len(datasets)}.")
    found = []
    for names in datasets:
        strange = [name for name in names if name not in schema]
        if strange or not names or len(set(names)) < len(names):
            raise OptionError(f"A variable set names variables of the study, each once; got {list(names)[:8]}.")
        found.append(tuple(sorted(names)))
    unused = [name for name in schema if not any(name in names for names in found)]
    if unused:
        raise OptionError(f"Every variable must be in a variable set; {unused[0]!r} is in none.")
    return tuple(dict.fromkeys(found))

"""A study's settings, checked, and the one place where they become terms for the sites and arguments of ``discover``."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from enum import StrEnum
from math import comb
from typing import Any

import msgspec

from consilience.data.kinds import Kind, Variable
from consilience.data.schema import Schema
from consilience.errors import OptionError
from consilience.glm.layout import Ordinal, SiteEffects
from consilience.iod import Knowledge
from consilience.iod.discover import Engine, Resolve
from consilience.iod.published.union import Variant
from consilience.options import check_number, check_whole
from consilience.settings.choices import Dropout, Method, SingleSite
from consilience.settings.terms import Terms

__all__ = [
    "JOINT_WARNING",
    "Batching",
    "Settings",
    "VariableSpec",
    "check_batch",
    "check_datasets",
    "check_knowledge",
    "checked",
    "discover_arguments",
    "knowledge_of",
    "schema_of",
    "specs_of",
    "terms_of",
]

JOINT_WARNING = (
    "The information matrix of a model with site dummies holds each site's number of rows, level counts and sums exactly, masked or not."
)
"""What every site reads before it consents to ``site_effects="joint"``."""
MOST_VARIABLES, MOST_LEVELS, MOST_DATASETS, MOST_NAME = 64, 64, 256, 200
MOST_AT_ONCE = 100_000


class Batching(StrEnum):
    """Which tests go out together: those of one level of the search, or all that any level could need."""

    LEVELS = "levels"
    ALL = "all"


class VariableSpec(msgspec.Struct, frozen=True, array_like=True):
    """A variable of the study as it travels and is stored."""

    name: str
    kind: Kind
    levels: tuple[str, ...] = ()


class Settings(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """How a study is done. Over a network a run stops when a site is gone, unless every site has consented to a restart.

    ``consent_seconds`` is how long the owner of a site may take to agree, ``return_seconds`` how long a site that was lost is waited
    for, ``round_seconds`` how long one answer may take. ``tiers``, ``required`` and ``forbidden`` are what is known before the data.
    """

    alpha: float = 0.05
    max_given: int | None = None
    method: Method = Method.FEDCI
    site_effects: SiteEffects = SiteEffects.PROFILED
    ordinal: Ordinal = Ordinal.PROPORTIONAL
    ridge: float = 0.0
    engine: Engine = Engine.EXACT
    resolve: Resolve = Resolve.STRICT
    selection_bias: bool = False
    limit: int = 10_000
    time_limit: float = 3600.0
    variant: Variant = Variant.TRIPLES
    tiers: tuple[tuple[str, ...], ...] = ()
    required: tuple[str, ...] = ()
    forbidden: tuple[str, ...] = ()
    batching: Batching = Batching.LEVELS
    min_contributors: int = 2
    min_rows: int = 10
    single_site: SingleSite = SingleSite.LOCAL
    on_dropout: Dropout = Dropout.STOP
    allow_joint: bool = False
    consent_seconds: float = 7 * 86400.0
    return_seconds: float = 900.0
    round_seconds: float = 600.0


def checked(settings: Settings) -> Settings:
    """Return ``settings`` if they make sense together; ``OptionError`` else.

    >>> checked(Settings(alpha=0.01)).alpha
    0.01
    >>> checked(Settings(site_effects=SiteEffects.JOINT))
    Traceback (most recent call last):
    consilience.errors.OptionError: site_effects='joint' discloses numbers of single sites; say allow_joint=true if that is meant.
    """
    if not 0.0 < settings.alpha < 1.0:
        raise OptionError(f"alpha must lie between 0 and 1; got {settings.alpha!r}.")
    if settings.max_given is not None:
        check_number("max_given", settings.max_given, least=0)
    check_number("ridge", settings.ridge, least=0.0)
    check_number("min_contributors", settings.min_contributors, least=2)
    check_number("min_rows", settings.min_rows, least=1)
    for name in ("consent_seconds", "return_seconds", "round_seconds"):
        value = check_number(name, getattr(settings, name), least=1.0)
        if value > 366 * 86400:
            raise OptionError(f"{name} may be a year at most; got {value:g}.")
    if settings.site_effects is SiteEffects.JOINT and not settings.allow_joint:
        raise OptionError("site_effects='joint' discloses numbers of single sites; say allow_joint=true if that is meant.")
    check_whole("limit", settings.limit, least=1)
    check_number("time_limit", settings.time_limit, least=1.0)
    if settings.engine is Engine.IOD and (settings.resolve is not Resolve.STRICT or settings.selection_bias):
        raise OptionError("The published algorithm knows neither selection bias nor a way out of contradictions; choose engine='exact'.")
    for text in (*(name for tier in settings.tiers for name in tier), *settings.required, *settings.forbidden):
        if not text.isprintable():
            raise OptionError(f"What is known is said in printable text on one line; got {text[:40]!r}.")
    knowledge_of(settings)
    return settings


def terms_of(settings: Settings) -> Terms:
    """What sites hold every request against. Over a network sums are always masked."""
    return Terms(
        settings.site_effects,
        settings.ordinal,
        settings.ridge,
        settings.min_contributors,
        settings.min_rows,
        settings.single_site,
        settings.on_dropout,
        True,
        settings.method,
    )


def knowledge_of(settings: Settings) -> Knowledge | None:
    """What is known before the data; ``KnowledgeError`` if it contradicts itself.

    >>> knowledge_of(Settings()) is None
    True
    """
    if not (settings.tiers or settings.required or settings.forbidden):
        return None
    return Knowledge(tiers=settings.tiers, required=settings.required, forbidden=settings.forbidden)


def check_knowledge(settings: Settings, schema: Schema) -> None:
    """``KnowledgeError`` unless what is known speaks of variables of the study.

    >>> check_knowledge(Settings(tiers=(("A",), ("B",))), Schema({"A": "continuous", "B": "continuous"}))
    """
    known = knowledge_of(settings)
    if known is not None:
        known.items(tuple(schema))


def discover_arguments(settings: Settings) -> dict[str, Any]:
    """The arguments of ``discover``.

    >>> discover_arguments(Settings(alpha=0.01, max_given=1))["max_given"]
    1
    """
    names = ("alpha", "engine", "resolve", "max_given", "selection_bias", "limit", "time_limit", "variant")
    return {name: getattr(settings, name) for name in names} | {"knowledge": knowledge_of(settings)}


def check_batch(settings: Settings, datasets: Iterable[Collection[str]]) -> None:
    """``OptionError`` if ``batching="all"`` would ask more tests at once than a server can hold. They are counted, not made.

    >>> check_batch(Settings(batching=Batching.ALL), [range(12)])
    >>> check_batch(Settings(batching=Batching.ALL), [range(20)])  # doctest: +ELLIPSIS
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
    return Schema([Variable(s.name, s.kind, s.levels or (("0", "1") if s.kind is Kind.BINARY else ())) for s in variables])


def specs_of(schema: Schema) -> tuple[VariableSpec, ...]:
    """A schema as it travels."""
    return tuple(VariableSpec(v.name, v.kind, v.levels) for v in schema.values())


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

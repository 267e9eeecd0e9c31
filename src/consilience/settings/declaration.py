"""Every setting, once: its type, its default, a line of documentation, its range.

A new setting is one field here. The command line, the REST interface, the contract, study files and ``docs/settings.md`` follow by
themselves. Where ``Server`` or ``discover`` take it, their signature names it, with ``DEFAULTS.name`` as its default, so that
``help()`` and type checkers see it; a test says so if it is missing there.

The order of the fields is their order in an encoded contract, whose digest is what sites sign: new fields go to the end.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Annotated, Any

import msgspec

from consilience.settings.choices import (
    Alternatives,
    Batching,
    Cells,
    Dropout,
    Engine,
    Isolation,
    Method,
    Ordinal,
    Resolve,
    SingleSite,
    SiteEffects,
    Variant,
)
from consilience.settings.field import About, Part, Setting, read_struct

__all__ = [
    "DEFAULTS",
    "LOCAL",
    "LOCAL_SETTINGS",
    "MOST_SITES",
    "MOST_VARIABLES",
    "NETWORK_SETTINGS",
    "OVER_A_NETWORK",
    "SETTINGS",
    "NetworkSettings",
    "Otherwise",
    "Part",
    "ProgramOptions",
    "Settings",
    "names_of",
]

DAY, YEAR = 86_400.0, 31_536_000.0
MOST_VARIABLES = 64
"""Of a study over a network: what the exact engine can do, with room to spare."""
MOST_SITES = 1000
"""Of a study over a network."""


class Settings(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """How a study is done. What differs over a network is in :data:`OVER_A_NETWORK`.

    >>> Settings().min_contributors, NetworkSettings().on_dropout.value
    (2, 'stop')
    """

    alpha: Annotated[float, About("Significance level of the CI decisions.", Part.GRAPHS, gt=0, lt=1)] = 0.05
    max_given: Annotated[int | None, About("Largest conditioning set; no bound if left out.", Part.GRAPHS, ge=0)] = None
    method: Annotated[
        Method,
        About(
            "Nested models from masked sums (fedci), combined p-values (fisher), products of residuals of smooth models (residual), or "
            "nested models where they hold and residuals where they do not (auto).",
            Part.TESTS,
        ),
    ] = Method.FEDCI
    site_effects: Annotated[SiteEffects, About("Where the sites' intercepts live.", Part.TESTS)] = SiteEffects.PROFILED
    ordinal: Annotated[Ordinal, About("How ordinal responses are modelled.", Part.TESTS)] = Ordinal.PROPORTIONAL
    ridge: Annotated[float, About("Penalty on coefficients; 0 for none.", Part.TESTS, ge=0)] = 0.0
    engine: Annotated[Engine, About("A constraint solver (exact), or the published algorithm (iod).", Part.GRAPHS)] = Engine.EXACT
    resolve: Annotated[
        Resolve,
        About(
            "Where decisions contradict each other: the strongest first (strongest), those that give up the least in all (optimal), or no "
            "graph (strict); auto is strict where they agree, and strongest where they do not.",
            Part.GRAPHS,
        ),
    ] = Resolve.AUTO
    selection_bias: Annotated[bool, About("Allow for selection bias: undirected edges.", Part.GRAPHS)] = False
    limit: Annotated[int | None, About("Most graphs to list; the summary covers all.", Part.GRAPHS, ge=1)] = 10_000
    time_limit: Annotated[
        float | None, About("Most seconds to spend on graphs after the tests; then what was found is shown.", Part.GRAPHS, ge=0)
    ] = 60.0
    variant: Annotated[Variant, About("With engine iod: which local marks guide the search; the list is the same.", Part.GRAPHS)] = (
        Variant.TRIPLES
    )
    tiers: Annotated[tuple[tuple[str, ...], ...], About("Variables in time order, if that is known.", Part.KNOWLEDGE, max_length=64)] = ()
    required: Annotated[
        tuple[str, ...], About("Known to be true, such as `smoking => cancer` or `exogenous age sex`.", Part.KNOWLEDGE, max_length=256)
    ] = ()
    forbidden: Annotated[tuple[str, ...], About("Known to be false, such as `age *-* sex`.", Part.KNOWLEDGE, max_length=256)] = ()
    batching: Annotated[
        Batching,
        About("Ask what the search needs, level by level (levels), or all tests at once (all): more tests, fewer rounds.", Part.EXCHANGE),
    ] = Batching.LEVELS
    min_contributors: Annotated[int, About("No sum over fewer sites than this.", Part.TESTS, ge=1)] = 2
    min_rows: Annotated[int, About("No sum over fewer rows than this.", Part.TESTS, ge=1)] = 10
    single_site: Annotated[
        SingleSite, About("A test that one site alone can do: its p-value in three digits (local), or nothing (refuse).", Part.TESTS)
    ] = SingleSite.LOCAL
    on_dropout: Annotated[
        Dropout,
        About("When a site is gone: stop, or restart without it, which reveals its part of finished sums.", Part.TESTS),
    ] = Dropout.RESTART
    allow_joint: Annotated[bool, About("Needed for site_effects joint, which discloses numbers of single sites.", Part.EXCHANGE)] = False
    consent_seconds: Annotated[float, About("How long the owner of a site may take to agree.", Part.EXCHANGE, ge=1, le=YEAR)] = 7 * DAY
    return_seconds: Annotated[float, About("How long a site that was lost is waited for.", Part.EXCHANGE, ge=1, le=YEAR)] = 900.0
    round_seconds: Annotated[float, About("How long one answer may take.", Part.EXCHANGE, ge=1, le=DAY)] = 600.0
    site_slopes: Annotated[
        bool, About("With method residual: conditioning variables have slopes of their own at every site.", Part.TESTS)
    ] = True
    alternatives: Annotated[
        Alternatives, About("With method residual: look for covariance (linear), or for any smooth dependence (smooth).", Part.TESTS)
    ] = Alternatives.LINEAR
    cluster: Annotated[
        str | None,
        About(
            "With method residual: a column whose equal values mark rows that belong together; it never leaves a site.",
            Part.TESTS,
            max_length=200,
        ),
    ] = None
    small_sample: Annotated[
        bool, About("P-values that hold for few rows: F for continuous responses, a scaled χ² for others; off for plain χ².", Part.TESTS)
    ] = True
    diagnostics: Annotated[
        bool, About("With method fedci: look whether the linear models hold; one more round. With auto always.", Part.TESTS)
    ] = True
    isolation: Annotated[
        Isolation,
        About(
            "What may be worked out about one site alone by subtracting sums: sums over at least min_rows of its rows (aggregate), or "
            "nothing (strict).",
            Part.TESTS,
        ),
    ] = Isolation.AGGREGATE
    min_cell: Annotated[
        int,
        About(
            "No smaller count of a level's rows at one site can be worked out: the site leaves out rows or values for that; 1 for no "
            "such rule.",
            Part.TESTS,
            ge=1,
        ),
    ] = 1
    bootstrap: Annotated[int, About("Resampled copies of the data in which the search is repeated; 0 for none.", Part.STABILITY, ge=0)] = 0
    leave_one_out: Annotated[
        bool, About("Repeat the search without each of the sites, which tells that site's part of every sum.", Part.STABILITY)
    ] = False
    effects: Annotated[
        tuple[str, ...],
        About(
            "Effects to estimate over the graphs that are found, such as `smoking -> cancer`; `*` is every variable.",
            Part.EFFECTS,
            max_length=100,
        ),
    ] = ()
    cells: Annotated[
        Cells,
        About(
            "Fewer than min_cell rows of a site with given levels of several variables together: told of before consent (told), or the "
            "site stays out of sums over these variables (refuse).",
            Part.TESTS,
        ),
    ] = Cells.TOLD


class ProgramOptions(msgspec.Struct, frozen=True, kw_only=True):
    """What one program decides for itself: no part of a study, so neither in a contract nor in a study file."""

    masking: Annotated[bool, About("Mask the sums; without masks is for measurements only.", Part.TESTS)] = True
    jobs: Annotated[int, About("With engine iod: processes that validate candidates.", Part.GRAPHS, ge=1)] = 1


@dataclass(frozen=True, slots=True)
class Otherwise:
    """What is different about a setting over a network, and why. ``needed`` says that none is no value there."""

    why: str
    default: Any = msgspec.NODEFAULT
    ge: float | None = None
    le: float | None = None
    needed: bool = False

    def of(self, setting: Setting) -> Setting:
        """The setting as it is over a network."""
        about = setting.about
        about = replace(about, ge=about.ge if self.ge is None else self.ge, le=about.le if self.le is None else self.le)
        default = setting.default if self.default is msgspec.NODEFAULT else self.default
        return replace(setting, default=default, optional=setting.optional and not self.needed, about=about)


OVER_A_NETWORK: Mapping[str, Otherwise] = {
    "max_given": Otherwise(f"a study has {MOST_VARIABLES} variables at most", le=MOST_VARIABLES),
    "ridge": Otherwise("numbers from outside are bounded", le=1e6),
    "limit": Otherwise("results are stored and sent to every site", le=1_000_000, needed=True),
    "time_limit": Otherwise("a server works for several studies", default=3600.0, ge=1, le=DAY, needed=True),
    "min_contributors": Otherwise("a sum over one site is that site's number", ge=2, le=MOST_SITES),
    "min_rows": Otherwise("numbers from outside are bounded", le=10**9),
    "bootstrap": Otherwise("each copy is as much work for a site as the study itself", le=1000),
    "min_cell": Otherwise("in one program all rows are in one memory anyway, and no row is left out for a rule", default=5, le=1000),
    "on_dropout": Otherwise("a restart reveals a site's part of sums: every site must have agreed to it", default=Dropout.STOP),
}
"""Where a study over a network differs from one in a single program: other defaults, narrower ranges. Nothing else differs."""

SETTINGS: Mapping[str, Setting] = read_struct(Settings)
"""Every setting of a study by name, as a library has it."""
LOCAL_SETTINGS: Mapping[str, Setting] = read_struct(ProgramOptions)
"""What one program decides for itself, by name."""
NETWORK_SETTINGS: Mapping[str, Setting] = {
    name: OVER_A_NETWORK[name].of(setting) if name in OVER_A_NETWORK else setting for name, setting in SETTINGS.items()
}
"""Every setting of a study by name, as it is over a network."""

if TYPE_CHECKING:
    _Narrowed = Settings
else:  # the same names in the same order, so that the bytes of a contract do not depend on who declares what
    _Narrowed = msgspec.defstruct(
        "_Narrowed",
        [(s.name, s.type | None if s.optional else s.type, s.default) for s in NETWORK_SETTINGS.values()],
        bases=(Settings,),
        frozen=True,
        kw_only=True,
        forbid_unknown_fields=True,
    )


class NetworkSettings(_Narrowed, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The settings of a study over a network, with the defaults of one: what stands in its contract."""


DEFAULTS = Settings()
"""What a setting is if nobody says otherwise. Signatures read their defaults from here."""
LOCAL = ProgramOptions()
"""The same for what one program decides for itself."""


def names_of(*parts: Part) -> tuple[str, ...]:
    """The names of the settings of some parts.

    >>> names_of(Part.KNOWLEDGE)
    ('tiers', 'required', 'forbidden')
    """
    return tuple(name for name, setting in SETTINGS.items() if setting.about.part in parts)

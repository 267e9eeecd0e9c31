"""What the server of a study has learnt: every sum it has asked for so far, and how models are fitted from them.

Nothing here belongs to one site. What has been learnt is kept, so that no sum is asked for twice: a model that was fitted as the
unrestricted one of a test is there when it is the restricted one of the next.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from consilience.citest.diagnostics import Diagnostics
from consilience.citest.question import Question
from consilience.citest.result import CIResult
from consilience.data.design import ModelSpec
from consilience.data.schema import Schema
from consilience.disclosure.census import Census
from consilience.federation.exchange.residual_sums import ResidualSums
from consilience.glm.kernel import Floats
from consilience.glm.layout import Ordinal, SiteEffects
from consilience.glm.solver import Fit
from consilience.protocol.products import ProductsTotal
from consilience.protocol.survey import Surveyed
from consilience.settings.declaration import DEFAULTS
from consilience.settings.disclosure import OPEN, Disclosure

__all__ = ["FitOptions", "Slopes", "Sums"]


class Slopes(NamedTuple):
    """A model's slopes, in the units of the cross-products, and their covariance where it is known."""

    estimates: Floats
    covariance: Floats | None


@dataclass(frozen=True, slots=True)
class FitOptions:
    """How models are fitted. ``always`` are predictors of every model (the site, where rows are pooled).

    For tests of residuals: slopes of sites, features of numbers, and whether products are summed by cluster. ``diagnostics``: whether
    models hold is looked at.
    """

    effects: SiteEffects = DEFAULTS.site_effects
    ordinal: Ordinal = DEFAULTS.ordinal
    ridge: float = DEFAULTS.ridge
    n_sites: int = 1
    always: tuple[str, ...] = ()
    disclosure: Disclosure = OPEN
    slopes: bool = DEFAULTS.site_slopes
    features: bool = False
    clustered: bool = False
    small_sample: bool = DEFAULTS.small_sample
    diagnostics: bool = False


@dataclass(slots=True, eq=False)
class Sums:
    """Schema, options, and what has been learnt.

    ``counts`` holds (contributors, rows) per variable set, ``products`` the cross-products, ``fits`` the finished models,
    ``starts`` where a model's next fit begins, ``freedom`` the rank that each predictor adds to a model's information, ``refined`` the
    models whose residuals were summed, ``combined`` Σ -2 log p of Fisher's method, ``finished`` the results that are there, ``residual``
    what tests of residuals have learnt, ``checked`` whether models hold, ``slopes`` those of fits in steps.
    ``rank_of`` replaces ``freedom`` where all rows are at hand. ``census`` is what sites state of themselves, where a study has rules that
    rest on it.
    """

    schema: Schema
    options: FitOptions = field(default_factory=FitOptions)
    runs: int = 0
    counts: dict[tuple[str, ...], tuple[int, int]] = field(default_factory=dict)
    exponents: dict[str, int] | None = None
    locations: dict[str, float] | None = None
    products: dict[tuple[str, ...], ProductsTotal] = field(default_factory=dict)
    fits: dict[ModelSpec, Fit] = field(default_factory=dict)
    starts: dict[ModelSpec, Floats] = field(default_factory=dict)
    freedom: dict[ModelSpec, dict[str, int]] = field(default_factory=dict)
    refined: set[ModelSpec] = field(default_factory=set)
    rank_of: Callable[[ModelSpec, str, tuple[int, ...]], int] | None = None
    combined: dict[Question, float] = field(default_factory=dict)
    finished: dict[Question, CIResult] = field(default_factory=dict)
    restarted: bool = False
    residual: ResidualSums = field(default_factory=ResidualSums)
    checked: dict[ModelSpec, Diagnostics] = field(default_factory=dict)
    slopes: dict[ModelSpec, Slopes] = field(default_factory=dict)
    census: Census | None = None

    def without_a_site(self) -> Sums:
        """For the sites that are left when one has gone: sums are asked for anew, where fits stood they go on.

        They go on a little away from where they stood: a model that sites have answered at a point, whether or not the sum came to
        be, is not asked for again at that point over fewer sites. Units and locations stay: they only move columns.
        """
        options = replace(self.options, n_sites=self.options.n_sites - 1)
        starts = self.starts | {model: fit.beta for model, fit in self.fits.items() if len(fit.beta)}
        if self.options.effects is SiteEffects.JOINT:  # one block of parameters fewer: no point fits any more
            starts = {}
        rest = Sums(self.schema, options, self.runs, starts=starts, restarted=True)
        rest.exponents, rest.locations = self.exponents, self.locations
        rest.residual = self.residual.without_a_site()
        return rest

    def take(self, found: Surveyed) -> None:
        """Keep what a survey found. Exponents are agreed once: another unit would be another question."""
        self.counts |= found.counts
        if self.exponents is None:
            self.exponents = found.exponents

    def numbers(self) -> tuple[str, ...]:
        """The variables of the schema that are numbers: continuous ones and counts."""
        return tuple(name for name, variable in self.schema.items() if not variable.kind.is_discrete)

    def spread(self) -> tuple[str, ...]:
        """The numbers whose spreads may be asked for: all of them, but for those that too few sites state they contribute."""
        least = self.options.disclosure.min_contributors
        return tuple(n for n in self.numbers() if self.census is None or len(self.census.contributors((n,))) >= least)

    def withheld(self, variables: tuple[str, ...]) -> str:
        """Why no sum is made over a variable set, not even of its rows, whatever its counts; or the empty string."""
        return "" if self.census is None else self.census.refusal(variables)

    def counted(self, variables: tuple[str, ...]) -> tuple[int, int]:
        """Contributors and rows of a variable set; zeros if it must not be surveyed."""
        return self.counts.get(variables, (0, 0))

    def refusal(self, variables: tuple[str, ...]) -> str:
        """Why no sum is made over a variable set that is withheld or was surveyed, or the empty string."""
        return self.withheld(variables) or self.options.disclosure.refusal(*self.counts[variables])

    def rows(self, variables: tuple[str, ...]) -> int:
        """Rows complete on ``variables``, over all sites that hold them (which must have been surveyed)."""
        return self.counts[variables][1]

    def cover(self, sample: tuple[str, ...]) -> ProductsTotal | None:
        """Known cross-products over exactly the rows of ``sample``: of the set itself or of a larger one with as many rows.

        Rows complete on a superset are among those complete on the set, so equal counts mean equal rows.
        """
        if sample in self.products:
            return self.products[sample]
        # a scan, not an index: a study asks for some dozens of sets, since larger ones cover most of the smaller
        wanted, n = set(sample), self.rows(sample)
        for variables, found in self.products.items():
            if found.n == n and wanted.issubset(variables):
                return found
        return None

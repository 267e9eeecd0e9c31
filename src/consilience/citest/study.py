"""What the server of a study knows: its options, and every sum it has asked for so far.

Nothing here belongs to one site. What has been learnt is kept, so that no sum is asked for twice: a model that was fitted as the
unrestricted one of a test is there when it is the restricted one of the next.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np

from consilience.citest.question import Question
from consilience.citest.result import CIResult
from consilience.data.design import Model, column_names, null_loglik
from consilience.data.kinds import Kind
from consilience.data.schema import Schema
from consilience.glm.kernel import Floats
from consilience.glm.layout import Ordinal, SiteEffects
from consilience.glm.solver import Fit
from consilience.settings.choices import SingleSite
from consilience.settings.declaration import DEFAULTS
from consilience.settings.disclosure import OPEN, Disclosure

__all__ = ["OPEN", "Disclosure", "Model", "Options", "ProductsTotal", "SingleSite", "Study"]


@dataclass(frozen=True, slots=True)
class Options:
    """How models are fitted. ``always`` are predictors of every model (the site, where rows are pooled)."""

    effects: SiteEffects = DEFAULTS.site_effects
    ordinal: Ordinal = DEFAULTS.ordinal
    ridge: float = DEFAULTS.ridge
    n_sites: int = 1
    always: tuple[str, ...] = ()
    disclosure: Disclosure = OPEN


@dataclass(frozen=True, slots=True, eq=False)
class ProductsTotal:
    """Summed counts and cross-products of a variable set, addressed by variable."""

    n: float
    levels: dict[str, Floats]
    nulls: dict[str, float]
    gram: Floats
    columns: dict[str, list[int]]

    @staticmethod
    def read(vector: Floats, schema: Schema, variables: tuple[str, ...], effects: SiteEffects) -> ProductsTotal:
        """Unpack one set's part of an answer to ``Products``; without site effects the columns are centred here."""
        n, position = float(vector[0]), 1
        levels: dict[str, Floats] = {}
        for name in variables:
            count = len(schema[name].levels)
            if count:
                levels[name] = vector[position : position + count]
                position += count
        nulls = {name: float(vector[position + i]) for i, name in enumerate(levels)}
        if effects is SiteEffects.NONE:
            nulls = {name: null_loglik(counts) for name, counts in levels.items()}
        position += len(nulls)
        names = column_names(schema, variables)
        p = len(names)
        sums = vector[position : position + p]
        gram = np.zeros((p, p))
        gram[np.triu_indices(p)] = vector[position + p :]
        gram = gram + np.triu(gram, 1).T
        if effects is SiteEffects.NONE and n > 0:
            about_zero = np.diag(gram).copy()
            gram = gram - np.outer(sums, sums) / n
            # what is left of a constant column is rounding
            constant = np.diag(gram) <= 1e-24 * np.maximum(about_zero, n)
            gram[constant, :] = 0.0
            gram[:, constant] = 0.0
        columns: dict[str, list[int]] = {name: [] for name in variables}
        for i, (name, _) in enumerate(names):
            columns[name].append(i)
        return ProductsTotal(n, levels, nulls, gram, columns)


@dataclass(slots=True, eq=False)
class Study:
    """Schema, options, and what has been learnt.

    ``counts`` holds (contributors, rows) per variable set, ``products`` the cross-products, ``fits`` the finished models,
    ``starts`` where a model's next fit begins, ``finished`` the results that are there.
    """

    schema: Schema
    options: Options = field(default_factory=Options)
    runs: int = 0
    counts: dict[tuple[str, ...], tuple[int, int]] = field(default_factory=dict)
    exponents: dict[str, int] | None = None
    locations: dict[str, float] | None = None
    products: dict[tuple[str, ...], ProductsTotal] = field(default_factory=dict)
    fits: dict[Model, Fit] = field(default_factory=dict)
    starts: dict[Model, Floats] = field(default_factory=dict)
    finished: dict[Question, CIResult] = field(default_factory=dict)
    restarted: bool = False

    def without_a_site(self) -> Study:
        """A study of the sites that are left when one has gone: sums are asked for anew, where fits stood they go on.

        They go on a little away from where they stood: a model that sites have answered at a point, whether or not the sum came to
        be, is not asked for again at that point over fewer sites. Units and locations stay: they only move columns.
        """
        options = replace(self.options, n_sites=self.options.n_sites - 1)
        starts = self.starts | {model: fit.beta for model, fit in self.fits.items() if len(fit.beta)}
        if self.options.effects is SiteEffects.JOINT:  # one block of parameters fewer: no point fits any more
            starts = {}
        rest = Study(self.schema, options, self.runs, starts=starts, restarted=True)
        rest.exponents, rest.locations = self.exponents, self.locations
        return rest

    def continuous(self) -> tuple[str, ...]:
        """The continuous variables of the schema."""
        return tuple(name for name, variable in self.schema.items() if variable.kind is Kind.CONTINUOUS)

    def rows(self, variables: tuple[str, ...]) -> int:
        """Rows complete on ``variables``, over all sites that hold them (which must have been surveyed)."""
        return self.counts[variables][1]

    def cover(self, sample: tuple[str, ...]) -> ProductsTotal | None:
        """Known cross-products over exactly the rows of ``sample``: of the set itself or of a larger one with as many rows.

        Rows complete on a superset are among those complete on the set, so equal counts mean equal rows.
        """
        if sample in self.products:
            return self.products[sample]
        wanted, n = set(sample), self.rows(sample)
        for variables, found in self.products.items():
            if found.n == n and wanted.issubset(variables):
                return found
        return None

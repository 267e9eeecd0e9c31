"""Level counts and cross-products of variable sets: ranks, closed-form fits and starting points follow from their sums."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Annotated, NamedTuple

import numpy as np

from consilience.citest.question import Question
from consilience.citest.result import CIResult, Direction, silent, untold
from consilience.citest.rounding import ToldP
from consilience.data.design import Coding, column_names, n_columns, null_loglik
from consilience.data.kinds import Kind
from consilience.data.schema import Schema
from consilience.data.summing import cross_products_of
from consilience.glm.kernel import Floats
from consilience.glm.layout import Ordinal, upper
from consilience.protocol.desk import Desk
from consilience.protocol.guard import Guard
from consilience.protocol.request import MANY, Request, VariableSet
from consilience.settings.choices import Method
from consilience.wording import counted

__all__ = ["AloneAnswer", "Products", "ProductsRead", "ProductsTotal", "alone_words", "products_length"]

CONSTANT = 1e-24
"""What is left of a column's squares when its mean is taken out, as a share of them: below this it is rounding, and the column is constant.
(A column of doubles can be told from a constant down to relative differences of 1e-16, which is 1e-32 in squares; sums of a million rows
lose some of that.)"""

NO_VARIATION = 0.5
"""Two rows of two levels have the log-likelihood 2 log ½ = -1.39 under their own shares, and no rows that vary have more."""


class Products(Request, frozen=True, tag="products"):
    """Cross-products of all columns, per variable set.

    n, level counts, log-likelihoods of discrete variables without predictors, two numbers per count (its log-likelihood without predictors,
    the degrees of freedom that this leaves), column sums, upper triangle of the cross-products. Then, per question of ``alone``, an
    :class:`AloneAnswer` from the one site that can answer it and zeros from all others.

    >>> Products((("A", "C"),), {}, alone=(Question("C", "B"),)).samples()
    (('A', 'C'), ('B', 'C'))
    """

    sets: Annotated[tuple[VariableSet, ...], MANY]
    exponents: dict[str, int]
    locations: dict[str, float] | None = None
    alone: Annotated[tuple[Question, ...], MANY] = ()
    ordinal: Ordinal = Ordinal.PROPORTIONAL
    ridge: float = 0.0
    small_sample: bool = True

    def length(self, schema: Schema) -> int:
        """The sets, one after the other, then the questions for a site alone."""
        return sum(products_length(schema, variables) for variables in self.sets) + len(AloneAnswer._fields) * len(self.alone)

    def samples(self) -> tuple[VariableSet, ...]:
        """The sets, and the variables of the questions for a site alone."""
        return (*self.sets, *(q.variables for q in self.alone))

    def check(self, guard: Guard) -> None:
        """Sets and questions over the study's variables, in its units and with its models; enough terms in every sum.

        A question for a site alone passes only where the study allows such answers and the counts say that there is one such site.
        """
        guard.each_once(self.sets)
        for variables in self.sets:
            guard.knows(variables)
        guard.knows_questions(self.alone)
        guard.fits_like(self.ordinal, self.ridge, small_sample=self.small_sample)
        guard.not_too_large(self.samples())
        guard.is_method(Method.FEDCI)
        guard.moves_columns(moved=self.locations is not None)
        for variables in self.sets:
            guard.allows_sum(variables)
        for question in self.alone:
            guard.allows_alone(question.variables)
        guard.keeps_units(self.exponents)
        guard.keeps_locations(self.locations)

    def answer(self, desk: Desk, site: int) -> Floats:
        """The site's own counts and cross-products; zeros for a set it does not hold."""
        table, coding = desk.table, Coding(self.exponents, self.locations)
        parts: list[Floats] = []
        held = [variables for variables in self.sets if table.holds(variables)]
        products = dict(zip(held, cross_products_of(desk.averages, held, coding), strict=True))
        for variables in self.sets:
            if variables not in products:
                parts.append(np.zeros(products_length(table.schema, variables)))
                continue
            # log-likelihoods of the models without predictors ride along: the site has its level counts at hand, and whoever has them as
            # a sum over sites only could not tell them (each site has shares of its own)
            found = products[variables]
            triangle = found.gram[upper(len(found.sums))]
            parts += [np.array([float(found.n)]), found.levels, found.nulls, found.counted, found.sums, triangle]
        return np.concatenate([*parts, self._answer_alone(desk).ravel()])

    def _answer_alone(self, desk: Desk) -> Floats:
        """The questions that only one site can answer: zeros everywhere but there."""
        # In the same round and the same vector as the sums, so that nobody sees who answers: a message of its own would show it.
        vector, table = np.zeros((len(self.alone), len(AloneAnswer._fields))), desk.table
        mine = [i for i, q in enumerate(self.alone) if table.holds(q.variables) and table.complete(q.variables).n]
        results = desk.own_tests(tuple(self.alone[i] for i in mine), self.ordinal, self.ridge, self.small_sample)
        for i, result in zip(mine, results, strict=True):
            vector[i] = AloneAnswer.of(result)
        return vector

    def read(self, total: Floats, schema: Schema) -> ProductsRead:
        """The parts again, addressed by variable set and by question."""
        sets, position = dict[VariableSet, ProductsTotal](), 0
        for variables in self.sets:
            length = products_length(schema, variables)
            sets[variables] = ProductsTotal.read(
                total[position : position + length], schema, variables, Coding(self.exponents, self.locations)
            )
            position += length
        numbers = total[position:].reshape(-1, len(AloneAnswer._fields)).tolist()
        return ProductsRead(sets, {q: AloneAnswer(*row) for q, row in zip(self.alone, numbers, strict=True)})

    def words(self) -> str:
        """What is asked for, in words.

        >>> Products((("A", "C"),), {}, alone=(Question("C", "B"),)).words()
        'level counts and cross-products of 1 variable set (A, C); the rounded p-value of 1 test that one site alone can do'
        """
        sets = "; ".join(", ".join(variables) for variables in self.sets[:3]) + ("; …" if len(self.sets) > 3 else "")
        words = f"level counts and cross-products of {counted(len(self.sets), 'variable set')} ({sets})" if self.sets else ""
        alone = alone_words(len(self.alone))
        return "; ".join(part for part in (words, alone) if part) or "nothing"


def products_length(schema: Schema, variables: VariableSet) -> int:
    """Numbers per variable set in the answer to :class:`Products`.

    >>> products_length(Schema({"A": "continuous", "C": "binary"}), ("A", "C"))
    9
    """
    p = n_columns(schema, variables)
    levels = [len(schema[name].levels) for name in variables if schema[name].kind.is_discrete]
    counts = sum(schema[name].kind is Kind.COUNT for name in variables)
    return 1 + sum(levels) + len(levels) + 2 * counts + p + p * (p + 1) // 2


def alone_words(tests: int) -> str:
    """What leaves a site that does tests alone, in words.

    >>> alone_words(2), alone_words(0)
    ('the rounded p-values of 2 tests that one site alone can do', '')
    """
    return f"the rounded p-value{'' if tests == 1 else 's'} of {counted(tests, 'test')} that one site alone can do" if tests else ""


class AloneAnswer(NamedTuple):
    """All that leaves the one site that can do a test: the rounded p-value of both directions together, degrees of freedom, and flags.

    No statistic, and no p-value of one direction: in full precision either gives the site's table away, and two rounded ones would tell
    more than one. ``digits`` and ``exponent`` are a :class:`~consilience.citest.rounding.ToldP`. ``flags`` adds 1 (converged), 2 (a level
    is predicted perfectly with y as the response) and 4 (with x as the response). ``df`` is zero where a direction cannot tell.
    """

    digits: float
    exponent: float
    df_y: float
    df_x: float
    flags: float

    @staticmethod
    def of(result: CIResult) -> AloneAnswer:
        """Site: pack a result of its own."""
        by_y, by_x = result.directions
        flags = result.converged + 2 * by_y.separated + 4 * by_x.separated
        told = ToldP.of(result.log_p) if result.informative else ToldP(0.0, 0.0)
        return AloneAnswer(*told, by_y.df, by_x.df, flags)

    @property
    def p_value(self) -> float:
        """Server: the p-value, as rounded by the site; decisions rest on this number."""
        return ToldP(self.digits, self.exponent).p_value if round(self.df_y) or round(self.df_x) else 1.0

    def directions(self, question: Question) -> tuple[Direction, ...]:
        """Server: the two directions again, without numbers: statistics, p-values and log-likelihoods stayed at the site."""
        reason = "the one site that measures these variables cannot tell from its rows"
        found, flags = list[Direction](), round(self.flags)
        for response, predictor, df, bit in (
            (question.y, question.x, round(self.df_y), 2),
            (question.x, question.y, round(self.df_x), 4),
        ):
            if df == 0:
                found.append(silent(response, predictor, reason, converged=bool(flags & 1)))
            else:
                found.append(untold(response, predictor, df, separated=bool(flags & bit)))
        return tuple(found)


class ProductsRead(NamedTuple):
    """What a sum of answers says: cross-products per variable set, and the answers of single sites per question."""

    sets: dict[VariableSet, ProductsTotal]
    alone: dict[Question, AloneAnswer]


@dataclass(frozen=True, slots=True, eq=False)
class ProductsTotal:
    """Summed counts and cross-products of a variable set, addressed by variable.

    ``degrees`` are, for each count, the rows less the means that were fitted to them (see :func:`consilience.data.counts.count_sums`);
    ``means`` its mean over all sites, which is known only where sites have no intercepts of their own; ``centres`` are the means of
    numbers about the common locations, in their units, and known only there as well.
    ``within`` says of a discrete variable whether it varies within some site.
    """

    n: float
    levels: dict[str, Floats]
    nulls: dict[str, float]
    within: dict[str, bool]
    gram: Floats
    columns: dict[str, list[int]]
    degrees: dict[str, float] = field(default_factory=dict)
    means: dict[str, float] = field(default_factory=dict)
    centres: dict[str, float] = field(default_factory=dict)

    @staticmethod
    def read(vector: Floats, schema: Schema, variables: VariableSet, coding: Coding) -> ProductsTotal:
        """One set's part of a sum. Where columns have common locations (no site effects), they are centred here."""
        n, position, common = float(vector[0]), 1, not coding.centre_at_site
        levels: dict[str, Floats] = {}
        for name in variables:
            count = len(schema[name].levels)
            if count:
                levels[name] = vector[position : position + count]
                position += count
        nulls = {name: float(vector[position + i]) for i, name in enumerate(levels)}
        # where each site has one level only, its own shares predict every row: the sum is zero, but for the rounding of a ring
        within = {name: null < -NO_VARIATION for name, null in nulls.items()}
        if common:  # one intercept for all sites: the null model is that of the summed counts, not the sum of null models
            nulls = {name: null_loglik(counts) for name, counts in levels.items()}
        position += len(levels)
        counts = [name for name in variables if schema[name].kind is Kind.COUNT]
        counted = vector[position : position + 2 * len(counts)].reshape(-1, 2)
        nulls |= {name: float(null) for name, null in zip(counts, counted[:, 0], strict=True)}
        degrees = {name: float(np.rint(left)) for name, left in zip(counts, counted[:, 1], strict=True)}
        means: dict[str, float] = {}
        position += 2 * len(counts)
        names = column_names(schema, variables)
        p = len(names)
        sums = vector[position : position + p]
        gram = np.zeros((p, p))
        gram[upper(p)] = vector[position + p :]
        gram = gram + np.triu(gram, 1).T
        if common and n > 0:
            gram = _centred(gram, sums, n)
        columns: dict[str, list[int]] = {name: [] for name in variables}
        for i, (name, _) in enumerate(names):
            columns[name].append(i)
        for name in counts if common and n > 0 else ():
            rest = float(np.ldexp(sums[columns[name][0]], coding.exponents.get(name, 0)))
            total = float(np.rint(n * (coding.locations or {}).get(name, 0.0) + rest))  # counts: a whole number
            nulls[name] += total * math.log(total / n / (coding.about(name) or 1.0)) if total > 0 else 0.0
            degrees[name] -= 1.0
            means[name] = total / n
        numbers = [name for name in variables if not schema[name].kind.is_discrete] if common and n > 0 else []
        centres = {name: float(sums[columns[name][0]]) / n for name in numbers}
        return ProductsTotal(n, levels, nulls, within, gram, columns, degrees, means, centres)


def _centred(gram: Floats, sums: Floats, n: float) -> Floats:
    about_zero = np.diag(gram).copy()
    gram = gram - np.outer(sums, sums) / n
    constant = np.diag(gram) <= CONSTANT * np.maximum(about_zero, n)
    gram[constant, :] = 0.0
    gram[:, constant] = 0.0
    return gram

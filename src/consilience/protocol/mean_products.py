"""Cross-products of the columns of smooth means with each other and with their responses: fits in closed form follow from their sums."""

from __future__ import annotations

from typing import Annotated, NamedTuple

import msgspec
import numpy as np

from consilience.data.basis import Expansion, Widths, widths
from consilience.data.responses import Coded, n_responses
from consilience.data.schema import Schema
from consilience.data.spline import NESTED
from consilience.data.table import Rows, Table
from consilience.glm.kernel import Floats
from consilience.glm.layout import upper
from consilience.protocol.desk import Desk, Smoothing
from consilience.protocol.errors import OutsideSchemaError, WrongShapeError
from consilience.protocol.expanded import bench_of
from consilience.protocol.guard import Guard
from consilience.protocol.request import MANY, Request, VariableSet
from consilience.settings.choices import Alternatives, Method
from consilience.wording import counted

__all__ = ["MeanProducts", "MeanSet", "MeanTotal", "check_expansion", "check_responses", "own_sample"]

ROWS_PER_COLUMN = 2
"""Rows that there must be for each common column: cross-products of as many columns as rows would be the rows themselves, turned."""
MOST_PIECES = 64


class MeanSet(msgspec.Struct, frozen=True):
    """One expansion over the complete rows of a sample, and the variables whose means are wanted.

    A response need not be among the variables of the sample, but must have a value in all its rows: a site where it has not sends zeros for
    it. So all tests over the same rows share one set, whatever their variables.
    """

    sample: VariableSet
    expansion: Expansion
    responses: tuple[str, ...]


class MeanTotal(NamedTuple):
    """Sums of a set: rows, parameters kept at sites, cross-products of columns; per response those with it and of its own
    columns, and counts of its levels.
    """

    n: float
    local: float
    gram: Floats
    products: dict[str, Floats]
    squares: dict[str, Floats]
    counts: dict[str, Floats]


class MeanProducts(Request, frozen=True, tag="means"):
    """Per set: rows, local parameters, upper triangle of the columns' cross-products; per response its products with them, its own, and
    counts of its levels if it has some.

    Every site first regresses all columns on its own intercept and, with ``slopes``, on its own lines of the conditioning variables.
    """

    sets: Annotated[tuple[MeanSet, ...], MANY]
    coded: Coded
    slopes: bool
    features: bool

    def length(self, schema: Schema) -> int:
        """The sets, one after the other."""
        return sum(self._length(each, schema) for each in self.sets)

    def _length(self, each: MeanSet, schema: Schema) -> int:
        p = widths(schema, each.expansion, self.coded.knots).all
        sizes = {name: n_responses(schema, name, features=self.features) for name in each.responses}
        return 2 + p * (p + 1) // 2 + sum(p * q + q * (q + 1) // 2 + len(schema[name].levels) for name, q in sizes.items())

    def samples(self) -> tuple[VariableSet, ...]:
        """The samples, and those of single means, each once."""
        own = (own_sample(each.expansion, name) for each in self.sets for name in each.responses)
        return tuple(dict.fromkeys((*(each.sample for each in self.sets), *own)))

    def check(self, guard: Guard) -> None:
        """Sets over the study's variables, as agreed, with enough terms in every sum and not too many columns for them."""
        guard.not_too_large(self.samples())
        guard.is_method(Method.RESIDUAL)
        guard.reads_coding(self.coded)
        guard.expands_like(slopes=self.slopes, features=self.features)
        summed = {each.sample for each in self.sets}
        for variables in self.samples():
            guard.knows(variables)
            if variables in summed or not guard.withheld(variables):  # nothing is summed over a mean's own variables alone
                guard.allows_sum(variables)
        for each in self.sets:
            for name in each.responses:  # which sites have it in all rows of the sample: a sum over these
                together = tuple(sorted({*each.sample, name}))
                guard.may_count(together)
                guard.enough_contribute(together)
            check_expansion(each.sample, each.expansion, each.responses, self.coded, guard)
        guard.keeps_coding(self.coded)

    def answer(self, desk: Desk, site: int) -> Floats:
        """The site's own cross-products; zeros for a sample it does not hold."""
        table, bench = desk.table, bench_of(desk, self.coded)
        parts: list[Floats] = [np.empty(0)]
        for each in self.sets:
            rows = table.complete(each.sample) if table.holds(each.sample) else None
            if rows is None or rows.n == 0:
                parts.append(np.zeros(self._length(each, table.schema)))
                continue
            there = tuple(name for name in each.responses if bench.has(name, each.sample))
            found, extra = bench.swept(each.expansion, rows, there, Smoothing(self.slopes, self.features))
            p = bench.widths(each.expansion).all
            columns = slice(extra, extra + p)
            parts += [np.array([float(found.n), float(found.rank)]), found.gram[columns, columns][upper(p)]]
            at = extra + p
            for name in each.responses:
                q = n_responses(table.schema, name, features=self.features)
                if name not in there:
                    parts.append(np.zeros(p * q + q * (q + 1) // 2 + len(table.schema[name].levels)))
                    continue
                own = slice(at, at + q)
                parts += [found.gram[columns, own].ravel(), found.gram[own, own][upper(q)], _level_counts(table, name, rows)]
                at += q
        return np.concatenate(parts)

    def read(self, total: Floats, schema: Schema) -> list[MeanTotal]:
        """The sums, in the order of the sets."""
        found, at = list[MeanTotal](), 0

        def triangle(size: int) -> Floats:
            nonlocal at
            whole = np.zeros((size, size))
            rows, cols = upper(size)
            whole[rows, cols] = whole[cols, rows] = total[at : at + len(rows)]
            at += len(rows)
            return whole

        for each in self.sets:
            wide: Widths = widths(schema, each.expansion, self.coded.knots)
            n, local = float(np.rint(total[at])), float(np.rint(total[at + 1]))
            at += 2
            gram = triangle(wide.all)
            products, squares, counts = dict[str, Floats](), dict[str, Floats](), dict[str, Floats]()
            for name in each.responses:
                q = n_responses(schema, name, features=self.features)
                products[name] = total[at : at + wide.all * q].reshape(wide.all, q)
                at += wide.all * q
                squares[name] = triangle(q)
                counts[name] = np.rint(total[at : at + len(schema[name].levels)])
                at += len(counts[name])
            found.append(MeanTotal(n, local, gram, products, squares, counts))
        return found

    def words(self) -> str:
        """What is asked for, in words.

        >>> MeanProducts((MeanSet(("A", "B"), Expansion(("A",)), ("B",)),), Coded({}), True, False).words()
        'cross-products for smooth means of B, given 1 set of variables'
        """
        names = sorted({name for each in self.sets for name in each.responses})
        sets = counted(len({each.expansion.given for each in self.sets}), "set")
        return f"cross-products for smooth means of {', '.join(names) or 'nothing'}, given {sets} of variables"


def _level_counts(table: Table, name: str, rows: Rows) -> Floats:
    if name not in table.codes:
        return np.empty(0)
    codes = table.codes[name] if rows.index is None else table.codes[name][rows.index]
    return np.bincount(codes, minlength=len(table.schema[name].levels)).astype(np.float64)


def own_sample(expansion: Expansion, response: str) -> VariableSet:
    """The variables of one mean.

    >>> own_sample(Expansion(("B",)), "A")
    ('A', 'B')
    """
    return tuple(sorted((*expansion.given, response)))


def check_expansion(sample: VariableSet, expansion: Expansion, responses: tuple[str, ...], coded: Coded, guard: Guard) -> int:
    """Columns that the study can have asked for: of variables of the sample, on agreed knots, and few enough for its rows. So many."""
    given = expansion.given
    guard.knows(given)
    if not set(given) <= set(sample) or list(given) != sorted(given) or list(sample) != sorted(sample):
        raise OutsideSchemaError(f"The variables of a mean must be sorted and among its sample; got {', '.join((*given, *sample))}.")
    schema = guard.table.schema
    if not 0 <= expansion.pieces <= MOST_PIECES or not -1 <= expansion.short <= MOST_PIECES:
        raise WrongShapeError(f"A curve has up to {MOST_PIECES} pieces; got {expansion.pieces} and {expansion.short}.")
    if guard.terms.min_cell > 1 and not {expansion.pieces, max(expansion.short, 0)} <= set(NESTED):
        allowed = ", ".join(map(str, NESTED))
        raise WrongShapeError(
            f"With min_cell, curves have {allowed} pieces, whose knots nest; got {expansion.pieces} and {expansion.short}."
        )
    for name in expansion.given:
        if not schema[name].kind.is_discrete and name not in coded.knots:
            raise WrongShapeError(f"A curve of {name!r} needs its knots; got none.")
    check_responses(expansion, responses, coded, guard)
    columns = widths(schema, expansion, coded.knots).all
    guard.leaves_rows(sample, columns, ROWS_PER_COLUMN)
    return columns


def check_responses(expansion: Expansion, responses: tuple[str, ...], coded: Coded, guard: Guard) -> None:
    """Variables whose means can be modelled: others than those given, with scores of their levels or knots where they need them."""
    guard.knows((*expansion.given, *responses))
    schema = guard.table.schema
    for name in responses:
        if schema[name].kind.value == "ordinal" and name not in coded.scores:
            raise WrongShapeError(f"The mean of {name!r} needs scores of its levels; got none.")
        if guard.terms.alternatives is Alternatives.SMOOTH and not schema[name].kind.is_discrete and name not in coded.knots:
            raise WrongShapeError(f"Features of {name!r} need its knots; got none.")

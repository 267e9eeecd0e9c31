"""The shield: what of a site's table takes part in a study, decided by the site from its own table alone.

*What can be worked out.* Whatever is summed over the rows that have values for a set R of variables is, at one site, a sum over those of
its groups of rows (:mod:`consilience.disclosure.fold`) whose variables contain R. So every combination of sums over any sets, of this run
and of others with more or fewer sites, is for this site a combination of sums over its groups. Groups do not overlap. If each of them has
at least ``min_rows`` rows, and each level occurs in it not at all or at least ``min_cell`` times, then the same is true of every part of
the site that can be singled out: nobody can single out less than a group.

*Why no site relies on another.* Sites that contribute the same variables always stand in a sum together, and it seems enough if their rows
*together* are many and their levels not rare. It is not, for three reasons. (1) Whoever works with the server takes his own part out of the
sum; what is left is the other's. (2) He may say that he has the rows, or the level, and have none. (3) The sums themselves tell the sites
apart: level counts are summed as they are, and their squares divided by the site's rows (in cross-products that are centred at the site),
and their logarithms (in likelihoods). Of two sites with c₁ and c₂ rows of a level, c₁ + c₂ and c₁²/n₁ + c₂²/n₂ are known, for every level,
and n₁ + n₂: as many equations as unknowns. So the rule holds at each site by itself, whatever others are, say or pass on. There is
nothing to believe, and at a site without gaps it costs fewer than ``min_cell`` rows per level.

*Strict.* Nothing is to be about one site alone, so which rows are in a sum must not depend on the variables: a site keeps the variables
that are worth most, and the rows that have all of them. Variables that have one value in all these rows are not contributed: centred, they
are zero, and a sum over two sites of which one adds zero is the other's. (Which hospital treats women only is no secret.)

*Several levels together.* The cross-products of a group hold how many of its rows have level a of one variable and level b of another, and
that can be a small number. Leaving out rows by pairs of levels would make the pair dependent, and is not done. With ``cells="refuse"`` a
site stays out of sums over such variables (:mod:`consilience.disclosure.cells`); with ``"told"`` its owner reads of it before consent.

*What is not hidden.* Numbers: a sum
over many rows of which one is far off is mostly that one, and a number that is zero but for few rows counts them. Other studies: with other
variables, other limits or newer data a site leaves out other rows, and sums over the same variables in two studies may differ by few rows.
"""

from __future__ import annotations

import hashlib
from typing import NamedTuple

import msgspec
import numpy as np
from numpy.typing import NDArray

from consilience.data.streamed import Streamed
from consilience.data.table import Table
from consilience.disclosure.cells import apart_of
from consilience.disclosure.fold import Limits, RareLevel, fold, narrow, worth
from consilience.disclosure.patterns import Patterns, columns_of, patterns_of
from consilience.disclosure.statement import Statement, stated_apart
from consilience.settings.choices import Cells, Isolation
from consilience.settings.declaration import DEFAULTS
from consilience.settings.terms import Terms

__all__ = ["LeftOut", "Shielded", "shield"]

MOST_TRIED = 8
"""Sets of variables that are tried where only complete rows may stay: which is best depends on levels that are rare among these rows."""


class LeftOut(NamedTuple):
    """Why rows are left out, for the owner of a site.

    ``levels`` are too rare. ``others`` are rows that lack values, where too few other rows lack the same, or where only complete rows may
    stay; and all rows of a site that has too few. ``hidden`` are values of rows that stay, and of ``variables`` none is left.
    """

    levels: tuple[RareLevel, ...] = ()
    others: int = 0
    hidden: int = 0
    variables: tuple[str, ...] = ()


class Shielded(NamedTuple):
    """What of a table takes part, what the site says of it to everybody, and, for its owner, what is left out and why.

    ``rows_before`` and ``rows_left_out`` are of rows that have a value of any variable of the study. ``cells`` is the rule on levels of
    several variables together that it was made by.
    """

    table: Table
    statement: Statement
    rows_left_out: int
    values_left_out: int
    rows_before: int
    left_out: LeftOut = LeftOut()
    cells: Cells = DEFAULTS.cells

    def digest(self) -> bytes:
        """Of the rows that take part, in whatever order they stand. For the site's own memory: it tells whether they have changed since a
        study began, since sums before and after would differ by the rows that did. Never sent: who guesses all rows could check it.

        >>> import polars as pl
        >>> from consilience.data.schema import Schema
        >>> schema = Schema({"A": "continuous"})
        >>> one, two, three = (Table(pl.DataFrame({"A": a}), schema, "muenster") for a in ([1.0, 2.0], [2.0, 1.0], [1.0, 3.0]))
        >>> digests = [shield(table, Terms(), 1).digest() for table in (one, two, three)]
        >>> digests[0] == digests[1], digests[0] == digests[2]
        (True, False)
        """
        table, names = self.table, columns_of(self.table)
        if isinstance(table, Streamed):
            return hashlib.sha256(msgspec.msgpack.encode((names, table.sum_of_rows()))).digest()
        columns = [table.codes[name].astype(np.float64) if name in table.codes else table.numbers[name] for name in names]
        if table.cluster is not None:
            columns.append(table.cluster.astype(np.float64))
        rows = np.stack([*columns, np.zeros(table.n_rows)], axis=1) + 0.0  # no -0.0; and never without a column
        rows[np.isnan(rows)] = np.nan  # one of the many
        found = hashlib.sha256(msgspec.msgpack.encode(names))
        found.update(np.sort(np.ascontiguousarray(rows, dtype="<f8").view(f"V{8 * rows.shape[1]}"), axis=0).tobytes())
        return found.digest()


def shield(table: Table, terms: Terms, min_cell: int, cells: Cells = DEFAULTS.cells) -> Shielded:
    """What of ``table`` takes part under ``terms``, with levels of at least ``min_cell`` rows. ``cells`` is the site's own rule on several
    levels together, where it is more than the study's.

    >>> import polars as pl
    >>> from consilience.data.schema import Schema
    >>> schema = Schema({"A": "continuous", "E": ("multinomial", "pqr")})
    >>> table = Table(pl.DataFrame({"A": [0.5] * 32, "E": ["p"] * 15 + ["q"] * 15 + ["r"] * 2}), schema, "muenster")
    >>> found = shield(table, Terms(min_cell=5), 5)
    >>> found.table.n_rows, found.rows_left_out, found.statement
    (30, 2, Statement(variables=('A', 'E'), whole=True, rows=10, apart=(), most=0))
    >>> shield(table, Terms(), 1).table is table
    True
    """
    found = _without_rare_levels(table, terms, min_cell)
    if Cells.REFUSE not in (terms.cells, cells) or min_cell <= 1:  # where no count is small, no cell is
        return found
    apart = apart_of(found.table, min_cell)
    sets, most = stated_apart(apart, table.schema)
    return found._replace(
        table=found.table if apart is None else found.table.keeping(apart),
        statement=msgspec.structs.replace(found.statement, apart=sets, most=most),
        cells=Cells.REFUSE,
    )


def _without_rare_levels(table: Table, terms: Terms, min_cell: int) -> Shielded:
    before, strict = patterns_of(table), terms.isolation is Isolation.STRICT
    rows = _rows(before)
    if min_cell == 1 and not strict:
        return Shielded(table, _statement(before, terms.min_rows), 0, 0, rows)
    # a difference of fewer rows than min_cell is a small count, too
    after, levels = (_fold_complete if strict else fold)(table, before, Limits(max(terms.min_rows, min_cell), min_cell))
    statement = _statement(after, terms.min_rows)
    lost = _lost(before, after)
    values = sum(before.count(mask) for mask in lost.values())
    if values == 0:  # not even a copy: whatever is cached for the table stays
        return Shielded(table, statement, 0, 0, rows)
    there = after.of_row >= 0
    stays = np.flatnonzero(there)
    left = rows - before.count(there)
    hidden = sum(before.count(mask & there) for mask in lost.values())
    gone = tuple(name for name in lost if name not in statement.variables)
    why = LeftOut(levels, left - sum(level.rows for level in levels), hidden, gone)
    return Shielded(table.subset(stays, lost), statement, left, values, rows, why)


def _rows(patterns: Patterns) -> int:
    """Rows that have a value."""
    return int(patterns.rows[patterns.has.any(axis=1)].sum())


def _fold_complete(table: Table, before: Patterns, limits: Limits) -> tuple[Patterns, tuple[RareLevel, ...]]:
    """One group of complete rows, without variables that do not vary in it: the best that comes of a few sets of variables."""
    found: tuple[Patterns, tuple[RareLevel, ...]] | None = None
    for kept in narrow(before.has, before.rows.astype(np.int64))[:MOST_TRIED]:
        whole = before.has[:, kept].all(axis=1)
        start = before._replace(has=np.array([kept, np.zeros_like(kept)]), of_row=np.where(whole, 0, 1)[before.of_row])
        folded, levels = fold(table, start, limits)
        one = _varying(table, folded), levels
        found = one if found is None or worth(one[0]) > worth(found[0]) else found
        if worth(found[0]) == worth(before):
            break
    return found or fold(table, before, limits)


def _varying(table: Table, patterns: Patterns) -> Patterns:
    """The same rows, without the variables that have one value in all of them."""
    rows = np.flatnonzero(patterns.of_row >= 0)
    varies = np.array([len(rows) > 0 and table.varies(name, rows) for name in patterns.columns], dtype=np.bool_)
    has = patterns.has & varies
    return patterns._replace(has=has, of_row=patterns.of_row if has.any() else np.full_like(patterns.of_row, -1))


def _lost(before: Patterns, after: Patterns) -> dict[str, NDArray[np.bool_]]:
    """Of every column that loses values, in which rows."""
    lost = dict[str, NDArray[np.bool_]]()
    for j, name in enumerate(before.columns):
        has = np.append(after.has[:, j], False)[after.of_row]  # the last is that of rows that are left out, -1
        mask = before.has[:, j][before.of_row] & ~has
        if mask.any():
            lost[name] = mask
    return lost


def _statement(patterns: Patterns, min_rows: int) -> Statement:
    groups = patterns.has[patterns.has.any(axis=1)]
    names = tuple(name for j, name in enumerate(patterns.columns) if groups[:, j].any())
    return Statement(names, len(np.unique(groups, axis=0)) <= 1, min(_rows(patterns), min_rows))

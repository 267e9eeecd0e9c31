"""What a server can work out from the sums of a run: a record of all that it sees, and linear algebra on it.

The adversary is passive unless a test says otherwise: it follows the protocol, keeps every sum, and knows what the sites' statements say
(who contributes which variables) and, to be on the safe side, which variables have missing values where. It never sees a table or an
unmasked answer. Everything here works with the public entry points and a record around the server's transport.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations, product
from typing import Any, NamedTuple

import numpy as np
import polars as pl

import consilience as cs
from consilience.data.design import column_names
from consilience.data.schema import Schema
from consilience.glm.kernel import Floats
from consilience.protocol.local_tests import LocalTests
from consilience.protocol.mean_products import MeanProducts
from consilience.protocol.messages import Announced
from consilience.protocol.products import Products
from consilience.protocol.request import Request
from consilience.protocol.residual_products import ResidualProducts
from consilience.protocol.survey import Survey

Variables = tuple[str, ...]
ROUNDING = 1e-7
"""Least squares of ones and zeros end this close to what they can reach."""


class Seen(NamedTuple):
    """One round, as its server sees it: the sites that were asked, the request, the sum."""

    sites: frozenset[str]
    request: Request
    total: Floats


class Record:
    """Every round of a server from now on. It stands where the server stands: behind the masks."""

    def __init__(self, server: cs.Server) -> None:
        self.schema, self.seen = server.schema, list[Seen]()
        transport, ask = server._transport, server._transport.ask

        def listening(request: Any, announced: Sequence[Announced]) -> Floats:
            sites = frozenset(transport.names)
            total = ask(request, announced)
            self.seen.append(Seen(sites, request, np.array(total)))
            return total

        transport.ask = listening  # type: ignore[method-assign]

    def sums(self) -> list[Released]:
        """All cross-products with their counts of rows and levels, in the variables' own units."""
        found = list[Released]()
        for sites, request, total in self.seen:
            if isinstance(request, Products):
                for variables, read in request.read(total, self.schema).sets.items():
                    names = column_names(self.schema, variables)
                    unit = np.array([2.0 ** request.exponents.get(name, 0) for name, _ in names])
                    part = Part(self.schema, variables, read.n, dict(read.levels), read.gram * np.outer(unit, unit))
                    found.append(Released(sites, variables, part))
        return found

    def asked(self) -> set[tuple[frozenset[str], Variables]]:
        """Every variable set whose rows were in a sum of any kind, counts included, with the sites that were asked."""
        found = set[tuple[frozenset[str], Variables]]()
        for sites, request, _ in self.seen:
            found |= {(sites, variables) for variables in _summed(request)}
        return found

    def counts(self) -> list[tuple[frozenset[str], Variables, int, int]]:
        """What was said of rows alone: sites asked, variables, contributors, rows; by surveys and by Fisher's counts."""
        found = list[tuple[frozenset[str], Variables, int, int]]()
        for sites, request, total in self.seen:
            if isinstance(request, Survey):
                for variables, (contributors, rows) in request.read(total, self.schema).counts.items():
                    found.append((sites, variables, contributors, rows))
            elif isinstance(request, LocalTests) and request.count:
                for question, (able, rows) in request.read(total, self.schema).items():
                    found.append((sites, question.variables, int(able), int(rows)))
        return found


@dataclass(frozen=True, eq=False)
class Part:
    """Counts of rows and levels, and cross-products about the means of sites: of some sites, some rows, or a combination of such."""

    schema: Schema
    variables: Variables
    n: float
    levels: dict[str, Floats]
    gram: Floats

    def over(self, variables: Variables) -> Part:
        """The same rows, fewer variables."""
        names, wanted = column_names(self.schema, self.variables), column_names(self.schema, variables)
        at = [names.index(name) for name in wanted]
        return Part(self.schema, variables, self.n, {v: c for v, c in self.levels.items() if v in variables}, self.gram[np.ix_(at, at)])

    def weighted(self, weight: float) -> Part:
        return Part(self.schema, self.variables, weight * self.n, {v: weight * c for v, c in self.levels.items()}, weight * self.gram)

    def plus(self, other: Part) -> Part:
        levels = {v: c + other.levels[v] for v, c in self.levels.items()}
        return Part(self.schema, self.variables, self.n + other.n, levels, self.gram + other.gram)

    def minus(self, other: Part) -> Part:
        return self.plus(other.weighted(-1.0))

    @property
    def rows(self) -> int:
        return round(self.n)

    @property
    def cells(self) -> list[int]:
        """Every level count."""
        return [round(count) for counts in self.levels.values() for count in counts.tolist()]


class Released(NamedTuple):
    """A sum: over which sites it was asked for, over which variables, and what it is."""

    sites: frozenset[str]
    variables: Variables
    part: Part


class Knowledge(NamedTuple):
    """What an adversary knows of a site before any sum: its variables, and which of them lack values in some rows."""

    variables: frozenset[str]
    gaps: frozenset[str] = frozenset()


Unit = tuple[str, frozenset[str]]
"""A site's rows that are complete on some of its variables with gaps: what enters a sum as one thing, centred by itself."""


def knowledge_of(frames: Mapping[str, pl.DataFrame]) -> dict[str, Knowledge]:
    """The most that an adversary can know without a number."""
    return {
        site: Knowledge(frozenset(frame.columns), frozenset(c for c in frame.columns if frame[c].null_count()))
        for site, frame in frames.items()
    }


def units(released: Released, known: Mapping[str, Knowledge]) -> list[Unit]:
    """Whose rows, and which of them, are in a sum."""
    wanted = set(released.variables)
    return [(site, known[site].gaps & wanted) for site in sorted(released.sites) if wanted <= known[site].variables]


def combine(sums: Sequence[Released], known: Mapping[str, Knowledge], target: Mapping[Unit, float], variables: Variables) -> Part | None:
    """The combination of sums that is the ``target`` (a weight for each unit), over ``variables``; None if no combination is.

    Sums over more variables hold those over fewer: their rows and columns are picked out first.
    """
    useful = [r for r in sums if set(variables) <= set(r.variables)]
    columns = sorted({unit for r in useful for unit in units(r, known)} | set(target), key=lambda u: (u[0], sorted(u[1])))
    matrix = np.array([[float(unit in units(r, known)) for unit in columns] for r in useful]).reshape(len(useful), len(columns))
    wanted = np.array([target.get(unit, 0.0) for unit in columns])
    weights = np.linalg.lstsq(matrix.T, wanted, rcond=None)[0] if useful else np.empty(0)
    if not useful or np.abs(matrix.T @ weights - wanted).max() > ROUNDING:
        return None
    parts = [r.part.over(variables).weighted(weight) for r, weight in zip(useful, weights.tolist(), strict=True)]
    found = parts[0]
    for part in parts[1:]:
        found = found.plus(part)
    return found


def alone(sums: Sequence[Released], known: Mapping[str, Knowledge], site: str, variables: Variables) -> Part | None:
    """One site's own sums over ``variables``, by subtracting sums from each other; None if that does not single it out."""
    gaps = [frozenset(gap) for gap in _subsets(known[site].gaps)]
    for gap in gaps:
        found = combine(sums, known, {(site, gap): 1.0}, variables)
        if found is not None:
            return found
    return None


def between(sums: Sequence[Released], known: Mapping[str, Knowledge], site: str, lacking: str, variables: Variables) -> Part | None:
    """What the rows of a site that have no value of ``lacking`` add to sums over ``variables``; None if they do not come out.

    Their number and their level counts are exact. Their cross-products come with what lies between their mean and that of the others.
    """
    some = frozenset({lacking})
    for gap in _subsets(known[site].gaps - some):
        found = combine(sums, known, {(site, frozenset(gap)): 1.0, (site, frozenset(gap) | some): -1.0}, variables)
        if found is not None:
            return found
    return None


def fewest(sums: Sequence[Released], known: Mapping[str, Knowledge], most: int) -> int:
    """The least number of sites that a combination of sums over the same variables is about, if it is at most ``most``; else one more.

    By ranks: a combination that is about the sites T alone exists if the columns of all other sites have a smaller rank than all columns.
    """
    names = sorted(known)
    for size in range(1, most + 1):
        for few in combinations(names, size):
            for variables in {r.variables for r in sums}:
                useful = [r for r in sums if set(variables) <= set(r.variables)]
                columns = sorted({u for r in useful for u in units(r, known)}, key=lambda u: (u[0], sorted(u[1])))
                matrix = np.array([[float(u in units(r, known)) for u in columns] for r in useful])
                others = [i for i, (site, _) in enumerate(columns) if site not in few]
                if np.linalg.matrix_rank(matrix) > (np.linalg.matrix_rank(matrix[:, others]) if others else 0):
                    return size
    return most + 1


def parts_of_sites(sums: Sequence[Released], known: Mapping[str, Knowledge]) -> list[tuple[str, Part]]:
    """Everything about one site that comes out: its sums, and what each pattern of missing values adds to them."""
    found = list[tuple[str, Part]]()
    for variables in {tuple(sorted(s)) for r in sums for s in _subsets(r.variables) if s}:
        for site, what in known.items():
            if not set(variables) <= what.variables:
                continue
            own = alone(sums, known, site, variables)
            rows = [between(sums, known, site, gap, variables) for gap in sorted(what.gaps - set(variables))]
            found += [(site, part) for part in (own, *rows) if part is not None]
    return found


def too_small(part: Part, min_rows: int, min_cell: int) -> bool:
    """True if a part breaks the rules: few rows, or a level of few rows."""
    return 0 < part.rows < min_rows or any(0 < cell < min_cell for cell in part.cells)


def deviation(part: Part) -> Floats:
    """Of a part that is one row: that row less the mean of the others, up to sign and the factor √(n/(n + 1)).

    A row x beside n rows with mean m adds (x - m)(x - m)' n/(n + 1) to their centred cross-products: a matrix of rank one.
    """
    values, vectors = np.linalg.eigh(part.gram)
    assert abs(values[0]) < 1e-6 * values[-1], "not one row"
    return np.sqrt(values[-1]) * vectors[:, -1]


def sites_apart(part: Part, name: str, sites: int) -> list[list[list[int]]]:
    """Level counts of each of several sites, from their sum: all tables of whole numbers that fit the centred cross-products.

    For each level the sum holds Σ c and, centred at the sites, Σ c²/n; for each two levels Σ cd/n. Every n is tried, and for every level
    all counts but the last two sites', which follow from a quadratic equation: hardly any are whole. (The first level's follow from the
    others'.) Sites come by their rows; which is which is not said.
    """
    total, gram = part.levels[name][1:], part.over((name,)).gram
    squares = np.diag(total) - gram  # Σ over sites of c d / n
    found = list[list[list[int]]]()
    for rows in _parts(part.rows, sites):
        options = list[list[tuple[int, ...]]]()
        for level, count in enumerate(np.rint(total).astype(int).tolist()):
            options.append(_whole(count, squares[level, level], rows))
            if not options[-1]:
                break
        else:
            for chosen in product(*options):
                counts, sizes = np.array(chosen).T, np.array(rows)
                first = sizes - counts.sum(axis=1)
                if (first >= 0).all() and np.allclose((counts / sizes[:, None]).T @ counts, squares, atol=1e-6):
                    found.append(np.column_stack([first, counts]).tolist())
    return found


def _parts(n: int, sites: int, least: int = 10) -> Iterator[tuple[int, ...]]:
    """Ways to write n as that many numbers in ascending order."""
    if sites == 1:
        yield (n,)
        return
    for first in range(least, n // sites + 1):
        yield from ((first, *rest) for rest in _parts(n - first, sites - 1, first))


def _whole(count: int, square: float, rows: tuple[int, ...]) -> list[tuple[int, ...]]:
    """Whole numbers c of that sum, with Σ c²/n as given."""
    *free, last, end = rows
    grid = np.meshgrid(*[np.arange(min(n, count) + 1) for n in free], indexing="ij") if free else [np.zeros(1)]
    left = count - sum(grid)
    rest = square - sum(c**2 / n for c, n in zip(grid, free, strict=False))
    a, b, c = 1 / last + 1 / end, -2 * left / end, left**2 / end - rest
    root = np.sqrt(np.maximum(b**2 - 4 * a * c, 0.0))
    found = set[tuple[int, ...]]()
    for sign in (-1.0, 1.0):
        x = (-b + sign * root) / (2 * a)
        near = (np.abs(x - np.rint(x)) < 1e-6) & (np.abs(a * x**2 + b * x + c) < 1e-6) & (x > -0.5) & (left - x > -0.5)
        for at in zip(*np.nonzero(near), strict=True):
            some = [int(g[at]) for g in grid[: len(free)]]
            found.add((*some, round(float(x[at])), round(float((left - x)[at]))))
    return sorted(found)


def own(frame: pl.DataFrame, schema: Schema, variables: Variables) -> Part:
    """A site's own sums, from its table: what an attack is held against. None of the package's arithmetic is used."""
    rows = frame.drop_nulls(list(variables))
    columns = [
        rows[name].to_numpy().astype(float)
        if not schema[name].levels
        else (rows[name].cast(pl.String) == schema[name].levels[level]).to_numpy().astype(float)
        for name, level in column_names(schema, variables)
    ]
    matrix = np.stack(columns, axis=1)
    centred = matrix - matrix.mean(axis=0)
    levels = {
        v: np.array([float((rows[v].cast(pl.String) == level).sum()) for level in schema[v].levels]) for v in variables if schema[v].levels
    }
    return Part(schema, variables, float(rows.height), levels, centred.T @ centred)


def assert_same(found: Part, wanted: Part) -> None:
    """To the digits that attacks have recovered."""
    assert found.rows == wanted.rows
    assert found.cells == wanted.cells
    np.testing.assert_allclose(found.gram, wanted.gram, rtol=1e-8, atol=1e-8)


def _summed(request: Request) -> Iterable[Variables]:
    """The sets over which something is added up; other samples that a request names only say which rows a mean was fitted on."""
    if isinstance(request, Survey):
        return request.sets
    if isinstance(request, MeanProducts):
        with_responses = ((*each.sample, name) for each in request.sets for name in each.responses)
        return [each.sample for each in request.sets] + [tuple(sorted(set(names))) for names in with_responses]
    if isinstance(request, ResidualProducts):
        return [test.sample for test in request.tests] + [question.variables for question in request.alone]
    return request.samples()


def _subsets(names: Iterable[str]) -> list[tuple[str, ...]]:
    names = sorted(names)
    return [chosen for size in range(len(names) + 1) for chosen in combinations(names, size)]

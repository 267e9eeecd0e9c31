"""A thousand random studies: nothing can be worked out over few rows, few rows of a level or (strict) few sites, whatever is combined.

The adversary has every sum that can be made: over all variable sets of up to three variables, of the run and of runs again without a site
(``on_dropout="restart"``), not centred at the sites (which says more than centred ones). He knows the sums over every group of rows of
every site with gaps, and all rows of sites that collude with him. What he can work out by adding and subtracting is the span of these sums,
as vectors over rows. A part of few rows is a vector of the span that is zero but for few rows; it exists if the rank falls when the columns
of these rows are left out.

With strict a site that colludes is taken away from the sites that a vector is about: ``min_contributors`` less the number of such sites
must be left.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

import numpy as np
import pytest
from numpy.typing import NDArray

from consilience.data.table import Table
from consilience.disclosure.census import Census, apply
from consilience.disclosure.patterns import patterns_of
from consilience.disclosure.shield import shield
from consilience.settings.choices import Dropout, Isolation, SingleSite
from consilience.settings.terms import Terms
from tests.disclosure.sites import SCHEMA, random_site

SETS = [names for size in (1, 2, 3) for names in itertools.combinations(SCHEMA, size)]
Matrix = NDArray[np.int64]


class Study(NamedTuple):
    """Tables as they answer, what may be summed over, who colludes, and whether sums over groups of sites with gaps are told to him."""

    tables: list[Table]
    terms: Terms
    allowed: Callable[[tuple[str, ...]], bool]
    colluding: frozenset[int]
    told: bool


def random_study(rng: np.random.Generator, isolation: Isolation, *, shielded: bool = True, counted: bool = True) -> Study:
    """A study of two to six sites; ``shielded`` and ``counted`` switch the shield and the census off."""
    strict = isolation is Isolation.STRICT
    terms = Terms(
        isolation=isolation,
        min_cell=int(rng.choice([2, 3, 5])),
        min_rows=int(rng.choice([3, 6, 10])),
        min_contributors=int(rng.choice([2, 3, 4])),
        single_site=SingleSite.REFUSE if strict else SingleSite.LOCAL,
        on_dropout=Dropout.STOP if strict or rng.random() < 0.5 else Dropout.RESTART,
    )
    n = int(rng.integers(2, 7))
    sites = [random_site(rng, 70) for _ in range(n)]
    made = {bytes([i]): shield(site, terms, terms.min_cell + int(rng.integers(0, 2))) for i, site in enumerate(sites)}
    census = Census({site: one.statement for site, one in made.items()}, terms, SCHEMA)
    colluding = frozenset(rng.choice(n, int(rng.integers(0, min(3, n))), replace=False).tolist())
    return Study(
        [apply(one, census, site) for site, one in made.items()] if shielded else sites,
        terms,
        (lambda names: not census.refusal(names)) if counted else (lambda names: True),
        colluding,
        shielded,  # without the shield he works them out by himself
    )


def few(sums: Matrix, weights: Matrix, least: int) -> bool:
    """True if a combination of the rows of ``sums`` has columns that are not zero with a weight of 1 to ``least`` - 1 together.

    Columns without weight do not count. Columns that are the same in all sums are so in all combinations: they are taken together.
    """
    sums, weights = sums[:, weights > 0], weights[weights > 0]
    columns, place = np.unique(sums.T, axis=0, return_inverse=True)
    weights = np.bincount(place.ravel(), weights=weights, minlength=len(columns))
    there = columns.any(axis=1)
    columns, weights = columns[there], weights[there]
    light = [i for i in range(len(columns)) if weights[i] < least]
    if not light:
        return False
    rank = np.linalg.matrix_rank(columns)
    for size in range(1, len(light) + 1):
        sets = [j for j in itertools.combinations(light, size) if weights[list(j)].sum() < least]
        if any(np.linalg.matrix_rank(np.delete(columns, j, axis=0)) < rank for j in sets):
            return True
        if not sets:
            break
    return False


def runs(study: Study) -> list[frozenset[int]]:
    """The sites of each run: all; under restart, too, all but any one, and all but two."""
    sites = frozenset(range(len(study.tables)))
    gone = [{i} for i in sites] + [{0, 1}] if study.terms.on_dropout is Dropout.RESTART else []
    return [sites, *(sites - lost for lost in gone)]


def summed(study: Study, sets: Iterable[tuple[str, ...]]) -> Matrix:
    """For every sum over rows that the adversary has, which rows of the sites that do not collude are in it."""
    honest = [i for i in range(len(study.tables)) if i not in study.colluding]
    start = dict(zip(honest, np.cumsum([0, *(study.tables[i].n_rows for i in honest)]), strict=False))
    width, vectors = sum(study.tables[i].n_rows for i in honest), list[Any]()
    parts = {(i, names): _complete(study.tables[i], names) for i in honest for names in sets}
    for names in {names for _, names in parts}:
        for run in runs(study):
            vectors.append(np.zeros(width, dtype=np.int64))
            for i in run & set(honest):
                vectors[-1][start[i] + parts[i, names]] = 1
    for i in honest if study.told else ():
        groups = patterns_of(study.tables[i])
        held = [g for g in range(len(groups.has)) if groups.has[g].any()]
        for g in held if len(held) > 1 else ():
            vectors.append(np.zeros(width, dtype=np.int64))
            vectors[-1][start[i] + np.flatnonzero(groups.of_row == g)] = 1
    return np.array(vectors, dtype=np.int64).reshape(len(vectors), width)


def _complete(table: Table, names: tuple[str, ...]) -> NDArray[np.intp]:
    if not table.holds(names):
        return np.zeros(0, dtype=np.intp)
    index = table.complete(names).index
    return np.arange(table.n_rows) if index is None else index


def about_rows(study: Study) -> bool:
    """True if something can be worked out over few rows."""
    sums = summed(study, [names for names in SETS if study.allowed(names)])
    return few(sums, np.ones(sums.shape[1], dtype=np.int64), study.terms.min_rows)


def about_levels(study: Study) -> bool:
    """True if a small count of a level can be worked out."""
    honest = [table for i, table in enumerate(study.tables) if i not in study.colluding]
    for name in (name for name, variable in SCHEMA.items() if variable.levels):
        sums = summed(study, [names for names in SETS if name in names and study.allowed(names)])
        codes = np.concatenate([table.codes.get(name, np.full(table.n_rows, -1)) for table in honest])
        # the groups that he knows of are told apart by this variable only if they have it
        sums = sums[[bool((codes[row > 0] >= 0).any()) for row in sums]]
        levels = range(len(SCHEMA[name].levels))
        if any(few(sums, (codes == level).astype(np.int64), study.terms.min_cell) for level in levels):
            return True
    return False


def about_sites(study: Study) -> bool:
    """True if something can be worked out about few of the sites that do not collude.

    Of products with a variable, where that is the same in all rows of a site, the site adds zero: they are about the others.
    """
    honest = [table for i, table in enumerate(study.tables) if i not in study.colluding]
    allowed = [names for names in SETS if study.allowed(names)]
    parts = [(allowed, "")] + [([names for names in allowed if name in names], name) for name in SCHEMA]
    for sets, name in parts:
        adds = [[bool(len(_complete(table, names))) and _varies(table, name) for table in honest] for names in sets]
        sums = np.array(adds, dtype=np.int64).reshape(len(sets), len(honest))
        if few(sums, np.ones(len(honest), dtype=np.int64), study.terms.min_contributors - len(study.colluding)):
            return True
    return False


def _varies(table: Table, name: str) -> bool:
    column = {**table.numbers, **table.codes}.get(name, np.arange(2.0))
    return bool((column != column[0]).any())


@pytest.mark.slow
@pytest.mark.parametrize("part", range(5))
@pytest.mark.parametrize("isolation", Isolation)
def test_nothing_can_be_worked_out_beyond_what_is_announced(isolation: Isolation, part: int) -> None:
    strict, sets, rows = isolation is Isolation.STRICT, 0, 0
    for seed in range(100):
        study = random_study(np.random.default_rng([strict, part, seed]), isolation)
        assert not about_rows(study), seed
        assert not about_levels(study), seed
        assert not (strict and about_sites(study)), seed
        sets += sum(study.allowed(names) and any(len(_complete(t, names)) for t in study.tables) for names in SETS)
        rows += sum(table.n_rows for table in study.tables)
    assert rows > 1000, "they did take part"
    assert sets > 200


def test_without_the_shield_the_adversary_finds_rows_and_levels() -> None:
    found = [random_study(np.random.default_rng(seed), Isolation.AGGREGATE, shielded=False) for seed in range(20)]
    assert sum(map(about_rows, found)) >= 5
    assert sum(map(about_levels, found)) >= 10


def test_without_the_census_the_adversary_finds_sites() -> None:
    found = [random_study(np.random.default_rng(seed), Isolation.STRICT, counted=False) for seed in range(40)]
    assert sum(map(about_sites, found)) > 8


def test_the_adversary_subtracts_nested_sets() -> None:
    """{A, B} with three sites, {A, B, C} with two of them: the third alone."""
    sums = np.array([[1, 1, 1], [1, 1, 0]])
    assert few(sums, np.ones(3, dtype=np.int64), 2)
    assert not few(sums[:1], np.ones(3, dtype=np.int64), 2)
    assert few(np.array([[1, 1, 0], [0, 1, 1], [1, 0, 1]]), np.ones(3, dtype=np.int64), 2), "and longer combinations"


def test_level_counts_of_two_sites_follow_from_their_sums() -> None:
    """Why no site relies on another: the counts of both, from what is summed as it is and what is centred at each site.

    Two sites with 60 and 45 rows and three binary variables. Known are the rows of both, and for each variable the rows with level 1 and
    the squares of its centred column, c - c²/n. One solution is left, but for which site is which.
    """
    rows, ones = np.array([60, 45]), np.array([[1, 30], [20, 17], [33, 4]])
    centred = (ones - ones**2 / rows).sum(axis=1)
    solutions = set[tuple[tuple[int, ...], ...]]()
    for n in range(1, rows.sum()):
        here = np.array([n, rows.sum() - n])
        choices = []
        for total, wanted in zip(ones.sum(axis=1), centred, strict=True):
            pairs = [np.array([c, total - c]) for c in range(total + 1) if c <= here[0] and total - c <= here[1]]
            choices.append([tuple(pair.tolist()) for pair in pairs if abs((pair - pair**2 / here).sum() - wanted) < 1e-9])
        solutions |= {(tuple(here.tolist()), *found) for found in itertools.product(*choices)}
    assert solutions == {((60, 45), (1, 30), (20, 17), (33, 4)), ((45, 60), (30, 1), (17, 20), (4, 33))}

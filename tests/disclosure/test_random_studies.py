"""A thousand random studies, and everything that linear algebra can derive from all that they may release.

Sites lack variables, lack values, have rare levels and few rows, by chance. The adversary may ask for every variable set that is not
refused, as often as it likes, with every subset of sites where the study restarts, and two sites may tell it theirs.

*Why atoms.* A sum over a set R takes the rows of each contributor that are complete on R. Over all sets R that are answered, and that
hold the variables S, every row has a vector of zeros and ones: in which sums it is. A combination of sums gives rows with the same vector
the same weight. So nothing that is derived tells the rows of one *atom* (the same vector at the same site) from each other; and if every
atom has enough rows, and enough rows of each of its levels, so has whatever is derived. That holds at each site by itself, so that it does
not matter who else is in a sum, vanishes from it, or tells the server what is his.
"""

from __future__ import annotations

from itertools import combinations
from typing import Any, NamedTuple

import numpy as np
import polars as pl
import pytest

from consilience.data.schema import Schema
from consilience.data.table import Table
from consilience.disclosure.census import Census, apply
from consilience.disclosure.shield import shield
from consilience.settings.choices import Dropout, Isolation, SingleSite
from consilience.settings.terms import Terms

SCHEMA = Schema({"C": ("multinomial", ["p", "q", "r", "s"]), "D": ("binary", ["no", "yes"]), "X": "continuous", "Z": "continuous"})
NAMES = tuple(SCHEMA)
SETS = tuple(tuple(sorted(s)) for size in range(1, len(NAMES) + 1) for s in combinations(NAMES, size))
STUDIES = 1000


class Study(NamedTuple):
    """What the sites answer from, and what they answer."""

    terms: Terms
    tables: dict[bytes, Table]
    census: Census
    answered: tuple[tuple[str, ...], ...]


def frame(rng: np.random.Generator) -> pl.DataFrame:
    """A site: few rows or many, levels common and rare, gaps in no, some or all columns."""
    n = int(rng.choice([3, 8, 12, 30, 60, 150]))
    shares = rng.dirichlet(np.full(4, rng.choice([0.15, 0.6, 3.0])))
    columns: dict[str, Any] = {
        "C": rng.choice(["p", "q", "r", "s"], size=n, p=shares).tolist(),
        "D": rng.choice(["no", "yes"], size=n, p=[0.9, 0.1] if rng.random() < 0.5 else [0.5, 0.5]).tolist(),
        "X": rng.normal(size=n).tolist(),
        "Z": rng.normal(size=n).tolist(),
    }
    held = [name for name in NAMES if rng.random() < 0.8] or ["X"]
    if rng.random() < 0.6:
        for name in held:
            share = rng.choice([0.0, 0.02, 0.1, 0.4])
            columns[name] = [None if rng.random() < share else value for value in columns[name]]
    types = {"C": pl.String, "D": pl.String, "X": pl.Float64, "Z": pl.Float64}
    return pl.DataFrame({name: columns[name] for name in held}, schema={name: types[name] for name in held})


def draw(seed: int) -> Study:
    rng = np.random.default_rng(seed)
    strict, sites = bool(rng.random() < 0.4), int(rng.integers(2, 7))
    terms = Terms(
        min_cell=int(rng.choice([2, 5, 10])),
        min_rows=int(rng.choice([5, 10, 20])),
        min_contributors=int(rng.integers(2, 4)) if sites > 2 else 2,
        isolation=Isolation.STRICT if strict else Isolation.AGGREGATE,
        on_dropout=Dropout.RESTART if not strict and rng.random() < 0.4 else Dropout.STOP,
        single_site=SingleSite.REFUSE,
    )
    frames = {bytes([k]) * 32: frame(rng) for k in range(sites)}
    shielded = {site: shield(Table(each, SCHEMA, site.hex()[:4]), terms, terms.min_cell) for site, each in frames.items()}
    census = Census({site: each.statement for site, each in shielded.items()}, terms, SCHEMA)
    tables = {site: apply(each, census, site) for site, each in shielded.items()}
    answered = tuple(s for s in SETS if not census.refusal(s) and len(census.contributors(s)) >= terms.min_contributors)
    return Study(terms, tables, census, answered)


def chosen(table: Table, variables: tuple[str, ...]) -> np.ndarray[Any, np.dtype[np.bool_]]:
    """The rows of a site that are in a sum."""
    rows = table.complete(variables)
    mask = np.zeros(table.n_rows, dtype=bool)
    mask[slice(None) if rows.index is None else rows.index] = True
    return mask


def atoms(study: Study, held: tuple[str, ...]) -> list[tuple[Table, np.ndarray[Any, Any]]]:
    """The rows of each site by the sums that they are in, of all that hold ``held``."""
    asked = [r for r in study.answered if set(held) <= set(r)]
    found = list[tuple[Table, np.ndarray[Any, Any]]]()
    for table in study.tables.values():
        if not table.n_rows or not table.holds(held):
            continue
        vectors = np.array([chosen(table, r) if table.holds(r) else np.zeros(table.n_rows, dtype=bool) for r in asked])
        distinct, which = np.unique(vectors.reshape(len(asked), -1), axis=1, return_inverse=True)
        found += [(table, np.flatnonzero(which.ravel() == k)) for k in range(distinct.shape[1]) if distinct[:, k].any()]
    return found


def faults(study: Study) -> list[str]:
    """Atoms that break a rule, in words."""
    said = list[str]()
    for held in study.answered:
        for table, rows in atoms(study, held):
            if len(rows) < study.terms.min_rows:
                said.append(f"{held}: {len(rows)} rows")
            for name in (v for v in held if SCHEMA[v].levels):
                counts = np.bincount(table.codes[name][rows])
                said += [f"{held}: {count} rows with a level of {name}" for count in counts if 0 < count < study.terms.min_cell]
    return said


def about_few(study: Study, few: int) -> list[str]:
    """Combinations over fewer sites than ``few``: by ranks, as a set of sites alone carries one if the others have a smaller rank."""
    sites = [site for site, table in study.tables.items() if table.n_rows]
    matrix = np.array([[float(site in study.census.contributors(r)) for site in sites] for r in study.answered])
    if not matrix.size:
        return []
    rank = np.linalg.matrix_rank(matrix)
    found = list[str]()
    for size in range(1, few):
        for some in combinations(range(len(sites)), size):
            rest = matrix[:, [i for i in range(len(sites)) if i not in some]]
            if (np.linalg.matrix_rank(rest) if rest.size else 0) < rank:
                found.append(f"a combination about {size} sites: {[sites[i].hex()[:2] for i in some]}")
    return found


@pytest.mark.slow
def test_nothing_is_derivable_beyond_the_announced() -> None:
    broken = list[str]()
    answered = 0
    for seed in range(STUDIES):
        study = draw(seed)
        answered += len(study.answered)
        strict = study.terms.isolation is Isolation.STRICT
        found = about_few(study, study.terms.min_contributors) if strict else []
        found += faults(study)
        if strict and any(len({chosen(t, s).tobytes() for s in SETS if t.holds(s)}) > 1 for t in study.tables.values() if t.n_rows):
            found.append("a site is not whole")
        broken += [f"seed {seed}: {words}" for words in found]
    assert broken == []
    assert answered > 3 * STUDIES, "most of it would show nothing if nothing were answered"


@pytest.mark.slow
def test_the_adversary_of_random_studies_is_not_blind() -> None:
    """Without the shield and the census it finds what the rules are for, in most studies."""
    found = 0
    for seed in range(50):
        study = draw(seed)
        rng = np.random.default_rng(seed)
        frames = {site: frame(rng) for site in study.tables}
        tables = {site: Table(each, SCHEMA, site.hex()[:4]) for site, each in frames.items()}
        found += bool(faults(study._replace(tables=tables, answered=SETS)))
    assert found > 25

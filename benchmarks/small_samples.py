"""Type-I error of tests of discrete pairs with few rows, plain and scaled, by rows per parameter.

    python benchmarks/small_samples.py --replications 120

Each setting has some sites, rows a site and a conditioning set; each pair has kinds of its own. All are independent.
"""

from __future__ import annotations

import argparse

import numpy as np
import polars as pl
from scipy import stats

from consilience.citest.question import Question
from consilience.data.schema import Schema
from consilience.data.table import Table
from consilience.federation.exchange.batch import batch, drive
from consilience.federation.exchange.sums import FitOptions, Sums
from consilience.federation.site.own_tests import desk_for
from consilience.settings.choices import SiteEffects

LEVELS = {"C": 2, "C2": 2, "D": 4, "D2": 4, "E": 3, "E2": 3, "F": 4, "F2": 4, "G": 4, "H": 4}
KINDS = {"C": "binary", "D": "ordinal", "E": "multinomial", "F": "multinomial", "G": "ordinal", "H": "ordinal"}
SCHEMA = Schema(
    {"A": "continuous", **{n: KINDS[n[0]] if n[0] == "C" else (KINDS[n[0]], list(range(levels))) for n, levels in LEVELS.items()}}
)
PAIRS = (("C", "C2"), ("D", "D2"), ("E", "E2"), ("F", "F2"))
SETTINGS = (
    *((20, 5, ()), (10, 10, ()), (20, 10, ()), (2, 30, ("G", "H")), (2, 60, ("G", "H")), (2, 100, ("G", "H"))),
    *((4, 15, ("A",)), (2, 15, ()), (3, 30, ("A", "G"))),
)


def site(rows: int, rng: np.random.Generator) -> pl.DataFrame:
    """One site's rows, with effects of its own on the ordinal variables."""
    columns = {name: rng.integers(0, levels, rows) for name, levels in LEVELS.items()}
    for name in ("D", "D2", "G", "H"):
        columns[name] = np.digitize(rng.normal(size=rows) + 0.3 * rng.normal(), [-0.8, 0.0, 0.8])
    return pl.DataFrame({"A": rng.normal(size=rows), **columns})


def statistics(sites: int, rows: int, given: tuple[str, ...], rng: np.random.Generator) -> list[tuple[str, float, int]]:
    """Response, statistic and degrees of freedom of every direction of every pair."""
    desks = [desk_for(Table(site(rows, rng), SCHEMA, f"s{k}")) for k in range(sites)]
    sums = Sums(SCHEMA, FitOptions(SiteEffects.PROFILED, n_sites=sites, small_sample=False))
    asked = [Question(x, y, given) for x, y in PAIRS]
    found = drive(batch(asked, sums), lambda request: np.sum([d.answer(request, i) for i, d in enumerate(desks)], axis=0))
    return [(d.response, d.statistic, d.df) for result in found for d in result.directions if d.informative]


def main() -> None:
    """Print a table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--replications", type=int, default=120)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    print("| sites × rows | given | pair | rows per parameter | plain χ² | scaled |\n|---|---|---|---|---|---|")
    for setting, (sites, rows, given) in enumerate(SETTINGS):
        found = [
            t
            for r in range(options.replications)
            for t in statistics(sites, rows, given, np.random.default_rng([options.seed, setting, r]))
        ]
        for pair in PAIRS:
            n, levels = sites * rows, LEVELS[pair[0]]
            q = sites + sum(SCHEMA[name].n_columns for name in given) + levels - 1
            parameters = {"binary": q, "ordinal": q + levels - 2}.get(KINDS[pair[0]], q * (levels - 1))
            own = [(t, df) for response, t, df in found if response in pair]
            plain, scaled = (np.mean([stats.chi2.sf(t * s, df) < 0.05 for t, df in own]) for s in (1.0, (n - q) / n))
            words = f"{sites} × {rows} | {', '.join(given) or '–'} | {KINDS[pair[0]]}, {levels} levels | {n / parameters:.1f}"
            print(f"| {words} | {plain:.3f} | {scaled:.3f} |")


if __name__ == "__main__":
    main()

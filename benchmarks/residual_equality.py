"""Federated = pooled for tests of residuals, on random studies: every statistic and p-value to 1e-6.

PYTHONPATH=. python benchmarks/residual_equality.py --studies 200
"""

from __future__ import annotations

import argparse
import sys
import time

from tests.federation.test_equality import questions
from tests.federation.test_residual import VARIANTS
from tests.random_studies import random_study, with_wards

from consilience import CIResult, Server, pooled


def difference(got: CIResult, wanted: CIResult) -> float:
    """The largest relative difference; infinite where more than a number differs."""
    if (got.n, got.contributors, got.informative) != (wanted.n, wanted.contributors, wanted.informative):
        return float("inf")
    if wanted.informative and wanted.contributors == 1:  # one site alone tells three digits
        return 0.0 if abs(got.p_value / max(wanted.p_value, 1e-10) - 1.0) <= 0.0051 else float("inf")
    pairs = [(d.statistic, e.statistic) for d, e in zip(got.directions, wanted.directions, strict=False) if d.df == e.df]
    pairs.append((got.p_value, wanted.p_value))
    return max(abs(a - b) / max(abs(b), 1e-3 if b > 1e-3 else 1e-300) for a, b in pairs)


def main() -> int:
    """Compare, and say what was found."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--studies", type=int, default=200)
    studies = parser.parse_args().studies
    worst, tests, informative, start = 0.0, 0, 0, time.process_time()
    for seed in range(studies):
        name = list(VARIANTS)[seed % len(VARIANTS)]
        clients, asked = with_wards(random_study(seed), seed), questions(seed)
        schema = dict(Server(clients, method="residual", cluster="ward").schema)
        got = Server(clients, method="residual", schema=schema, **VARIANTS[name]).test_many(asked)
        wanted = pooled(clients, method="residual", schema=schema, **VARIANTS[name]).test_many(asked)
        for a, b in zip(got, wanted, strict=True):
            tests, informative = tests + 1, informative + a.informative
            worst = max(worst, difference(a, b))
            if difference(a, b) > 1e-6:
                print(f"study {seed} ({name}): {a} and {b}")
    took = time.process_time() - start
    print(f"{studies} studies, {tests} tests, {informative} informative: at most {worst:.1e} apart; {took:.0f} CPU seconds")
    return int(worst > 1e-6)


if __name__ == "__main__":
    sys.exit(main())

"""How often 95 % intervals of effects have the truth in them: 500 simulated studies for each kind of outcome.

    python benchmarks/effect_coverage.py [--studies 500] [--seed 2026] [--out docs/effect-coverage.md]

The studies are those of `tests/federation/effect_studies.py`: three sites, 500 rows, a confounder, intercepts of sites. Prints for every
contrast the share of intervals with the truth in them, beside the band in which it lies in 95 of 100 such runs if the intervals are right;
the mean error and the mean standard error beside the standard deviation of estimates. Exit code 1 if a share is outside the band of 99.9 %.
"""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path

import numpy as np
from scipy import stats

sys.path.insert(0, str(Path(__file__).parents[1]))

from tests.federation.effect_studies import OUTCOMES, Covered, coverage

HEAD = """# Coverage of effects

How often the 95 % interval of an [effect](effects.md) has the truth in it, over {studies} simulated studies for each kind of outcome: three
sites with 150, 240 and 110 rows, a confounder that is adjusted for, intercepts of sites. If intervals are right, the share lies between
{low:.3f} and {high:.3f} in 95 of 100 such runs. Made by `python benchmarks/effect_coverage.py --out docs/effect-coverage.md`
(`--studies {studies} --seed {seed}`).

| outcome | contrast | studies | covered | mean error | standard deviation of estimates | mean standard error |
|---|---|---|---|---|---|---|
"""


def band(studies: int, level: float) -> tuple[float, float]:
    """Between which shares right intervals cover, with this probability."""
    low, high = stats.binom.interval(level, studies, 0.95)
    return low / studies, high / studies


def row(outcome: str, name: str, found: list[Covered]) -> str:
    """One line of the table."""
    errors, ses = np.array([one.error for one in found]), np.array([one.se for one in found])
    share = np.mean([one.covered for one in found])
    return f"| {outcome} | {name} | {len(found)} | {share:.3f} | {errors.mean():+.4f} | {errors.std():.4f} | {ses.mean():.4f} |"


def main() -> int:
    """Simulate, count, print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--studies", type=int, default=500)
    parser.add_argument("--seed", type=int, default=2026)
    parser.add_argument("--out", type=Path)
    asked = parser.parse_args()
    lines, worst, wide = list[str](), False, band(asked.studies, 0.999)
    for outcome in OUTCOMES:
        start, by_name = time.process_time(), dict[str, list[Covered]]()
        for one in coverage(outcome, asked.studies, asked.seed):
            by_name.setdefault(one.name, []).append(one)
        for name, found in by_name.items():
            lines.append(row(outcome, name, found))
            worst |= not wide[0] <= np.mean([one.covered for one in found]) <= wide[1]
            print(lines[-1], f"{time.process_time() - start:.0f} s", flush=True)
    low, high = band(asked.studies, 0.95)
    page = HEAD.format(studies=asked.studies, seed=asked.seed, low=low, high=high) + "\n".join(lines) + "\n"
    if asked.out:
        asked.out.write_text(page, encoding="utf-8")
    return int(worst)


if __name__ == "__main__":
    sys.exit(main())

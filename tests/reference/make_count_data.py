"""Write data/counts.csv: counts of several kinds, with site effects. Needs numpy only."""

import csv
from pathlib import Path

import numpy as np

N = 500
SITES = ["s1", "s2", "s3", "s4"]


def main():
    rng = np.random.default_rng(707)
    z = rng.choice(len(SITES), size=N, p=[0.3, 0.27, 0.23, 0.2])

    def own(size):
        return rng.permutation(np.linspace(-size, size, len(SITES)))[z]

    a = np.round(own(0.8) + rng.normal(size=N), 9)
    b = np.round(own(0.8) + 0.3 * a + rng.normal(size=N), 9)
    c = (rng.random(N) < 1 / (1 + np.exp(-(own(0.9) + 0.5 * a)))).astype(int)
    e = rng.choice(list("pqr"), size=N)
    poisson = rng.poisson(np.exp(1 + own(0.7) + 0.3 * a - 0.2 * c))
    scattered = rng.poisson(np.exp(0.5 + own(1.2) + 0.3 * b + 0.2 * (e == "q")) * rng.gamma(1.5, 1 / 1.5, size=N))
    # large, and with little scatter for its size: rounded and not drawn
    steady = np.round(np.exp(5 + own(0.5) + 0.2 * a + 0.02 * rng.normal(size=N))).astype(int)
    # rare, and at one site nothing was counted
    rare = np.where(z == 3, 0, rng.poisson(np.exp(-1.2 + 0.4 * a)))
    columns = {"A": a, "B": b, "C": c, "E": e, "N": poisson, "M": scattered, "L": steady, "R": rare}
    with (Path(__file__).parent / "data" / "counts.csv").open("w", newline="") as f:
        out = csv.writer(f, lineterminator="\n")
        out.writerow(["site", *columns])
        out.writerows(zip([SITES[k] for k in z], *[[str(v) for v in col] for col in columns.values()], strict=True))


if __name__ == "__main__":
    main()

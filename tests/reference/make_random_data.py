"""Write the data of the comparison with mixed models into data/random.csv and data/random_variables.json.

Needs numpy only. Sixteen sites of 4 to 40 rows. A, B, C, D have effects of the site; F, C3 and D2 have none, so that the estimated
variance is often zero; G is constant within sites; C2 is rare, so that it is constant at some sites.
"""

import csv
import json
from pathlib import Path

import numpy as np
from make_data import cumulative, draw, expit, softmax

OUT = Path(__file__).parent / "data"
ROWS = [4, 5, 6, 7, 8, 9, 10, 12, 14, 16, 18, 20, 24, 28, 32, 40]
LEVELS = {"C": "01", "C2": "01", "C3": "01", "D": "1234", "D2": "123", "E": "pqr"}
KINDS = {"C": "binary", "D": "ordinal", "E": "multinomial"}


def columns(rng, site):
    """Every column of the data."""

    def effect(sd):
        return rng.normal(0.0, sd, len(ROWS))[site]

    n = len(site)
    g = effect(1.0)
    a = effect(0.8) + 0.4 * g + rng.normal(size=n)
    b = 50.0 + 10.0 * (effect(1.5) + 0.3 * a + rng.normal(size=n))
    f = 0.2 * a + rng.normal(size=n)
    c = (rng.random(n) < expit(effect(1.0) + 0.5 * a - 0.4 * f)).astype(int)
    c2 = (rng.random(n) < expit(-2.0 + effect(0.7) + 0.5 * f)).astype(int)
    c3 = (rng.random(n) < expit(0.3 * a)).astype(int)
    d = 1 + draw(rng, cumulative([-1.2, 0.1, 1.3], effect(0.9) + 0.5 * f + 0.4 * c))
    d2 = 1 + draw(rng, cumulative([-0.7, 0.6], 0.3 * c))
    e = np.array(list("pqr"))[draw(rng, softmax(np.column_stack([np.zeros(n), effect(0.8) + 0.4 * a, effect(0.8) - 0.3 * f])))]
    return {"A": a, "B": b, "C": c, "C2": c2, "C3": c3, "D": d, "D2": d2, "E": e, "F": f, "G": g}


def main():
    site = np.repeat(np.arange(len(ROWS)), ROWS)
    found = columns(np.random.default_rng(11), site)
    text = {k: [f"{v:.12g}" for v in col] if col.dtype.kind == "f" else [str(v) for v in col] for k, col in found.items()}
    with (OUT / "random.csv").open("w", newline="") as f:
        out = csv.writer(f, lineterminator="\n")
        out.writerow(["site", *text])
        out.writerows(zip([f"s{k + 1}" for k in site], *text.values(), strict=True))
    declared = {k: {"kind": KINDS.get(k[0], "continuous")} | ({"levels": list(LEVELS[k])} if k in LEVELS else {}) for k in found}
    (OUT / "random_variables.json").write_text(json.dumps(declared, indent=1) + "\n")


if __name__ == "__main__":
    main()

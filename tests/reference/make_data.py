"""Write the synthetic data sets of the reference comparison into data/.

Needs numpy only. Every case has its own seed, so changing one leaves the
others as they are. data/variables.json holds the declared kind and levels of
every column, which can include levels that never occur.
"""

import csv
import json
from pathlib import Path

import numpy as np

OUT = Path(__file__).parent / "data"
N = 600
SITES = ["s1", "s2", "s3", "s4"]


def expit(t):
    return 1 / (1 + np.exp(-t))


def draw(rng, probs):
    """One category index per row of a matrix of probabilities."""
    u = rng.random((len(probs), 1))
    return (u > np.cumsum(probs, axis=1)[:, :-1]).sum(axis=1)


def softmax(eta):
    p = np.exp(eta)
    return p / p.sum(axis=1, keepdims=True)


def cumulative(theta, shift):
    """Cell probabilities of logit P(Y <= j) = theta_j - shift."""
    upper = expit(np.asarray(theta)[None, :] - shift[:, None])
    edges = np.column_stack([np.zeros(len(shift)), upper, np.ones(len(shift))])
    return np.diff(edges, axis=1)


def rounded(x):
    """The values as they are written: 12 significant digits."""
    return np.array([float(f"{v:.12g}") for v in x])


def sites(rng):
    return rng.choice(len(SITES), size=N, p=[0.3, 0.27, 0.23, 0.2])


def offsets(rng, size):
    """Intercept shifts per site, up to `size` either way."""
    return rng.permutation(np.linspace(-size, size, len(SITES)))


def common(rng, no_s_at=None, no_top_at=None):
    """Data with site effects; optionally a level is absent at one site."""
    z = sites(rng)
    a = rounded(offsets(rng, 0.8)[z] + rng.normal(size=N))
    b = rounded(offsets(rng, 0.8)[z] + 0.3 * a + rng.normal(size=N))
    c = (rng.random(N) < expit(offsets(rng, 0.9)[z] + 0.5 * a - 0.4 * b)).astype(int)

    eta = np.column_stack(
        [
            np.zeros(N),
            offsets(rng, 0.7)[z] + 0.5 * b,
            offsets(rng, 0.7)[z] - 0.4 * b + 0.5 * c,
            offsets(rng, 0.7)[z] + 0.3 * b - 0.6 * c,
        ]
    )
    if no_s_at is not None:
        eta[z == no_s_at, 3] = -np.inf
    e = draw(rng, softmax(eta))

    shift = offsets(rng, 0.9)[z] + 0.35 * a - 0.5 * c + np.array([0, 0.7, -0.4, 0.2])[e]
    d = draw(rng, cumulative([-1.5, 0.0, 1.5], shift))
    if no_top_at is not None:
        d[z == no_top_at] = np.minimum(d[z == no_top_at], 2)
    return z, {"A": a, "B": b, "C": c, "D": d + 1, "E": np.array(list("pqrs"))[e]}


def base():
    rng = np.random.default_rng(101)
    z, cols = common(rng)
    # A second variable of each discrete kind, so that every kind of response
    # also meets a predictor of its own kind.
    d, c, e = cols["D"], cols["C"], cols["E"]
    cols["C2"] = (rng.random(N) < expit(offsets(rng, 0.9)[z] + 0.8 * c - 0.3 * d + 0.4)).astype(int)
    shift = offsets(rng, 0.9)[z] + 0.4 * d - 1.0
    cols["D2"] = draw(rng, cumulative([-0.8, 0.8], shift)) + 1
    eta = np.column_stack(
        [
            np.zeros(N),
            offsets(rng, 0.7)[z] + 0.7 * (e == "q"),
            offsets(rng, 0.7)[z] + 0.6 * (e == "r"),
        ]
    )
    cols["E2"] = np.array(list("uvw"))[draw(rng, softmax(eta))]
    return z, cols


def empty_level():
    z, cols = common(np.random.default_rng(202))
    cols["D"] = np.array([1, 2, 4, 5])[cols["D"] - 1]
    return z, cols


def level_missing_at_site():
    return common(np.random.default_rng(303), no_s_at=1, no_top_at=2)


def collinear():
    rng = np.random.default_rng(404)
    z, cols = common(rng)
    cols["F"] = 2 * cols["A"] - 3 * cols["B"] + 1
    cols["G"] = np.array([0.5, -1.25, 2.0, 3.75])[z]
    return z, cols


def middle():
    """No site effects; A moves D towards or away from the middle levels."""
    rng = np.random.default_rng(505)
    z = sites(rng)
    a = rounded(rng.uniform(-1, 1, N))
    b = rounded(np.clip(0.3 * a + 0.7 * rng.uniform(-1, 1, N), -1, 1))
    c = (rng.random(N) < expit(0.8 * a - 0.6 * b)).astype(int)
    eta = np.column_stack([np.zeros(N), 0.8 * b, -0.7 * b + 0.4 * c, 0.5 * a])
    e = draw(rng, softmax(eta))
    # The slopes of A have opposite signs at the outer thresholds; over the
    # bounded range of A and B the thresholds still keep their order.
    theta = np.array([-2.0, 0.0, 2.0])
    upper = expit(
        theta
        + np.outer(a, [1.0, 0.0, -0.9])
        + np.outer(b, [0.5, 0.3, 0.5])
        + np.outer(c, [0.3, 0.3, 0.3])
        + np.array([0, 0.4, -0.3, 0.0])[e][:, None]
    )
    probs = np.diff(np.column_stack([np.zeros(N), upper, np.ones(N)]), axis=1)
    assert probs.min() > 0.02
    d = draw(rng, probs)
    return z, {"A": a, "B": b, "C": c, "D": d + 1, "E": np.array(list("pqrs"))[e]}


def same_middle():
    """Two sites have nothing but a middle level of D2, and vary most in A: common gaps between thresholds make them informative."""
    rng = np.random.default_rng(606)
    z, cols = common(rng)
    cols["A"] = rounded(np.where(z >= 2, 3.0, 1.0) * cols["A"])
    shift = offsets(rng, 0.6)[z] + 0.35 * cols["A"] + 0.2 * cols["C"]
    cols["D2"] = np.where(z >= 2, 2, draw(rng, cumulative([-1.0, 1.0], shift)) + 1)
    return z, cols


CASES = [base, empty_level, level_missing_at_site, collinear, middle, same_middle]


def declared(case, name):
    """The kind and the declared levels of a column."""
    more = case == "empty_level"
    levels = {
        "C": ["0", "1"],
        "C2": ["0", "1"],
        "D": list("12345" if more else "1234"),
        "D2": list("123"),
        "E": list("pqrst" if more else "pqrs"),
        "E2": list("uvw"),
    }
    kind = {"C": "binary", "D": "ordinal", "E": "multinomial"}.get(name[0], "continuous")
    return {"kind": kind} if name not in levels else {"kind": kind, "levels": levels[name]}


def main():
    OUT.mkdir(exist_ok=True)
    variables = {}
    for make in CASES:
        z, cols = make()
        case = make.__name__
        variables[case] = {name: declared(case, name) for name in cols}
        # F depends on its last digit to be collinear; 12 digits do for the rest.
        text = {
            name: [f"{v:.17g}" if name == "F" else f"{v:.12g}" for v in col] if col.dtype.kind == "f" else [str(v) for v in col]
            for name, col in cols.items()
        }
        with (OUT / f"{case}.csv").open("w", newline="") as f:
            out = csv.writer(f, lineterminator="\n")
            out.writerow(["site", *cols])
            out.writerows(zip([SITES[k] for k in z], *text.values(), strict=True))
    (OUT / "variables.json").write_text(json.dumps(variables, indent=1) + "\n")


if __name__ == "__main__":
    main()

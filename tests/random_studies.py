"""Random studies of mixed kinds, for tests that must hold on any data."""

from __future__ import annotations

import numpy as np
import polars as pl

from consilience import Client

KINDS = ("continuous", "binary", "ordinal", "multinomial")


def random_study(
    seed: int,
    *,
    rows: tuple[int, int] = (40, 160),
    sites: tuple[int, int] = (2, 12),
    constant: float = 0.15,
    counts: bool = False,
    shifts: float = 0.8,
) -> list[Client]:
    """Two to twelve sites with six variables of random kinds, dependence, site effects, missing values and absent variables.

    Every kind occurs; small sites lack levels by chance, and with the probability ``constant`` a discrete variable has one level only at
    a site: any level, also one in the middle. With ``counts`` two of the six are counts, one of them with more scatter than Poisson's; at
    some sites nothing is counted. ``shifts`` is the standard deviation of site effects.
    """
    rng, other = np.random.default_rng(seed), np.random.default_rng([seed, 1])
    kinds = [*rng.permutation(KINDS), *rng.choice(KINDS, size=2)]
    if counts:
        kinds[4:] = ["count", "count"]
        kinds = list(rng.permutation(kinds))
    names = list("UVWXYZ")
    n_levels = {name: int(rng.integers(3, 6)) for name in names}
    weights = np.triu(rng.uniform(-0.8, 0.8, size=(6, 6)) * (rng.random((6, 6)) < 0.6), 1)
    count = int(rng.integers(sites[0], sites[1] + 1))
    clients = []
    for k in range(count):
        n = int(rng.integers(*rows))
        shift = rng.normal(0.0, shifts, size=6)
        latent = np.zeros((n, 6))
        columns: dict[str, pl.Series] = {}
        for j, (name, kind) in enumerate(zip(names, kinds, strict=True)):
            eta = shift[j] + latent @ weights[:, j]
            columns[name], latent[:, j] = _draw(name, kind, n_levels[name], eta, rng)
            if kind not in ("continuous", "count") and other.random() < constant:
                level = int(other.integers(2 if kind == "binary" else n_levels[name]))
                columns[name] = pl.Series(name, np.full(n, level))
        frame = pl.DataFrame(columns)
        lost = float(rng.choice([0.0, 0.05]))
        frame = frame.select(pl.when(pl.Series(rng.random(n) >= lost)).then(pl.col(c)).otherwise(None).alias(c) for c in names)
        gone = list(rng.permutation(names)[: int(rng.integers(0, 3))]) if k else []
        clients.append(
            Client(
                f"s{k}",
                frame.drop(gone),
                kinds={c: kind for c, kind in zip(names, kinds, strict=True) if c not in gone},
                levels={
                    c: range(n_levels[c])
                    for c, kind in zip(names, kinds, strict=True)
                    if kind in ("ordinal", "multinomial") and c not in gone
                },
            )
        )
    return clients


def _draw(name: str, kind: str, levels: int, eta: np.ndarray, rng: np.random.Generator) -> tuple[pl.Series, np.ndarray]:
    n = len(eta)
    if kind == "continuous":
        values = eta + rng.normal(size=n)
        return pl.Series(name, values), values
    if kind == "binary":
        codes = (eta + rng.logistic(size=n) > 0).astype(np.int64)
        return pl.Series(name, codes), codes - 0.5
    if kind == "count":
        mean = np.exp(np.minimum(0.5 + eta, 8.0)) * (rng.gamma(2.0, 0.5, size=n) if levels > 3 else 1.0)
        values = rng.poisson(mean) * (rng.random() > 0.1)
        return pl.Series(name, values), np.log1p(values) - 1.0
    if kind == "ordinal":
        codes = np.digitize(eta + rng.logistic(size=n), np.linspace(-1.5, 1.5, levels - 1))
        return pl.Series(name, codes.astype(np.int64)), codes - codes.mean()
    scores = np.outer(eta, np.linspace(-1.0, 1.0, levels)) + rng.gumbel(size=(n, levels))
    codes = np.argmax(scores, axis=1)
    return pl.Series(name, codes.astype(np.int64)), (codes == 0) - 0.3


def with_wards(clients: list[Client], seed: int) -> list[Client]:
    """The same sites with a column of wards, of eight rows each on average."""
    rng = np.random.default_rng(seed + 10**7)
    found = []
    for client in clients:
        n, declared = client.frame.height, client.declarations
        frame = client.frame.with_columns(ward=pl.Series(rng.integers(0, max(3, n // 8), n)))
        kinds = {name: d.variable.kind for name, d in declared.items()}
        levels = {name: d.variable.levels for name, d in declared.items() if d.variable.levels}
        found.append(Client(client.name, frame, kinds=kinds, levels=levels))
    return found

"""Sites that measure five variables of mixed kinds, with site effects and a known structure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from consilience.frames import pl

__all__ = ["mixed_sites"]

LETTERS = np.array(["p", "q", "r", "s"])


def mixed_sites(
    n: int,
    sites: int,
    seed: int,
    *,
    shift: float = 0.6,
    missing: float = 0.0,
    absent: Mapping[int, Sequence[str]] | None = None,
) -> dict[str, pl.DataFrame]:
    """Sites of one fixed structure, A → B → C, A → D ← C, B → E, with every kind of variable.

    A and B are continuous, C binary, D ordinal (four levels), E multinomial (four levels).

    Parameters
    ----------
    n : int
        Rows of all sites together.
    sites : int
        How many sites.
    seed : int
        The same seed gives the same data.
    shift : float, default 0.6
        Every variable has an intercept of its own at every site, of this standard deviation.
    missing : float, default 0.0
        The share of values lost at random.
    absent : mapping of int to sequence of str, optional
        Variables that a site (counted from 0) does not measure.

    Returns
    -------
    dict of str to polars.DataFrame
        The sites' data, ``site1`` to ``siteK``.

    Examples
    --------
    >>> sites = mixed_sites(n=90, sites=3, seed=7, absent={2: ["E"]})
    >>> {name: frame.shape for name, frame in sites.items()}
    {'site1': (30, 5), 'site2': (30, 5), 'site3': (30, 4)}
    """
    rng = np.random.default_rng(seed)
    return {f"site{k + 1}": _lose(_one_site(n // sites, rng, shift), rng, missing).drop((absent or {}).get(k, [])) for k in range(sites)}


def _one_site(n: int, rng: np.random.Generator, shift: float) -> pl.DataFrame:
    own = rng.normal(0.0, shift, size=5)
    own_levels = rng.normal(0.0, shift, size=4)
    a = own[0] + rng.normal(size=n)
    b = own[1] + 0.5 * a + rng.normal(size=n)
    c = rng.random(n) < 1.0 / (1.0 + np.exp(-(own[2] + 0.7 * b)))
    latent = own[3] + 0.6 * a + 0.8 * c + rng.logistic(size=n)
    d = np.digitize(latent, [-0.8, 0.6, 1.9]) + 1
    scores = own_levels + np.outer(b, [0.0, 0.6, -0.6, 0.3]) + rng.gumbel(size=(n, 4))
    e = LETTERS[np.argmax(scores, axis=1)]
    return pl.DataFrame({"A": a, "B": b, "C": c, "D": d.astype(np.int64), "E": e})


def _lose(frame: pl.DataFrame, rng: np.random.Generator, share: float) -> pl.DataFrame:
    if share <= 0.0:
        return frame
    return frame.select(
        pl.when(pl.Series(rng.random(frame.height) >= share)).then(pl.col(name)).otherwise(None).alias(name) for name in frame.columns
    )

"""Where all random numbers of the room come from.

One bit generator, named, because numpy may change its default. Draws are made in arrays whose size never depends on values drawn before,
and what is decided from them is decided by comparisons of single numbers, never by sums that a linear-algebra library may order as it
likes: so the same seed gives the same data on every machine.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

__all__ = ["Seed", "generator", "logistic", "signed_uniform"]

Seed = int | Sequence[int] | np.random.SeedSequence | np.random.Generator


def generator(seed: Seed) -> np.random.Generator:
    """A generator; one that is passed in goes on where it stands.

    >>> generator(7).integers(100, size=3).tolist() == generator([7]).integers(100, size=3).tolist()
    True
    """
    if isinstance(seed, np.random.Generator):
        return seed
    sequence = seed if isinstance(seed, np.random.SeedSequence) else np.random.SeedSequence(seed)
    return np.random.Generator(np.random.PCG64(sequence))


def signed_uniform(rng: np.random.Generator, shape: tuple[int, ...], least: float, most: float) -> np.ndarray:
    """Uniform on [-most, -least] ∪ [least, most].

    >>> x = signed_uniform(generator(1), (1000,), 0.2, 1.0)
    >>> bool((abs(x) >= 0.2).all() and (abs(x) <= 1.0).all()), bool(0.4 < (x < 0).mean() < 0.6)
    (True, True)
    """
    size = least + (most - least) * rng.random(shape)
    return np.where(rng.random(shape) < 0.5, -size, size)


def logistic(rng: np.random.Generator, n: int) -> np.ndarray:
    """Standard logistic variates, by inversion: one uniform number each.

    >>> bool(abs(logistic(generator(1), 10_000).mean()) < 0.1)
    True
    """
    u = rng.random(n)
    return np.log(np.maximum(u, 1e-300)) - np.log1p(-u)

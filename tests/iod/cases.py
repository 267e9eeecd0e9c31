"""Random cases over five variables: a Markov equivalence class, and data sets that cover its variables together."""

from __future__ import annotations

from functools import cache

import numpy as np

from consilience.graph import MAG, Oracle
from tests.iod.mag_enumeration import Enumeration, load

NAMES = tuple("ABCDE")


@cache
def everything() -> Enumeration:
    return load(5)


def random_case(seed: int) -> tuple[int, list[tuple[int, ...]]]:
    """A class and two to four data sets of three to five variables that cover all of them."""
    rng = np.random.default_rng(seed)
    truth = int(rng.integers(len(everything().pags)))
    while True:
        sizes = rng.integers(3, 6, size=int(rng.integers(2, 5)))
        datasets = [tuple(sorted(rng.choice(5, size, replace=False).tolist())) for size in sizes]
        if len(set().union(*datasets)) == 5:
            return truth, datasets


def oracle_of(truth: int, datasets: list[tuple[int, ...]]) -> Oracle:
    mag = MAG.from_matrix(everything().members(truth)[0], NAMES)
    return Oracle(mag, [[NAMES[i] for i in held] for held in datasets])

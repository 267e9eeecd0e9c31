"""The experiment of the paper's appendix D: how many candidates the three variants of IOD look at, with a perfect test.

Random graphs over five variables with a collider of order one or more. Two data sets of four variables: those of discriminating paths
first, then any other; they always share three variables and hold all five together.
"""

from __future__ import annotations

from functools import lru_cache
from itertools import combinations, islice

import msgspec

from consilience.graph import PAG, Oracle
from consilience.iod import discover
from consilience.reproduction.design import BIDIRECTED, DIRECTED, SEED, VARIABLES
from consilience.simulate.graphs import discriminated_colliders, has_ordered_collider, random_pags
from consilience.simulate.randomness import generator

__all__ = ["VARIANTS", "VariantCase", "case_key", "do_case"]

VARIANTS = ("original", "colliders", "triples")


class VariantCase(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One graph, seen by all variants: candidates of each, length of the list, and whether all lists agree and hold the truth."""

    pag: str
    datasets: tuple[tuple[str, ...], ...]
    candidates: dict[str, int]
    pags: int
    agree: bool


def case_key(number: int) -> str:
    """A name for files."""
    return f"case{number:03d}"


@lru_cache(maxsize=2)
def _graphs(count: int) -> tuple[PAG, ...]:
    drawn = random_pags(VARIABLES, (SEED, 2), directed=DIRECTED, bidirected=BIDIRECTED, where=has_ordered_collider)
    return tuple(islice(drawn, count))


def do_case(number: int, count: int) -> VariantCase:
    """Case ``number`` of ``count``.

    >>> case = do_case(0, 1)
    >>> case.agree, case.candidates["triples"] <= case.candidates["original"]
    (True, True)
    """
    pag = _graphs(count)[number]
    datasets = _datasets(pag, number)
    found = {variant: discover(Oracle(pag, datasets), engine="iod", variant=variant, time_limit=None) for variant in VARIANTS}
    lists = [set(result.pags) for result in found.values()]
    agree = all(pags == lists[0] for pags in lists) and pag in lists[0]
    return VariantCase(str(pag), datasets, {name: result.candidates for name, result in found.items()}, len(lists[0]), agree)


def _datasets(pag: PAG, number: int) -> tuple[tuple[str, ...], ...]:
    paths = sorted(tuple(sorted(path)) for path in discriminated_colliders(pag) if len(path) == 4)
    others = [four for four in combinations(VARIABLES, 4) if four not in paths]
    rng = generator((SEED, 3, number))
    ordered = [paths[i] for i in rng.permutation(len(paths)).tolist()] + [others[i] for i in rng.permutation(len(others)).tolist()]
    return tuple(ordered[:2])

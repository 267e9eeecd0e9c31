"""Random MAGs and PAGs, by density and by criteria.

A MAG is drawn in three steps. The nodes are put in random order, and every pair gets an edge a --> b with probability ``directed``. Then
every pair of which neither is an ancestor of the other gets a <-> b with probability ``bidirected``: the graph is ancestral by
construction. Where two non-adjacent nodes have an inducing path between them, the edge that they lack is added (this is rare), which
makes it maximal. A PAG is the class of such a MAG; classes are not equally probable.

The paper asks of its graphs that they are hard: a collider of order one or more, whose discriminating path some data set sees as a whole,
and at least three tails (section IV-A).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import combinations
from string import ascii_uppercase

import numpy as np

from consilience.errors import OptionError
from consilience.graph import MAG, PAG, MarkSets, MixedGraph, bits, is_maximal, latent_projection, mag_to_pag, triples_with_order_marks
from consilience.graph.marks import ARROW, TAIL, Mark
from consilience.graph.paths import paths_discriminating
from consilience.options import check_number
from consilience.simulate.randomness import Seed, generator

__all__ = ["count_tails", "discriminated_colliders", "has_ordered_collider", "random_mag", "random_pag", "random_pags"]

ATTEMPTS = 100_000
"""Graphs that are drawn before criteria are taken to be impossible."""

Labels = int | Iterable[str]


def random_mag(labels: Labels, seed: Seed, *, directed: float = 0.4, bidirected: float = 0.2) -> MAG:
    """A random MAG.

    Parameters
    ----------
    labels : int or iterable of str
        The nodes, or how many: letters up to 26, then V01, V02, ….
    seed : int, sequence of int or numpy.random.Generator
        The same seed gives the same graph on every machine.
    directed : float, default 0.4
        The probability of an edge a --> b along a random order of the nodes.
    bidirected : float, default 0.2
        That of a <-> b, for pairs of which neither is an ancestor of the other.

    Returns
    -------
    MAG

    Raises
    ------
    OptionError
        If a probability is none.

    Examples
    --------
    >>> random_mag(4, seed=1)
    MAG.parse('A --> C, B --> D')
    """
    names, rng = _names(labels), generator(seed)
    _check_probability("directed", directed)
    _check_probability("bidirected", bidirected)
    n = len(names)
    order = rng.permutation(n).tolist()
    arrows, spouses = rng.random((n, n)) < directed, rng.random((n, n)) < bidirected
    marks, ancestors = MarkSets.empty(n), [1 << v for v in range(n)]
    for position, b in enumerate(order):
        for a in order[:position]:
            if arrows[a, b]:
                marks.add_edge(a, b, TAIL, ARROW)
                ancestors[b] |= ancestors[a]
    for a, b in combinations(range(n), 2):
        if spouses[a, b] and not (ancestors[a] >> b | ancestors[b] >> a) & 1:
            marks.add_edge(a, b, ARROW, ARROW)
    graph = MixedGraph.from_working(marks, names)
    return MAG.from_working(marks, names) if is_maximal(graph) else latent_projection(graph, names)


def random_pag(
    labels: Labels, seed: Seed, *, directed: float = 0.4, bidirected: float = 0.2, where: Callable[[PAG], bool] | None = None
) -> PAG:
    """The PAG of a random MAG; with ``where``, the first that meets it.

    Parameters
    ----------
    labels : int or iterable of str
        The nodes, or how many: letters up to 26, then V01, V02, ….
    seed : int, sequence of int or numpy.random.Generator
        The same seed gives the same graph on every machine.
    directed : float, default 0.4
        The probability of an edge a --> b along a random order of the nodes.
    bidirected : float, default 0.2
        That of a <-> b, for pairs of which neither is an ancestor of the other.
    where : callable, optional
        Told a PAG, says whether it will do.

    Returns
    -------
    PAG

    Raises
    ------
    OptionError
        If 100,000 graphs brought none that will do, or a probability is none.

    Examples
    --------
    >>> random_pag(4, seed=3, where=lambda pag: count_tails(pag) >= 2)
    PAG.parse('A o-o B, A o-o D, B --> C, D --> C')
    """
    return next(random_pags(labels, seed, directed=directed, bidirected=bidirected, where=where))


def random_pags(
    labels: Labels, seed: Seed, *, directed: float = 0.4, bidirected: float = 0.2, where: Callable[[PAG], bool] | None = None
) -> Iterator[PAG]:
    """PAGs of random MAGs that meet ``where``, each class once.

    Parameters
    ----------
    labels : int or iterable of str
        The nodes, or how many: letters up to 26, then V01, V02, ….
    seed : int, sequence of int or numpy.random.Generator
        The same seed gives the same graphs on every machine.
    directed : float, default 0.4
        The probability of an edge a --> b along a random order of the nodes.
    bidirected : float, default 0.2
        That of a <-> b, for pairs of which neither is an ancestor of the other.
    where : callable, optional
        Told a PAG, says whether it will do.

    Yields
    ------
    PAG

    Raises
    ------
    OptionError
        When 100,000 graphs in a row brought no new one that will do.
    """
    names, rng = _names(labels), generator(seed)
    seen: set[PAG] = set()
    misses = 0
    while misses < ATTEMPTS:
        pag = mag_to_pag(random_mag(names, rng, directed=directed, bidirected=bidirected))
        misses += 1
        if pag not in seen and (where is None or where(pag)):
            seen.add(pag)
            misses = 0
            yield pag
    raise OptionError(
        f"{ATTEMPTS:,} random graphs over {len(names)} nodes brought no new one that meets the criteria, after {len(seen)} that do. "
        f"Loosen the criteria, or change directed={directed} and bidirected={bidirected}."
    )


def count_tails(graph: MixedGraph) -> int:
    """How many ends of edges are tails.

    Parameters
    ----------
    graph : MixedGraph

    Returns
    -------
    int

    Examples
    --------
    >>> count_tails(PAG.parse("A o-> C, B o-> C, C --> D"))
    1
    """
    return int(np.count_nonzero(graph.marks == Mark.TAIL))


def discriminated_colliders(pag: PAG) -> set[frozenset[str]]:
    """For every collider of order one or more, the variables of its discriminating paths ⟨θ, …, α, β, γ⟩.

    >>> discriminated_colliders(PAG.parse("B o-> C, C --> E, C --> D, A <-> C, A <-> D, D --> E")) == {frozenset("ABCD")}
    True
    """
    marks = pag.working()
    triples = triples_with_order_marks(marks)
    found = set()
    for beta in range(marks.n):
        for gamma in bits(marks.adjacent[beta]):
            for path in paths_discriminating(marks, beta, gamma):
                a, c = sorted((path[-3], gamma))
                collider, order = triples.get((a, beta, c), (False, 0))
                if collider and order > 0:
                    found.add(frozenset(pag.labels[v] for v in path))
    return found


def has_ordered_collider(pag: PAG, datasets: Iterable[Iterable[str]] | None = None) -> bool:
    """True if there is a collider of order one or more, and some data set holds all of a discriminating path of it.

    Parameters
    ----------
    pag : PAG
    datasets : iterable of iterable of str, optional
        The variables of each data set; one that has all, by default.

    Returns
    -------
    bool

    Examples
    --------
    >>> pag = PAG.parse("B o-> C, C --> E, C --> D, A <-> C, A <-> D, D --> E")
    >>> has_ordered_collider(pag, ["ABCD", "BCDE"]), has_ordered_collider(pag, ["ABCE", "ACDE"])
    (True, False)
    """
    paths = discriminated_colliders(pag)
    held = [frozenset(pag.labels)] if datasets is None else [frozenset(names) for names in datasets]
    return any(path <= names for path in paths for names in held)


def _names(labels: Labels) -> tuple[str, ...]:
    if isinstance(labels, int):
        check_number("labels", labels, least=1)
        return tuple(ascii_uppercase[:labels]) if labels <= 26 else tuple(f"V{i:02d}" for i in range(1, labels + 1))
    return tuple(labels)


def _check_probability(name: str, value: float) -> None:
    if not 0.0 <= check_number(name, value, least=0.0) <= 1.0:
        raise OptionError(f"{name} is a probability, between 0 and 1; got {value!r}.")

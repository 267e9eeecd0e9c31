"""Which sums may be made so that no combination of them is about few sites: a greedy choice, in exact arithmetic.

A sum over a variable set R is over the sites whose variables contain R. Written as a vector with a 1 for each of these sites and a 0 for
each other, what can be worked out by adding and subtracting sums is the linear span of the vectors of all sums that are made: a vector of
the span that is zero but for a few sites is something about these few. So the sums that may be made are those whose vectors lie in a space
in which every vector but zero has at least ``least`` sites. (That is the least distance of a linear code, over the rationals.)

*Types.* Sites with the same variables have the same number in every vector. They are one coordinate, with a weight.

*The test.* H is a matrix whose rows are orthogonal to the space and to which nothing can be added, so that v lies in the space if and only
if Hv = 0. A vector c may join unless c + s, with s in the space, has all its sites among few types J: unless Hc is a combination of the
columns of H that belong to J. All J that are light enough are tried. Where there are too many (:data:`MOST_LIGHT`), another rule decides
which is easy to check and asks for more: sites that no sum tells apart must be at least ``least`` together. A vector of the span is
constant over these.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

__all__ = ["Space", "light_sets"]

MOST_LIGHT = 2000
"""Sets of types that are tried for each vector."""

Vector = tuple[int, ...]


def light_sets(weights: Sequence[int], least: int) -> list[tuple[int, ...]] | None:
    """Sets of types with fewer than ``least`` sites together that are part of no larger one; None if there are too many.

    >>> light_sets([1, 1, 2, 5], 3)
    [(0, 1), (2,)]
    """
    order = sorted((i for i, weight in enumerate(weights) if weight < least), key=lambda i: (weights[i], i))
    found, visits = list[tuple[int, ...]](), 0
    open_sets: list[tuple[tuple[int, ...], int, int]] = [((), 0, 0)]
    while open_sets:
        chosen, start, weight = open_sets.pop()
        visits += 1
        if visits > 4 * MOST_LIGHT:
            return None
        heavier = [(at, weight + weights[order[at]]) for at in range(start, len(order))]
        open_sets += [((*chosen, order[at]), at + 1, more) for at, more in heavier if more < least]
        if chosen and all(i in chosen or weight + weights[i] >= least for i in order):
            found.append(chosen)
    return None if len(found) > MOST_LIGHT else sorted(found)


class Space:
    """The vectors that may be summed over, as they are chosen one by one.

    >>> space = Space([1, 1, 1], least=2)
    >>> space.join((1, 1, 1)), space.join((1, 1, 0)), space.join((0, 0, 0))
    (True, False, True)
    """

    def __init__(self, weights: Sequence[int], least: int) -> None:
        self.weights, self.least = tuple(weights), least
        self._light = light_sets(weights, least)
        self._rows: dict[int, list[Fraction]] = {}  # by pivot: the space in reduced echelon form
        self._chosen: list[Vector] = []
        self._refused: set[Vector] = set()

    def __contains__(self, vector: Vector) -> bool:
        return not any(self._rest(vector))

    def join(self, vector: Vector) -> bool:
        """Take the vector in, if it may be; True if it is in the space now."""
        if vector in self._refused:
            return False
        rest = self._rest(vector)
        if not any(rest):
            return True
        if self._tells_few(vector) or (self._parts_few(vector) if self._light is None else self._reaches_few(rest)):
            self._refused.add(vector)  # for good: what is few in a space is few in a larger one
            return False
        self._chosen.append(vector)
        self._take(rest)
        return True

    def _rest(self, vector: Vector) -> list[Fraction]:
        """The vector without its part in the space: zero at the pivots."""
        rest = [Fraction(number) for number in vector]
        for pivot, row in self._rows.items():
            if factor := rest[pivot]:
                rest = [a - factor * b for a, b in zip(rest, row, strict=True)]
        return rest

    def _take(self, rest: list[Fraction]) -> None:
        pivot = next(i for i, number in enumerate(rest) if number)
        new = [number / rest[pivot] for number in rest]
        for at, row in self._rows.items():
            if factor := row[pivot]:
                self._rows[at] = [a - factor * b for a, b in zip(row, new, strict=True)]
        self._rows[pivot] = new

    def _tells_few(self, vector: Vector) -> bool:
        """The sites of the vector, or those by which it differs from a chosen one, are few. (Quick, and what most are refused for.)"""
        zero = (0,) * len(vector)
        differences = (
            sum(weight for a, b, weight in zip(vector, other, self.weights, strict=True) if a != b) for other in (zero, *self._chosen)
        )
        return any(sites < self.least for sites in differences)

    def _reaches_few(self, rest: list[Fraction]) -> bool:
        """The vector, with something of the space, has all its sites among few."""
        free = [i for i in range(len(self.weights)) if i not in self._rows]
        goal = [rest[i] for i in free]  # Hc: rest is zero at the pivots
        columns = {i: [-self._rows[i][j] for j in free] if i in self._rows else [Fraction(i == j) for j in free] for i in range(len(rest))}
        return any(_spanned(goal, [columns[i] for i in light]) for light in self._light or ())

    def _parts_few(self, vector: Vector) -> bool:
        """Some sites that are told apart from all others by the vector and those chosen are few."""
        sizes = dict[tuple[int, ...], int]()
        for at, weight in enumerate(self.weights):
            key = tuple(other[at] for other in (vector, *self._chosen))
            sizes[key] = sizes.get(key, 0) + weight
        return any(any(key) and sites < self.least for key, sites in sizes.items())


def _spanned(goal: list[Fraction], columns: list[list[Fraction]]) -> bool:
    """True if the goal is a combination of the columns."""
    basis = dict[int, list[Fraction]]()
    for column in [*columns, goal]:
        rest = column
        for pivot, row in basis.items():
            if factor := rest[pivot]:
                rest = [a - factor * b for a, b in zip(rest, row, strict=True)]
        pivot_at = next((i for i, number in enumerate(rest) if number), None)
        if pivot_at is None:
            if column is goal:
                return True
            continue
        basis[pivot_at] = [number / rest[pivot_at] for number in rest]
    return False

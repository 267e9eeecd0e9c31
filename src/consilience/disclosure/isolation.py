"""Which sums may be made so that no combination of them is about few sites: a greedy choice, in exact arithmetic.

A sum over a variable set R is over the sites whose variables contain R. Written as a vector with a 1 for each of these sites and a 0 for
each other, what can be worked out by adding and subtracting sums is the linear span of the vectors of all sums that are made: a vector of
the span that is zero but for a few sites is something about these few. So the sums that may be made are those whose vectors lie in a space
in which every vector but zero has at least ``least`` sites. (That is the least distance of a linear code, over the rationals.)

*Types.* Sites with the same variables have the same number in every vector. They are one coordinate, with a weight.

*The test.* H is a matrix such that v lies in the space if and only if Hv = 0. A vector c may join unless c + s, with s in the space, has
all its sites among few types J: unless Hc is a combination of the columns of H that belong to J. All J that are light enough are tried.

*Exactness.* Numbers are those of a prime field, in which nothing is rounded. (1) If a combination of the chosen vectors is about few sites
over the rationals, it is in the field: take its coefficients as whole numbers without a common divisor; modulo the prime they are not all
zero, the vectors are independent there too (none joined that was not), so the combination is not zero, and it is zero wherever it was. So
what the test lets in is safe. (2) A vector that lies in the span in the field might not do so over the rationals; then it must not pass for
one that adds nothing. So it has to lie in the span modulo each of :data:`PRIMES`. If it did not over the rationals, the chosen vectors and
it would have a minor that is not zero; all primes would divide it; and their product, above 2¹⁵⁴, is more than a minor of zeros and ones of
up to 64 rows can be, (n + 1)^((n + 1)/2) / 2ⁿ < 2¹³² (Hadamard).

*Many types.* Where there are more than 64 types, or too many J (:data:`MOST_LIGHT`), another rule decides, which is easy to check and asks
for more: sites that no chosen sum tells apart are a part, every part must have ``least`` sites, and what is summed over is a union of
parts.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["MOST_LIGHT", "MOST_TYPES", "PRIMES", "Space", "light_sets"]

MOST_LIGHT, MOST_TYPES = 2000, 64
"""Sets of types that are tried for each vector, and types, up to which the exact rule is used."""
PRIMES = (2147483647, 2147483629, 2147483587, 2147483579, 2147483563)
"""The largest below 2³¹: products of two numbers of such a field fit 64 bits."""

Vector = tuple[int, ...]
Ints = NDArray[np.int64]
Tree = dict[int, Any]


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
        self._weights, self._least = np.array(weights, dtype=np.int64), least
        light = light_sets(weights, least) if len(weights) <= MOST_TYPES else None
        self._light = None if light is None else _tree(light)
        self._fields = [_Echelon(prime, len(weights)) for prime in PRIMES]
        self._chosen: Ints = np.zeros((0, len(weights)), dtype=np.int64)

    def __contains__(self, vector: Vector) -> bool:
        return self._holds(np.array(vector, dtype=np.int64))

    def join(self, vector: Vector) -> bool:
        """Take the vector in, if it may be; True if it is in the space now."""
        new = np.array(vector, dtype=np.int64)
        if self._holds(new):
            return True
        if self._tells_few(new) or (self._parts_few(new) if self._light is None else self._reaches_few(new)):
            return False
        self._chosen = np.vstack([self._chosen, new])
        for field in self._fields if self._light is not None else ():
            field.take(new)
        return True

    def _holds(self, vector: Ints) -> bool:
        if self._light is not None:
            return not any(field.rest(vector).any() for field in self._fields)
        # a union of parts: constant over sites that nothing chosen tells apart, and without those that are in nothing chosen
        parts = {tuple(part): there for part, there in zip(self._chosen.T.tolist(), vector.tolist(), strict=True)}
        return all(parts[tuple(part)] == there for part, there in zip(self._chosen.T.tolist(), vector.tolist(), strict=True)) and not any(
            there for part, there in parts.items() if not any(part)
        )

    def _tells_few(self, vector: Ints) -> bool:
        """The sites of the vector, or those by which it differs from a chosen one, are few. (Quick, and what most are refused for.)"""
        sites = np.vstack([vector, self._chosen != vector]) @ self._weights
        return bool((sites < self._least).any())

    def _reaches_few(self, vector: Ints) -> bool:
        """The vector, with something of the space, has all its sites among few."""
        field = self._fields[0]
        rest, checks, free = field.rest(vector), field.checks(), field.free()
        if not rest.any():  # in the span in this field, though not in all: on the safe side
            return True
        return _spanned(rest[free], checks, self._light or {}, field.prime)

    def _parts_few(self, vector: Ints) -> bool:
        """Some sites that are told apart from all others by the vector and those chosen are few."""
        parts, place = np.unique(np.vstack([self._chosen, vector]).T, axis=0, return_inverse=True)
        sites = np.bincount(place.ravel(), weights=self._weights)
        return bool((sites[parts.any(axis=1)] < self._least).any())


class _Echelon:
    """A space over a prime field, by a basis in reduced echelon form."""

    def __init__(self, prime: int, width: int) -> None:
        self.prime, self._pivots = prime, list[int]()
        self._rows: Ints = np.zeros((0, width), dtype=np.int64)

    def rest(self, vector: Ints) -> Ints:
        """A vector of zeros and ones without its part in the space: zero at the pivots."""
        found: Ints = (vector - self._rows[vector[self._pivots] == 1].sum(axis=0)) % self.prime
        return found

    def take(self, vector: Ints) -> None:
        """A vector more; nothing happens if it is in the space."""
        rest = self.rest(vector)
        if rest.any():
            pivot = int(np.flatnonzero(rest)[0])
            new = rest * pow(int(rest[pivot]), -1, self.prime) % self.prime
            rows = (self._rows - self._rows[:, pivot, None] * new % self.prime) % self.prime
            self._rows = np.vstack([rows, new])
            self._pivots.append(pivot)

    def free(self) -> list[int]:
        """The coordinates without a pivot."""
        return sorted(set(range(self._rows.shape[1])) - set(self._pivots))

    def checks(self) -> Ints:
        """The columns of H, one in each row: v is in the space if the sum of the rows, each times its number in v, is zero."""
        free = self.free()
        found = np.zeros((self._rows.shape[1], len(free)), dtype=np.int64)
        found[free, range(len(free))] = 1
        found[self._pivots] = -self._rows[:, free] % self.prime
        return found


def _tree(sets: Sequence[tuple[int, ...]]) -> Tree:
    """Sets that begin alike, together: a mapping from the first to those of the rest."""
    tree: Tree = {}
    for one in sets:
        branch = tree
        for i in one:
            branch = branch.setdefault(i, {})
    return tree


def _spanned(goal: Ints, columns: Ints, sets: Tree, prime: int) -> bool:
    """True if the goal is a combination of the columns of one of the sets."""
    if not goal.any():
        return True
    last = [i for i, more in sets.items() if not more]
    at = int(np.flatnonzero(goal)[0])
    if last:
        ends = columns[last]
        parallel = ((goal * ends[:, at, None] - ends * goal[at]) % prime == 0).all(axis=1) & (ends[:, at] != 0)
        if parallel.any():
            return True
    for i, more in sets.items():
        if more:
            column = columns[i]
            if column.any():  # the first coordinate of this column is made zero in all others
                k = int(np.flatnonzero(column)[0])
                without = (columns * column[k] - columns[:, k, None] * column % prime) % prime
                if _spanned((goal * column[k] - goal[k] * column % prime) % prime, without, more, prime):
                    return True
            elif _spanned(goal, columns, more, prime):
                return True
    return False

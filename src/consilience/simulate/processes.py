"""One function on many things, over several processes, that can be left at any time."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from typing import TypeVar

from joblib import Parallel, delayed

from consilience.options import check_number

__all__ = ["each"]

S = TypeVar("S")
T = TypeVar("T")


def each(function: Callable[[S], T], things: Iterable[S], jobs: int) -> Iterator[T]:
    """The function's values, in the order of the things.

    Who leaves the loop leaves no work behind: no more than a few things are handed out before their values are fetched. joblib's own
    generators hand out all of them, and warn when nobody wants the rest.

    >>> list(each(abs, [-1, 2, -3], jobs=1))
    [1, 2, 3]
    """
    check_number("jobs", jobs, least=1)
    if jobs == 1:
        yield from map(function, things)
        return
    left = iter(things)
    with Parallel(n_jobs=jobs, batch_size=1) as pool:
        while parcel := list(islice(left, 2 * jobs)):
            yield from pool(delayed(function)(thing) for thing in parcel)

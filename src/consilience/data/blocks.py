"""A table a block of rows at a time: what is summed over rows needs no more of it at once.

Blocks are the same whatever reads them, and their sums are added in their order: no digit of a sum depends on how many threads there are,
nor on how much memory, nor on whether another process helps. numpy lets other threads run while it computes: two share the blocks, and wait
for each other only while Python itself has the word. That is a third of their time; a second process (:mod:`consilience.data.helpers`) does
not wait, and takes over where there is enough to do.
"""

from __future__ import annotations

import pickle
import time
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from itertools import cycle
from typing import TypeVar

from consilience.data.helpers import PATIENCE, Gone, Helper, helpers
from consilience.data.table import Table

__all__ = ["over_blocks"]

T = TypeVar("T")
AHEAD = 1
"""Parts that are read beyond those that are worked on: none of the threads waits, and few are in memory."""
MOST_WAITING = 8
"""Parts that are done before one that a helper has: then this process waits for it."""
MUCH_LONGER = 10
"""So many times as long as this process a helper may take for a part."""
Part = Callable[[], Table]


def over_blocks(table: Table, names: Iterable[str], work: Callable[[Table], T], *, portable: bool = False) -> Iterator[T]:
    """What ``work`` makes of every block of some of a table's columns, in the order of the rows.

    ``portable``: another process may do it. ``work`` can then be pickled, and what it makes is small.

    >>> import numpy as np
    >>> import polars as pl
    >>> from consilience.data.schema import Schema
    >>> table = Table(pl.DataFrame({"A": np.arange(100_000.0)}), Schema({"A": "continuous"}), "muenster")
    >>> [block.n_rows for block in over_blocks(table, ["A"], lambda block: block)]
    [50000, 50000]
    """

    def done(part: Part) -> list[T]:
        table = part()
        return [work(block) for block in table.blocks(table.block_rows)]

    parts, helped = iter(table.parts(sorted(set(names)))), table.helpers if portable else 0
    if table.threads == 1:
        for part in parts:
            yield from done(part)
        return
    over = False
    while not over:
        with helpers.borrowed(helped) as lent:
            if lent:
                yield from _with_helpers(parts, done, pickle.dumps((work, table.schema), pickle.HIGHEST_PROTOCOL), lent)
                return
        over = yield from _in_threads(parts, done, table.threads, helped)


def _in_threads(parts: Iterator[Part], done: Callable[[Part], list[T]], threads: int, helped: int) -> Generator[T, None, bool]:
    """Parts in several threads; until all are done, which is True, or helpers are there to take over."""
    waiting, began = deque[Future[list[T]]](), time.perf_counter()
    with ThreadPoolExecutor(threads) as pool:
        try:
            over = False
            while not over and not (helped and helpers.are_there(helped)):
                part = next(parts, None)
                over = part is None
                if part is not None:
                    waiting.append(pool.submit(done, part))
                if len(waiting) >= threads + AHEAD:
                    yield from waiting.popleft().result()
                if helped:
                    began, before = time.perf_counter(), began
                    helpers.spent += began - before
            while waiting:
                yield from waiting.popleft().result()
        finally:
            for future in waiting:
                future.cancel()
    return over


def _with_helpers(parts: Iterable[Part], done: Callable[[Part], list[T]], work: bytes, lent: Sequence[Helper]) -> Iterator[T]:
    """Parts in turn to each helper and to this process, which also does those of helpers that have enough to do, or are gone."""
    for each in lent:
        with suppress(Gone):
            each.begin(work)
    waiting, longest = deque[tuple[Part | None, Helper | None, list[T]]](), 0.0

    def first() -> list[T]:
        part, helper, made = waiting.popleft()
        if helper is None or part is None:
            return made
        try:
            found: list[T] = helper.take(PATIENCE + MUCH_LONGER * longest)
        except Gone:
            return done(part)
        return found

    turns = cycle([*lent, None])  # a helper begins before this process does
    for part in parts:
        helper = next(turns)
        if helper is not None and _given(helper, part):
            waiting.append((part, helper, []))
        else:
            began = time.perf_counter()
            waiting.append((None, None, done(part)))  # without the part, which is let go
            longest = max(longest, time.perf_counter() - began)
        while waiting and (waiting[0][1] is None or waiting[0][1].has_made() or len(waiting) > MOST_WAITING):
            yield from first()
    while waiting:
        yield from first()


def _given(helper: Helper, part: Part) -> bool:
    """True if a helper has taken a part."""
    if helper.is_free:
        with suppress(Gone):
            helper.give(part())
            return True
    return False

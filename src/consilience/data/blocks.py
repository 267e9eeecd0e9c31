"""A table a block of rows at a time: what is summed over rows needs no more of it at once.

Blocks are the same whatever reads them, and their sums are added in their order: no digit of a sum depends on how many threads there are,
nor on how much memory. numpy lets other threads run while it computes: two share the blocks, and wait for each other only while Python
itself has the word.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TypeVar

from consilience.data.table import Table

__all__ = ["over_blocks"]

T = TypeVar("T")
AHEAD = 1
"""Parts that are read beyond those that are worked on: none of the threads waits, and few are in memory."""


def over_blocks(table: Table, names: Iterable[str], work: Callable[[Table], T]) -> Iterator[T]:
    """What ``work`` makes of every block of some of a table's columns, in the order of the rows.

    >>> import numpy as np
    >>> import polars as pl
    >>> from consilience.data.schema import Schema
    >>> table = Table(pl.DataFrame({"A": np.arange(100_000.0)}), Schema({"A": "continuous"}), "muenster")
    >>> [block.n_rows for block in over_blocks(table, ["A"], lambda block: block)]
    [50000, 50000]
    """

    def done(part: Callable[[], Table]) -> list[T]:
        return [work(block) for block in part().blocks()]

    parts = table.parts(sorted(set(names)))
    if table.threads == 1:
        for part in parts:
            yield from done(part)
        return
    waiting = deque[Future[list[T]]]()
    with ThreadPoolExecutor(table.threads) as pool:
        try:
            for part in parts:
                waiting.append(pool.submit(done, part))
                if len(waiting) >= table.threads + AHEAD:
                    yield from waiting.popleft().result()
            while waiting:
                yield from waiting.popleft().result()
        finally:
            for future in waiting:
                future.cancel()

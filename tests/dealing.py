"""In which order several processes run the tests: each begins with long ones."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

__all__ = ["dealt"]

T = TypeVar("T")


def dealt(files: Sequence[Sequence[T]], processes: int) -> list[T]:
    """Files dealt out like cards, longest first; what does not fit into a process's share is dealt on.

    ``--dist worksteal`` cuts the list into as many stretches as there are processes. In the order of their lengths alone the first stretch
    would have every long file, and the other processes could take them only from its end.

    >>> dealt(["aaaa", "bb", "c", "d", "e"], 3)
    ['a', 'a', 'a', 'a', 'c', 'e', 'b', 'b', 'd']
    >>> dealt(["aaaa", "bb"], 1)
    ['a', 'a', 'a', 'a', 'b', 'b']
    """
    left = sum(len(found) for found in files)
    piles, room = [list[T]() for _ in range(processes)], list[int]()
    for others in range(processes, 0, -1):  # as xdist cuts it
        room.append(left // others)
        left -= room[-1]
    turn = 0
    for found in files:
        rest = list(found)
        while rest:
            free = room[turn] - len(piles[turn])
            piles[turn] += rest[:free]
            rest, turn = rest[free:], (turn + 1) % processes
    return [item for pile in piles for item in pile]

"""The process that helps another with blocks of rows: it is told what to make of them, given parts of a table, and says what it has made.

It is started by :mod:`consilience.data.helpers` with one end of a connection that nobody else has, and ends when the other end is closed,
however that came about, or when nothing was asked of it for long. It reads no file, opens no port, and keeps nothing.
"""

from __future__ import annotations

import pickle
import signal
from collections.abc import Callable, Sequence
from contextlib import suppress
from importlib import import_module
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import numpy as np

from consilience.data.schema import Schema
from consilience.data.slot import Slot
from consilience.data.table import Table
from consilience.parallel import one_thread

__all__ = ["ENOUGH", "FAILED", "READY", "main"]

READY, ENOUGH, FAILED = b"ready", b"enough", b"failed"
"""What it says beside what it has made: that it has begun, that it ends since nobody asks, and that something was not to be made of a
part (the other process tries that itself, and sees why)."""
FIRST_TO_GO = "500"
"""Where the system runs out of memory, this process is ended rather than the one that it helps, which can do without."""


def main(fd: int, slots: Sequence[int], answers: Sequence[int], modules: Sequence[str], idle: float) -> None:
    """Help until the connection ends, or for so many seconds nobody asks. ``modules`` are loaded before the first work comes."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # a terminal tells all of its processes; the other one decides
    with suppress(OSError):
        Path("/proc/self/oom_score_adj").write_text(FIRST_TO_GO, encoding="ascii")
    for name in modules:
        import_module(name)
    with Connection(fd) as connection, one_thread(), suppress(EOFError, OSError):
        connection.send_bytes(READY)
        _help(connection, [Slot(each) for each in slots], [Slot(each) for each in answers], idle)


def _help(connection: Connection, slots: Sequence[Slot], answers: Sequence[Slot], idle: float) -> None:
    work: Callable[[Table], Any] | None = None
    schema = Schema({})
    while connection.poll(idle):
        # from the process that has started this one, over a connection without a name: as trusted as its arguments
        told = pickle.loads(connection.recv_bytes())  # noqa: S301
        if len(told) == 2:
            work, schema = told
            continue
        assert work is not None
        k, numbers, codes, step = told
        table = Table.of_arrays(schema, slots[k].get(numbers), slots[k].get(codes))
        try:
            made = pickle.dumps([work(block) for block in table.blocks(step)], pickle.HIGHEST_PROTOCOL)
            # where it is, and not itself: what does not fit into a connection would wait there, and the next part with it
            said = pickle.dumps((k, answers[k].put({"": np.frombuffer(made, np.uint8)})))
        except Exception:  # noqa: BLE001  the other process makes it again, and has it raised where it can be seen
            said = FAILED
        connection.send_bytes(said)
    connection.send_bytes(ENOUGH)

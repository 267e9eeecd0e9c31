"""The process of a worker: orders come on standard input, what it tells goes to standard output, and it ends when its input does."""

from __future__ import annotations

import os
import queue
import signal
import sys
import threading
import traceback
from typing import IO

from consilience.errors import ConsilienceError
from consilience.service.worker.messages import Order, Problem, Stage, read, write
from consilience.service.worker.working import work

__all__ = ["main"]


def main() -> None:
    """Work until nobody is there any more who would want it."""
    # Whoever stops the server by its group of processes means the server, which ends its workers itself: a worker that ended first would
    # look like one that failed.
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.SIG_IGN)
    told = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # what a library prints is not a message
    orders: queue.SimpleQueue[Order] = queue.SimpleQueue()
    threading.Thread(target=_listen, args=(sys.stdin.buffer, orders), daemon=True).start()
    while True:
        _serve(orders.get(), told)


def _listen(stream: IO[bytes], orders: queue.SimpleQueue[Order]) -> None:
    """Orders, as they come. When there can be no more, whoever started this process is gone, and so is it, whatever it does."""
    while (order := read(stream, order=True)) is not None:
        orders.put(order)  # type: ignore[arg-type]
    os._exit(0)


def _serve(order: Order, told: IO[bytes]) -> None:
    try:
        answer = work(order, lambda words: write(told, Stage(words)))
    except ConsilienceError as error:
        write(told, Problem(f"{type(error).__name__}: {error}"))
    except MemoryError:
        write(told, Problem("There was not enough memory to find graphs."))
    except Exception:  # noqa: BLE001  whoever waits hears of it
        write(told, Problem("A defect of the program ended the search; the server's log has the details.", traceback.format_exc()))
    else:
        write(told, answer)


if __name__ == "__main__":
    main()

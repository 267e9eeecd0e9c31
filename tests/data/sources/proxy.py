"""A line between a program and a server that is cut: a proxy on loopback that passes so many bytes of the answer on, and then hangs up.

It is a process of its own (``python proxy.py PORT BYTES HOW``): PostgreSQL's driver lets no other thread run while it waits.
"""

from __future__ import annotations

import socket
import struct
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress

__all__ = ["cut_after"]


@contextmanager
def cut_after(answer: int, port: int, how: str) -> Iterator[int]:
    """The port of a proxy of a server; it ends a connection after so many bytes of the answer, by a ``reset`` or an ``end``."""
    command = [sys.executable, __file__, str(port), str(answer), how]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        try:
            yield int(process.stdout.readline())
        finally:
            process.kill()


def _serve(port: int, answer: int, how: str) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listening:
        sys.stdout.write(f"{listening.getsockname()[1]}\n")
        sys.stdout.flush()
        while True:
            near, _ = listening.accept()
            threading.Thread(target=_pass, args=(near, port, answer, how), daemon=True).start()


def _pass(near: socket.socket, port: int, answer: int, how: str) -> None:
    with near, socket.create_connection(("127.0.0.1", port)) as far, suppress(OSError):
        threading.Thread(target=_copy, args=(near, far), daemon=True).start()
        _copy(far, near, answer)
        if how == "reset":  # to close without waiting for what is on its way is to reset
            near.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            near.shutdown(socket.SHUT_RD)  # or the other thread's waiting would keep it open
        else:
            near.shutdown(socket.SHUT_RDWR)
        far.shutdown(socket.SHUT_RDWR)


def _copy(source: socket.socket, target: socket.socket, most: int | None = None) -> None:
    """Until the source ends, or so many bytes have passed."""
    with suppress(OSError):
        while (most is None or most > 0) and (data := source.recv(1 << 16 if most is None else min(1 << 16, most))):
            target.sendall(data)
            most = None if most is None else most - len(data)


if __name__ == "__main__":
    _serve(int(sys.argv[1]), int(sys.argv[2]), sys.argv[3])

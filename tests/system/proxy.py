"""A TCP proxy on loopback that holds every piece of data back for a while, in both directions, and keeps their order."""

from __future__ import annotations

import queue
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress


class DelayingProxy:
    """Four threads a connection: sockets are few here, and threads are simple. Without a target, CONNECT says where to."""

    def __init__(self, target: int | None, delay: float, port: int = 0) -> None:
        self.delay, self._target = delay, target
        self.asked: list[str] = []
        self._listener = socket.create_server(("127.0.0.1", port))
        self.port = int(self._listener.getsockname()[1])
        self._sockets: list[socket.socket] = []
        self._threads: list[threading.Thread] = []
        self._start(self._accept)

    def _start(self, work: object, *arguments: object) -> None:
        thread = threading.Thread(target=work, args=arguments, daemon=True)  # type: ignore[arg-type]
        self._threads.append(thread)
        thread.start()

    def _accept(self) -> None:
        with suppress(OSError):
            while True:
                near, _ = self._listener.accept()
                self._sockets.append(near)
                try:
                    far = socket.create_connection(("127.0.0.1", self._where(near)))
                except OSError:
                    near.close()
                    continue
                self._sockets.append(far)
                for source, sink in ((near, far), (far, near)):
                    source.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                    pieces: queue.Queue[tuple[float, bytes]] = queue.Queue()
                    self._start(self._read, source, pieces)
                    self._start(self._write, sink, pieces)

    def _where(self, near: socket.socket) -> int:
        if self._target is not None:
            return self._target
        head = b""
        while not head.endswith(b"\r\n\r\n"):
            head += near.recv(1)
        self.asked.append(head.split(b"\r\n")[0].decode())
        near.sendall(b"HTTP/1.1 200 Connection established\r\n\r\n")
        return int(head.split()[1].rpartition(b":")[2])

    def _read(self, source: socket.socket, pieces: queue.Queue[tuple[float, bytes]]) -> None:
        data = b"."
        while data:
            try:
                data = source.recv(1 << 16)
            except OSError:
                data = b""
            pieces.put((time.monotonic() + self.delay, data))

    def _write(self, sink: socket.socket, pieces: queue.Queue[tuple[float, bytes]]) -> None:
        while True:
            due, data = pieces.get()
            time.sleep(max(0.0, due - time.monotonic()))
            try:
                if not data:
                    raise OSError
                sink.sendall(data)
            except OSError:
                with suppress(OSError):
                    sink.shutdown(socket.SHUT_RDWR)
                return

    def close(self) -> None:
        with suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        for one in self._sockets:
            with suppress(OSError):
                one.shutdown(socket.SHUT_RDWR)
        for thread in self._threads:
            thread.join(5)
        for one in self._sockets:
            one.close()


@contextmanager
def delaying(target: int | None, delay: float) -> Iterator[DelayingProxy]:
    proxy = DelayingProxy(target, delay)
    try:
        yield proxy
    finally:
        proxy.close()


class Cable:
    """A proxy that can be pulled and plugged in again at the same port. Without a target, CONNECT says where to."""

    def __init__(self, target: int | None = None, delay: float = 0.0) -> None:
        self._target, self.delay = target, delay
        self._proxy: DelayingProxy | None = DelayingProxy(target, delay)
        self.port = self._proxy.port

    def pull(self) -> None:
        """End every connection and refuse new ones."""
        if self._proxy is not None:
            self._proxy.close()
            self._proxy = None

    def plug(self, delay: float | None = None) -> None:
        """Let connections through again."""
        assert self._proxy is None
        self.delay = self.delay if delay is None else delay
        self._proxy = DelayingProxy(self._target, self.delay, self.port)

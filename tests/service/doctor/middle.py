"""Real boxes between a site and a server, on loopback: one that opens TLS, as an inspection does, and proxies that do not let through."""

from __future__ import annotations

import select
import socket
import ssl
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

Change = Callable[[bytes], bytes]


def unchanged(data: bytes) -> bytes:
    return data


@contextmanager
def listening(handle: Callable[[socket.socket], None]) -> Iterator[int]:
    """Somebody who handles every connection in a thread of its own; the port."""
    with socket.create_server(("127.0.0.1", 0)) as listener:

        def handled(near: socket.socket) -> None:
            with near, suppress(OSError):
                handle(near)

        def accept() -> None:
            with suppress(OSError):
                while True:
                    near, _ = listener.accept()
                    threading.Thread(target=handled, args=(near,), daemon=True).start()

        thread = threading.Thread(target=accept, daemon=True)
        thread.start()
        yield int(listener.getsockname()[1])
        listener.shutdown(socket.SHUT_RDWR)
        thread.join(5)


@contextmanager
def inspecting(port: int, folder: Path, certificate: str, key: str, there: Change = unchanged, back: Change = unchanged) -> Iterator[int]:
    """A box that ends TLS with a certificate of its own and goes on to the server with TLS of its own; it may change what it reads."""
    (folder / "box.crt").write_text(certificate)
    (folder / "box.key").write_text(key)
    ours = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    ours.load_cert_chain(folder / "box.crt", folder / "box.key")
    theirs = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    theirs.check_hostname, theirs.verify_mode = False, ssl.CERT_NONE

    def handle(near: socket.socket) -> None:
        near.settimeout(10.0)
        with (
            ours.wrap_socket(near, server_side=True) as client,
            socket.create_connection(("127.0.0.1", port), timeout=10.0) as far,
            theirs.wrap_socket(far) as server,
        ):
            _pump(client, server, there, back)

    with listening(handle) as found:
        yield found


def _pump(client: ssl.SSLSocket, server: ssl.SSLSocket, there: Change, back: Change) -> None:
    """What either says goes to the other until one of them ends. In one thread: a TLS connection is not for two at once."""
    ways = {client: (server, there), server: (client, back)}
    with suppress(OSError):
        while ready := [each for each in ways if each.pending()] or select.select(list(ways), [], [], 10.0)[0]:
            for source in ready:
                sink, change = ways[source]
                source.setblocking(False)
                try:
                    data = source.recv(1 << 16)
                except ssl.SSLWantReadError:  # what came was TLS's own, such as a ticket
                    continue
                finally:
                    source.settimeout(10.0)
                if not data:
                    return
                sink.sendall(change(data))


def answering(head: bytes) -> Callable[[socket.socket], None]:
    """Whatever is asked, this is the answer; then the connection ends."""

    def handle(near: socket.socket) -> None:
        asked = b""
        while not asked.endswith(b"\r\n\r\n"):
            part = near.recv(1 << 12)
            if not part:
                return
            asked += part
        near.sendall(head)

    return handle

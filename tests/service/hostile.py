"""An HTTP server that says whatever it was told to say."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, HTTPServer


class Evil(HTTPServer):
    """Answers every request with what stands under the end of its path, or with 404."""

    says: dict[str, tuple[int, bytes]]
    asked: list[str]

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}"


class Handler(BaseHTTPRequestHandler):
    server: Evil

    def do_GET(self) -> None:
        self.server.asked.append(self.path)
        code, body = next((said for end, said in self.server.says.items() if self.path.endswith(end)), (404, b""))
        self.send_response(code)
        self.send_header("Content-Type", "application/json")
        self.end_headers()
        try:
            self.wfile.write(body)
        except OSError:  # the other side has had enough
            return

    do_POST = do_GET

    def log_message(self, *_: object) -> None:
        pass


@contextmanager
def evil_server() -> Iterator[Evil]:
    server = Evil(("127.0.0.1", 0), Handler)
    server.says, server.asked = {}, []
    threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
    try:
        yield server
    finally:
        server.shutdown()
        server.server_close()

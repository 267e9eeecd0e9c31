"""A connection to a server step by step, as an agent makes it: proxy, TCP, TLS, one HTTP request, one WebSocket.

Libraries do these steps in one, and say of a failure that there is no connection. Here each step fails by itself.
"""

from __future__ import annotations

import base64
import hashlib
import http.client
import os
import re
import socket
import ssl
import urllib.request
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from urllib.parse import unquote, urlsplit

from consilience.service.doctor.sign import Sign, obstacle
from consilience.service.errors import ConfigurationError
from consilience.wording import printable

__all__ = ["Address", "BlockedError", "Reply", "ask", "dial", "greet", "proxy_for"]

MOST_BYTES = 1 << 16
_GUID = b"258EAFA5-E914-47DA-95CA-C5AB0DC85B11"  # RFC 6455, 1.3


class BlockedError(Exception):
    """The road ends here; ``sign`` says why. It does not leave this folder."""

    def __init__(self, sign: Sign) -> None:
        super().__init__(sign.words)
        self.sign = sign


@dataclass(frozen=True, slots=True)
class Address:
    """Where a server is.

    >>> Address.of("https://study.example/")
    Address(host='study.example', port=443, secure=True)
    """

    host: str
    port: int
    secure: bool

    @classmethod
    def of(cls, url: str) -> Address:
        """From an address as it stands in an invitation."""
        try:
            parts = urlsplit(url)
            if parts.scheme not in ("https", "http") or not parts.hostname:
                raise ValueError
            secure = parts.scheme == "https"
            return cls(parts.hostname, parts.port or (443 if secure else 80), secure)
        except ValueError:
            raise ConfigurationError(f"A server's address is https://HOST or https://HOST:PORT; got {printable(url[:200])!r}.") from None

    @property
    def text(self) -> str:
        """Host and port; an address of IPv6 in brackets."""
        return f"[{self.host}]:{self.port}" if ":" in self.host else f"{self.host}:{self.port}"


def proxy_for(address: Address) -> str:
    """The proxy that the environment or the system names for this address; empty for none. As the agent's libraries have it."""
    if urllib.request.proxy_bypass(address.text):
        return ""
    proxies = urllib.request.getproxies()
    kinds = ("wss", "socks", "https") if address.secure else ("ws", "socks", "https", "http")
    found = next((proxies[kind] for kind in kinds if kind in proxies), "")
    return found if not found or "://" in found else f"http://{found}"


@contextmanager
def dial(address: Address, proxy: str, seconds: float, context: ssl.SSLContext | None = None) -> Iterator[socket.socket]:
    """A connection to the server, through the proxy if there is one, and with TLS if there is a context.

    Raises
    ------
    BlockedError
        If there is no connection to be had.
    OSError, ValueError
        What TLS raises.
    """
    found = _dialled(address, proxy, seconds)
    try:
        if context is not None:
            found = context.wrap_socket(found, server_hostname=address.host)
        yield found
    finally:
        with suppress(OSError):
            found.close()


def _dialled(address: Address, proxy: str, seconds: float) -> socket.socket:
    if not proxy:
        return _connected(address.host, address.port, seconds, "connection", address.text)
    parts = urlsplit(proxy)
    shown = f"{parts.hostname}:{parts.port or 80}"  # without a password that may stand in it
    if parts.scheme != "http" or not parts.hostname:
        raise BlockedError(
            obstacle(
                "proxy",
                f"The proxy that is set for this machine, {printable(parts.scheme)}://{shown}, is none that a site can go through.",
                f"Please name an HTTP proxy that lets this machine connect to {address.text} (CONNECT), for the variable https_proxy.",
            )
        )
    found = _connected(parts.hostname, parts.port or 80, seconds, "proxy", f"the proxy {shown}")
    login = ""
    if parts.username is not None:
        words = f"{unquote(parts.username)}:{unquote(parts.password or '')}"
        login = f"Proxy-Authorization: Basic {base64.b64encode(words.encode()).decode()}\r\n"
    try:
        found.sendall(f"CONNECT {address.text} HTTP/1.1\r\nHost: {address.text}\r\n{login}\r\n".encode())
        status = _tunnel_status(found)
    except (OSError, ValueError) as error:
        found.close()
        raise BlockedError(_refused(shown, address, f"did not answer as a proxy does ({error})")) from None
    if status != 200:
        found.close()
        why = "asks for a login" if status == 407 else f"does not let this machine through (status {status})"
        raise BlockedError(_refused(shown, address, why))
    return found


def _tunnel_status(connection: socket.socket) -> int:
    """Read byte by byte: what comes after the head belongs to the server."""
    head = b""
    while not head.endswith(b"\r\n\r\n"):
        byte = connection.recv(1)
        if not byte or len(head) > MOST_BYTES:
            raise ValueError("the connection ended in its answer")
        head += byte
    found = re.match(rb"HTTP/1\.[01] (\d{3})", head)
    if found is None:
        raise ValueError("its answer is not HTTP")
    return int(found[1])


def _refused(shown: str, address: Address, why: str) -> Sign:
    return obstacle(
        "proxy",
        f"The proxy {shown} {why}.",
        f"Please let this machine connect to {address.text} through the proxy {shown} without a login (method CONNECT, TLS inside, not "
        f"opened), or past the proxy (then I set no_proxy={address.host}).",
    )


def _connected(host: str, port: int, seconds: float, about: str, named: str) -> socket.socket:
    try:
        return socket.create_connection((host, port), timeout=seconds)
    except (socket.gaierror, UnicodeError) as error:
        raise BlockedError(
            obstacle(
                about,
                f"This machine does not know the name {printable(host)!r}: {getattr(error, 'strerror', None) or error}.",
                f"The name {printable(host)} cannot be resolved on this machine. Please let it ask a name server that knows it.",
            )
        ) from None
    except OSError as error:
        why = "nobody answers" if isinstance(error, TimeoutError) else (error.strerror or str(error))
        raise BlockedError(
            obstacle(
                about,
                f"There is no connection to {printable(named)}: {why}.",
                f"Please let this machine open TCP connections to {printable(host)}, port {port} (outgoing only; nothing connects to this "
                f"machine).",
            )
        ) from None


@dataclass(frozen=True, slots=True)
class Reply:
    """An answer over HTTP, its head and at most 64 KiB of its body."""

    status: int
    headers: Mapping[str, str]
    body: bytes


def ask(connection: socket.socket, address: Address, path: str, **headers: str) -> Reply:
    """One request; OSError or ValueError if what comes is no answer."""
    lines = {"Host": address.text, "User-Agent": "consilience-doctor", "Accept": "application/json", "Connection": "close"}
    lines |= {name.replace("_", "-"): value for name, value in headers.items()}
    head = "\r\n".join((f"GET {path} HTTP/1.1", *(f"{name}: {value}" for name, value in lines.items())))
    connection.sendall(f"{head}\r\n\r\n".encode())
    reply = http.client.HTTPResponse(connection)
    try:
        reply.begin()
        body = b"" if reply.status == 101 else reply.read(MOST_BYTES)
    except http.client.HTTPException as error:
        raise ValueError(f"no HTTP: {error or type(error).__name__}") from None
    return Reply(reply.status, {name.lower(): value for name, value in reply.getheaders()}, body)


def greet(connection: socket.socket, address: Address, path: str) -> str:
    """Open a WebSocket and send a ping through it; why that does not work, or the empty string."""
    key = base64.b64encode(os.urandom(16)).decode()
    upgrade = {"Connection": "Upgrade", "Upgrade": "websocket", "Sec_WebSocket_Key": key, "Sec_WebSocket_Version": "13"}
    reply = ask(connection, address, path, **upgrade)
    if reply.status != 101:
        return f"the request for one was answered with status {reply.status}"
    accept = base64.b64encode(hashlib.sha1(key.encode() + _GUID, usedforsecurity=False).digest()).decode()
    if reply.headers.get("sec-websocket-accept") != accept:
        return "the answer is not that of a server that speaks it"
    word, mask = os.urandom(8), os.urandom(4)
    connection.sendall(bytes([0x89, 0x80 | len(word)]) + mask + bytes(a ^ b for a, b in zip(word, mask * 2, strict=True)))
    heard = b""
    while len(heard) < 2 + len(word):
        part = connection.recv(256)
        if not part:
            return "it ended at the first word"
        heard += part
    connection.sendall(bytes([0x88, 0x80]) + mask)  # a farewell without a reason
    return "" if heard.startswith(bytes([0x8A, len(word)]) + word) else "what comes back is not what was sent"

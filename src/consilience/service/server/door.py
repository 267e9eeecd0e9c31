"""The server's door: connections are counted before a word is said on them, per address and in all.

TLS comes first on a connection, and whoever opens a thousand of them and says nothing would hold a thousand descriptors and
their buffers until the handshake is given up. So a connection that has not said anything yet is a *silent* one: where there are too many
connections, the oldest silent one goes, and only where none is silent the new one is refused.
"""

from __future__ import annotations

import errno
import os
import socket
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from ipaddress import IPv6Address, ip_address, ip_network
from typing import Any

from consilience.service.memory import Broom

__all__ = ["Door", "Guest", "Listener", "listen", "neighbourhood"]

MOST_SILENT = 512
"""Connections that have not finished their handshake, in all: a second of handshakes for those who mean it."""
AT_ONCE = 64
"""Connections taken before the event loop does something else: those that are sent away again are closed by it."""
SWEEP = 200
"""Connections that end before their memory is looked for: some ten megabytes."""
SCARCE = frozenset({errno.EMFILE, errno.ENFILE, errno.ENOBUFS, errno.ENOMEM})


def neighbourhood(address: str) -> str:
    """What connections are counted by: an IPv4 address, or the 64 bits of an IPv6 address that name a network; one network is one guest.

    >>> neighbourhood("192.0.2.7"), neighbourhood("::ffff:192.0.2.7"), neighbourhood("2001:db8::1:2:3:4")
    ('192.0.2.7', '192.0.2.7', '2001:db8::')
    """
    try:
        found = ip_address(address.partition("%")[0])
    except ValueError:  # a socket of another family
        return address
    if not isinstance(found, IPv6Address):
        return str(found)
    if found.ipv4_mapped is not None:
        return str(found.ipv4_mapped)
    return str(ip_network((int(found) >> 64 << 64, 64)).network_address)


class Guest(socket.socket):
    """A connection that was taken. It leaves the door's books when it is closed, whoever closes it."""

    door: Door
    key: str

    def close(self) -> None:
        """Close it."""
        self.door.leave(self)
        super().close()

    def dismiss(self) -> None:
        """End it from here: the event loop, which has it, finds it at its end and closes it."""
        with suppress(OSError):
            self.shutdown(socket.SHUT_RDWR)


class Door:
    """At most ``most`` connections, and ``per_address`` of one address, where ``counted`` says that an address is one guest's.

    Everything here happens in the event loop's thread.
    """

    def __init__(self, most: int, per_address: int, counted: Callable[[str], bool] = lambda _: True) -> None:
        self._most, self._per_address, self._counted = most, per_address, counted
        self._inside: dict[int, Guest] = {}
        self._silent: dict[int, Guest] = {}  # by descriptor, the oldest first
        self._of: Counter[str] = Counter()
        self._broom = Broom(SWEEP)
        self.refused = self.dismissed = 0

    def __len__(self) -> int:
        return len(self._inside)

    def enter(self, guest: Guest, address: str) -> bool:
        """Let a connection in; False if there is no room for it."""
        key = neighbourhood(address) if self._counted(address) else ""
        if key and self._of[key] >= self._per_address and not self._dismiss(key):
            self.refused += 1
            return False
        if len(self._inside) >= self._most and not self._dismiss():
            self.refused += 1
            return False
        if len(self._silent) >= MOST_SILENT:
            self._dismiss()
        guest.door, guest.key = self, key
        self._inside[guest.fileno()] = self._silent[guest.fileno()] = guest
        self._of[key] += 1
        return True

    def heard(self, descriptor: int) -> None:
        """A connection has finished its handshake."""
        self._silent.pop(descriptor, None)

    def leave(self, guest: Guest) -> None:
        """A connection has ended, or is as good as ended."""
        number = guest.fileno()
        if self._inside.get(number) is guest:
            del self._inside[number]
            self._silent.pop(number, None)
            self._of[guest.key] -= 1
            if self._of[guest.key] <= 0:
                del self._of[guest.key]
            self._broom.dropped()

    def _dismiss(self, key: str | None = None) -> bool:
        """Send the oldest silent connection away, of one address or of all; False if none is silent."""
        found = next((guest for guest in self._silent.values() if key is None or guest.key == key), None)
        if found is None:
            return False
        self.leave(found)
        found.dismiss()
        self.dismissed += 1
        return True


class Listener(socket.socket):
    """A listening socket with a door. It does not tell the event loop of those who are refused, nor that descriptors have run out:
    asyncio would write as many errors into the log as connections may wait, once a second.
    """

    door: Door
    _taken = 0
    _spare: int | None = None

    def accept(self) -> tuple[socket.socket, Any]:
        """The next connection that may come in; ``BlockingIOError`` if there is none now."""
        while self._taken < AT_ONCE:
            self._taken += 1
            try:
                found, address = super().accept()
            except BlockingIOError:
                self._taken = 0
                raise
            except OSError as error:
                if error.errno not in SCARCE:
                    raise
                self._turn_away()
                break
            guest = Guest(found.family, found.type, found.proto, fileno=found.detach())
            if self.door.enter(guest, str(address[0]) if isinstance(address, tuple) else ""):
                return guest, address
            socket.socket.close(guest)  # without an answer: writing one to each of a flood is what the flood wants
        self._taken = 0
        raise BlockingIOError(errno.EWOULDBLOCK, "the event loop has its turn")

    def _turn_away(self) -> None:
        """No descriptor is left: with the one that was kept for this, take the next connection and end it, so that it does not wait."""
        if self._spare is not None:
            os.close(self._spare)
            self._spare = None
        with suppress(OSError):
            super().accept()[0].close()
            self.door.refused += 1
        self.keep_spare()

    def keep_spare(self) -> None:
        """Keep a descriptor for the time when there is none."""
        with suppress(OSError):
            self._spare = os.open(os.devnull, os.O_RDONLY)

    def close(self) -> None:
        """Close it."""
        if self._spare is not None:
            os.close(self._spare)
            self._spare = None
        super().close()


def listen(host: str, port: int, door: Door) -> list[Listener]:
    """Sockets on all addresses of ``host``, behind one door. ``OSError`` if the port is taken."""
    found: list[Listener] = []
    try:
        for family, kind, proto, _, address in socket.getaddrinfo(host or None, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE):
            one = Listener(family, kind, proto)
            found.append(one)
            one.door = door
            if os.name == "posix":  # elsewhere it would let two processes share a port
                one.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            if family == socket.AF_INET6:
                one.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
            one.bind(address)
            one.setblocking(False)
            one.keep_spare()
    except BaseException:
        for one in found:
            one.close()
        raise
    return found

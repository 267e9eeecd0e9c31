"""Who is let in, and who has to go, when there are too many connections."""

from __future__ import annotations

import os
import resource
import socket
from collections.abc import Iterator
from contextlib import ExitStack, suppress

import pytest

from consilience.service.config import ServerConfig
from consilience.service.server.door import Door, Guest, Listener, listen
from consilience.service.server.serve import door_of


@pytest.fixture
def open_() -> Iterator[ExitStack]:
    with ExitStack() as stack:
        yield stack


class Hall:
    """A listener with a door, and guests who dial it from one address or another."""

    def __init__(self, stack: ExitStack, door: Door) -> None:
        (self.listener,) = listen("127.0.0.1", 0, door)
        self.stack, self.door = stack, door
        stack.enter_context(self.listener)
        self.listener.listen(64)

    def dial(self, source: str = "127.0.0.1") -> socket.socket:
        port = self.listener.getsockname()[1]
        return self.stack.enter_context(socket.create_connection(("127.0.0.1", port), timeout=2, source_address=(source, 0)))

    def take(self) -> Guest | None:
        """The next guest, or None if all who wait are refused."""
        with suppress(BlockingIOError):
            guest, _ = self.listener.accept()
            assert isinstance(guest, Guest)
            return self.stack.enter_context(guest)
        return None


def is_sent_away(guest: socket.socket) -> bool:
    guest.settimeout(0.2)
    try:
        return guest.recv(1) == b""
    except ConnectionResetError:
        return True
    except TimeoutError:
        return False


def test_the_oldest_who_says_nothing_goes_first_and_only_of_the_same_address(open_: ExitStack) -> None:
    hall = Hall(open_, Door(most=100, per_address=3))
    other = hall.dial("127.0.0.2")
    hall.take()
    dialled = [hall.dial() for _ in range(3)]
    taken = [hall.take() for _ in range(3)]
    assert taken[0] is not None
    hall.door.heard(taken[0].fileno())  # the first has finished its handshake
    dialled.append(hall.dial())
    assert hall.take() is not None
    assert [is_sent_away(one) for one in (*dialled, other)] == [False, True, False, False, False]
    assert (len(hall.door), hall.door.dismissed, hall.door.refused) == (4, 1, 0)


def test_where_all_have_spoken_the_next_is_refused_until_one_leaves(open_: ExitStack) -> None:
    hall = Hall(open_, Door(most=2, per_address=2))
    for _ in range(2):
        hall.dial()
        guest = hall.take()
        assert guest is not None
        hall.door.heard(guest.fileno())
    refused = hall.dial("127.0.0.3")
    assert hall.take() is None
    assert is_sent_away(refused)
    guest.close()
    hall.dial("127.0.0.3")
    assert hall.take() is not None
    assert len(hall.door) == 2


def test_a_trusted_proxy_is_not_one_guest(open_: ExitStack) -> None:
    direct = ServerConfig(max_connections_per_address=8)
    behind = ServerConfig(max_connections_per_address=8, behind_proxy=True, trusted_proxies="127.0.0.0/24, 2001:db8::/32")
    for config, wanted in ((direct, 8), (behind, 12)):
        hall = Hall(open_, door_of(config))
        for _ in range(12):
            hall.dial()
            guest = hall.take()
            if guest is not None:
                hall.door.heard(guest.fileno())
        assert len(hall.door) == wanted


def test_without_descriptors_nobody_waits_and_nothing_is_raised(open_: ExitStack) -> None:
    hall = Hall(open_, Door(most=100, per_address=100))
    waiting = hall.dial()
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    probe = os.open(os.devnull, os.O_RDONLY)
    os.close(probe)
    resource.setrlimit(resource.RLIMIT_NOFILE, (probe, hard))  # the lowest that is free: no other can be opened
    try:
        assert hall.take() is None
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
    assert is_sent_away(waiting)
    hall.dial()
    assert hall.take() is not None


def test_a_port_that_is_taken_leaves_no_socket_behind() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken, pytest.raises(OSError, match="in use"):
        listen("127.0.0.1", taken.getsockname()[1], Door(1, 1))
    assert issubclass(Listener, socket.socket)

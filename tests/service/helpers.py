"""A study server in this process, an owner who talks to it, and sites that speak the protocol by hand."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from argon2 import PasswordHasher
from fastapi import FastAPI
from starlette.testclient import TestClient, WebSocketTestSession

from consilience.protocol.framing import Assembler, decode, encode, frames
from consilience.protocol.handshake import Hello, Preview, Waiting, from_server, join_context, prove
from consilience.secagg import Identity
from consilience.service.config import ServerConfig
from consilience.service.invitation import Invitation, read_invitation
from consilience.service.server import create_app
from consilience.service.server.passwords import Passwords
from consilience.service.store import Accounts, Database

CHEAP = Passwords(PasswordHasher(time_cost=1, memory_cost=8, parallelism=1))
PASSWORD = "correct horse battery staple"
SERVER = Identity.from_private_bytes(bytes(range(32)))
STUDY: dict[str, Any] = {
    "name": "trial",
    "variables": [{"name": "A", "kind": "continuous"}, {"name": "C", "kind": "binary"}],
    "datasets": [["A", "C"]],
    "settings": {"alpha": 0.01},
}


class Clock:
    def __init__(self) -> None:
        self.now = 1_000_000.0

    def __call__(self) -> float:
        return self.now


def make_app(home: Path, clock: Callable[[], float] | None = None, **settings: Any) -> FastAPI:
    """With two owners, ada and bob."""
    config = ServerConfig(home=str(home), public_url="https://study.example", **settings)
    database = Database(home / "studies.sqlite", clock or Clock())
    accounts = Accounts(database)
    for name in ("ada", "bob"):
        if not accounts.password_of(name):
            accounts.add(name, CHEAP.hash(PASSWORD))
    database.close()
    return create_app(config, SERVER, passwords=CHEAP, clock=clock or Clock(), ticks=clock or Clock())


@contextmanager
def serving(home: Path, clock: Callable[[], float] | None = None, **settings: Any) -> Iterator[TestClient]:
    with TestClient(make_app(home, clock, **settings), raise_server_exceptions=False) as client:
        yield client


def bearer(client: TestClient, name: str = "ada") -> dict[str, str]:
    reply = client.post("/api/v1/login", json={"name": name, "password": PASSWORD})
    assert reply.status_code == 200, reply.text
    return {"Authorization": f"Bearer {reply.json()['token']}"}


def new_study(client: TestClient, headers: dict[str, str], **changes: Any) -> str:
    reply = client.post("/api/v1/studies", json={**STUDY, **changes}, headers=headers)
    assert reply.status_code == 201, reply.text
    return str(reply.json()["id"])


def invited(client: TestClient, headers: dict[str, str], study: str, site: str) -> Invitation:
    reply = client.post(f"/api/v1/studies/{study}/invitations", json={"site": site}, headers=headers)
    assert reply.status_code == 201, reply.text
    return read_invitation(reply.json()["invitation"])


def join_body(invitation: Invitation, identity: Identity) -> dict[str, str]:
    signature = identity.sign(join_context(invitation.study, invitation.secret, invitation.server))
    return {
        "study": invitation.study,
        "secret": invitation.secret.hex(),
        "identity": identity.public_bytes.hex(),
        "signature": signature.hex(),
    }


def joined(client: TestClient, headers: dict[str, str], study: str, site: str) -> Identity:
    identity = Identity.generate()
    reply = client.post("/api/v1/join", json=join_body(invited(client, headers, study, site), identity))
    assert reply.status_code == 200, reply.text
    return identity


class Hand:
    """A site's end of a socket, moved by hand."""

    def __init__(self, socket: WebSocketTestSession, study: str) -> None:
        self.socket, self.study = socket, study

    def send(self, message: Any) -> None:
        for frame in frames(encode(message)):
            self.socket.send_bytes(frame)

    def receive(self) -> Any:
        """The next message that is not merely news."""
        while isinstance(found := self.hear(), Preview | Waiting):
            pass
        return found

    def hear(self) -> Any:
        """The next message."""
        assembler, whole = Assembler(1 << 26), None
        while whole is None:
            whole = assembler.feed(self.socket.receive_bytes())
        return decode(whole, from_server)

    def prove(self, identity: Identity, channel: bytes = b"") -> Any:
        """The challenge, then the welcome."""
        hello = Hello(identity.public_bytes, bytes(32))
        self.send(hello)
        self.send(prove(identity, self.study, hello, self.receive(), channel))
        return self.receive()


@contextmanager
def connected(client: TestClient, study: str) -> Iterator[Hand]:
    with client.websocket_connect(f"/api/v1/studies/{study}/site") as socket:
        yield Hand(socket, study)


def closed_with(hand: Hand) -> int:
    """The code with which the server ends the connection."""
    while True:
        message = hand.socket.receive()
        if message["type"] == "websocket.close":
            return int(message["code"])

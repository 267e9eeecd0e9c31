"""One site's WebSocket, from the challenge to the end of the study."""

from __future__ import annotations

import asyncio
import logging
import secrets
import sqlite3
import time
from collections.abc import Callable
from contextlib import suppress
from typing import Any

from starlette.concurrency import run_in_threadpool
from starlette.websockets import WebSocket, WebSocketDisconnect

from consilience.data.kinds import as_kind
from consilience.errors import ConsilienceError, ProtocolError
from consilience.protocol.errors import ChallengeError, MessageFormatError, MessageSizeError, OtherVersionError, UnfinishedMessageError
from consilience.protocol.framing import Assembler, decode, encode, frames
from consilience.protocol.handshake import (
    HANDSHAKE_BYTES,
    MISFIT,
    NONCE_BYTES,
    Checked,
    Closing,
    Consent,
    Declare,
    DeclareAsk,
    Declined,
    Hello,
    Proof,
    Token,
    TokenAsk,
    Welcome,
    consent_context,
    from_site,
    preview,
    propose,
    server_proof,
    verify_site,
    welcome,
)
from consilience.protocol.messages import KeyAsk, KeySet, Round
from consilience.protocol.states import replies_to
from consilience.protocol.version import VERSION, who_updates
from consilience.secagg import Identity
from consilience.secagg.errors import BadSignatureError
from consilience.secagg.identity import PUBLIC_BYTES, SIGNATURE_BYTES, is_signed_by
from consilience.service.errors import LifeCycleError, RateLimitError
from consilience.service.receiving import next_message
from consilience.service.server.hub import BAD, LATE, LEFT, Connection, Hub, SocketWriter
from consilience.service.server.limits import RateLimit
from consilience.service.server.metrics import Metrics
from consilience.service.server.runner import Runner
from consilience.service.settings import VariableSpec, schema_of
from consilience.service.store import Principal, State, Store
from consilience.service.withdrawal import sentence_of

__all__ = ["SiteSockets"]

FORBIDDEN, TRY_LATER, TOO_LONG, NOT_NOW = 4403, 4429, 1009, 1013
CODES = ((MessageSizeError, TOO_LONG), (UnfinishedMessageError, LATE))
"""With which code a connection ends for what a site has done; any other is malformed, or out of turn."""
HANDSHAKE_SECONDS = 20.0
TOKEN_SECONDS = 7 * 86400.0
TOKEN_BURST, TOKEN_RATE = 10, 6.0
MOST_REASON = 1000
HAS_LEFT = "its owner has left the study"
RUN_REPLIES = frozenset(reply for asked in (KeyAsk, KeySet, Round) for reply in replies_to(asked))
"""What a run waits for; anything else a site says is about its consent, its variables or a token."""
Signed = Callable[[Welcome], Welcome]
"""Puts the server's signature to a welcome, over the handshake of one connection."""
_log = logging.getLogger("consilience.server")


class _WebSocketWriter(SocketWriter):
    def __init__(self, socket: WebSocket) -> None:
        self._socket = socket

    async def send(self, frame: bytes) -> None:
        try:
            await self._socket.send_bytes(frame)
        except WebSocketDisconnect as error:
            raise ConnectionError(str(error)) from None

    async def close(self, code: int, reason: str) -> None:
        try:
            await self._socket.close(code, reason[:120])
        except (WebSocketDisconnect, RuntimeError, OSError):  # it was closed already, by us or by the other side
            return


class SiteSockets:
    """Serves the sites' sockets. ``channel`` is the digest of the server's certificate, empty where a proxy holds it."""

    def __init__(
        self,
        store: Store,
        hub: Hub,
        runner: Runner,
        metrics: Metrics,
        identity: Identity,
        channel: bytes,
        limit: RateLimit,
        clock: Callable[[], float],
    ) -> None:
        self._store, self._hub, self._runner, self._metrics = store, hub, runner, metrics
        self._identity, self._channel, self._limit, self._clock = identity, channel, limit, clock
        self._tokens = RateLimit("tokens", TOKEN_BURST, TOKEN_RATE, time.monotonic)

    async def serve(self, socket: WebSocket, study: str) -> None:
        """A connection from its beginning to its end. Nothing that comes over it can do more than end it."""
        wire, address = _WebSocketWriter(socket), socket.client.host if socket.client else ""
        try:
            await socket.accept()
            self._limit.take(address)
            async with asyncio.timeout(HANDSHAKE_SECONDS):
                site, signed = await self._authenticate(socket, wire, study)
            self._limit.give_back(address)
        except RateLimitError as error:
            await wire.close(TRY_LATER, str(error))
            return
        except (TimeoutError, ConsilienceError) as error:  # before OSError, of which TimeoutError is one
            self._metrics.add("sites_refused")
            _log.warning("a site was refused", extra={"study": study, "address": address, "reason": str(error) or "too slow"})
            # who updates is no secret, and the one reason that whoever reads it can do something about
            await wire.close(FORBIDDEN, str(error) if isinstance(error, OtherVersionError) else "no proof of who you are")
            return
        except (WebSocketDisconnect, RuntimeError, OSError):
            return
        except sqlite3.OperationalError as error:
            await self._no_database(wire, study, error)
            return
        await self._stay(socket, wire, study, site, signed)

    async def _authenticate(self, socket: WebSocket, wire: SocketWriter, study: str) -> tuple[str, Signed]:
        """Challenge whoever is there; the site's name and what signs its welcome, or an error that does not say what was wrong."""
        hello = await self._first(socket, Hello)
        if words := who_updates(hello.version, VERSION):
            raise OtherVersionError(words)
        if len(hello.identity) != PUBLIC_BYTES or len(hello.nonce) != NONCE_BYTES:
            raise ProtocolError("A hello must have a key and a number of 32 bytes each.")
        challenge = server_proof(self._identity, study, hello, secrets.token_bytes(NONCE_BYTES), int(self._clock()))
        await self._send(wire, challenge)
        proof = await self._first(socket, Proof)
        if len(proof.signature) != SIGNATURE_BYTES:
            raise ChallengeError("A signature has 64 bytes.")
        verify_site(proof, study, hello, challenge, self._channel)
        site = await run_in_threadpool(self._store.studies.site_of, study, hello.identity)
        if not site:
            raise ChallengeError("The identity has not joined this study.")
        return site, lambda said: welcome(self._identity, said, hello, challenge, proof)

    async def _first(self, socket: WebSocket, kind: type[Any]) -> Any:
        data = Assembler(HANDSHAKE_BYTES).feed(await _receive(socket))
        message = None if data is None else decode(data, from_site)
        if not isinstance(message, kind):
            raise ProtocolError(f"{kind.__name__} must come here; got {type(message).__name__}.")
        return message

    async def _send(self, wire: SocketWriter, message: Any) -> None:
        for frame in frames(encode(message)):
            await wire.send(frame)

    async def _stay(self, socket: WebSocket, wire: SocketWriter, study: str, site: str, signed: Signed) -> None:
        connection = Connection(study, site, wire)
        why = "the connection ended"
        try:
            # inside: whatever happens from here on, a connection that has ended is taken out again. One that stayed would be found dead by
            # every later connection of its site
            await self._hub.register(connection)
            await self._greet(connection, signed)
            await run_in_threadpool(self._runner.event, study, "connected", site=site)
            if len(self._hub.of(study)) > 1:  # it may begin any moment
                await run_in_threadpool(self._runner.searching.warm)
            awaited = await run_in_threadpool(self._runner.room.of, study)
            if awaited is not None:  # if it is no news to all, it is to who has just come
                # A site that has said no, and gone, is to be heard all the same: what it said is still to be read.
                with suppress(WebSocketDisconnect, RuntimeError, OSError):
                    await connection.send(encode(awaited))
            while True:
                data = await next_message(lambda: _receive(socket), connection.assembler)
                await self._take(connection, decode(data, from_site))
        except WebSocketDisconnect as error:
            why = HAS_LEFT if error.code == LEFT else why
        except (RuntimeError, OSError):
            pass
        except RateLimitError as error:
            why = str(error)
            self._metrics.add("messages_refused")
            await connection.close(TRY_LATER, why)
        except ConsilienceError as error:
            why = str(error)
            self._metrics.add("messages_refused")
            await connection.close(next((code for kind, code in CODES if isinstance(error, kind)), BAD), why)
        except sqlite3.OperationalError as error:
            why = "the server's database did not answer"
            await self._no_database(wire, study, error)
        finally:
            self._hub.unregister(connection, why)
            self._metrics.add("sites_lost")
            try:
                await run_in_threadpool(self._lost, study, site, why)
            except (LifeCycleError, sqlite3.OperationalError) as error:  # deleted in this moment, or the disk is to blame
                _log.warning("a loss is not in the study's events", extra={"study": study, "site": site, "reason": str(error)})

    async def _no_database(self, wire: SocketWriter, study: str, error: sqlite3.OperationalError) -> None:
        """The site has done nothing wrong: it comes back."""
        self._metrics.add("storage_errors")
        _log.error("the database does not answer; a site is sent away", extra={"study": study, "reason": str(error)})
        await wire.close(NOT_NOW, "the server's database does not answer")

    def _lost(self, study: str, site: str, why: str) -> None:
        if self._store.studies.get(study) is not None:
            self._runner.event(study, "lost", site=site, reason=why[:MOST_REASON], **({"left": True} if why == HAS_LEFT else {}))

    async def _greet(self, connection: Connection, signed: Signed) -> None:
        """After registering: a study that begins meanwhile is told to all who are registered, so none is missed."""
        row = await run_in_threadpool(self._store.studies.get, connection.study)
        if row is None:
            raise ProtocolError("The study is gone.")
        if not await run_in_threadpool(self._store.studies.has_site, connection.study, connection.site):
            raise ProtocolError("The site was removed from the study while it connected.")
        await connection.send(encode(signed(Welcome(connection.site, row.id, row.name, row.state.value))))
        # From here on the site is told what all are told. What happened before that, it learns by reading the study once more: the first
        # word to a site is its welcome, and a proposal that comes twice does no harm.
        connection.greeted = True
        row = await run_in_threadpool(self._store.studies.get, connection.study)
        if row is None:
            raise ProtocolError("The study is gone.")
        gone = await run_in_threadpool(self._withdrawn, connection)
        if gone:
            await connection.send(encode(Closing("withdrawn", gone)))
        elif row.state is State.RUNNING and row.contract is not None:
            await connection.send(encode(propose(self._identity, row.id, row.contract.encoded())))
        elif row.state.is_over:
            await connection.send(encode(Closing(row.state.value, row.message)))
        elif row.variables is None:
            await connection.send(encode(DeclareAsk()))
        elif row.state is State.OPEN and (declared := row.prospect) is not None:
            await connection.send(encode(preview(self._identity, row.id, declared.encoded())))

    async def _take(self, connection: Connection, message: Any) -> None:
        """One message of a site that has proved who it is."""
        if type(message) in RUN_REPLIES:
            if not connection.answered(message):
                raise ProtocolError("An answer came that nobody asked for.")
        elif isinstance(message, Consent):
            await run_in_threadpool(self._consent, connection, message)
            self._hub.mark_ready(connection, message.digest)
        elif isinstance(message, Declined):
            connection.ready = False
            await run_in_threadpool(self._decline, connection, message.reason[:MOST_REASON])
        elif isinstance(message, Checked):
            await run_in_threadpool(self._check, connection, message)
        elif isinstance(message, Declare):
            await run_in_threadpool(self._declare, connection, message)
        elif isinstance(message, TokenAsk):
            self._count_token(connection)
            who = Principal(study=connection.study, site=connection.site)
            token, expires = await run_in_threadpool(self._store.accounts.issue, who, TOKEN_SECONDS)
            await connection.send(encode(Token(token, int(expires))))
        else:
            raise ProtocolError(f"{type(message).__name__} has no place here.")

    def _count_token(self, connection: Connection) -> None:
        """A site needs a token at the end of a study, and when its owner asks for one; each is a commit to disk."""
        try:
            self._tokens.take(f"{connection.study} {connection.site}")
        except RateLimitError as error:
            words = f"A site is given {TOKEN_BURST} tokens at once and {TOKEN_RATE:.0f} a minute; the next in {error.wait:.0f} seconds."
            raise RateLimitError(words, error.wait) from None

    def _withdrawn(self, connection: Connection) -> str:
        """That the site has withdrawn, if so: it is asked nothing more."""
        mine = next((site for site in self._store.studies.sites(connection.study) if site.name == connection.site), None)
        return "" if mine is None else sentence_of(mine)

    def _decline(self, connection: Connection, reason: str) -> None:
        """A no is no end: the study waits for this site to come back with another table or another answer, or for its owner to go on
        without it. A run that has begun waits as for a site that is lost.
        """
        if reason == MISFIT:
            self._store.studies.say_fit(connection.study, connection.site, fits=False)
        self._store.studies.decline(connection.study, connection.site, reason)
        self._runner.event(connection.study, "declined", site=connection.site, reason=reason)

    def _check(self, connection: Connection, message: Checked) -> None:
        """Whether a site's table fits, said when it connects; every connection says it again."""
        row = self._store.studies.get(connection.study)
        shown = (row.contract or row.prospect) if row is not None else None
        if row is None or shown is None or shown.declaration != message.declaration:
            raise ProtocolError("A site says whether its table fits what it was shown; this is of something else.")
        if self._store.studies.say_fit(connection.study, connection.site, fits=message.fits):
            self._runner.event(connection.study, "checked", site=connection.site, fits=message.fits)

    def _consent(self, connection: Connection, message: Consent) -> None:
        with self._store.database.writing():  # no other contract takes its place between the look and the write
            first = self._agreed(connection, message)
        if first:
            self._runner.event(connection.study, "consented", site=connection.site)

    def _agreed(self, connection: Connection, message: Consent) -> bool:
        if self._withdrawn(connection):
            raise ProtocolError("The site has withdrawn from the study.")
        row = self._store.studies.get(connection.study)
        if row is None or row.contract is None or row.contract.digest != message.digest:
            raise ProtocolError("The consent is to another contract.")
        identity = next((m.identity for m in row.contract.members if m.name == connection.site), b"")
        context = consent_context(connection.study, message.digest)
        if not identity or len(message.signature) != SIGNATURE_BYTES or not is_signed_by(identity, context, message.signature):
            raise BadSignatureError("A consent must be signed by the site's identity.")
        return self._store.studies.consent(connection.study, connection.site, message.signature)

    def _declare(self, connection: Connection, message: Declare) -> None:
        row = self._store.studies.get(connection.study)
        if row is None or row.variables is not None or row.state not in (State.DRAFT, State.OPEN):
            raise ProtocolError("The study does not ask for variables, or not any more.")
        if len({d.name for d in message.variables}) < len(message.variables):
            raise MessageFormatError("A variable may be declared once.")
        schema_of(tuple(VariableSpec(d.name, as_kind(d.kind, d.name), d.levels) for d in message.variables))
        self._store.studies.declare(connection.study, connection.site, message.variables)
        self._runner.event(connection.study, "declared", site=connection.site, variables=len(message.variables))


async def _receive(socket: WebSocket) -> bytes:
    """A binary frame; text is not understood."""
    message = await socket.receive()
    if message["type"] == "websocket.disconnect":
        raise WebSocketDisconnect(message.get("code", 1005), message.get("reason"))
    data = message.get("bytes")
    if data is None:
        raise MessageFormatError("Frames are binary; got text.")
    return bytes(data)

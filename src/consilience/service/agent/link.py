"""The agent's connection: TLS, proxy, challenge, and coming back after it ends. It dials out; nothing dials in."""

from __future__ import annotations

import asyncio
import logging
import random
import secrets
import ssl
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import msgspec
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed, InvalidHandshake, InvalidURI, ProxyError

from consilience.errors import AccessError, ProtocolError
from consilience.federation.site.ledger import printable
from consilience.protocol.errors import OtherVersionError, UnfinishedMessageError
from consilience.protocol.framing import FRAME_BYTES, Assembler, decode, encode, frames
from consilience.protocol.handshake import (
    HANDSHAKE_BYTES,
    NONCE_BYTES,
    Challenge,
    Checked,
    Closing,
    Declined,
    Hello,
    Preview,
    Proposal,
    Token,
    TokenAsk,
    Waiting,
    Welcome,
    from_server,
    prove,
    verify_preview,
    verify_proposal,
    verify_server,
    verify_welcome,
)
from consilience.protocol.messages import Refused
from consilience.protocol.states import SiteState
from consilience.protocol.version import VERSION, who_updates
from consilience.secagg import Identity
from consilience.secagg.context import sha256
from consilience.secagg.identity import PUBLIC_BYTES, SIGNATURE_BYTES, fingerprint_of
from consilience.service.agent.entry import check_url, context_of, protocol_of
from consilience.service.agent.home import Joined
from consilience.service.agent.site import Site
from consilience.service.agent.succeeding import distrust, successor
from consilience.service.config import AgentConfig
from consilience.service.errors import ChangedIdentityError, UnreachableError
from consilience.service.fetching import MOST_WORDS
from consilience.service.receiving import next_message

__all__ = ["Agent", "Outcome"]

BAD, FORBIDDEN, REPLACED, LEFT = 4400, 4403, 4409, 4410
MOST_REFUSALS = 5
"""Connections in a row that the server may refuse before the agent gives up: one alone may be a server under load."""
HANDSHAKE_SECONDS = 30.0
LATEST = 2**40
"""No clock shows more seconds than this."""
_log = logging.getLogger("consilience.client")


@dataclass(frozen=True, slots=True)
class Outcome:
    """How a study ended for this site; ``token`` downloads its documents."""

    state: str
    message: str
    token: str = ""


class Agent:
    """A site's connection to its study. ``say`` is told in words what happens; ``jitter`` draws from [0, 1); ``keep`` is given a
    certificate that takes the place of the invitation's.

    Whoever cancels :meth:`run` because the site's owner leaves the study sets ``leaving`` before: the server is then told so. ``awaited``
    says whom the study waits for, in words; it is empty before that was told, and while there is no connection.
    """

    def __init__(
        self,
        joined: Joined,
        identity: Identity,
        config: AgentConfig,
        say: Callable[[str], None],
        jitter: Callable[[], float] = random.random,
        keep: Callable[[str], None] = lambda _: None,
    ) -> None:
        self._keep = keep
        self._joined, self._identity, self._config, self._say, self._jitter = joined, identity, config, say, jitter
        url = check_url(joined.url, insecure=config.insecure)
        self._uri = f"ws{url.removeprefix('http')}/api/v1/studies/{joined.study}/site"
        self._attempt = self._refusals = 0
        self.leaving = False
        self.awaited, self._told_fit = "", False
        self._context = context_of(joined, config.ca) if url.startswith("https://") else None

    async def run(self, site: Site) -> Outcome:
        """Answer until the study is over, whatever happens to the connection meanwhile."""
        while True:
            try:
                async with self._connect() as socket:
                    site.state.reconnects()
                    site.handle(await self._open(socket, site.state))
                    self._attempt = self._refusals = 0  # only now the server has taken this site's proof
                    try:
                        return await self._answer(socket, site)
                    except asyncio.CancelledError:
                        if self.leaving:  # said, so that nobody takes it for a connection that is lost and comes back
                            await socket.close(LEFT)
                        raise
            except ssl.SSLCertVerificationError as error:
                await self._trust_successor(error)
                continue  # at once; each successor is newer than the one before, so this has an end
            except ConnectionClosed as error:
                why = await self._ended(error)
            except (OSError, InvalidHandshake, TimeoutError, ProxyError) as error:
                why = f"no connection: {error or type(error).__name__}"
            except InvalidURI as error:
                raise UnreachableError(f"{self._uri} is no address: {error}.") from None
            if self._refusals >= MOST_REFUSALS:
                raise AccessError(f"The server has refused this site {self._refusals} times; {why}. Ask the study's owner.")
            pause = self._pause(self._attempt)
            self._attempt += 1
            self._say(f"{why}; again in {pause:.1f} seconds")
            self.awaited = ""
            await asyncio.sleep(pause)

    async def _ended(self, error: ConnectionClosed) -> str:
        """Why a connection has ended, in words; an error where there is no use in coming back."""
        code = error.rcvd.code if error.rcvd else 1006
        reason = error.rcvd.reason if error.rcvd else "without a word"
        if code == REPLACED:
            raise AccessError("Another process has connected with this site's identity. This one stops.") from None
        self._refusals += code in (BAD, FORBIDDEN)
        if code == FORBIDDEN and self._refusals == 1:
            await asyncio.to_thread(self._check_version)
        return f"the connection ended: {printable(reason) or code}"

    def _check_version(self) -> None:
        """A server of another version may refuse a site without being able to say why: ask it for its version."""
        url = check_url(self._joined.url, insecure=self._config.insecure)
        words = who_updates(VERSION, protocol_of(url, self._context))
        if words:
            raise OtherVersionError(words)

    def _pause(self, attempt: int) -> float:
        """Twice as long each time, up to a bound, and somewhere below it: sites do not come back all at once."""
        longest = min(self._config.backoff_seconds, 0.5 * 2.0 ** min(attempt, 16))
        return longest * (0.25 + 0.75 * self._jitter())

    async def token(self) -> str:
        """Connect once, for a token alone."""
        while True:
            try:
                async with self._connect() as socket:
                    state = SiteState()
                    await self._open(socket, state)
                    state.moves(Welcome)
                    return await self._token(socket, state)
            except ssl.SSLCertVerificationError as error:
                await self._trust_successor(error)

    async def _trust_successor(self, error: ssl.SSLCertVerificationError) -> None:
        """Trust the server's new certificate from now on, if its identity vouches for it; else an error."""
        joined = self._joined
        url = check_url(joined.url, insecure=self._config.insecure)
        found = await asyncio.to_thread(successor, url, joined.certificate, joined.server_key)
        if not found:
            raise ChangedIdentityError(distrust(joined.url, error.verify_message)) from None
        self._keep(found)
        self._joined = msgspec.structs.replace(joined, certificate=found)
        self._context = context_of(self._joined, self._config.ca)
        self._say("the server has a new certificate, signed by the identity that this site has pinned; it is trusted from now on")

    def _connect(self) -> connect:
        heartbeat = self._config.heartbeat_seconds
        return connect(
            self._uri,
            ssl=self._context,
            compression=None,  # masked numbers do not compress
            max_size=FRAME_BYTES + 1,
            max_queue=4,
            open_timeout=HANDSHAKE_SECONDS,
            ping_interval=heartbeat,
            ping_timeout=heartbeat,
            user_agent_header=None,
        )

    async def _open(self, socket: ClientConnection, state: SiteState) -> Welcome:
        """The challenge, both ways, and the server's signed word that it has taken this site's proof: nothing else is heard before it."""
        async with asyncio.timeout(HANDSHAKE_SECONDS):
            hello = Hello(self._identity.public_bytes, secrets.token_bytes(NONCE_BYTES), VERSION)
            await self._send(socket, hello)
            challenge = await self._receive(socket, Assembler(HANDSHAKE_BYTES))
            challenge = _check_challenge(challenge, state)
            if challenge.identity != self._joined.server_key:
                raise ChangedIdentityError(
                    "The server is not the one that this site has joined: its identity has changed. Nothing is sent. Ask the study's owner."
                )
            verify_server(challenge, self._joined.study, hello, fingerprint_of(self._joined.server_key))
            proof = prove(self._identity, self._joined.study, hello, challenge, _channel(socket))
            await self._send(socket, proof)
            state.moves(Challenge)
            welcome = await self._receive(socket, Assembler(FRAME_BYTES))
            state.check(type(welcome))
            assert isinstance(welcome, Welcome), "nothing else has a place here, by the table of states"
            verify_welcome(welcome, self._joined.study, hello, challenge, proof)
            return welcome

    async def _answer(self, socket: ClientConnection, site: Site) -> Outcome:
        """One message at a time; what takes long is done in a thread, so that heartbeats go on."""
        assembler = Assembler(self._config.max_message_bytes)
        while True:
            message = await self._receive(socket, assembler)
            if isinstance(message, Proposal):
                verify_proposal(message, self._joined.study, self._joined.server_key)
            if isinstance(message, Preview):
                verify_preview(message, self._joined.study, self._joined.server_key)
            if isinstance(message, Waiting):
                self._waits(message)
            if isinstance(message, Closing):
                site.handle(message)
                token = await self._token(socket, site.state) if message.state == "finished" else ""
                return Outcome(printable(message.state[:MOST_WORDS]), printable(message.message[:MOST_WORDS]), token)
            reply = await asyncio.to_thread(site.handle, message)
            if reply is None:
                continue
            if isinstance(reply, Refused):
                self._say(f"refused: {printable(reply.message)}")
            await self._send(socket, reply)
            if isinstance(reply, Declined) or (isinstance(reply, Checked) and not reply.fits):
                raise site.failure
            if isinstance(reply, Checked) and not self._told_fit:
                self._told_fit = True
                self._say("the table fits what the study declares")

    def _waits(self, message: Waiting) -> None:
        """Say whom the study waits for, once for each change: silence would look like a program that hangs."""
        words = printable(message.said())
        if words != self.awaited:
            self.awaited = words
            self._say(f"connected, {words}")

    async def _token(self, socket: ClientConnection, state: SiteState) -> str:
        """Ask for a token. What else comes before it must be in its turn, and is let pass: nobody here answers it."""
        await self._send(socket, TokenAsk())
        while True:
            reply = await self._receive(socket, Assembler(FRAME_BYTES))
            state.check(type(reply))
            if isinstance(reply, Token):
                return reply.token

    async def _send(self, socket: ClientConnection, message: msgspec.Struct) -> None:
        for frame in frames(encode(message)):
            await socket.send(frame)

    async def _receive(self, socket: ClientConnection, assembler: Assembler) -> Any:
        async def frame() -> bytes:
            found = await socket.recv()
            if isinstance(found, str):
                raise ProtocolError("Frames are binary; the server sent text.")
            return found

        try:
            return decode(await next_message(frame, assembler), from_server)
        except UnfinishedMessageError as error:  # as good as lost: this site comes back
            raise TimeoutError(str(error)) from None


def _check_challenge(challenge: Any, state: SiteState) -> Challenge:
    """A challenge, in its turn, whose parts can be one; :class:`ProtocolError` else."""
    state.check(type(challenge))
    if isinstance(challenge, Challenge) and (words := who_updates(VERSION, challenge.version)):
        raise OtherVersionError(words)
    if not isinstance(challenge, Challenge):
        raise ProtocolError(f"A challenge must come here; got {type(challenge).__name__}.")
    if (len(challenge.identity), len(challenge.nonce), len(challenge.signature)) != (PUBLIC_BYTES, NONCE_BYTES, SIGNATURE_BYTES):
        raise ProtocolError("The parts of a challenge do not have the right lengths.")
    if not 0 <= challenge.time <= LATEST:
        raise ProtocolError(f"The time of a challenge must be seconds from 0 to {LATEST}; got {challenge.time}. Ask the study's owner.")
    return challenge


def _channel(socket: ClientConnection) -> bytes:
    """The digest of the certificate at the other end of the TLS connection; empty without TLS."""
    tls = socket.transport.get_extra_info("ssl_object")
    certificate = tls.getpeercert(binary_form=True) if tls is not None else None
    return sha256(certificate) if certificate else b""

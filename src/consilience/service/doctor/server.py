"""A study server, looked at from where a site would be: each step of the road to it, whose certificate is shown, and its clock."""

from __future__ import annotations

import json
import ssl
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from email.utils import parsedate_to_datetime
from pathlib import Path
from typing import Any

from consilience.protocol.succession import Succession, verify_succession
from consilience.protocol.version import VERSION, who_updates
from consilience.secagg.errors import BadSignatureError
from consilience.secagg.identity import fingerprint_of, fingerprint_text, read_fingerprint
from consilience.service.doctor.certificates import Shown, certificate_sign
from consilience.service.doctor.road import Address, BlockedError, Reply, ask, dial, greet, proxy_for
from consilience.service.doctor.sign import Sign, good, in_the_way, notice, obstacle
from consilience.service.errors import ConfigurationError
from consilience.service.tls import client_context, untrusted
from consilience.typed import from_json
from consilience.wording import printable

__all__ = ["Known", "look_at_server"]

SECONDS = 10.0
"""For each step. A firewall that drops what it does not like says nothing, and somebody waits here."""
NOTED_SECONDS, MOST_SECONDS = 10.0, 300.0
"""A clock that is off by more than the second is one that nobody sets: a new certificate is valid from five minutes before it was made."""
ANY_STUDY = "0" * 16
"""A study that is not there: the server opens the WebSocket first, and asks afterwards who is there."""


@dataclass(frozen=True, slots=True)
class Known:
    """What is known of a server beforehand: its address, and from an invitation or a study that was joined its identity and certificate."""

    url: str
    identity: bytes = b""
    certificate: str = ""
    study: str = ANY_STUDY


def look_at_server(known: Known, ca: str = "", clock: Callable[[], float] = time.time, seconds: float = SECONDS) -> list[Sign]:
    """The signs of a server, up to the step that does not work."""
    signs: list[Sign] = []
    try:
        for sign in _looked(known, ca, clock, seconds):
            signs.append(sign)  # noqa: PERF402  what was seen before the road ends is kept
    except BlockedError as blocked:
        signs.append(blocked.sign)
    return signs


def _looked(known: Known, ca: str, clock: Callable[[], float], seconds: float) -> Iterator[Sign]:
    address = Address.of(known.url)
    try:
        extra = Path(ca).read_text(encoding="ascii") if ca else ""
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigurationError(f"{ca!r} should be a PEM file with certificate authorities: {error}.") from None
    context = client_context(known.certificate, extra, system=not known.certificate) if address.secure else None
    proxy = proxy_for(address)
    shown_proxy = proxy.rpartition("@")[2].partition("://")[2] or proxy.rpartition("@")[2]
    with dial(address, proxy, seconds):
        if proxy:
            yield good("proxy", f"The proxy {printable(shown_proxy)} lets this machine through to {address.text}.")
        else:
            yield good("proxy", f"None is set for {address.text}.")
        yield good("connection", f"{address.text} can be reached.")
    if context is None:
        yield obstacle(
            "certificate",
            f"{printable(known.url)} is without TLS, over which a site connects to no server but one of a trial on its own machine.",
            f"Please ask whoever runs {address.host} for an address that begins with https://.",
        )
    else:
        shown = _shown(address, proxy, context, known, seconds)
        sign = certificate_sign(address, shown, clock())
        yield sign
        if in_the_way([sign]):
            return
        if shown.vouched:  # which a site that has joined trusts in the place of the invitation's
            context = client_context(shown.vouched, extra, system=False)
    answers = list(_answers(address, proxy, context, known, clock, seconds))
    yield from answers
    if in_the_way(sign for sign in answers if sign.about == "server"):  # of another than a study server nobody knows what it should do
        return
    yield _websocket(address, proxy, context, known, seconds)


def _unverified() -> ssl.SSLContext:
    """For looking at a certificate. Nothing is sent over it that anybody may not know, and nothing that comes is believed."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    return context


def _shown(address: Address, proxy: str, context: ssl.SSLContext, known: Known, seconds: float) -> Shown:
    """The certificate that is shown, and what is known of the one that should be."""
    try:
        with dial(address, proxy, seconds, _unverified()) as secured:
            assert isinstance(secured, ssl.SSLSocket)
            seen = ssl.DER_cert_to_PEM_cert(secured.getpeercert(binary_form=True) or b"")
            vouched = _vouched(secured, address, known)
    except (OSError, ValueError) as error:
        raise BlockedError(
            obstacle(
                "certificate",
                f"{address.text} can be reached, and does not speak TLS: {printable(str(error))[:200]}.",
                f"Connections of this machine to {address.text} are opened and then cut off, or answered by something that is no TLS "
                f"server. Does a firewall look at them? Please let TLS 1.2 and 1.3 to {address.host}, port {address.port}, through.",
            )
        ) from None
    reason = ""
    try:
        with dial(address, proxy, seconds, context):
            pass
    except (OSError, ValueError) as error:
        reason = untrusted(error) or printable(str(error))
    return Shown(seen, reason, known.certificate, vouched)


def _vouched(connection: ssl.SSLSocket, address: Address, known: Known) -> str:
    """The certificate that the server of the invitation's identity says it has; empty if it says nothing that can be believed."""
    if not known.identity:
        return ""
    try:
        reply = ask(connection, address, "/api/v1/certificate")
        said = from_json(reply.body, Succession)
        verify_succession(said, known.identity)
    except (OSError, ValueError, BadSignatureError):
        return ""
    return said.certificate


def _answers(
    address: Address, proxy: str, context: ssl.SSLContext | None, known: Known, clock: Callable[[], float], seconds: float
) -> Iterator[Sign]:
    """What the server says of itself, and its clock."""
    try:
        with dial(address, proxy, seconds, context) as connection:
            before = clock()
            reply = ask(connection, address, "/health")
            after = clock()
    except (OSError, ValueError) as error:
        raise BlockedError(_no_server(address, f"does not answer: {printable(str(error))[:200]}")) from None
    yield _server_sign(address, reply, known)
    yield _clock_sign(address, reply, 0.5 * (before + after))


def _no_server(address: Address, why: str) -> Sign:
    return obstacle(
        "server",
        f"What is at {address.text} {why}.",
        f"Does a firewall or a proxy answer in the place of {address.text}, or hold answers back? Please let this machine's requests to it "
        f"through as they are. If not, whoever runs {address.host} should see whether the study server is running.",
    )


def _server_sign(address: Address, reply: Reply, known: Known) -> Sign:
    told: Any = None
    try:
        told = json.loads(reply.body)
        protocol, fingerprint = int(told["protocol"]), read_fingerprint(str(told["fingerprint"]))
    except (KeyError, TypeError, ValueError, RecursionError):
        return _no_server(address, f"is no study server, or one that does not answer itself (status {reply.status})")
    if known.identity and fingerprint != fingerprint_of(known.identity):
        return obstacle(
            "server",
            f"{address.text} has the fingerprint {fingerprint_text(fingerprint)}; the invitation is of "
            f"{fingerprint_text(fingerprint_of(known.identity))}.",
            "To the study's owner: is the address in the invitation right, and is the server still the one that made it?",
        )
    if words := who_updates(VERSION, protocol):
        return obstacle("server", words, f"{words} Please do so, or tell me who does.")
    if told.get("status") != "ok":
        return notice(
            "server",
            f"{address.text} is a study server, and not well: {printable(str(told.get('reason', '')))[:200]}.",
            f"To whoever runs {address.host}: the server says that it is not well.",
        )
    return good("server", f"{address.text} is a study server of this program's protocol ({VERSION}), and well.")


def _clock_sign(address: Address, reply: Reply, now: float) -> Sign:
    try:
        there = parsedate_to_datetime(reply.headers["date"]).timestamp()
    except (KeyError, TypeError, ValueError, OverflowError):
        return notice(
            "clock",
            f"{address.text} does not tell its time, and this machine's clock has nothing to be compared with.",
            "Is this machine's clock set by a time server?",
        )
    off = now - there
    words = f"This machine's clock is {abs(off):.0f} seconds {'ahead of' if off > 0 else 'behind'} that of {address.text}"
    wish = "Is this machine's clock set by a time server (NTP)? Please set it, or tell me if the other one must be wrong."
    if abs(off) > MOST_SECONDS:
        return obstacle("clock", f"{words}: certificates and logins end or begin at a time, and records say when.", wish)
    if abs(off) > NOTED_SECONDS:
        return notice("clock", f"{words}.", wish)
    return good("clock", f"This machine's clock and that of {address.text} agree.")


def _websocket(address: Address, proxy: str, context: ssl.SSLContext | None, known: Known, seconds: float) -> Sign:
    try:
        with dial(address, proxy, seconds, context) as connection:
            why = greet(connection, address, f"/api/v1/studies/{known.study}/site")
    except (OSError, ValueError) as error:
        why = printable(str(error))[:200] or type(error).__name__
    if not why:
        return good("websocket", "A WebSocket can be opened, and what is sent through it comes back.")
    return obstacle(
        "websocket",
        f"{address.text} answers requests, and no WebSocket can be opened, over which studies run: {why}.",
        f"Please let WebSocket connections (RFC 6455, HTTP/1.1 Upgrade) of this machine to {address.text} through, on any path below "
        f"/api/v1/studies/, without a limit on how long they stay open.",
    )

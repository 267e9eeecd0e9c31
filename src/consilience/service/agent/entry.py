"""Taking an invitation, and downloading what a study has found: the agent's few REST calls."""

from __future__ import annotations

import ssl
import time
from pathlib import Path
from typing import Any

import httpx
import msgspec

from consilience.protocol.errors import OtherVersionError
from consilience.protocol.handshake import join_context
from consilience.protocol.version import VERSION, who_updates
from consilience.secagg.identity import fingerprint_of, fingerprint_text, read_fingerprint
from consilience.service.agent.home import Home, Joined, StudyFolder
from consilience.service.agent.succeeding import distrust, successor
from consilience.service.errors import ChangedIdentityError, ConfigurationError, InvitationError, ResultError, UnreachableError
from consilience.service.fetching import bounded, get_json, message_of
from consilience.service.invitation import Invitation
from consilience.service.tls import client_context, untrusted
from consilience.wording import printable

__all__ = ["check_url", "context_of", "download", "fetch_study", "join", "protocol_of"]

PAUSES = (0.5, 1.0, 2.0, 4.0, 8.0, 16.0, 30.0)
"""Seconds between attempts to get a document: a server that is restarted takes some to come back. A minute in all; the result does not
run away, and who waits longer can run the client again."""

SECONDS = 30.0
"""For each step of a request (connecting, sending, each read), not for all of it."""


def check_url(url: str, *, insecure: bool) -> str:
    """The address, if it is one over TLS; without TLS only where that was asked for.

    >>> check_url("https://study.example/", insecure=False)
    'https://study.example'
    """
    if not url.startswith("https://") and not (insecure and url.startswith("http://")):
        raise ConfigurationError(f"A site connects over TLS (https://…); got {url!r}. For a trial on one machine there is insecure=true.")
    return url.rstrip("/")


def context_of(joined: Joined | Invitation, ca: str = "") -> ssl.SSLContext:
    """What to trust: the invitation's certificate alone, where it has one, else the system's authorities; and the file ``ca``.

    Any of the hundred authorities of a system, or one that an employer has put there to read traffic, could name itself the server: where
    the study's owner has said which certificate the server has, none of them has a say.
    """
    try:
        extra = Path(ca).read_text(encoding="ascii") if ca else ""
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigurationError(f"{ca!r} should be a PEM file with certificate authorities: {error}.") from None
    return client_context(joined.certificate, extra, system=not joined.certificate)


def join(home: Home, invitation: Invitation, *, ca: str = "", insecure: bool = False) -> StudyFolder:
    """Take an invitation: bind this site's identity to it, and remember where the study is.

    If the connection ends before the server's answer is there, nobody here knows whether the invitation was taken. What it says is then
    kept all the same: if it was, the next connection works, since that rests on the identity alone.
    """
    url, identity = check_url(invitation.url, insecure=insecure), home.identity()
    home.check(invitation)  # before it is used up
    invitation = _current(url, invitation, ca)
    with httpx.Client(verify=context_of(invitation, ca), timeout=SECONDS) as client:
        # the server must say who it is before it is shown the secret; that it can also prove it is checked on every connection
        told = get_json(client, f"{url}/health")
        _check_server(told, invitation)
        if words := who_updates(VERSION, _protocol(told)):
            raise OtherVersionError(f"{words} The invitation was not used.")
        signature = identity.sign(join_context(invitation.study, invitation.secret, invitation.server))
        body = {"study": invitation.study, "secret": invitation.secret.hex()}
        body |= {"identity": identity.public_bytes.hex(), "signature": signature.hex()}
        try:
            with client.stream("POST", f"{url}/api/v1/join", json=body) as reply:
                said = bounded(reply.iter_bytes(), url)
        except httpx.HTTPError as error:
            home.enter(invitation)
            raise UnreachableError(
                f"{url} did not answer: {printable(str(error))}. Check the network, and try consilience client run: it works if the "
                f"invitation was taken. Else try to join again."
            ) from None
    if reply.status_code != 200:
        raise InvitationError(f"The server does not take the invitation: {message_of(reply.status_code, said)}")
    return home.enter(invitation)


def _current(url: str, invitation: Invitation, ca: str) -> Invitation:
    """The invitation, with the certificate that the server has now if its identity vouches for that."""
    try:
        with httpx.Client(verify=context_of(invitation, ca), timeout=SECONDS) as client:
            client.head(f"{url}/health")
    except httpx.HTTPError as error:
        reason = untrusted(error)
        if reason:
            found = successor(url, invitation.certificate, invitation.server)
            if not found:
                raise ChangedIdentityError(distrust(url, reason)) from None
            return msgspec.structs.replace(invitation, certificate=found)
    return invitation


def protocol_of(url: str, context: ssl.SSLContext | None) -> int:
    """The version of the protocol that a server speaks; ours, if it does not say."""
    try:
        with httpx.Client(verify=context or True, timeout=SECONDS) as client:
            return _protocol(get_json(client, f"{url}/health"))
    except UnreachableError:
        return VERSION


def _protocol(told: Any) -> int:
    try:
        return int(told["protocol"])
    except (KeyError, TypeError, ValueError):
        return VERSION


def _check_server(told: Any, invitation: Invitation) -> None:
    pinned = fingerprint_of(invitation.server)
    try:
        same = read_fingerprint(str(told["fingerprint"])) == pinned
    except (KeyError, TypeError, ValueError):
        same = False
    if not same:
        raise ChangedIdentityError(
            f"The server must have the fingerprint {fingerprint_text(pinned)} of the invitation; this one has not. Ask the study's owner."
        )


def fetch_study(folder: StudyFolder, token: str, *, ca: str = "", insecure: bool = False) -> Any:
    """The study as it stands, for a site that has a token."""
    joined = folder.joined
    with httpx.Client(verify=context_of(joined, ca), timeout=SECONDS) as client:
        return get_json(client, f"{check_url(joined.url, insecure=insecure)}/api/v1/studies/{joined.study}", token)


def download(folder: StudyFolder, token: str, held: set[str], *, ca: str = "", insecure: bool = False) -> list[Path]:
    """Download the result into the study's folder; the paths of what was written. Only data are taken: see :mod:`.result`."""
    from consilience.service.agent.result import NOT_AGREED, keep_result  # noqa: PLC0415  graphs and reports: not before there is a result

    joined = folder.joined
    if folder.contract is None:
        raise ResultError(NOT_AGREED)
    address = f"{check_url(joined.url, insecure=insecure)}/api/v1/studies/{joined.study}/documents/result.json"
    with httpx.Client(verify=context_of(joined, ca), timeout=SECONDS) as client:
        body = _document(client, address, token)
    if body is None:
        raise ResultError("The server says that the study is finished, and has no result. Nothing was written. Ask the study's owner.")
    return keep_result(folder, body, held)


def _document(client: httpx.Client, url: str, token: str) -> bytes | None:
    """One document; None if the study has none of this name. A server that is just being restarted is asked again."""
    from consilience.service.result_reading import MOST_BYTES  # noqa: PLC0415

    for pause in (*PAUSES, None):
        try:
            with client.stream("GET", url, headers={"Authorization": f"Bearer {token}"}) as reply:
                # below 500 the server has decided; from 500 on it, or a proxy before it, is in trouble, and that passes
                if reply.status_code < 500:
                    return bounded(reply.iter_bytes(), url, MOST_BYTES) if reply.status_code == 200 else None
                reason = f"status {reply.status_code}"
        except httpx.HTTPError as error:
            reason = printable(str(error))
        if pause is None:
            raise UnreachableError(f"{url} does not answer: {reason}. The result stays with the server; run the client again to get it.")
        time.sleep(pause)
    raise AssertionError  # the last pause is None

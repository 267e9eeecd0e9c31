"""Taking an invitation, and downloading what a study has found: the agent's few REST calls."""

from __future__ import annotations

import json
import ssl
import time
from pathlib import Path
from typing import Any

import httpx

from consilience.graph import PAG
from consilience.protocol.handshake import join_context
from consilience.secagg.identity import fingerprint_of, fingerprint_text, read_fingerprint
from consilience.service.agent.home import Home, Joined, StudyFolder
from consilience.service.errors import ChangedIdentityError, ConfigurationError, InvitationError, UnreachableError
from consilience.service.invitation import Invitation
from consilience.service.tls import client_context, write_private

__all__ = ["check_url", "context_of", "download", "fetch_study", "join"]

PAUSES = (0.5, 1.0, 2.0, 4.0, 8.0, 16.0, 30.0)
"""Seconds between attempts to get a document: a server that is restarted takes some to come back. A minute in all; the result does not
run away, and who waits longer can run the client again."""

MOST_BYTES = 256 << 20
"""The largest document taken, the same bound as for messages: a server cannot fill a site's memory."""
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
    context = context_of(invitation, ca)
    with httpx.Client(verify=context, timeout=SECONDS) as client:
        # the server must say who it is before it is shown the secret; that it can also prove it is checked on every connection
        told = _get(client, f"{url}/health")
        _check_server(told, invitation)
        signature = identity.sign(join_context(invitation.study, invitation.secret, invitation.server))
        body = {"study": invitation.study, "secret": invitation.secret.hex()}
        body |= {"identity": identity.public_bytes.hex(), "signature": signature.hex()}
        try:
            reply = client.post(f"{url}/api/v1/join", json=body)
        except httpx.HTTPError as error:
            home.enter(invitation)
            raise UnreachableError(
                f"{url} did not answer: {error}. Check the network, and try consilience client run: it works if the invitation was taken. "
                f"Else try to join again."
            ) from None
    if reply.status_code != 200:
        raise InvitationError(f"The server does not take the invitation: {_message(reply)}")
    return home.enter(invitation)


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


def _get(client: httpx.Client, url: str, token: str = "") -> Any:
    headers = {"Authorization": f"Bearer {token}"} if token else {}
    try:
        reply = client.get(url, headers=headers)
        reply.raise_for_status()
        return reply.json()
    except (httpx.HTTPError, ValueError) as error:
        raise UnreachableError(f"{url} does not answer as a study server: {error}. Check the network, and try again.") from None


def _message(reply: httpx.Response) -> str:
    try:
        return str(reply.json()["message"])
    except (ValueError, KeyError, TypeError):
        return f"status {reply.status_code}"


def fetch_study(folder: StudyFolder, token: str, *, ca: str = "", insecure: bool = False) -> Any:
    """The study as it stands, for a site that has a token."""
    joined = folder.joined
    with httpx.Client(verify=context_of(joined, ca), timeout=SECONDS) as client:
        return _get(client, f"{check_url(joined.url, insecure=insecure)}/api/v1/studies/{joined.study}", token)


def download(folder: StudyFolder, token: str, held: set[str], *, ca: str = "", insecure: bool = False) -> list[Path]:
    """Download the result into the study's folder. The site's own local PAG is picked out here: the server need not know which it is."""
    joined, written = folder.joined, []
    base = f"{check_url(joined.url, insecure=insecure)}/api/v1/studies/{joined.study}/documents"
    with httpx.Client(verify=context_of(joined, ca), timeout=SECONDS) as client:
        for name in ("result.json", "tests.csv", "report.html"):
            content = _document(client, f"{base}/{name}", token)
            if content is not None:
                write_private(folder.path / name, content)
                written.append(folder.path / name)
    return written + _own_pag(folder, held)


def _document(client: httpx.Client, url: str, token: str) -> bytes | None:
    """One document; None if the study has none of this name. A server that is just being restarted is asked again."""
    for pause in (*PAUSES, None):
        try:
            with client.stream("GET", url, headers={"Authorization": f"Bearer {token}"}) as reply:
                # below 500 the server has decided; from 500 on it, or a proxy before it, is in trouble, and that passes
                if reply.status_code < 500:
                    return _body(reply, url) if reply.status_code == 200 else None
                reason = f"status {reply.status_code}"
        except httpx.HTTPError as error:
            reason = str(error)
        if pause is None:
            raise UnreachableError(f"{url} does not answer: {reason}. The result stays with the server; run the client again to get it.")
        time.sleep(pause)
    raise AssertionError  # the last pause is None


def _body(reply: httpx.Response, url: str) -> bytes:
    content = b""
    for part in reply.iter_bytes():
        content += part  # counted as it comes: a declared length is the server's word
        if len(content) > MOST_BYTES:
            raise UnreachableError(f"{url} has more than {MOST_BYTES} bytes, which no result has.")
    return content


def _own_pag(folder: StudyFolder, held: set[str]) -> list[Path]:
    file = folder.path / "result.json"
    if not file.exists():
        return []
    found = json.loads(file.read_text(encoding="utf-8"))
    for local in found["local_pags"]:
        if set(local["variables"]) == held:
            pag = PAG.from_matrix(local["matrix"], local["labels"])
            write_private(folder.path / "local-pag.svg", pag.to_svg().encode())
            write_private(folder.path / "local-pag.json", json.dumps(local, ensure_ascii=False).encode())
            return [folder.path / "local-pag.svg", folder.path / "local-pag.json"]
    return []

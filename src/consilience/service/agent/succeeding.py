"""A server's certificate that is not the one of the invitation any more: its successor, if the server's identity vouches for it."""

from __future__ import annotations

import ssl

import httpx
import msgspec

from consilience.errors import ConsilienceError
from consilience.protocol.succession import Succession, verify_succession
from consilience.service.fetching import get_json
from consilience.service.tls import is_self_signed, life_of
from consilience.typed import from_plain

__all__ = ["distrust", "successor"]

SECONDS = 15.0


def successor(url: str, certificate: str, server: bytes) -> str:
    """The certificate that the server of this identity has now; the empty string if it says nothing that can be believed.

    It must be signed by the identity that was pinned when the site joined, and begin later than the one that is trusted now: whoever has
    found the key of an old one cannot go back to it.
    """
    if not certificate:  # the system's authorities are trusted, and nothing else
        return ""
    # The one connection on which TLS proves nothing. Nothing is sent on it, and what comes is believed for its signature alone.
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    try:
        with httpx.Client(verify=context, timeout=SECONDS) as client:
            said = from_plain(get_json(client, f"{url}/api/v1/certificate"), Succession)
        verify_succession(said, server)
        newer = is_self_signed(said.certificate) and life_of(said.certificate)[0] > life_of(certificate)[0]
    except (ConsilienceError, msgspec.ValidationError):
        return ""
    return said.certificate if newer else ""


def distrust(url: str, reason: str) -> str:
    """Why a site does not connect, and what its owner can do.

    >>> distrust("https://study.example", "certificate has expired")  # doctest: +ELLIPSIS
    "The certificate of https://study.example is not one that this site trusts: certificate has expired. Nothing was sent. ...
    """
    return (
        f"The certificate of {url} is not one that this site trusts: {reason}. Nothing was sent. Ask the server's operator whether it has "
        f"a new one; a certificate or an authority that you were given on a way you trust is trusted with --ca FILE."
    )

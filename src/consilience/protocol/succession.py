"""A server's certificate of its own making and its successor: the server's identity, which sites have pinned, vouches for the new one.

Sites trust such a certificate because the invitation has it, and it ends after a year. The identity does not: whoever holds it may say
which certificate comes next. Nothing else of the statement is believed: the server must still hold the certificate's key, and prove its
identity.
"""

from __future__ import annotations

import msgspec

from consilience.secagg import Identity
from consilience.secagg.context import pack, sha256
from consilience.secagg.errors import BadSignatureError
from consilience.secagg.identity import SIGNATURE_BYTES, is_signed_by

__all__ = ["Succession", "succession", "verify_succession"]

_CERTIFICATE = b"consilience/session/1/certificate"


class Succession(msgspec.Struct, frozen=True):
    """A certificate (PEM) that the server holds now, and its identity's signature, in hexadecimal digits."""

    certificate: str
    signature: str


def succession(server: Identity, certificate: str) -> Succession:
    """The statement of a server.

    >>> server = Identity.generate()
    >>> verify_succession(succession(server, "a certificate"), server.public_bytes)
    """
    return Succession(certificate, server.sign(_context(certificate)).hex())


def verify_succession(said: Succession, server: bytes) -> None:
    """Raise :class:`BadSignatureError` unless the server of this identity has signed the statement."""
    try:
        signature = bytes.fromhex(said.signature)
    except ValueError:
        signature = b""
    if len(signature) != SIGNATURE_BYTES or not is_signed_by(server, _context(said.certificate), signature):
        raise BadSignatureError("A new certificate must be signed by the server that this site has joined; this one is not.")


def _context(certificate: str) -> bytes:
    return pack(_CERTIFICATE, sha256(certificate.encode()))

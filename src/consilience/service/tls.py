"""Certificates for trials, and what both sides need to know of a certificate."""

from __future__ import annotations

import ipaddress
import os
import ssl
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from consilience.secagg.context import sha256
from consilience.service.errors import ConfigurationError

__all__ = ["certificate_digest", "client_context", "hosts_named", "is_self_signed", "life_of", "self_signed", "untrusted", "write_private"]


CERTIFICATE_DAYS = 397
"""Just under the 398 days that browsers accept of public certificates; a trial is over by then."""
CLOCK_MINUTES = 5
"""A certificate is valid from a little before now: sites whose clocks are behind would refuse it else."""


def self_signed(hosts: Sequence[str], days: int = CERTIFICATE_DAYS) -> tuple[str, str]:
    """A certificate for ``hosts`` that vouches for itself, and its key, both PEM. For trials: sites trust it because the invitation has it.

    >>> certificate, key = self_signed(["localhost", "127.0.0.1"])
    >>> is_self_signed(certificate), len(certificate_digest(certificate))
    (True, 32)
    """
    if not hosts:
        raise ConfigurationError("A certificate needs at least one host name or address; got none.")
    # P-256: every TLS library has it, which Ed25519 certificates cannot say
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, f"consilience {hosts[0]}"[:64])])
    now = datetime.now(UTC)
    certificate = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - timedelta(minutes=CLOCK_MINUTES))
        .not_valid_after(now + timedelta(days=days))
        .add_extension(x509.SubjectAlternativeName([_general_name(host) for host in hosts]), critical=False)
        # an authority for itself, since what signs a certificate must be allowed to, and (path length 0) for no other authority
        .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
        .add_extension(x509.SubjectKeyIdentifier.from_public_key(key.public_key()), critical=False)
        .sign(key, hashes.SHA256())
    )
    private = key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    return certificate.public_bytes(serialization.Encoding.PEM).decode(), private.decode()


def _general_name(host: str) -> x509.GeneralName:
    try:
        return x509.IPAddress(ipaddress.ip_address(host))
    except ValueError:
        return x509.DNSName(host)


def _first(pem: str) -> x509.Certificate:
    try:
        return x509.load_pem_x509_certificates(pem.encode())[0]
    except ValueError as error:
        raise ConfigurationError(f"A certificate must be a PEM file; it cannot be read: {error}.") from None


def certificate_digest(pem: str) -> bytes:
    """The SHA-256 digest of the first certificate: what names a TLS channel (RFC 5929, tls-server-end-point)."""
    return sha256(_first(pem).public_bytes(serialization.Encoding.DER))


def is_self_signed(pem: str) -> bool:
    """True if the first certificate names itself as its issuer."""
    certificate = _first(pem)
    return certificate.issuer == certificate.subject


def life_of(pem: str) -> tuple[datetime, datetime]:
    """From when to when the first certificate is valid.

    >>> begin, end = life_of(self_signed(["localhost"], days=30)[0])
    >>> (end - begin).days
    30
    """
    certificate = _first(pem)
    return certificate.not_valid_before_utc, certificate.not_valid_after_utc


def hosts_named(pem: str) -> list[str]:
    """The host names and addresses that the first certificate is for.

    >>> hosts_named(self_signed(["localhost", "127.0.0.1"])[0])
    ['localhost', '127.0.0.1']
    """
    try:
        names = _first(pem).extensions.get_extension_for_class(x509.SubjectAlternativeName).value
    except x509.ExtensionNotFound:
        return []
    return [str(name.value) for name in names if isinstance(name, x509.DNSName | x509.IPAddress)]


def untrusted(error: BaseException | None) -> str:
    """Why a certificate was not trusted, if that is what an error comes from; else the empty string."""
    while error is not None:
        if isinstance(error, ssl.SSLCertVerificationError):
            return error.verify_message or "it is not trusted"
        error = error.__cause__ or error.__context__
    return ""


def client_context(*trusted: str, system: bool = True) -> ssl.SSLContext:
    """TLS 1.2 or newer; the PEM texts in ``trusted``, and the system's authorities with ``system``. Host names are checked.

    >>> client_context(self_signed(["localhost"])[0], system=False).cert_store_stats()["x509"]
    1
    """
    context = ssl.create_default_context() if system else ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    # 1.3 alone would shut out proxies that end TLS with 1.2; what is older is deprecated (RFC 8996)
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    for pem in trusted:
        if pem:
            try:
                context.load_verify_locations(cadata=pem)
            except ssl.SSLError as error:
                raise ConfigurationError(f"A certificate to trust must be PEM; it cannot be read: {error}.") from None
    return context


def write_private(path: Path, content: bytes) -> None:
    """Write a file that only its owner can read, from its first byte on; what was there is replaced as a whole."""
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    # Beside it, synced, then renamed: a crash leaves the old file or the new one. The mode is given at creation: a chmod afterwards would
    # leave a moment in which others can read a private key.
    beside = path.with_name(path.name + ".new")
    descriptor = os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with os.fdopen(descriptor, "wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())
    beside.replace(path)

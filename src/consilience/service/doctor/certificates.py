"""Whose certificate it is that is shown: the server's, or that of somebody in between who opens TLS."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime

from cryptography import x509
from cryptography.x509.oid import NameOID

from consilience.service.doctor.road import Address
from consilience.service.doctor.sign import Sign, good, notice, obstacle
from consilience.service.tls import certificate_digest, life_of
from consilience.wording import printable

__all__ = ["Shown", "certificate_sign", "issuer_of"]


@dataclass(frozen=True, slots=True)
class Shown:
    """What is known of a server's certificate, each as PEM or empty.

    Attributes
    ----------
    seen : str
        What was shown on the connection.
    reason : str
        Why a site would not trust it, in the words of TLS; empty if it would.
    invited : str
        What the invitation has.
    vouched : str
        What the server's identity, which the invitation names, says today that its certificate is.
    """

    seen: str
    reason: str = ""
    invited: str = ""
    vouched: str = ""


def issuer_of(pem: str) -> str:
    """Who has made a certificate, as it names itself.

    >>> from consilience.service.tls import self_signed
    >>> issuer_of(self_signed(["study.example"])[0])
    'consilience study.example'
    """
    name = x509.load_pem_x509_certificate(pem.encode()).issuer
    parts = [str(part.value) for kind in (NameOID.ORGANIZATION_NAME, NameOID.COMMON_NAME) for part in name.get_attributes_for_oid(kind)]
    return printable(", ".join(parts)[:200]) or "somebody without a name"


def _fingerprint(pem: str) -> str:
    return certificate_digest(pem).hex(":").upper()


def certificate_sign(address: Address, shown: Shown, now: float) -> Sign:
    """What the certificate tells.

    >>> from consilience.service.tls import self_signed
    >>> ours, other = self_signed(["study.example"])[0], self_signed(["study.example"])[0]
    >>> certificate_sign(Address.of("https://study.example"), Shown(other, "not trusted", invited=ours), 0.0).standing.value
    'obstacle'
    """
    maker, digest = issuer_of(shown.seen), certificate_digest(shown.seen)
    expected = shown.vouched or shown.invited
    if expected and certificate_digest(expected) != digest:
        return obstacle(
            "certificate",
            f"Somebody between this machine and {address.text} opens TLS: the certificate that is shown was made by {maker} (SHA-256 "
            f"{_fingerprint(shown.seen)}); the study server's has {_fingerprint(expected)}. A site sends nothing on such a connection.",
            f"Connections of this machine to {address.text} are opened by a TLS inspection, which shows a certificate of {maker} in the "
            f"place of the server's. Please exempt {address.host}, port {address.port}, from inspection: the program compares certificates "
            f"and refuses any other, and what it sends is encrypted sums, no documents.",
        )
    begin, end = life_of(shown.seen)
    moment = datetime.fromtimestamp(now, UTC)
    if not begin <= moment <= end:
        return obstacle(
            "certificate",
            f"The certificate of {address.text} is good from {begin:%d %B %Y} to {end:%d %B %Y}; this machine's clock says "
            f"{moment:%d %B %Y}.",
            f"Is this machine's clock right? It says {moment:%d %B %Y %H:%M} UTC. If it is, whoever runs {address.host} must renew its "
            f"certificate, which ends on {end:%d %B %Y}.",
        )
    if expected:
        if shown.invited and certificate_digest(shown.invited) != digest:
            if begin <= life_of(shown.invited)[0]:
                return obstacle(
                    "certificate",
                    f"{address.text} shows a certificate that is older than the one of the invitation; a site goes on to newer ones only.",
                    f"To whoever runs {address.host}: the server serves with an older certificate than invitations have. Is it started "
                    f"with the one that was made last?",
                )
            return notice(
                "certificate",
                f"{address.text} has a new certificate since the invitation, signed by the identity that the invitation names: a site "
                f"trusts it by itself. Nobody in between opens TLS.",
                "Nothing is to be done.",
            )
        return good(
            "certificate",
            f"It is the study server's own, as the invitation has it: nobody in between opens TLS. Good until {end:%d %B %Y}.",
        )
    if shown.reason:
        return obstacle(
            "certificate",
            f"This machine does not trust the certificate of {address.text}, made by {maker}: {printable(shown.reason)}. Either the server "
            f"has one of its own making, which an invitation or --ca makes known, or somebody in between opens TLS.",
            f"Does a TLS inspection open connections of this machine to {address.text}? A certificate made by {maker} is shown (SHA-256 "
            f"{_fingerprint(shown.seen)}). If so, please exempt {address.host}, port {address.port}, from it.",
        )
    return good(
        "certificate",
        f"It was made by {maker}, whom this machine trusts, and is good until {end:%d %B %Y}. If that is the name of your own organisation "
        f"or of a firewall, somebody in between opens TLS; an invitation tells for certain.",
    )

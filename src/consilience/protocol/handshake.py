"""What is said on a connection before and around a run, and the signed challenge that opens it.

::

    site     Hello      who I am, a fresh number
    server   Challenge  who I am, another fresh number, the time, signed over both numbers, the study and the site
    site     Proof      signed over the same and the channel, under another label
    server   Welcome    the study as it is, signed over the same, the channel, the proof and what the welcome says
    server   Preview    what an open study declares, signed        site   Checked (whether its table fits that) or Declined
    server   Waiting    whom the study waits for, whenever that changes
    server   Proposal   the contract, signed, when the study runs  site   Consent (its digest, signed) or Declined
    server   KeyAsk, KeySet, Round …                               site   one answer to each (see consilience.protocol.messages)
    server   Closing    the study is over

A signature names the server, the study, both numbers, the time and the channel (the digest of the TLS certificate that the site sees),
so that it opens this connection and no other. The challenge alone says nothing of the channel: somebody in between, with a certificate that
the site's system trusts, could relay it and then speak as the server. So the site takes nothing as the server's word before its welcome,
which the server signs only for a site that sees the server's own certificate (or, behind a proxy, the proxy's).
"""

from __future__ import annotations

import msgspec

from consilience.protocol.errors import ChallengeError
from consilience.protocol.messages import Answer, Entered, KeyAsk, KeyOffer, KeySet, Refused, Round
from consilience.protocol.version import VERSION
from consilience.secagg import Identity, fingerprint_of
from consilience.secagg.context import pack, sha256
from consilience.secagg.errors import BadSignatureError
from consilience.secagg.identity import SIGNATURE_BYTES, is_signed_by
from consilience.typed import msgpack_decoder

__all__ = [
    "HANDSHAKE_BYTES",
    "MISFIT",
    "NONCE_BYTES",
    "WAITS_FOR",
    "Challenge",
    "Checked",
    "Closing",
    "Consent",
    "Declare",
    "DeclareAsk",
    "DeclaredVariable",
    "Declined",
    "Hello",
    "Preview",
    "Proof",
    "Proposal",
    "Token",
    "TokenAsk",
    "Waiting",
    "Welcome",
    "consent_context",
    "from_server",
    "from_site",
    "join_context",
    "preview",
    "propose",
    "prove",
    "server_proof",
    "verify_preview",
    "verify_proposal",
    "verify_server",
    "verify_site",
    "verify_welcome",
    "welcome",
]

NONCE_BYTES = 32
HANDSHAKE_BYTES = 4096
"""Nothing longer is read from somebody who has not proved who it is."""
_SERVER, _SITE = b"consilience/session/1/server", b"consilience/session/1/site"
_CONSENT, _JOIN = b"consilience/session/1/consent", b"consilience/session/1/join"
_WELCOME, _PROPOSAL = b"consilience/session/1/welcome", b"consilience/session/1/proposal"
_PREVIEW = b"consilience/session/1/preview"


class Hello(msgspec.Struct, frozen=True, tag="hello", forbid_unknown_fields=True):
    """From a site: its public identity and a fresh number."""

    identity: bytes
    nonce: bytes
    version: int = VERSION


class Challenge(msgspec.Struct, frozen=True, tag="challenge", forbid_unknown_fields=True):
    """From the server: its public identity, a fresh number, the time in seconds, and its signature."""

    identity: bytes
    nonce: bytes
    time: int
    signature: bytes
    version: int = VERSION


class Proof(msgspec.Struct, frozen=True, tag="proof", forbid_unknown_fields=True):
    """From a site: its signature, and the channel that it sees."""

    signature: bytes
    channel: bytes


class Welcome(msgspec.Struct, frozen=True, tag="welcome", forbid_unknown_fields=True):
    """To a site that has proved who it is: the name it has in the study, how the study stands, and the server's signature."""

    site: str
    study: str
    name: str
    state: str
    signature: bytes = b""
    version: int = VERSION


class DeclareAsk(msgspec.Struct, frozen=True, tag="declare?", forbid_unknown_fields=True):
    """To a site, in a study without a schema: say which variables you hold."""


class DeclaredVariable(msgspec.Struct, frozen=True, array_like=True):
    """What a site says of one variable."""

    name: str
    kind: str
    levels: tuple[str, ...]
    declared_kind: bool
    declared_levels: bool
    reason: str
    only: str


class Declare(msgspec.Struct, frozen=True, tag="declare", forbid_unknown_fields=True):
    """From a site: its variables, kinds and levels."""

    variables: tuple[DeclaredVariable, ...]


class Proposal(msgspec.Struct, frozen=True, tag="proposal", forbid_unknown_fields=True):
    """To a site: the contract, encoded, and the server's signature."""

    contract: bytes
    signature: bytes = b""


class Preview(msgspec.Struct, frozen=True, tag="preview", forbid_unknown_fields=True):
    """To a site, before the study starts: the contract as it stands, without sites, and the server's signature. Nothing is agreed to."""

    contract: bytes
    signature: bytes = b""


class Checked(msgspec.Struct, frozen=True, tag="checked", forbid_unknown_fields=True):
    """From a site: whether its table fits the declaration of this digest. What does not fit is not said."""

    declaration: bytes
    fits: bool


class Waiting(msgspec.Struct, frozen=True, tag="waiting", forbid_unknown_fields=True):
    """To a site: for which sites of how many (``sites``) the study waits, each with the reason, and for what (see :data:`WAITS_FOR`).

    ``invited`` are invitations that nobody has taken yet.
    """

    what: str
    sites: int
    missing: tuple[tuple[str, str], ...] = ()
    invited: int = 0

    def said(self) -> str:
        """In words.

        >>> Waiting("connect", 4, (("mainz", "not connected"), ("marburg", "its table does not fit"))).said()
        'waiting for 2 of 4 sites to connect: mainz (not connected), marburg (its table does not fit)'
        >>> Waiting("connect", 4, (), 1).said()
        'all 4 sites are there, 1 more is invited; the study begins when its owner starts it'
        >>> Waiting("connect", 0, (), 2).said()
        'no site has joined yet, 2 are invited'
        """
        more = f", {self.invited} more {'is' if self.invited == 1 else 'are'} invited" if self.invited else ""
        if not self.sites:
            return f"no site has joined yet{more.replace(' more', '')}"
        if self.missing:
            names = ", ".join(f"{name} ({why})" for name, why in self.missing)
            return f"waiting for {len(self.missing)} of {self.sites} sites {WAITS_FOR.get(self.what, '')}{more}: {names}"
        if self.what == "connect":
            there = "the one site is" if self.sites == 1 else f"all {self.sites} sites are"
            return f"{there} there{more}; the study begins when its owner starts it"
        return f"all {self.sites} sites are there{more}"


WAITS_FOR = {"connect": "to connect", "agree": "to agree", "return": "to come back"}
"""What a study may wait for: before it is started, until all have agreed, and while it runs."""
MISFIT = "The site's data do not fit the study's schema."
"""What a site says of a table that does not fit, and no more."""


class Consent(msgspec.Struct, frozen=True, tag="consent", forbid_unknown_fields=True):
    """From a site: its owner agrees to the contract of this digest."""

    digest: bytes
    signature: bytes


class Declined(msgspec.Struct, frozen=True, tag="declined", forbid_unknown_fields=True):
    """From a site: its owner does not agree."""

    reason: str


class TokenAsk(msgspec.Struct, frozen=True, tag="token?", forbid_unknown_fields=True):
    """From a site: a token to download results with."""


class Token(msgspec.Struct, frozen=True, tag="token", forbid_unknown_fields=True):
    """To a site: a token that it may use until ``expires`` (seconds)."""

    token: str
    expires: int


class Closing(msgspec.Struct, frozen=True, tag="closing", forbid_unknown_fields=True):
    """To a site: the study is over."""

    state: str
    message: str


from_server: msgspec.msgpack.Decoder[
    Challenge | Welcome | DeclareAsk | Preview | Proposal | Waiting | Token | Closing | KeyAsk | KeySet | Round
] = msgpack_decoder(Challenge | Welcome | DeclareAsk | Preview | Proposal | Waiting | Token | Closing | KeyAsk | KeySet | Round)
"""Everything that a site understands."""

from_site: msgspec.msgpack.Decoder[
    Hello | Proof | Declare | Checked | Consent | Declined | TokenAsk | KeyOffer | Entered | Answer | Refused
] = msgpack_decoder(Hello | Proof | Declare | Checked | Consent | Declined | TokenAsk | KeyOffer | Entered | Answer | Refused)
"""Everything that a server understands."""


# Every signature is over a label and all parts, each with its length: the same bytes can never mean two things, and a signature made for
# one purpose opens nothing else.
def _context(label: bytes, study: str, hello: Hello, server: bytes, nonce: bytes, time: int, channel: bytes) -> bytes:
    parts = (study.encode(), hello.identity, hello.nonce, server, nonce, time.to_bytes(8, "big"), channel)
    return pack(label, *parts)


def server_proof(server: Identity, study: str, hello: Hello, nonce: bytes, time: int) -> Challenge:
    """The server's challenge. It does not name the channel: behind a proxy a server does not see its own certificate.

    >>> server, site = Identity.generate(), Identity.generate()
    >>> hello = Hello(site.public_bytes, bytes(32))
    >>> challenge = server_proof(server, "s", hello, bytes(32), 0)
    >>> verify_server(challenge, "s", hello, server.fingerprint)
    >>> verify_site(prove(site, "s", hello, challenge, b"channel"), "s", hello, challenge, b"channel")
    """
    signature = server.sign(_context(_SERVER, study, hello, server.public_bytes, nonce, time, b""))
    return Challenge(server.public_bytes, nonce, time, signature)


def verify_server(challenge: Challenge, study: str, hello: Hello, pinned: bytes) -> None:
    """Raise :class:`BadSignatureError` unless the server of fingerprint ``pinned`` answered this very hello."""
    context = _context(_SERVER, study, hello, challenge.identity, challenge.nonce, max(challenge.time, 0), b"")
    if fingerprint_of(challenge.identity) != pinned or not is_signed_by(challenge.identity, context, challenge.signature):
        raise BadSignatureError("The server did not sign its challenge with the identity that was pinned when this site joined.")


def prove(site: Identity, study: str, hello: Hello, challenge: Challenge, channel: bytes) -> Proof:
    """The site's answer to a challenge that was verified."""
    context = _context(_SITE, study, hello, challenge.identity, challenge.nonce, challenge.time, channel)
    return Proof(site.sign(context), channel)


def verify_site(proof: Proof, study: str, hello: Hello, challenge: Challenge, channel: bytes) -> None:
    """Raise :class:`ChallengeError` unless the site signed this challenge, on this channel (empty: a proxy holds the certificate)."""
    context = _context(_SITE, study, hello, challenge.identity, challenge.nonce, challenge.time, proof.channel)
    if not is_signed_by(hello.identity, context, proof.signature):
        raise ChallengeError("The signature must be the site's own over this connection's challenge; it is not.")
    if channel and proof.channel != channel:
        raise ChallengeError("The site sees another TLS certificate than this server's: somebody stands in between.")


def welcome(server: Identity, said: Welcome, hello: Hello, challenge: Challenge, proof: Proof) -> Welcome:
    """The welcome with the server's signature, for a proof that was verified.

    >>> server, site = Identity.generate(), Identity.generate()
    >>> hello = Hello(site.public_bytes, bytes(32))
    >>> challenge = server_proof(server, "s", hello, bytes(32), 0)
    >>> proof = prove(site, "s", hello, challenge, b"channel")
    >>> verify_welcome(welcome(server, Welcome("muenster", "s", "trial", "open"), hello, challenge, proof), "s", hello, challenge, proof)
    """
    return msgspec.structs.replace(said, signature=server.sign(_welcome_context(said, said.study, hello, challenge, proof)))


def verify_welcome(said: Welcome, study: str, hello: Hello, challenge: Challenge, proof: Proof) -> None:
    """Raise :class:`BadSignatureError` unless the server of a challenge that was verified has taken this very proof, on its channel."""
    context = _welcome_context(said, study, hello, challenge, proof)
    if len(said.signature) != SIGNATURE_BYTES or not is_signed_by(challenge.identity, context, said.signature):
        raise BadSignatureError(
            "The server must sign that it has taken this site's proof, on the TLS certificate that the site sees; it did not. Somebody may "
            "stand in between: whoever relays a challenge has no such signature. Nothing is sent. Ask the study's owner."
        )


def _welcome_context(said: Welcome, study: str, hello: Hello, challenge: Challenge, proof: Proof) -> bytes:
    words = (said.site.encode(), said.study.encode(), said.name.encode(), said.state.encode(), str(said.version).encode())
    handshake = _context(_WELCOME, study, hello, challenge.identity, challenge.nonce, challenge.time, proof.channel)
    return handshake + pack(proof.signature, *words)  # one list of parts: each has its length in front


def propose(server: Identity, study: str, contract: bytes) -> Proposal:
    """A contract with the server's signature: what was agreed to can be shown, and nobody in between can put another in its place.

    >>> server = Identity.generate()
    >>> verify_proposal(propose(server, "s", b"contract"), "s", server.public_bytes)
    """
    return Proposal(contract, server.sign(pack(_PROPOSAL, study.encode(), sha256(contract))))


def preview(server: Identity, study: str, contract: bytes) -> Preview:
    """A contract that nobody is asked to agree to yet, with the server's signature; it is none under a proposal.

    >>> server = Identity.generate()
    >>> verify_preview(preview(server, "s", b"contract"), "s", server.public_bytes)
    """
    return Preview(contract, server.sign(pack(_PREVIEW, study.encode(), sha256(contract))))


def verify_proposal(proposal: Proposal, study: str, server: bytes) -> None:
    """Raise :class:`BadSignatureError` unless the server proposes this contract for this study."""
    _verify_contract(_PROPOSAL, proposal, study, server)


def verify_preview(shown: Preview, study: str, server: bytes) -> None:
    """Raise :class:`BadSignatureError` unless the server shows this contract for this study."""
    _verify_contract(_PREVIEW, shown, study, server)


def _verify_contract(label: bytes, message: Proposal | Preview, study: str, server: bytes) -> None:
    context = pack(label, study.encode(), sha256(message.contract))
    if len(message.signature) != SIGNATURE_BYTES or not is_signed_by(server, context, message.signature):
        raise BadSignatureError(
            "A contract must carry the signature of the server that this site has joined; it does not. Nothing is sent. "
            "Ask the study's owner."
        )


def consent_context(study: str, digest: bytes) -> bytes:
    """What a site signs when its owner agrees."""
    return pack(_CONSENT, study.encode(), digest)


def join_context(study: str, secret: bytes, server: bytes) -> bytes:
    """What a site signs when it takes an invitation: the secret's digest, bound to the study and the server."""
    return pack(_JOIN, study.encode(), sha256(secret), server)

"""What travels during a run: the exchange of keys, and rounds."""

from __future__ import annotations

from typing import Annotated

import msgspec

from consilience.protocol.catalogue import AnyRequest
from consilience.protocol.request import MANY, Announced
from consilience.protocol.version import VERSION
from consilience.secagg import Binding, SignedKey
from consilience.settings.declaration import MOST_SITES

__all__ = [
    "Announced",
    "Answer",
    "Entered",
    "KeyAsk",
    "KeyOffer",
    "KeySet",
    "Refused",
    "Round",
    "RoundRequest",
    "RunMessage",
    "RunReply",
]


class RoundRequest(msgspec.Struct, frozen=True):
    """One round: its run and number, the digest of the roster it is for, and the request itself.

    ``announced`` repeats the survey's sums for the variable sets that this round first touches, so that a site can hold them
    against the study's limits.
    """

    run: bytes
    round: int
    roster: bytes
    body: AnyRequest
    announced: Annotated[tuple[Announced, ...], MANY] = ()
    version: int = VERSION


class KeyAsk(msgspec.Struct, frozen=True, tag="key?", forbid_unknown_fields=True):
    """To a site: offer a fresh key for this run."""

    run: bytes


class KeyOffer(msgspec.Struct, frozen=True, tag="key", forbid_unknown_fields=True):
    """From a site: the public half of its key for a run, signed by its identity.

    The signature also covers the study, the digest of the contract that the site's owner agreed to, and what the site states of itself
    (:mod:`consilience.disclosure`): every other site sees all three before it answers anything.
    """

    run: bytes
    identity: bytes
    x25519: bytes
    signature: bytes
    study: bytes
    contract: bytes
    statement: bytes

    @classmethod
    def of(cls, key: SignedKey) -> KeyOffer:
        """A key as it travels."""
        return cls(key.run_id, key.identity, key.x25519, key.signature, key.binding.study, key.binding.contract, key.statement)

    def signed(self) -> SignedKey:
        """The key; ``KeyFormatError`` if a part has the wrong length."""
        return SignedKey(self.identity, self.x25519, self.run, self.signature, Binding(self.study, self.contract), statement=self.statement)


class KeySet(msgspec.Struct, frozen=True, tag="keys", forbid_unknown_fields=True):
    """To a site: the keys of all sites of a run."""

    run: bytes
    keys: Annotated[tuple[KeyOffer, ...], msgspec.Meta(max_length=MOST_SITES)]


class Entered(msgspec.Struct, frozen=True, tag="entered", forbid_unknown_fields=True):
    """From a site: it shares a secret with each of the others."""

    run: bytes


class Round(msgspec.Struct, frozen=True, tag="round", forbid_unknown_fields=True):
    """To a site: a request."""

    request: RoundRequest


class Answer(msgspec.Struct, frozen=True, tag="answer", forbid_unknown_fields=True):
    """From a site: its masked part of a sum."""

    run: bytes
    round: int
    data: bytes


class Refused(msgspec.Struct, frozen=True, tag="refused", forbid_unknown_fields=True):
    """From a site: why it does not do what it was asked; ``error`` is a code of :data:`consilience.protocol.errors.WIRE_CODES`."""

    error: str
    message: str


RunMessage = KeyAsk | KeySet | Round
RunReply = KeyOffer | Entered | Answer | Refused

"""Sites that are reached by tasks: what :class:`RemoteTransport` needs, over whatever brings bytes to a site and its answer back.

There is no connection to lose and to have again: a site whose process has ended is gone for good in this job, and one whose answer was late
may be asked once more.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence

from consilience.errors import ProtocolError
from consilience.federation.errors import ClientGoneError
from consilience.federation.site.ledger import printable
from consilience.federation.transport.remote import Links, Lost
from consilience.protocol.framing import decode, encode
from consilience.protocol.handshake import Consent, Declined, Proposal, consent_context, from_site
from consilience.protocol.messages import RunMessage, RunReply
from consilience.secagg.identity import SIGNATURE_BYTES, is_signed_by
from consilience.service.contract import Contract
from consilience.service.errors import DeclinedError

__all__ = ["Post", "TaskLinks"]

MOST_WORDS = 500
CONSENT_BYTES = 8192


class Post(ABC):
    """Brings the same bytes to named sites, and one answer of each back."""

    @abstractmethod
    def send(self, names: Sequence[str], data: bytes, seconds: float) -> dict[str, bytes | Lost]:
        """One answer or loss of each of ``names``, after ``seconds`` at the latest. When this returns, no answer is outstanding."""

    @abstractmethod
    def is_gone(self, name: str) -> bool:
        """Whether a site is not there any more, and does not come back in this job."""


class TaskLinks(Links):
    """The sites of a contract over a ``post``. Each is asked for its consent before it is asked anything else; ``say`` hears of losses.

    ``consents`` has the signature with which each site has agreed.
    """

    def __init__(self, post: Post, contract: Contract, say: Callable[[str], None]) -> None:
        self._post, self._contract, self._say = post, contract, say
        self._identities = {member.name: member.identity for member in contract.members}
        self._seconds = contract.settings.round_seconds
        self._bad: set[str] = set()
        self.consents: dict[str, bytes] = {}

    def gather(self, names: Sequence[str]) -> None:
        """Return when all have consented in this job; ``ClientGoneError`` if one is gone, ``DeclinedError`` if one does not agree."""
        for name in names:
            if name in self._bad or self._post.is_gone(name):
                raise ClientGoneError(name)
        fresh = [name for name in names if name not in self.consents]
        if not fresh:
            return
        told = self._post.send(fresh, encode(Proposal(self._contract.encoded())), self._seconds)
        for name in fresh:
            self.consents[name] = self._consent(name, told[name])

    def _consent(self, name: str, told: bytes | Lost) -> bytes:
        """The signature under a consent to this very contract; an error if it is anything else."""
        reply = self._read(name, told, CONSENT_BYTES)
        if isinstance(reply, Lost):
            raise ClientGoneError(name)
        if isinstance(reply, Declined):
            raise DeclinedError(
                f"{name!r} does not take part: {printable(reply.reason[:MOST_WORDS])} Its own log says more. The same job can be submitted "
                f"again."
            )
        context = consent_context(self._contract.study, self._contract.digest)
        if (
            not isinstance(reply, Consent)
            or reply.digest != self._contract.digest
            or len(reply.signature) != SIGNATURE_BYTES
            or not is_signed_by(self._identities[name], context, reply.signature)
        ):
            raise ProtocolError(f"{name!r} must agree to the contract with the signature of its own identity; it has not. The run stops.")
        return reply.signature

    def call(self, messages: Mapping[str, RunMessage], limit: int) -> dict[str, RunReply | Lost]:
        """Ask all sites at once; those that are asked the same are sent the same bytes."""
        found: dict[str, RunReply | Lost] = {}
        for message in {id(message): message for message in messages.values()}.values():
            names = [name for name, one in messages.items() if one is message]
            told = self._post.send(names, encode(message), self._seconds)
            found |= {name: self._read(name, told[name], limit) for name in names}
        return {name: found[name] for name in messages}

    def _read(self, name: str, told: bytes | Lost, limit: int) -> RunReply | Lost:
        """What a site has said; what is too long, or no message, is its loss."""
        if isinstance(told, Lost):
            self._say(f"{name!r} is lost: {told.why}")
            return told
        try:
            if len(told) > limit:
                raise ProtocolError(f"A message may have {limit} bytes here; got {len(told)}.")
            reply: RunReply = decode(told, from_site)
        except ProtocolError as error:
            self.cut(name, str(error))
            return Lost(str(error))
        return reply

    def cut(self, name: str, why: str) -> None:
        """What a site sent was not in order: it is not asked again in this job."""
        self._say(f"{name!r} is not asked any more: {printable(why)}")
        self._bad.add(name)

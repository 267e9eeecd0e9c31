"""Sites at the other end of connections.

This module knows what is said and in which order; it has no socket, no clock and no thread. A :class:`Links` sends messages to named
sites and brings back one answer of each.
"""

from __future__ import annotations

import secrets
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from hashlib import sha256
from typing import NamedTuple

from consilience.data.schema import Schema
from consilience.errors import OptionError, ProtocolError
from consilience.federation.errors import ClientGoneError
from consilience.federation.transport.base import Fingerprints, Stated, Transport
from consilience.glm.kernel import Floats
from consilience.protocol import framing
from consilience.protocol.catalogue import AnyRequest
from consilience.protocol.errors import refusal_of
from consilience.protocol.messages import (
    Announced,
    Answer,
    KeyAsk,
    KeyOffer,
    KeySet,
    Refused,
    Round,
    RoundRequest,
    RunMessage,
    RunReply,
)
from consilience.protocol.request import MOST_ASKED
from consilience.protocol.states import replies_to
from consilience.secagg import RingVector, Roster, SignedKey, decode, fingerprint_text, total
from consilience.secagg.context import MAX_STATEMENT_BYTES
from consilience.secagg.ring import WORD_BYTES

__all__ = ["Heard", "Links", "Lost", "RemoteTransport"]

MOST_ATTEMPTS = 5
"""How often one round may lose a site that comes back: a request that ends its process must not be sent for ever."""


class Lost:
    """In place of an answer: the connection ended, or nothing came in time. ``why`` is for the log."""

    def __init__(self, why: str) -> None:
        self.why = why

    def __repr__(self) -> str:
        return f"Lost({self.why!r})"


class Links(ABC):
    """Connections to the sites of one study, by name."""

    @abstractmethod
    def gather(self, names: Sequence[str]) -> None:
        """Return when every one of ``names`` is connected and has consented; ``ClientGoneError`` if one is not in time."""

    @abstractmethod
    def call(self, messages: Mapping[str, RunMessage], limit: int) -> dict[str, RunReply | Lost]:
        """Send each site its message and wait for one answer of each, of at most ``limit`` bytes, or for its loss.

        When this returns, no answer is outstanding: a site that is late is cut off, and is lost.
        """

    @abstractmethod
    def cut(self, name: str, why: str) -> None:
        """End a connection: what came over it was not in order."""


class Heard(NamedTuple):
    """What came back from a site: how many bytes in which round, with their digest; or which refusal. Not the answer itself."""

    site: str
    run: str
    round: int
    size: int
    digest: bytes
    refused: str = ""


class RemoteTransport(Transport):
    """The sites ``members`` (name and fingerprint) over ``links``.

    A site whose connection ends is waited for. When all are back, a new run begins under fresh keys with the same sites, and the same
    question is asked again; ``ClientGoneError`` is for a site that does not come back. ``begun`` is told of every run that begins,
    ``heard`` of every answer and refusal, whatever becomes of its round.
    """

    def __init__(
        self,
        links: Links,
        members: Mapping[str, bytes],
        schema: Schema,
        begun: Callable[[bytes, Sequence[str]], None] | None = None,
        heard: Callable[[Heard], None] | None = None,
    ) -> None:
        self._links, self._schema = links, schema
        self._members = dict(sorted(members.items()))
        self._run: tuple[bytes, bytes] | None = None
        self._next_round = 0
        self._told: set[tuple[str, ...]] = set()
        self._stated: tuple[Stated, ...] = ()
        self._begun = begun or (lambda _run, _names: None)
        self._heard = heard or (lambda _heard: None)

    @property
    def names(self) -> tuple[str, ...]:
        """The sites that take part, by name."""
        return tuple(self._members)

    @property
    def fingerprints(self) -> Fingerprints:
        """Their fingerprints, by name."""
        return dict(self._members)

    def drop(self, client: str) -> None:
        """Go on without a site, under fresh keys."""
        del self._members[client]
        self._run = None

    def statements(self) -> tuple[Stated, ...]:
        """What the sites state of themselves."""
        lost = ""
        for _ in range(MOST_ATTEMPTS):
            lost = "" if self._run is not None else self._open_run()
            if not lost:
                return self._stated
        raise ClientGoneError(lost)

    def ask(self, request: AnyRequest, announced: Sequence[Announced]) -> Floats:
        """One round, all sites at once."""
        _check_many(request)
        lost = ""
        for _ in range(MOST_ATTEMPTS):
            answers = self._attempt(request, announced)
            if not isinstance(answers, str):
                return decode(total(RingVector.from_bytes(answer) for answer in answers))
            # A new run for all, not a new key for the one that was lost: secrets are pairwise, and a site that was away cannot know which
            # rounds of the old run the others have answered.
            lost, self._run = answers, None
        raise ClientGoneError(lost)

    def _attempt(self, request: AnyRequest, announced: Sequence[Announced]) -> list[bytes] | str:
        """The answers of all sites, or the name of one that was lost."""
        if self._run is None:
            lost = self._open_run()
            if lost:
                return lost
        assert self._run is not None
        run, digest = self._run
        news = tuple(counts for counts in announced if counts.variables not in self._told)
        message = Round(RoundRequest(run, self._next_round, digest, request, news))
        expected = WORD_BYTES * request.length(self._schema)
        self._next_round += 1
        self.rounds += 1
        self.bytes += len(self._members) * len(framing.encode(message))
        replies = self._call(run, message, expected + 1024, message.request.round)
        answers: list[bytes] = []
        lost = ""
        for name, reply in replies.items():
            if self._is_lost(name, reply, Round):
                lost = lost or name
            elif isinstance(reply, Answer):
                if (reply.run, reply.round, len(reply.data)) != (run, message.request.round, expected):
                    self._links.cut(name, f"an answer of {len(reply.data)} bytes to a round whose answer has {expected}")
                    lost = lost or name
                self.bytes += len(reply.data)
                answers.append(reply.data)
        if lost:
            return lost
        self._told.update(counts.variables for counts in news)
        return answers

    def _call(self, run: bytes, message: RunMessage, limit: int, number: int = 0) -> dict[str, RunReply | Lost]:
        """The replies of all sites, each told of before anything is made of it."""
        replies = self._links.call(dict.fromkeys(self._members, message), limit)
        for name, reply in replies.items():
            if isinstance(reply, Answer):
                self._heard(Heard(name, run.hex()[:8], number, len(reply.data), sha256(reply.data).digest()))
            elif isinstance(reply, Refused):
                self._heard(Heard(name, run.hex()[:8], number, 0, b"", reply.error))
        return replies

    def _is_lost(self, name: str, reply: RunReply | Lost, asked: type[RunMessage]) -> bool:
        """True if a site is lost; its refusal is raised; what the table of states does not have as an answer costs it its connection."""
        if isinstance(reply, Lost):
            return True
        if isinstance(reply, Refused):
            raise refusal_of(reply.error)(f"{name!r} refuses: {reply.message}")
        if type(reply) not in replies_to(asked):
            self._links.cut(name, f"{type(reply).__name__} as an answer to {asked.__name__}")
            return True
        return False

    def _open_run(self) -> str:
        """Exchange keys under a new run id; the name of a site that was lost meanwhile, or the empty string."""
        self._links.gather(self.names)
        run = secrets.token_bytes(16)
        keys: dict[str, SignedKey] = {}
        for name, reply in self._call(run, KeyAsk(run), 4096 + MAX_STATEMENT_BYTES).items():
            if self._is_lost(name, reply, KeyAsk):
                return name
            assert isinstance(reply, KeyOffer)
            keys[name] = self._key_of(name, reply)
        message = KeySet(run, tuple(KeyOffer.of(key) for key in keys.values()))
        for name, reply in self._call(run, message, 4096).items():
            if self._is_lost(name, reply, KeySet):
                return name
        digest = Roster(run, [key.fingerprint for key in keys.values()]).digest
        self._stated = tuple(Stated(name, key.fingerprint, key.statement) for name, key in keys.items())
        self._run, self._next_round, self._told = (run, digest), 0, set()
        self._begun(run, self.names)
        return ""

    def _key_of(self, name: str, offer: KeyOffer) -> SignedKey:
        key = offer.signed()
        if key.fingerprint != self._members[name]:
            raise ProtocolError(
                f"{name!r} must offer a key of its own identity, {fingerprint_text(self._members[name])}; "
                f"got one of {fingerprint_text(key.fingerprint)}. The run stops."
            )
        return key


def _check_many(request: AnyRequest) -> None:
    """Sites refuse a request that is too long before they read it, without a word that its server could hand on: it is said here."""
    most = max((len(value) for name in request.__struct_fields__ if isinstance(value := getattr(request, name), tuple)), default=0)
    if most > MOST_ASKED:
        raise OptionError(
            f"A site takes up to {MOST_ASKED:,} variable sets, models or questions in one round; the study needs {most:,} at once. Set "
            f"max_given lower, or leave out variables."
        )

"""A transport that writes every sum down before it is used.

The exchange of a study is a function of its settings and of the sums that come back. So a server that died goes on by asking the same
questions again: what stands in the journal is answered from there, to the last bit as it was, and only the round that was under way
goes out to the sites once more. A journal holds sums over sites, which the server has learnt anyway, and no site's part of one.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Iterable, Sequence
from hashlib import sha256

import msgspec
import numpy as np

from consilience.federation.errors import ClientGoneError, JournalError
from consilience.federation.transport.base import Fingerprints, Stated, Transport
from consilience.glm.kernel import Floats
from consilience.protocol import framing
from consilience.protocol.catalogue import AnyRequest
from consilience.protocol.messages import Announced

__all__ = ["Journal", "JournalEntry", "Journalled", "ListJournal"]


class JournalEntry(msgspec.Struct, frozen=True, array_like=True):
    """One round: the digest of what was asked, the sum (little-endian doubles), or the name of the site that was ``gone``.

    The first one also has what the sites stated of themselves before it, where the study has rules that rest on it.
    """

    request: bytes
    total: bytes
    size: int
    gone: str = ""
    statements: tuple[Stated, ...] = ()


class Journal(ABC):
    """Entries in order. What :meth:`append` was given is there after a crash, once it has returned."""

    @abstractmethod
    def entries(self) -> Iterable[JournalEntry]:
        """All entries, oldest first."""

    @abstractmethod
    def append(self, entry: JournalEntry) -> None:
        """Add one, durably."""


class ListJournal(Journal):
    """A journal in memory, for tests.

    >>> journal = ListJournal()
    >>> journal.append(JournalEntry(b"", b"", 0))
    >>> len(list(journal.entries()))
    1
    """

    def __init__(self) -> None:
        self._entries: list[JournalEntry] = []

    def entries(self) -> Iterable[JournalEntry]:
        """All entries, oldest first."""
        return tuple(self._entries)

    def append(self, entry: JournalEntry) -> None:
        """Add one."""
        self._entries.append(entry)


class Journalled(Transport):
    """``inner``, with a journal. Questions that stand in it are answered from it, in its order; new ones go to ``inner``.

    ``sums`` and ``numbers`` count what each site has sent: one vector a sum, all of the same length.
    """

    def __init__(self, inner: Transport, journal: Journal) -> None:
        self._inner, self._journal = inner, journal
        self._past = deque(journal.entries())
        self._stated = self._past[0].statements if self._past else None
        self._begun = bool(self._past)
        self._replayed_rounds = self._replayed_bytes = 0
        self.sums = self.numbers = 0

    @property
    def names(self) -> tuple[str, ...]:
        """The sites that take part."""
        return self._inner.names

    @property
    def fingerprints(self) -> Fingerprints:
        """Their fingerprints, by name."""
        return self._inner.fingerprints

    @property
    def rounds(self) -> int:  # type: ignore[override]
        """Rounds, those of the journal included."""
        return self._replayed_rounds + self._inner.rounds

    @property
    def bytes(self) -> int:  # type: ignore[override]
        """Bytes, those of the journal included."""
        return self._replayed_bytes + self._inner.bytes

    def drop(self, client: str) -> None:
        """Go on without a site."""
        self._inner.drop(client)

    def statements(self) -> tuple[Stated, ...]:
        """What the sites that are left stated of themselves: from the journal, once a round stands in it. They state it once in a study."""
        if self._stated is None:
            self._stated = self._inner.statements()
        left = set(self.names)
        return tuple(stated for stated in self._stated if stated.name in left)

    def ask(self, request: AnyRequest, announced: Sequence[Announced]) -> Floats:
        """The sum from the journal, or one round, written down."""
        # Sums are written down, not the state of the fits: a fit is a function of its sums, and its state has many parts that would all
        # have to be stored and read back to the last bit. The digest of the request says that the run asks what it asked before.
        digest = sha256(framing.encode(request)).digest()
        if self._past:
            entry = self._past.popleft()
            _check_same(entry, digest)
            return self._recall(entry)
        before = self._inner.bytes
        try:
            total = self._inner.ask(request, announced)
        except ClientGoneError as error:
            self._write(JournalEntry(digest, b"", self._inner.bytes - before, error.client))
            raise
        plain = np.ascontiguousarray(total, dtype="<f8").tobytes()
        self._write(JournalEntry(digest, plain, self._inner.bytes - before))
        self._count(len(total))
        return total

    def _write(self, entry: JournalEntry) -> None:
        """Add an entry. Statements are part of the first: what comes later rests on them, and nothing comes before it."""
        if not self._begun and self._stated:
            entry = msgspec.structs.replace(entry, statements=self._stated)
        self._begun = True
        self._journal.append(entry)

    def _count(self, numbers: int) -> None:
        self.sums += 1
        self.numbers += numbers

    def _recall(self, entry: JournalEntry) -> Floats:
        self._replayed_rounds += 1
        self._replayed_bytes += entry.size
        if entry.gone:
            raise ClientGoneError(entry.gone)
        self._count(len(entry.total) // 8)
        return np.frombuffer(entry.total, dtype="<f8").astype(np.float64)


def _check_same(entry: JournalEntry, digest: bytes) -> None:
    if entry.request != digest:
        raise JournalError(
            f"The next question must be the one that stands in the journal, {entry.request.hex()[:16]}; got {digest.hex()[:16]}. "
            f"The study was begun with other settings or another version: start it anew."
        )

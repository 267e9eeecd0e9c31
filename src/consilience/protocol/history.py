"""What a site must not forget in a study, even if its process ends: what it has answered, with whom, in which units.

A site that has forgotten at which points it answered could be asked there again with one site fewer, and the difference of the two
sums would be the missing site's numbers.
"""

from __future__ import annotations

from collections import Counter

import msgspec

__all__ = ["Closed", "Counted", "Cut", "History", "Places", "Points", "Present", "Record", "Replicated", "Settled", "Stated", "Units"]


class Points(msgspec.Struct, frozen=True, tag="points"):
    """Models were answered at points (as digests) with these sites (as fingerprints); ``models`` says of each point which (as digests)."""

    digests: tuple[bytes, ...]
    members: tuple[bytes, ...]
    models: tuple[bytes, ...] = ()


class Units(msgspec.Struct, frozen=True, tag="units"):
    """The units of the study's first request for sums."""

    exponents: dict[str, int]


class Places(msgspec.Struct, frozen=True, tag="places"):
    """The locations of the study's first request for cross-products."""

    locations: dict[str, float] | None


class Present(msgspec.Struct, frozen=True, tag="present"):
    """The sites of the last run."""

    members: tuple[bytes, ...]


class Closed(msgspec.Struct, frozen=True, tag="closed"):
    """The site answers nothing more in this study."""


class Cut(msgspec.Struct, frozen=True, tag="cut"):
    """A variable was cut at these values (as a digest), for one purpose: ``what`` names it."""

    what: str
    digest: bytes


class Settled(msgspec.Struct, frozen=True, tag="settled"):
    """Tests (as digests) were answered at one point each (as digests) with these sites (as fingerprints)."""

    tests: tuple[bytes, ...]
    points: tuple[bytes, ...]
    members: tuple[bytes, ...]


class Stated(msgspec.Struct, frozen=True, tag="stated"):
    """What sites (as fingerprints) state of themselves in this study, in the bytes that they signed; and the rows (as a digest) from which
    this site answers, which is for its own memory and never sent.
    """

    sites: tuple[bytes, ...]
    statements: tuple[bytes, ...]
    held: bytes


class Counted(msgspec.Struct, frozen=True, tag="counted"):
    """For variable sets so many contributors and rows were announced, in runs with these sites (as fingerprints).

    Kept where sites state what they contribute, and answer from the same rows in the whole study: elsewhere counts may change.
    """

    sets: tuple[tuple[str, ...], ...]
    counts: tuple[tuple[int, int], ...]
    members: tuple[bytes, ...]


class Replicated(msgspec.Struct, frozen=True, tag="replicated"):
    """A record of one replicate: of a copy of the rows, or of the rows of all sites but one (as a fingerprint)."""

    draw: int
    without: bytes
    record: Points | Units | Places | Cut | Settled | Counted


Record = Points | Units | Places | Present | Closed | Cut | Settled | Stated | Counted | Replicated


class History:
    """Records, and what follows from them. :meth:`keep` is for those that outlive the process; here it does nothing.

    >>> history = History()
    >>> history.take(Present((b"a", b"b")))
    >>> sorted(history.present)
    [b'a', b'b']
    """

    def __init__(self) -> None:
        self.answered: dict[bytes, frozenset[bytes]] = {}
        self.steps: Counter[tuple[bytes, frozenset[bytes]]] = Counter()
        self.exponents: dict[str, int] | None = None
        self.locations: dict[str, float] | None = None
        self.located = False
        self.present: frozenset[bytes] | None = None
        self.closed = False
        self.cuts: dict[str, bytes] = {}
        self.settled: dict[bytes, dict[bytes, frozenset[bytes]]] = {}
        self.stated: dict[bytes, bytes] = {}
        self.counted: dict[frozenset[bytes], dict[tuple[str, ...], tuple[int, int]]] = {}
        self.held = b""
        self._replicates: dict[tuple[int, bytes], History] = {}

    def of(self, draw: int, without: bytes) -> History:
        """The history of one replicate: what it takes is kept here, under the replicate's name.

        >>> history = History()
        >>> history.of(1, b"").take(Units({"A": 8}))
        >>> history.of(1, b"").exponents, history.of(2, b"").exponents, history.exponents
        ({'A': 8}, None, None)
        """
        key = draw, without
        if key not in self._replicates:
            self._replicates[key] = _Within(self, draw, without)
        return self._replicates[key]

    def take(self, record: Record) -> None:
        """Keep a record, then act on it."""
        self.keep(record)
        self.recall(record)

    def recall(self, record: Record) -> None:
        """Act on a record."""
        if isinstance(record, Points | Settled | Counted):
            self._recall_run(record, frozenset(record.members))
        elif isinstance(record, Units):
            self.exponents = record.exponents
        elif isinstance(record, Places):
            self.locations, self.located = record.locations, True
        elif isinstance(record, Present):
            self.present = frozenset(record.members)
        elif isinstance(record, Cut):
            self.cuts[record.what] = record.digest
        elif isinstance(record, Stated):
            # the first stays: what answers rest on, and what every later statement is held against
            self.stated = dict(zip(record.sites, record.statements, strict=True)) | self.stated
            self.held = self.held or record.held
        elif isinstance(record, Replicated):
            self.of(record.draw, record.without).recall(record.record)
        else:
            self.closed = True

    def _recall_run(self, record: Points | Settled | Counted, members: frozenset[bytes]) -> None:
        """What was answered, or said, in runs with these sites."""
        if isinstance(record, Points):
            self.steps.update((model, members) for model in record.models)
            for digest in record.digests:
                # the first, and so the largest, set of sites stays: a repetition with all of them must not make one with fewer look new
                self.answered.setdefault(digest, members)
        elif isinstance(record, Settled):
            for test, point in zip(record.tests, record.points, strict=True):
                self.settled.setdefault(test, {})[point] = members
        else:
            self.counted.setdefault(members, {}).update(zip(record.sets, record.counts, strict=True))

    def keep(self, record: Record) -> None:
        """Make a record outlive the process, before anything rests on it."""


class _Within(History):
    """The history of a replicate, which a whole study's keeps."""

    def __init__(self, whole: History, draw: int, without: bytes) -> None:
        super().__init__()
        self._whole, self._draw, self._without = whole, draw, without

    def keep(self, record: Record) -> None:
        """Keep a record with all others of the study."""
        assert not isinstance(record, Present | Closed | Stated | Replicated), "of the study as a whole"
        self._whole.keep(Replicated(self._draw, self._without, record))

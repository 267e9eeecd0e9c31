"""Sites in this process."""

from __future__ import annotations

import secrets
from collections.abc import Sequence

import numpy as np

from consilience.federation.site.half import SiteHalf
from consilience.federation.transport.base import Fingerprints, Stated, Transport
from consilience.glm.kernel import Floats
from consilience.protocol import framing
from consilience.protocol.catalogue import AnyRequest
from consilience.protocol.messages import Announced, RoundRequest
from consilience.secagg import RingVector, Roster, decode, total

__all__ = ["LocalTransport"]


class LocalTransport(Transport):
    """Sites in this process. What a network would carry is counted as if there were one."""

    def __init__(self, sites: Sequence[SiteHalf]) -> None:
        self._sites = list(sites)
        self._run: tuple[bytes, bytes] | None = None  # id and digest of the roster
        self._next_round = 0
        self._told: set[tuple[str, ...]] = set()
        self._stated: tuple[Stated, ...] = ()

    @property
    def names(self) -> tuple[str, ...]:
        """The sites that take part."""
        return tuple(site.name for site in self._sites)

    @property
    def fingerprints(self) -> Fingerprints:
        """Their fingerprints, by name."""
        return {site.name: site.fingerprint for site in self._sites}

    def drop(self, client: str) -> None:
        """Go on without a site, under fresh keys."""
        self._sites = [site for site in self._sites if site.name != client]
        self._run = None

    def statements(self) -> tuple[Stated, ...]:
        """What the sites state of themselves."""
        if self._run is None:
            self._open_run()
        return self._stated

    def ask(self, request: AnyRequest, announced: Sequence[Announced]) -> Floats:
        """One round, the sites one after the other."""
        run, digest = self._run or self._open_run()
        news = tuple(counts for counts in announced if counts.variables not in self._told)
        message = RoundRequest(run, self._next_round, digest, request, news)
        self._next_round += 1
        self.rounds += 1
        self.bytes += len(self._sites) * len(framing.encode(message))
        # One after the other: in one process the sites share the interpreter, and threads would only make the order of ledgers random.
        replies = [site.answer(message) for site in self._sites]
        self._told.update(counts.variables for counts in news)
        self.bytes += sum(len(r) if isinstance(r, bytes) else r.nbytes for r in replies)
        if all(isinstance(reply, bytes) for reply in replies):
            return decode(total(RingVector.from_bytes(reply) for reply in replies if isinstance(reply, bytes)))
        plain: Floats = np.sum([reply for reply in replies if not isinstance(reply, bytes)], axis=0)
        return plain

    def _open_run(self) -> tuple[bytes, bytes]:
        """Exchange keys for a run; sites that are gone already show here."""
        run = secrets.token_bytes(16)
        keys = [site.offer(run) for site in self._sites]
        for site in self._sites:
            site.enter(run, keys)
        self._stated = tuple(Stated(site.name, key.fingerprint, key.statement) for site, key in zip(self._sites, keys, strict=True))
        digest = Roster(run, [key.fingerprint for key in keys]).digest if len(keys) > 1 else b""
        self._run, self._next_round, self._told = (run, digest), 0, set()
        return self._run

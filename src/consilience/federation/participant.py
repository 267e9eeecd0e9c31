"""A client's part in one study: its encoded data, its checks, its keys, and its answers."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from hashlib import sha256

import numpy as np

from consilience.citest.site import SiteWorker
from consilience.data.table import Table
from consilience.errors import ConsilienceError, StudyError
from consilience.federation.guard import Guard
from consilience.federation.ledger import Ledger, in_words
from consilience.federation.memory import Closed, Memory, Present
from consilience.federation.messages import RoundRequest, encode_message
from consilience.federation.terms import Dropout, Terms
from consilience.glm.kernel import Floats
from consilience.protocol.errors import FalseCountsError, StudyClosedError, WrongRosterError
from consilience.secagg import Identity, Roster, RoundBook, RunKey, SignedKey, encode, mask, pair_secret
from consilience.secagg.errors import RingRangeError

__all__ = ["Participant"]


@dataclass(frozen=True, slots=True, eq=False)
class _Run:
    """Keys of one run. ``roster`` is None in a study of one site."""

    run_id: bytes
    members: frozenset[bytes]
    roster: Roster | None
    secrets: dict[bytes, bytes]
    book: RoundBook

    @property
    def digest(self) -> bytes:
        """What every request of this run must carry."""
        return b"" if self.roster is None else self.roster.digest


class Participant:
    """What a study's server talks to, instead of to the client itself. ``members`` are the fingerprints that the owner has agreed to.

    :meth:`offer` and :meth:`enter` begin a run: a fresh key, then the keys of all others. :meth:`answer` is one round.
    """

    def __init__(
        self,
        name: str,
        table: Table,
        terms: Terms,
        identity: Identity,
        ledger: Ledger,
        study: str,
        members: Iterable[bytes],
        memory: Memory | None = None,
    ) -> None:
        self.name, self.terms, self.study = name, terms, study
        self.identity, self.ledger = identity, ledger
        self.members = frozenset(members)
        self._worker = SiteWorker(table)
        self._memory = Memory() if memory is None else memory
        self._guard = Guard(table, terms, self._memory)
        self._key: RunKey | None = None
        self._run: _Run | None = None
        self._runs: set[bytes] = set()
        self._last: tuple[bytes, Floats] = (b"", np.empty(0))

    @property
    def fingerprint(self) -> bytes:
        """The client's identity, as others pin it."""
        return self.identity.fingerprint

    def offer(self, run: bytes) -> SignedKey:
        """A fresh key for a run, signed. A run's id is used once: rounds of an old run cannot be opened again."""
        if run in self._runs:
            error = WrongRosterError("A run's id may be used once; begin a run with a new one.")
            self._write(run, 0, "a key for a run", 0, 0, 0, error)
            raise error
        self._runs.add(run)
        self._key = RunKey.generate(self.identity, run)
        return self._key.signed

    def enter(self, run: bytes, keys: Iterable[SignedKey]) -> None:
        """Take the keys of all sites of a run, this one's included, and derive a secret with each other.

        The sites must be those agreed on, or, after one has vanished, some of the last run's: :class:`WrongRosterError` else.
        """
        keys = list(keys)
        try:
            self._enter(run, keys)
        except ConsilienceError as error:
            self._write(run, 0, f"keys of a run with {len(keys)} sites", 0, 0, max(len(keys) - 1, 0), error)
            raise

    def _enter(self, run: bytes, keys: list[SignedKey]) -> None:
        present = frozenset(key.fingerprint for key in keys)
        if self._key is None or self._key.run_id != run or self.fingerprint not in present:
            raise WrongRosterError(f"{self.name!r} has no key in this run; ask it for one first.")
        if self._run is not None and self._run.run_id == run:
            raise WrongRosterError("This run has begun already; its keys cannot be exchanged again.")
        self._check_members(present)
        own = self._key
        if self.terms.network and (len(present) < 2 or not self.terms.masking):
            raise WrongRosterError(
                f"Over a network every answer is masked, which needs at least 2 sites; got a run with {len(present)}. Nothing is sent."
            )
        others = [key for key in keys if key.fingerprint != self.fingerprint] if self.terms.masking else []
        secrets = {key.fingerprint: pair_secret(own, key, run, self.members) for key in others}
        # a study of one site has nobody to mask with: only counts and statistics of its own tests leave it
        roster = Roster(run, [key.fingerprint for key in keys]) if len(keys) > 1 or len(self.members) > 1 else None
        if present != self._memory.present:
            self._memory.take(Present(tuple(sorted(present))))
        self._run = _Run(run, present, roster, secrets, RoundBook(run))
        self._guard.new_run()

    def _check_members(self, present: frozenset[bytes]) -> None:
        if not present <= self.members:
            raise WrongRosterError(
                f"{len(present - self.members)} of the sites of this run are not among the {len(self.members)} agreed on."
            )
        allowed = self.members if self._memory.present is None else self._memory.present
        if not present <= allowed:
            raise WrongRosterError("A site that left this study may not come back into it; start a new study with it.")
        if present != allowed and (self._memory.present is None or self.terms.on_dropout is Dropout.STOP):
            raise WrongRosterError(f"{len(allowed)} sites were agreed on; got a run with {len(present)}.")
        if present != self.members and len(present) < max(self.terms.min_contributors, 2):
            raise WrongRosterError(f"The study asks for at least {self.terms.min_contributors} sites; got a run with {len(present)}.")

    def answer(self, request: RoundRequest) -> bytes | Floats:
        """This site's part of a sum: masked bytes, or plain numbers where the study says ``masking=False``.

        Every check comes before anything is computed; what is refused leaves a line in the ledger and raises.
        """
        others = 0 if self._run is None or not self.terms.masking else len(self._run.members) - 1
        what = in_words(request.body)
        try:
            run = self._check(request)
            vector = self._compute(request, run)
            reply = self._hide(vector, run, request)
        except ConsilienceError as error:
            self._write(request.run, request.round, what, 0, 0, others, error)
            # Whether a number fits or counts can be true depends on the data: asked often enough, the answers would give them
            # away. So the first such refusal is the last word; and the value itself stays here, in the ledger.
            if isinstance(error, RingRangeError | FalseCountsError) and not self._memory.closed:
                self._memory.take(Closed())
            if isinstance(error, RingRangeError):
                raise RingRangeError("A number of this site does not fit the ring. Look at the variables' units.") from None
            raise
        size = len(reply) if isinstance(reply, bytes) else reply.nbytes
        self._write(request.run, request.round, what, len(vector), size, others)
        return reply

    def _check(self, request: RoundRequest) -> _Run:
        run = self._run
        if self._memory.closed:
            raise StudyClosedError(f"{self.name!r} answers nothing more in this study; its ledger says why. Start a new study.")
        if run is None:
            raise StudyError(f"{self.name!r} has not entered a run yet.")
        if request.run != run.run_id or request.roster != run.digest:
            raise WrongRosterError("The request is for another run or other sites than those whose keys were exchanged.")
        run.book.claim(request.round)
        self._guard.check(request, run.members)
        return run

    def _compute(self, request: RoundRequest, run: _Run) -> Floats:
        """The numbers. The last question, asked again because its round was lost, has the same answer to the last bit."""
        asked = sha256(encode_message(request.body) + b"".join(sorted(run.members))).digest()
        if asked != self._last[0]:
            self._last = (asked, self._worker.answer(request.body, sorted(run.members).index(self.fingerprint)))
        return self._last[1]

    def _hide(self, vector: Floats, run: _Run, request: RoundRequest) -> bytes | Floats:
        if not self.terms.masking:
            return vector
        ring = encode(vector, terms=len(run.members))
        if run.roster is None:
            return ring.to_bytes()
        asked = sha256(encode_message(request)).digest()  # sites that were asked different things do not share masks
        return mask(ring, self.fingerprint, run.secrets, request.round, run.roster, asked).to_bytes()

    def _write(
        self, run: bytes, number: int, what: str, numbers: int, n_bytes: int, masked_with: int, error: Exception | None = None
    ) -> None:
        refused = f"{type(error).__name__}: {error}" if error is not None else ""
        self.ledger.add(self.study, run.hex()[:8], number, what, numbers, n_bytes, masked_with=masked_with, refused=refused)

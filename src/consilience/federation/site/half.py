"""The site's half of one study: its encoded data, its checks, its keys, and its answers."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from hashlib import sha256

import numpy as np

from consilience.data.table import Table
from consilience.errors import ConsilienceError
from consilience.federation.site.ledger import Ledger
from consilience.federation.site.own_tests import desk_for
from consilience.glm.kernel import Floats
from consilience.protocol import framing
from consilience.protocol.errors import FalseCountsError, WrongRosterError
from consilience.protocol.guard import Guard
from consilience.protocol.history import Closed, History, Present
from consilience.protocol.messages import Answer, Entered, KeyAsk, KeyOffer, KeySet, Round, RoundRequest, RunMessage
from consilience.protocol.states import SiteState, Standing
from consilience.protocol.units import misfit
from consilience.secagg import Identity, Roster, RoundBook, RunKey, SignedKey, encode, mask, pair_secret
from consilience.secagg.errors import RingRangeError
from consilience.settings.choices import Dropout
from consilience.settings.terms import Terms

__all__ = ["SiteHalf"]


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


class SiteHalf:
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
        history: History | None = None,
        state: SiteState | None = None,
    ) -> None:
        self.name, self.terms, self.study = name, terms, study
        self.identity, self.ledger = identity, ledger
        self.members = frozenset(members)
        self._desk = desk_for(table, rounds_own=terms.disclosure.rounds_alone)
        self._history = History() if history is None else history
        self._guard = Guard(table, terms, self._history)
        if state is None:  # in process: whoever joins has consented
            state = SiteState(Standing.CLOSED if self._history.closed else Standing.CONSENTED, repr(name))
        self._state = state
        self._key: RunKey | None = None
        self._run: _Run | None = None
        self._runs: set[bytes] = set()
        self._last: tuple[bytes, Floats] = (b"", np.empty(0))

    @property
    def closed(self) -> bool:
        """True if the site answers nothing more in this study."""
        return self._history.closed

    @property
    def fingerprint(self) -> bytes:
        """The client's identity, as others pin it."""
        return self.identity.fingerprint

    def respond(self, message: RunMessage) -> KeyOffer | Entered | Answer:
        """What the site answers to a message of a run, over a network. What it refuses is raised."""
        if isinstance(message, KeyAsk):
            key = self.offer(message.run)
            return KeyOffer(key.run_id, key.identity, key.x25519, key.signature)
        if isinstance(message, KeySet):
            self.enter(message.run, [offer.signed() for offer in message.keys])
            return Entered(message.run)
        reply = self.answer(message.request)
        assert isinstance(reply, bytes), "over a network every answer is masked"
        return Answer(message.request.run, message.request.round, reply)

    def offer(self, run: bytes) -> SignedKey:
        """A fresh key for a run, signed. A run's id is used once: rounds of an old run cannot be opened again."""
        try:
            self._state.check(KeyAsk)
            if run in self._runs:
                raise WrongRosterError("A run's id may be used once; begin a run with a new one.")
        except ConsilienceError as error:
            self._write(run, 0, "a key for a run", 0, 0, 0, error)
            raise
        self._runs.add(run)
        self._key, self._run = RunKey.generate(self.identity, run), None  # of an old run nothing is answered any more
        self._state.moves(KeyAsk)
        return self._key.signed

    def enter(self, run: bytes, keys: Iterable[SignedKey]) -> None:
        """Take the keys of all sites of a run, this one's included, and derive a secret with each other.

        The sites must be those agreed on, or, after one has vanished, some of the last run's: :class:`WrongRosterError` else.
        """
        keys = list(keys)
        try:
            self._state.check(KeySet)
            self._enter(run, keys)
        except ConsilienceError as error:
            self._write(run, 0, f"keys of a run with {len(keys)} sites", 0, 0, max(len(keys) - 1, 0), error)
            raise

    def _enter(self, run: bytes, keys: list[SignedKey]) -> None:
        present = frozenset(key.fingerprint for key in keys)
        if self._key is None or self._key.run_id != run or self.fingerprint not in present:
            raise WrongRosterError(f"{self.name!r} has no key in this run; ask it for one first.")
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
        if present != self._history.present:
            self._history.take(Present(tuple(sorted(present))))
        self._run = _Run(run, present, roster, secrets, RoundBook(run))
        self._guard.new_run(present)
        self._state.moves(KeySet)

    def _check_members(self, present: frozenset[bytes]) -> None:
        if not present <= self.members:
            raise WrongRosterError(
                f"{len(present - self.members)} of the sites of this run are not among the {len(self.members)} agreed on."
            )
        allowed = self.members if self._history.present is None else self._history.present
        if not present <= allowed:
            raise WrongRosterError("A site that left this study may not come back into it; start a new study with it.")
        if present != allowed and (self._history.present is None or self.terms.on_dropout is Dropout.STOP):
            raise WrongRosterError(f"{len(allowed)} sites were agreed on; got a run with {len(present)}.")
        if present != self.members and len(present) < max(self.terms.min_contributors, 2):
            raise WrongRosterError(f"The study asks for at least {self.terms.min_contributors} sites; got a run with {len(present)}.")

    def answer(self, request: RoundRequest) -> bytes | Floats:
        """This site's part of a sum: masked bytes, or plain numbers where the study says ``masking=False``.

        Every check comes before anything is computed; what is refused leaves a line in the ledger and raises.
        """
        others = 0 if self._run is None or not self.terms.masking else len(self._run.members) - 1
        what = request.body.words()
        try:
            run = self._check(request)
            vector = self._compute(request, run)
            reply = self._hide(vector, run, request)
        except ConsilienceError as error:
            cause = misfit(self._desk.table, getattr(request.body, "exponents", {})) if isinstance(error, RingRangeError) else None
            written = error if cause is None else RingRangeError(f"{error} {cause.kept}".rstrip())
            self._write(request.run, request.round, what, 0, 0, others, written)
            # Whether a number fits or counts can be true depends on the data: asked often enough, the answers would give them
            # away. So the first such refusal is the last word; and the value itself stays here, in the ledger.
            if isinstance(error, RingRangeError | FalseCountsError):
                self._history.take(Closed())
                self._state.moves(Round, Standing.CLOSED)
            if cause is not None:
                raise RingRangeError(cause.told) from None
            raise
        left = reply if isinstance(reply, bytes) else reply.tobytes()
        self._write(request.run, request.round, what, len(vector), len(left), others, digest=sha256(left).hexdigest())
        return reply

    def _check(self, request: RoundRequest) -> _Run:
        self._state.check(Round)
        run = self._run
        assert run is not None
        if request.run != run.run_id or request.roster != run.digest:
            raise WrongRosterError("The request is for another run or other sites than those whose keys were exchanged.")
        run.book.claim(request.round)  # before the checks: a round that is refused is used up, and cannot be tried in variations
        self._guard.is_current(request.version)
        for announced in request.announced:
            self._guard.hears(announced.variables, announced.contributors, announced.rows)
        request.body.check(self._guard)
        return run

    def _compute(self, request: RoundRequest, run: _Run) -> Floats:
        """The numbers. The last request, asked again because its round was lost, has the same answer to the last bit."""
        asked = sha256(framing.encode(request.body) + b"".join(sorted(run.members))).digest()
        if asked != self._last[0]:
            self._last = (asked, self._desk.answer(request.body, sorted(run.members).index(self.fingerprint)))
        return self._last[1]

    def _hide(self, vector: Floats, run: _Run, request: RoundRequest) -> bytes | Floats:
        if not self.terms.masking:
            return vector
        ring = encode(vector, terms=len(run.members))
        if run.roster is None:
            return ring.to_bytes()
        asked = sha256(framing.encode(request)).digest()  # sites that were asked different things do not share masks
        return mask(ring, self.fingerprint, run.secrets, request.round, run.roster, asked).to_bytes()

    def _write(
        self,
        run: bytes,
        number: int,
        what: str,
        numbers: int,
        n_bytes: int,
        masked_with: int,
        error: Exception | None = None,
        digest: str = "",
    ) -> None:
        refused = f"{type(error).__name__}: {error}" if error is not None else ""
        self.ledger.add(self.study, run.hex()[:8], number, what, numbers, n_bytes, masked_with=masked_with, refused=refused, digest=digest)

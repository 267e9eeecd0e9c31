"""The site's half of one study: its encoded data, its checks, its keys, and its answers."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from hashlib import sha256

import msgspec
import numpy as np

from consilience.data.errors import OutOfMemoryError
from consilience.data.schema import Schema
from consilience.data.table import Table
from consilience.disclosure.census import Census, apply
from consilience.disclosure.errors import StatementError
from consilience.disclosure.fold import Limits
from consilience.disclosure.resampling import Draws
from consilience.disclosure.shield import shield
from consilience.disclosure.statement import Statement, decode_statement
from consilience.disclosure.words import in_words
from consilience.errors import ConsilienceError
from consilience.federation.site.ledger import Ledger
from consilience.federation.site.own_tests import desk_for
from consilience.glm.kernel import Floats
from consilience.glm.layout import is_silent
from consilience.parallel import one_thread
from consilience.protocol import framing
from consilience.protocol.catalogue import AnyRequest
from consilience.protocol.desk import Desk
from consilience.protocol.errors import ChangedStatementError, FalseCountsError, OutsideSchemaError, WrongRosterError
from consilience.protocol.guard import Guard
from consilience.protocol.history import Closed, History, Present, Stated
from consilience.protocol.messages import Answer, Entered, KeyAsk, KeyOffer, KeySet, Round, RoundRequest, RunMessage
from consilience.protocol.states import SiteState, Standing
from consilience.protocol.units import misfit
from consilience.secagg import (
    Binding,
    Identity,
    RingVector,
    Roster,
    RoundBook,
    RunKey,
    SignedKey,
    encode,
    fingerprint_text,
    mask,
    pair_secret,
)
from consilience.secagg.context import pack
from consilience.secagg.errors import BadSignatureError, RingRangeError
from consilience.settings.choices import Cells, Dropout
from consilience.settings.declaration import DEFAULTS
from consilience.settings.terms import Terms

__all__ = ["SiteHalf", "terms_digest"]

_TERMS = b"consilience/terms/1"
_DRAWS = b"consilience/draws/1"


def terms_digest(terms: Terms, schema: Schema) -> bytes:
    """What stands for a contract's digest where there is none, in one program: of the terms and of the study's variables.

    >>> schema = Schema({"A": "continuous"})
    >>> terms_digest(Terms(), schema) == terms_digest(Terms(min_rows=11), schema)
    False
    """
    variables = [(v.name, v.kind, [str(level) for level in v.levels], v.unit, v.range) for v in schema.values()]
    return sha256(pack(_TERMS, msgspec.msgpack.encode(terms), msgspec.msgpack.encode(variables))).digest()


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

    ``contract`` is the digest of what the owner agreed to, which every key is bound to; by default that of terms and variables.
    ``draws`` is the secret from which copies of its rows are drawn, by default one of its identity and the study. ``min_cell`` is the least
    level count of this site, the study's or its owner's own, whichever is more, and ``cells`` its owner's own rule on several levels
    together. The table is shielded before
    anything else is done with it, and what answers is decided when all sites have stated what they contribute: see
    :mod:`consilience.disclosure`.
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
        *,
        contract: bytes = b"",
        min_cell: int = 1,
        cells: Cells = DEFAULTS.cells,
        draws: bytes = b"",
    ) -> None:
        self.name, self.terms, self.study = name, terms, study
        self.identity, self.ledger = identity, ledger
        self.members = frozenset(members)
        self._binding = Binding(study.encode(), contract or terms_digest(terms, table.schema))
        self.min_cell = max(min_cell, terms.min_cell)
        self.shielded = shield(table, terms, self.min_cell, cells)
        self._statement = self.shielded.statement.encoded() if terms.shielded else b""
        self._ruled = terms.shielded or self.min_cell > 1  # by a rule of the study, or of this site alone
        self._draws = draws or identity.derive(pack(_DRAWS, study.encode()))
        self._desk: Desk | None = None
        self._history = History() if history is None else history
        self._guard = Guard(self.shielded.table, terms, self._history)
        if state is None:  # in process: whoever joins has consented
            state = SiteState(Standing.CLOSED if self._history.closed else Standing.CONSENTED, repr(name))
        self._state = state
        self._key: RunKey | None = None
        self._run: _Run | None = None
        self._runs: set[bytes] = set()
        self._last: tuple[AnyRequest | None, frozenset[bytes], Floats] = (None, frozenset(), np.empty(0))

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
            return KeyOffer.of(self.offer(message.run))
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
            self._holds_what_it_held()
        except ConsilienceError as error:
            self._write(run, 0, "a key for a run", 0, 0, 0, error)
            raise
        self._runs.add(run)
        if self._statement:  # on disk before it leaves
            self._write(run, 0, f"in the open, to all sites: {in_words(self.shielded.statement, self.terms)}", 0, len(self._statement), 0)
        # of an old run nothing is answered any more
        self._key, self._run = RunKey.generate(self.identity, run, self._binding, self._statement), None
        self._state.moves(KeyAsk)
        return self._key.signed

    def _holds_what_it_held(self) -> None:
        """Where there are rules on disclosure: the same rows in a whole study, since sums before and after would differ by the others."""
        if not self._ruled:
            return
        stated, held = self._history.stated.get(self.fingerprint, self._statement), self._history.held
        if stated != self._statement or (held and held != self._held):
            raise ChangedStatementError(
                "The table of this site is not what it was when the study began: sums that were made of it would differ from those that "
                "are made now by the rows that have changed. Use the same table, or take part in a new study."
            )

    @cached_property
    def _held(self) -> bytes:
        return self.shielded.digest()

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
        if any(key != own.signed for key in keys if key.fingerprint == self.fingerprint):
            raise BadSignatureError("The key that this site offered, and what it stated with it, came back changed. Nothing is sent.")
        if self.terms.network and (len(present) < 2 or not self.terms.masking):
            raise WrongRosterError(
                f"Over a network every answer is masked, which needs at least 2 sites; got a run with {len(present)}. Nothing is sent."
            )
        others = [key for key in keys if key.fingerprint != self.fingerprint] if self.terms.masking else []
        secrets = {key.fingerprint: pair_secret(own, key, run, self.members) for key in others}
        # a study of one site has nobody to mask with: only counts and statistics of its own tests leave it
        roster = Roster(run, [key.fingerprint for key in keys]) if len(keys) > 1 or len(self.members) > 1 else None
        census = self._census(keys)  # the keys have been verified: what they state is their owners' word
        if present != self._history.present:
            self._history.take(Present(tuple(sorted(present))))
        if self._desk is None:
            answering = self.shielded.table if census is None else apply(self.shielded, census, self.fingerprint)
            # over a network always: how many sites are able to do a test, the server counts, and nobody can check it
            rounds = self.terms.network or self.terms.disclosure.rounds_alone
            limits = Limits(max(self.terms.min_rows, self.min_cell), self.min_cell) if self._ruled else None
            draws = Draws(answering, self._draws, limits, fixed=self.shielded.cells is Cells.REFUSE)
            self._desk = desk_for(answering, rounds_own=rounds, fewest=self.min_cell, draws=draws, own=self.fingerprint)
        self._run = _Run(run, present, roster, secrets, RoundBook(run))
        self._guard.new_run(present, self._desk.table, census, self._desk.copies)
        self._state.moves(KeySet)

    def _census(self, keys: list[SignedKey]) -> Census | None:
        """What the sites of a run state of themselves, which must be what they stated before. None where there are no such rules."""
        if not self.terms.shielded:
            if self._ruled and not self._history.held:
                self._history.take(Stated((), (), self._held))
            return None
        known, new = self._history.stated, dict[bytes, bytes]()
        for key in keys:
            before = known.get(key.fingerprint)
            if before is None:
                new[key.fingerprint] = key.statement
            elif before != key.statement:
                raise ChangedStatementError(
                    f"A site states once in a study what it contributes; {fingerprint_text(key.fingerprint)} has stated something else "
                    f"before. Nothing is sent: the difference could be single rows of it. Start a new study."
                )
        schema, stated = self.shielded.table.schema, dict[bytes, Statement]()
        for key in keys:
            try:
                stated[key.fingerprint] = decode_statement(key.statement, schema)
            except StatementError as error:  # another site's: no reason to end this one's connection
                raise OutsideSchemaError(f"{error} It came from {fingerprint_text(key.fingerprint)}; nothing is sent.") from None
        census = Census(stated, self.terms, schema)
        if new:  # on disk before anything rests on it
            self._history.take(Stated(tuple(new), tuple(new.values()), self._held))
        return census

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
        except ConsilienceError as error:
            self._write(request.run, request.round, what, 0, 0, others, error)
            if isinstance(error, FalseCountsError):  # the one check that looks at this site's rows
                self._close()
            raise
        try:
            vector = self._compute(request, run)
            reply = self._hide(vector, run, request)
        except (MemoryError, OutOfMemoryError):  # for want of room here, not for what the data say
            raise
        except Exception as error:
            # All that could be said without the data was said by the checks. What fails after them (a number that does not fit the ring, a
            # level that a model leaves out, a defect) depends on the data: asked often enough, the refusals would give them away. So the
            # first is the last word; and the value itself stays here, in the ledger of one program. A ledger of a network is handed over
            # for an audit.
            cause = misfit(self._guard.table, getattr(request.body, "exponents", {})) if isinstance(error, RingRangeError) else None
            kept = cause and (cause.told if self.terms.network else f"{error} {cause.kept}".rstrip())
            written = error if kept is None else RingRangeError(kept)
            self._write(request.run, request.round, what, 0, 0, others, written)
            self._close()
            if cause is not None:
                raise RingRangeError(cause.told) from None
            raise
        left = reply if isinstance(reply, bytes) else reply.tobytes()
        self._write(request.run, request.round, what, len(vector), len(left), others, digest=sha256(left).hexdigest())
        return reply

    def _close(self) -> None:
        """Answer nothing more in this study; on disk before the refusal leaves."""
        self._history.take(Closed())
        self._state.moves(Round, Standing.CLOSED)

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
        self._guard.keeps_counts()
        request.body.check(self._guard)
        return run

    def _compute(self, request: RoundRequest, run: _Run) -> Floats:
        """The numbers. The last request, asked again because its round was lost, has the same answer to the last bit."""
        assert self._desk is not None
        body, members, vector = self._last
        if members != run.members or body != request.body:
            with one_thread():
                vector = self._desk.answer(request.body, sorted(run.members).index(self.fingerprint))
            self._last = (request.body, run.members, vector)
        return vector

    def _hide(self, vector: Floats, run: _Run, request: RoundRequest) -> bytes | Floats:
        unsaid = is_silent(vector)
        if unsaid.any():
            vector = np.where(unsaid, 0.0, vector)
        if not self.terms.masking:
            return vector
        ring = encode(vector, terms=len(run.members))
        if unsaid.any():  # zeros would leave the sum of the others, who may be one
            ring += RingVector.random(unsaid)
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

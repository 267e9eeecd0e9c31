"""What a site answers to each message of the server. No sockets in here; the owner's consent is a function that is passed in."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from hashlib import sha256
from typing import Any

from consilience.data.finding import Asker, Grade
from consilience.errors import (
    AccessError,
    ConsilienceError,
    DataError,
    KnowledgeError,
    OptionError,
    ProtocolError,
    RefusalError,
    SchemaError,
    ServiceError,
)
from consilience.federation import Client
from consilience.federation.site.half import SiteHalf
from consilience.federation.site.ledger import Ledger, printable
from consilience.protocol.errors import WrongRosterError, WrongTermsError, code_of
from consilience.protocol.framing import encode
from consilience.protocol.handshake import (
    MISFIT,
    Challenge,
    Checked,
    Closing,
    Consent,
    Declare,
    DeclareAsk,
    Declined,
    Preview,
    Proposal,
    Token,
    Welcome,
    consent_context,
)
from consilience.protocol.messages import Answer, Entered, KeyAsk, KeyOffer, KeySet, Refused, Round, RunMessage
from consilience.protocol.states import SiteState, Standing
from consilience.protocol.version import VERSION
from consilience.secagg import fingerprint_text, read_fingerprint
from consilience.service.agent.asking import NOT_AGREED, Asked, Decide, Decision
from consilience.service.agent.disclosing import Disclosed
from consilience.service.agent.earlier.past import Answered, Over, Past
from consilience.service.agent.earlier.recalling import Recalled, recall
from consilience.service.agent.home import PlanRecord, StudyFolder
from consilience.service.agent.telling import TELL_WARNING, declared, question
from consilience.service.contract import Contract, decode_contract, warnings_of
from consilience.service.errors import ChangedIdentityError
from consilience.service.settings import check_datasets, checked
from consilience.wording import counted

__all__ = ["Ask", "Site"]

Ask = Callable[[list[str], list[str]], bool]
"""Shown what is agreed to, and warnings; True if the owner agrees."""
UNTOLD = RefusalError(
    "You have not agreed that names and levels are sent in the open: nothing has left this site, and the study stays open. Ask its owner "
    "to declare the variables in advance, or say yes (without anybody to ask: --send-names-and-levels with the digest of these words, as "
    "--dry-run prints it; --yes and --consent are no answers to this)."
)


PLAN_CHANGED = (
    "The plan by which this site's table is harmonised is not the one that was agreed to: what is answered from now on would be of another "
    "table."
)
PLAN_ENDS = (
    "The plan by which this site's table is harmonised is not the one that was agreed to. If the rows that take part are others by it, and "
    "the study has begun, this site's part in it ends, even if you agree: sums before and after would differ by these rows, so that none "
    "is answered any more. Take the plan as it was, or take part in a new study."
)
"""Without and with rules on what can be worked out by subtracting."""


BARRED = "The site has told whether its data fit another contract of this study, and its owner has not allowed a second answer."
"""What the study's owner is told of a second declaration: nothing."""
REPAIR = (
    "The study waits for this site, and its owner was told only that the table does not fit. Correct the table, or the plan by which it is "
    "harmonised, and start again: it is then looked at anew. If the study itself is wrong, tell its owner, who can make a copy of it."
)
RECONSIDER = "The study waits for this site. Start again to be asked again; its owner may go on without you."
REPLACED = (
    "This contract takes the place of the one that you agreed to, with which nothing was answered: it is without {names}. "
    "Who takes part is what sums are over, so you are asked again."
)
"""What a site's owner is told, to act upon or to know before agreeing."""


def _nobody(_lines: list[str], _warnings: list[str]) -> bool:
    """Nobody was asked, which is a no."""
    return False


class Site:
    """One site in one study: its data, its folder, and its owner's word.

    ``ask`` is the question whether the owner agrees to a contract, ``tell`` the other one, whether names and levels may be sent in the
    open: an answer to the one is none to the other. ``peers`` are fingerprints of other sites that were compared beforehand. An error that
    :meth:`handle` raises ends the agent; what is only refused goes back to the server in words. ``failure`` says to the owner why the site
    has declined, ``advice`` what can be done about it. ``decide`` takes the place of ``ask`` where it is not a person who is asked, or
    where more is to be known than words.
    """

    asker = Asker.COMMAND
    """Who reads what is doubtful about the data, before agreeing."""

    def __init__(
        self,
        client: Client,
        folder: StudyFolder,
        ask: Ask,
        peers: Mapping[str, str] | None = None,
        tell: Ask = _nobody,
        *,
        decide: Decide | None = None,
    ) -> None:
        self._client, self._folder, self._ask, self._tell = client, folder, ask, tell
        self._decide = decide or self._asked_in_words
        self._recalled: Recalled | None = None
        self._answered = False
        self._joined = folder.joined
        self._peers = {name: read_fingerprint(text) for name, text in (peers or {}).items()}
        self._accepted = folder.contract
        self._half: SiteHalf | None = None
        self.state = SiteState()
        self._ledger: Ledger | None = None
        self.failure: ConsilienceError = RefusalError(NOT_AGREED)
        self.advice = ""

    def handle(self, message: Any) -> Any:
        """The answer to a message, or None if there is nothing to say. Whether it is its turn, the table of states decides."""
        if isinstance(message, KeyAsk | KeySet | Round):
            return self._work(message)
        if isinstance(message, Challenge | Token):  # the connection's business: it knows the channel, and what it has asked for
            raise ProtocolError(f"{type(message).__name__} has no place here.")
        self.state.check(type(message))
        if isinstance(message, Preview | Proposal | DeclareAsk):
            self._check_withdrawn()
        if isinstance(message, Proposal):
            return self._proposal(decode_contract(message.contract))
        if isinstance(message, Preview):
            return self._preview(decode_contract(message.contract))
        if isinstance(message, DeclareAsk):
            return self._declare()
        if isinstance(message, Welcome):
            return self._welcome(message)
        if isinstance(message, Closing):
            if message.state == "finished" and self._accepted is None:
                from consilience.service.agent.result import NOT_AGREED as UNSEEN  # noqa: PLC0415  reports: not before a study's end

                raise ProtocolError(f"The server says that the study is finished. {UNSEEN}")
            self._ends()
        self.state.moves(type(message))
        return None

    def _work(self, message: RunMessage) -> KeyOffer | Entered | Answer | Refused:
        """A message of a run. What is refused goes back in words."""
        try:
            self._check_withdrawn()
            if self._half is None:
                self.state.check(type(message))
            assert self._half is not None, "a site that has consented has encoded its data"
            reply = self._half.respond(message)  # which looks at the state itself, and writes down what it refuses
            if isinstance(reply, Answer):
                self._remember_answer()
            return reply
        except (
            ServiceError,
            ProtocolError,
            AccessError,
        ):  # this site's files are its owner's business; what is out of order ends the connection
            raise
        except ConsilienceError as error:
            return Refused(code_of(error), str(error))

    def _check_withdrawn(self) -> None:
        """Looked at for every message: another process of this home may have withdrawn meanwhile, and the server not have heard of it."""
        gone = self._folder.withdrawn
        if gone is not None:
            raise AccessError(f"This site withdrew from the study on {gone.time[:10]}, and answers nothing in it. Nothing is sent.")

    def _welcome(self, message: Welcome) -> None:
        if (message.site, message.study, message.version) != (self._joined.site, self._joined.study, VERSION):
            raise ProtocolError(f"The server welcomes {message.site!r} in {message.study!r}; this is {self._joined.site!r}.")
        self.state.moves(Welcome, Standing.WELCOMED if self._accepted is None else Standing.BOUND)

    def _declare(self) -> Declare | Declined:
        """The site's variables, if its owner agrees. Once there is a contract the study has a schema, and nothing more is told."""
        try:
            reply = declared(self._client, self.asker)  # made before the question, so that what is sent is what was shown
        except RefusalError as error:
            self.failure = error
            return self._keeps_silent("The site's data have names or levels that it does not tell in the open.")
        if not self._tell(question(reply, self._joined.url), [TELL_WARNING]):
            self.failure = UNTOLD
            return self._keeps_silent("The site's owner does not tell its variables.")
        names = ", ".join(d.name for d in reply.variables)
        what = f"names, kinds and levels of {len(reply.variables)} variables, in the open: {names}"
        left = encode(reply)
        self._open_ledger().add(self._joined.study, "", 0, what, 0, len(left), masked_with=0, digest=sha256(left).hexdigest())
        self.state.moves(DeclareAsk)
        return reply

    def _keeps_silent(self, why: str) -> Declined:
        self.state.moves(DeclareAsk, Standing.DECLINED)
        return Declined(f"{why} Declare the study's schema in advance.")

    def note_refusal(self, what: str, why: str) -> None:
        """Write down a refusal that no line of the ledger tells of yet: where no person was there who was told."""
        self._open_ledger().add(self._joined.study, "", 0, what, 0, 0, masked_with=0, refused=printable(why))

    def _open_ledger(self) -> Ledger:
        """The ledger on disk, opened once."""
        if self._ledger is None:
            self._ledger = self._folder.ledger(self._client.identity)
        return self._ledger

    def _preview(self, contract: Contract) -> Checked | Declined:
        """Whether the table fits what an open study declares: told when the site connects, so that nobody learns it when all others wait.
        It is held against nobody's consent, and remembered as what a proposal tells: of one declaration, and of no other.
        """
        self._check_study(contract)
        if self._accepted is not None:
            if contract.declaration != self._accepted.declaration:
                raise WrongTermsError(
                    "The server shows another study than the one that this site's owner has consented to. Nothing is sent."
                )
            return Checked(contract.declaration, fits=True)
        if self._barred(contract):
            self.state.moves(Preview, Standing.DECLINED)
            return Declined(BARRED)
        if self._tries(contract) is None:
            self.state.moves(Preview, Standing.DECLINED)
            return Checked(contract.declaration, fits=False)
        self._folder.keep_fit(contract.declaration)
        return Checked(contract.declaration, fits=True)

    def _tries(self, contract: Contract) -> SiteHalf | None:
        """This site's half of a study under a contract; None if the table does not fit it, which is then written down."""
        try:
            return self._join(contract)
        except (ServiceError, MemoryError):  # this site's files, and its room
            raise
        except (DataError, SchemaError) as error:  # what does not fit stays here
            self.failure, self.advice = error, REPAIR
            self._misfits(contract, error)
            return None
        except Exception as error:  # a defect that these data bring out says as much as a refusal
            self._misfits(contract, error)
            raise

    def _proposal(self, contract: Contract) -> Consent | Declined:
        """Consent to a contract: again without asking if it is the one that was agreed to, never to another."""
        self._check(contract)
        replaced = self._replaces(contract)
        if self._half is None and not replaced and self._barred(contract):
            return self._declines(BARRED)
        if replaced:
            self._half = None
        half = self._half or self._tries(contract)
        if half is None:
            return self._declines(MISFIT)
        self._folder.keep_fit(contract.declaration)  # a no of the owner's tells that the table fits, as a yes does
        plan, agreed = PlanRecord.of(self._client.plan), self._folder.plan
        recalled = self._recall(contract, half)
        if self._accepted is None or replaced or plan.digest != agreed.digest or recalled.again:
            decision = self._agreed(contract, half, plan_changed=self._accepted is not None and plan.digest != agreed.digest)
            if not decision.yes:
                self.failure, self.advice = RefusalError(decision.why), RECONSIDER
                return self._declines("The site's owner does not agree to the study's settings.")
            self._folder.keep_plan(plan)  # first: a contract without its plan would look as if nothing had been harmonised
            self._folder.accept(contract)
            self._accepted = contract
        elif not recalled.written:  # agreed to before there was such a memory
            self._recalled = recalled.keep("as before")
        self._half = half
        if self.state.now in (Standing.WELCOMED, Standing.BOUND, Standing.CONSENTED):
            self.state.moves(Proposal, Standing.CLOSED if half.closed else Standing.CONSENTED)
        return Consent(contract.digest, self._client.identity.sign(consent_context(contract.study, contract.digest)))

    def _agreed(self, contract: Contract, half: SiteHalf, *, plan_changed: bool) -> Decision:
        """Ask, and write down that the site takes part. Then look again: another process of this home may have done so at the same time,
        for a study that can be subtracted from this one, and of the two at least the later sees both.
        """
        recalled = self._recall(contract, half)
        while True:
            decision = self._decide(self._asked(contract, half, recalled, plan_changed=plan_changed))
            if not decision.yes:
                if self._accepted is None and recalled.written:
                    recalled.past.add(Over(contract=contract.digest.hex()))
                return decision
            named, self._recalled = recalled.names, recalled.keep(decision.by)
            recalled = recall(self._folder, contract, self._client, half.shielded)
            if recalled.names <= named:
                return decision

    def _asked(self, contract: Contract, half: SiteHalf, recalled: Recalled, *, plan_changed: bool) -> Asked:
        """All that the owner is shown of a contract, and all that whoever decides must know."""
        digest = f"the contract's digest: {contract.digest.hex()}"
        lines = [*contract.lines(), digest, *self._plan_lines(contract), *Disclosed.of(half).lines()]
        gone = [] if self._accepted is None else sorted(set(self._accepted.fingerprints) - set(contract.fingerprints))
        warnings = [REPLACED.format(names=", ".join(map(printable, map(repr, gone))))] if gone else []
        warnings += [*warnings_of(contract), *self._own_warnings(contract), *recalled.warnings]
        if plan_changed:
            warnings.append(PLAN_ENDS if contract.terms.shielded else PLAN_CHANGED)
        return Asked(contract, self._joined.site, lines, warnings, recalled.subtractions)

    def _asked_in_words(self, asked: Asked) -> Decision:
        return Decision(self._ask(asked.lines, asked.warnings), "its owner")

    def _recall(self, contract: Contract, half: SiteHalf) -> Recalled:
        """What this site's home remembers that matters for a contract, looked up once."""
        if self._recalled is None or self._recalled.contract != contract:
            self._recalled = recall(self._folder, contract, self._client, half.shielded)
        return self._recalled

    def _remember_answer(self) -> None:
        """That this site answers in the study, on disk before the first answer leaves."""
        if not self._answered and self._accepted is not None:
            Past(self._folder.home).add(Answered(contract=self._accepted.digest.hex()))
        self._answered = True

    def _ends(self) -> None:
        """A study that ended before anything was answered has no sums to subtract."""
        past = Past(self._folder.home)
        if self._accepted is not None and self._accepted.digest.hex() not in past.answered():
            past.add(Over(contract=self._accepted.digest.hex()))

    def _declines(self, why: str) -> Declined:
        self.state.moves(Proposal, Standing.DECLINED)
        return Declined(why)

    def _replaces(self, contract: Contract) -> bool:
        """Whether a contract takes the place of the one that was agreed to: with fewer sites, and before anything was answered. What was
        agreed to then has no sums, and none can come: it is over for what later studies are held against.
        """
        if self._accepted is None or self._accepted.digest == contract.digest:
            return False
        Past(self._folder.home).add(Over(contract=self._accepted.digest.hex()))
        self._recalled = None
        return True

    def _barred(self, contract: Contract) -> bool:
        """True if it was told of another declaration whether the data fit. To say so of one after the other, with other levels, ranges and
        units, would tell the values bit by bit: the first is the last, until the site's owner says otherwise. Of one and the same, a
        server can vary nothing: it hears the same again, or that the owner has corrected the table.
        """
        before = self._folder.fit
        if before is None or before.allowed or before.declaration == contract.declaration.hex():
            return False
        was = f"that it does not fit, {counted(before.times, 'time')} so far. {before.reason}" if before.reason else "that it fits."
        self.failure = RefusalError(
            f"The study's owner was told of another declaration of this study whether the table fits: {was} With each further answer more "
            f"of your values could be told, so nothing is said of this contract. If the study has been corrected, allow one more answer: "
            f"consilience client reconsider, or agree to it in the app."
        )
        return True

    def _misfits(self, contract: Contract, error: Exception) -> None:
        """Remember it first: a site that dies between the two has told nothing. What it is, with values, is not for the ledger: that is
        handed over for an audit, and the study's owner would read there what was not told.
        """
        self._folder.keep_fit(contract.declaration, printable(str(error)))
        self._open_ledger().add(self._joined.study, "", 0, "whether the table fits the contract", 0, 0, masked_with=0, refused=MISFIT)

    def _join(self, contract: Contract) -> SiteHalf:
        """Encode the data over the study's schema, and read back what former processes remember."""
        return self._client.join(
            contract.study,
            contract.schema,
            contract.terms,
            contract.fingerprints.values(),
            history=self._folder.history(),
            ledger=self._open_ledger(),
            state=self.state,
            contract=contract.digest,
        )

    def _check_study(self, contract: Contract) -> None:
        """What no study over a network may be, whoever proposes it: a server that lies has not checked its own settings."""
        if contract.version != VERSION or contract.study != self._joined.study:
            raise WrongTermsError(f"The contract must be of version {VERSION} and of the study {self._joined.study}; it is not.")
        try:
            checked(contract.settings)
        except (OptionError, KnowledgeError) as error:
            raise WrongTermsError(f"The contract has settings that no study may have: {error} Nothing is sent.") from None
        try:
            check_datasets(contract.datasets, contract.schema)
        except (OptionError, SchemaError) as error:
            raise WrongTermsError(f"The contract has variables that no study may have: {error} Nothing is sent.") from None

    def _check(self, contract: Contract) -> None:
        self._check_study(contract)
        own = contract.fingerprints.get(self._joined.site)
        if own != self._client.identity.fingerprint:
            raise ChangedIdentityError(f"The contract must list this site, {self._joined.site!r}, with its own identity; it does not.")
        self._check_roster(contract)
        gone = sorted(set(self._peers) - set(contract.fingerprints))
        if gone:
            raise ChangedIdentityError(
                f"{gone[0]!r} is pinned at this site and must be among the contract's sites; it is not. Nothing is sent. Ask its owner, "
                f"not through the server, or drop the pin."
            )
        known = self._peers | ({} if self._accepted is None else self._accepted.fingerprints)
        for name, fingerprint in contract.fingerprints.items():
            if known.get(name, fingerprint) != fingerprint:
                raise ChangedIdentityError(
                    f"{name!r} must have the pinned fingerprint {fingerprint_text(known[name])}; the server says "
                    f"{fingerprint_text(fingerprint)}. Nothing is sent. Ask the owners of both, not through the server."
                )
        if self._accepted is not None and self._accepted.digest != contract.digest and not self._may_replace(contract):
            raise WrongTermsError("The contract is not the one that this site's owner has consented to. Nothing is sent.")

    def _may_replace(self, contract: Contract) -> bool:
        """Whether the owner is asked about a contract in place of the accepted one, of which no sum may be there to subtract."""
        early = self.state.now in (Standing.WELCOMED, Standing.BOUND, Standing.CONSENTED)
        answered = self._answered or (self._accepted is not None and self._accepted.digest.hex() in Past(self._folder.home).answered())
        return early and not answered and self._accepted is not None and contract.narrows(self._accepted)

    def _check_roster(self, contract: Contract) -> None:
        """Who takes part, whoever proposes it: enough sites, and each of them somebody else."""
        least = max(2, contract.settings.min_contributors)
        found = min(len(set(contract.fingerprints)), len(set(contract.fingerprints.values())))
        if found < least or found < len(contract.members):
            raise WrongRosterError(
                f"A study over a network needs at least {least} sites, each with a name and an identity of its own; the contract lists "
                f"{len(contract.members)}, of which {found} are distinct. Nothing is sent. Ask the study's owner."
            )

    def _plan_lines(self, contract: Contract) -> list[str]:
        """What is done with the site's table first, by its own plan and to the study's units, before and after."""
        plan = PlanRecord.of(self._client.plan)
        fitted = self._client.fitted(contract.schema).changes
        shown = [line for change in (*self._client.changes, *fitted) for line in change.said()]
        head = [f"this site's table is harmonised first, by the plan {plan.digest[:16]}…:"] if plan.digest else []
        return [printable(line) for line in (*head, *shown)]

    def _own_warnings(self, contract: Contract) -> list[str]:
        held = tuple(sorted(set(self._client.declarations) & set(contract.schema)))
        found = (
            [] if held in contract.datasets else [f"This site measures {', '.join(held)}, which is not among the study's variable sets."]
        )
        beyond = sorted(set(self._client.declarations) - set(contract.schema))
        found += [f.said(self.asker) for f in self._client.findings if f.grade is Grade.DOUBTFUL and set(f.columns) & set(contract.schema)]
        return [*found, *([f"Columns that the study does not use, and that stay untouched: {', '.join(beyond)}."] if beyond else [])]

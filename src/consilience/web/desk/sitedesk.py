"""All that the site's app knows: one object in the running process, and the site's folder behind it."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import msgspec

from consilience.data.finding import Asker, Grade
from consilience.data.harmonise import Plan
from consilience.data.harmonise.columns import ColumnPlan
from consilience.data.harmonise.derived import Derived
from consilience.errors import StudyError
from consilience.federation import Client
from consilience.federation.site.ledger import LedgerLine
from consilience.service.agent import Agent, Home, StudyFolder
from consilience.service.agent import join as enter
from consilience.service.agent.disclosing import disclosed
from consilience.service.agent.home import PlanRecord
from consilience.service.agent.leaving import tell_withdrawn
from consilience.service.agent.rehearsal import rehearse
from consilience.service.agent.telling import declared, question
from consilience.service.config import AgentConfig
from consilience.service.invitation import Invitation
from consilience.web.desk.checking import TableCheck, conflicts, table_check
from consilience.web.desk.dryrun import DryRun
from consilience.web.desk.fitting import Match, fit
from consilience.web.desk.judgement import Judgement, contract_of, judge
from consilience.web.desk.leaving import Rehearsal
from consilience.web.desk.obstacle import MIXED, obstacle
from consilience.web.desk.offer import Offer
from consilience.web.desk.records import Consent, LedgerFile, keep_consent, mark_of, read_consent
from consilience.web.desk.serverview import ServerView
from consilience.web.desk.session import Session
from consilience.web.desk.table import SiteTable

__all__ = ["SiteDesk"]

OVER = ("finished", "failed", "cancelled")


class SiteDesk:
    """The site's table, study, dry run, consent and run. ``folder`` is where its files are; ``config`` is that of the agent.

    Pages change it through its methods; whatever changes what would leave the site takes the dry run and an unused consent with it.
    """

    def __init__(self, folder: Path, config: AgentConfig) -> None:
        self.folder, self.config = folder, config
        self.home = Home(Path(config.home), config.identity_password)
        self.table: SiteTable | None = None
        self.study: StudyFolder | None = None
        self.withheld: set[str] = set()
        self.shown: dict[str, Any] = {}  # the study as its server shows it
        self.dry_run = DryRun()
        self.session: Session | None = None
        self._view: ServerView | None = None
        self._version = 0
        self._matched: tuple[tuple[int, Offer], list[Match]] | None = None
        self._checked: tuple[tuple[int, Offer | None], TableCheck] | None = None
        self._judged: tuple[tuple[int, str, bool], Judgement | None] | None = None
        self._disclosed: tuple[tuple[int, Offer], list[str]] | None = None
        self.fitted = -1
        self._ledger_file = LedgerFile()
        found = self.home.studies()
        if found:  # the one that was joined last
            self.study = max(found, key=lambda each: (each.path / "study.json").stat().st_mtime)

    # the table

    def configured_plan(self) -> Plan | None:
        """What the agent's settings say is done with a table first; HarmoniseError if that cannot be read."""
        return Plan.of(self.config.harmonise) if self.config.harmonise else None

    def set_table(self, table: SiteTable | None) -> None:
        """Choose a table, or none."""
        self._check_idle()
        self.table = table
        self.changed()

    def changed(self) -> None:
        """Something that decides what leaves the site is not what it was."""
        self._check_idle()
        self._version += 1
        self.dry_run.forget()
        if self.session is not None and not self.session.active and self.session.outcome is None:
            self.session = None

    def decide(self, column: ColumnPlan) -> None:
        """Do this with a column of the table; HarmoniseError if it cannot be done."""
        self._check_idle()
        assert self.table is not None
        self.table.decide(column)
        self.changed()

    def derive(self, derived: Iterable[Derived]) -> None:
        """Compute these variables from others; HarmoniseError if it cannot be done."""
        self._check_idle()
        assert self.table is not None
        self.table.derive(derived)
        self.changed()

    def follow(self, plan: Plan) -> None:
        """Take a whole plan; HarmoniseError if it does not fit the table."""
        self._check_idle()
        assert self.table is not None
        self.table.follow(plan)
        self.changed()

    def withhold(self, names: set[str]) -> None:
        """Keep variables out of the study, though the table has them."""
        if names != self.withheld:
            self.changed()
            self.withheld = names

    def confirm_fit(self) -> None:
        """The owner has looked at what fits."""
        self.fitted = self._version

    @property
    def fit_confirmed(self) -> bool:
        """Whether nothing has changed since the owner looked."""
        return self.fitted == self._version

    @property
    def version(self) -> int:
        """Another number whenever something changes that decides what leaves the site."""
        return self._version

    @property
    def busy(self) -> bool:
        """Whether the agent is at work: then nothing that it answers with can be changed."""
        return self.session is not None and self.session.active

    def _check_idle(self) -> None:
        if self.busy:
            raise StudyError("The agent is at work with this table. Leave the study first, on the page Run.")

    # the study

    async def join(self, invitation: Invitation) -> None:
        """Take an invitation."""
        self._check_idle()
        self.study = await asyncio.to_thread(enter, self.home, invitation, ca=self.config.ca, insecure=self.config.insecure)
        self._forget_study()

    def select(self, study: str) -> None:
        """Go on with a study that was joined before."""
        self._check_idle()
        self.study = self.home.study(study)
        self._forget_study()

    def _forget_study(self) -> None:
        self._view, self.shown, self.withheld, self.session = None, {}, set(), None
        self.changed()

    async def look(self) -> dict[str, Any]:
        """The study as its server shows it now.

        While the agent is connected, as that has seen it last: a second connection would end the first.
        """
        if self.session is not None and self.session.study:
            self.shown = self.session.study
        if self.study is None or self.busy:
            return self.shown
        self._view = self._view or ServerView(self.study, self.home.identity(), self.config)
        self.shown = await self._view.look()
        return self.shown

    @property
    def over(self) -> str:
        """How the study has ended, as far as this app has seen; empty if it has not."""
        seen = self.session.study if self.session is not None and self.session.study else self.shown
        ended = self.session.outcome.state if self.session is not None and self.session.outcome is not None else ""
        state = ended or str(seen.get("state", ""))
        return state if state in OVER else ""

    @property
    def site(self) -> str:
        """The site's name in the study; empty before it has joined one."""
        return self.study.joined.site if self.study is not None else ""

    @property
    def offer(self) -> Offer | None:
        """What the study asks for: the contract, if there is one; else as it stands. None before it was seen, or without a schema."""
        if self.session is not None and self.session.pending is not None and self.session.pending.offer is not None:
            return self.session.pending.offer
        if self.study is not None and self.study.contract is not None:
            return Offer.of_contract(self.study.contract)
        return Offer.of_study(self.shown) if self.shown and self.shown.get("variables") is not None else None

    def matches(self) -> list[Match]:
        """The study's variables beside the site's columns."""
        offer = self.offer
        if offer is None or self.table is None:
            return []
        key = (self._version, offer)
        if self._matched is None or self._matched[0] != key:  # every page shows how far things are, and encoding a table takes its time
            self._matched = (key, fit(offer.schema, self.table, self.withheld))
        return self._matched[1]

    @property
    def held(self) -> list[str]:
        """Variables of the study that this site takes part with."""
        return [match.variable.name for match in self.matches() if match.state == "matches"]

    def fits(self) -> bool:
        """Whether this site can take part: some variable matches, and none is in conflict."""
        found = self.matches()
        return any(match.state == "matches" for match in found) and all(match.state != "conflict" for match in found)

    def check(self) -> TableCheck:
        """What is doubtful or refused about the table: of the study's variables first, if there is a study."""
        assert self.table is not None
        key = (self._version, self.offer)
        if self._checked is None or self._checked[0] != key:
            found, offer = self.table.noticed(), self.offer
            used = set(offer.schema) if offer is not None else {name for finding in found for name in finding.columns}
            self._checked = (key, table_check([*found, *conflicts(self.matches())], used))
        return self._checked[1]

    def doubts(self) -> list[str]:
        """What is doubtful about the variables in use, in the words of a page: to be read before anybody agrees."""
        return [finding.said(Asker.PAGE) for finding in self.check().used if finding.grade is Grade.DOUBTFUL]

    def client(self) -> Client:
        """The site as the library has it, with the repaired table."""
        if self.table is None or self.study is None:
            raise StudyError("Choose a table and join a study first.")
        return Client(
            self.site,
            self.table.only(self._handed(self.table)),
            identity=self.home.identity(),
            min_cell=self.config.min_cell,
            cells=self.config.cells,
            rare_levels=self.config.rare_levels,
        )

    def _handed(self, table: SiteTable) -> list[str]:
        """The variables that are handed over: those of the study that match. What it does not use is not even handed over."""
        return self.held if self.offer is not None else table.used(self.withheld)

    def mark(self) -> str:
        """What tells the table that would be handed over from another."""
        if self.table is None:
            return ""
        return mark_of(self.table.only(self._handed(self.table)).loaded.frame, self.home.identity())

    # what will leave

    def rehearse(self) -> None:
        """Begin the dry run."""
        self.dry_run.begin(self._rehearsed)

    async def _rehearsed(self) -> Rehearsal:
        shown = await self.look()
        ledger = await asyncio.to_thread(rehearse, self.client(), shown)
        return Rehearsal(tuple(ledger.entries), self.offer)

    # consent and run

    @property
    def consent(self) -> Consent | None:
        """The consent that was given, if so; it is on disk."""
        return read_consent(self.study) if self.study is not None else None

    def obstacle(self) -> str:
        """Why the agent cannot go on with this table; empty if it can."""
        return obstacle(self)

    def judgement(self) -> Judgement | None:
        """The contract's digest, what earlier studies and it tell together, and what the policy says; None if there is no contract."""
        contract = contract_of(self)
        asked = self.session is not None and self.session.pending is not None
        key = (self._version, contract.digest.hex() if contract is not None else "", asked)
        if self._judged is None or self._judged[0] != key:
            self._judged = (key, judge(self))
        return self._judged[1]

    async def agree(self, offer: Offer | None) -> None:
        """The owner agrees: to an offer, or (None) to tell the site's variables. The agent begins, or goes on with its answer.

        To agree to an offer is to agree to what earlier studies and it tell together (:meth:`judgement`): a page asks for both.
        """
        assert self.study is not None
        if self.obstacle() == MIXED:
            raise StudyError(MIXED)
        judged = self.judgement() if offer is not None else None
        if offer is not None:
            self.study.reconsider()  # the owner has seen this offer, and whether the table fits it
            held, lines, plan = tuple(self.held), (*offer.lines(), *self.disclosed()), self.plan
            kept = Consent(offer.reference, time.time(), self.site, held, lines, self.mark(), plan.digest, plan.lines)
            if judged is not None:
                kept = msgspec.structs.replace(kept, digest=judged.digest, named=tuple(one.words for one in judged.subtractions))
            keep_consent(self.study, kept)
        session = self.session
        if session is not None and session.active:
            if session.pending is None or session.pending.offer != offer:
                return
            if offer is None or self._same_table(session.client):
                session.pending.answer(yes=True)
                return
            await session.leave()  # it has the columns of another offer: a new one takes its place, with those that were shown
        self.begin(offer, tells=self.telling() if offer is None else (), named=judged.names if judged is not None else frozenset())

    def _same_table(self, client: Client) -> bool:
        """Whether a client has the columns and the plan that this one would have now."""
        now = self.client()
        return set(now.declarations) == set(client.declarations) and now.plan.digest == client.plan.digest

    @property
    def plan(self) -> PlanRecord:
        """The plan for the table, as the agent writes it down."""
        return PlanRecord.of(self.table.plan) if self.table is not None else PlanRecord()

    def disclosed(self) -> list[str]:
        """What can be worked out about this site by what the study asks for: the lines of the consent, whatever page shows them."""
        offer = self.offer
        if offer is None or self.table is None or self.study is None or not self.fits():
            return []
        key = (self._version, offer)
        if self._disclosed is None or self._disclosed[0] != key:
            self._disclosed = (key, disclosed(self.client(), offer.contract).lines())
        return self._disclosed[1]

    def first_done(self) -> list[str]:
        """What is done with the table before anything is computed, by its plan and to the study's units: before and after, in words."""
        if self.table is None:
            return []
        offer = self.offer
        fitted = self.client().fitted(offer.schema).changes if offer is not None else ()
        return [line for change in (*self.table.changes, *fitted) for line in change.said()]

    def telling(self) -> tuple[str, ...]:
        """The words that a study without declared variables would be told, each name and level; an error if one must not be told."""
        assert self.study is not None
        return tuple(question(declared(self.client(), Asker.PAGE), self.study.joined.url))

    def begin(self, offer: Offer | None, *, tells: tuple[str, ...] = (), named: frozenset[str] = frozenset()) -> None:
        """Start the agent. Without an offer it has nothing to agree to, and asks."""
        assert self.study is not None
        token = self._view.token if self._view else ""
        self.session = Session(self.client(), self.study, self.config, token, offer, tells=tells, named=named)
        self.session.start()

    async def withdraw(self, reason: str) -> None:
        """Withdraw from the study: on disk, so that nothing more is answered; then the agent ends, and the server is told."""
        study = self.study
        assert study is not None
        found = study.keep_withdrawn(" ".join(reason.split()))
        if self.session is not None and self.session.active:
            await self.session.leave()
        token = await Agent(study.joined, self.home.identity(), self.config, lambda _: None).token()
        await asyncio.to_thread(tell_withdrawn, study, token, found.reason, ca=self.config.ca, insecure=self.config.insecure)

    def ledger(self) -> list[LedgerLine]:
        """What has left this site in the study, from the running agent or from disk."""
        if self.session is not None and self.session.ledger is not None:
            return list(self.session.ledger.entries)
        return self._ledger_file.read(self.study.path / "ledger.jsonl") if self.study is not None else []

    def ledger_bytes(self) -> bytes:
        """The ledger as it is on disk, with its digests and signatures: what is handed on stays evidence."""
        file = None if self.study is None else self.study.path / "ledger.jsonl"
        data = b"" if file is None or not file.exists() else file.read_bytes()
        return data[: data.rfind(b"\n") + 1]

    @property
    def finished(self) -> bool:
        """Whether the result is here."""
        return self.study is not None and (self.study.path / "result.json").exists()

    async def close(self) -> None:
        """The app stops: the agent's connection ends, as after a loss."""
        self.dry_run.forget()
        if self.session is not None:
            await self.session.leave()

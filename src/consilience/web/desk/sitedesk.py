"""All that the site's app knows: one object in the running process, and the site's folder behind it."""

from __future__ import annotations

import asyncio
import json
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec
from websockets.exceptions import WebSocketException

from consilience.errors import ConsilienceError, StudyError
from consilience.federation import Client
from consilience.federation.site.ledger import LedgerLine
from consilience.service.agent import Agent, Home, StudyFolder
from consilience.service.agent import join as enter
from consilience.service.agent.entry import fetch_study
from consilience.service.agent.rehearsal import rehearse
from consilience.service.config import AgentConfig
from consilience.service.errors import RecordsError, UnreachableError
from consilience.service.invitation import Invitation
from consilience.service.tls import write_private
from consilience.web.desk.fitting import Match, fit
from consilience.web.desk.leaving import Rehearsal
from consilience.web.desk.offer import Offer
from consilience.web.desk.session import Session
from consilience.web.desk.table import Decision, SiteTable

__all__ = ["Consent", "SiteDesk"]


@dataclass(frozen=True, slots=True)
class Consent:
    """That the owner has agreed: when, and to what (its reference)."""

    reference: str
    time: float


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
        self.rehearsal: Rehearsal | None = None
        self.rehearsing: asyncio.Task[None] | None = None
        self.rehearsal_failed = ""
        self.session: Session | None = None
        self._token = ""
        self._version = 0
        self._matched: tuple[tuple[int, Offer], list[Match]] | None = None
        self.fitted = -1
        self._stored: tuple[tuple[str, int, int], list[LedgerLine]] | None = None
        found = self.home.studies()
        if found:  # the one that was joined last
            self.study = max(found, key=lambda each: (each.path / "study.json").stat().st_mtime)

    # the table

    def set_table(self, table: SiteTable | None) -> None:
        """Choose a table, or none."""
        self._check_idle()
        self.table = table
        self.changed()

    def changed(self) -> None:
        """Something that decides what leaves the site is not what it was."""
        self._check_idle()
        self._version += 1
        self.rehearsal = None
        self.rehearsal_failed = ""
        if self.rehearsing is not None:
            self.rehearsing.cancel()
            self.rehearsing = None
        if self.session is not None and not self.session.active and self.session.outcome is None:
            self.session = None

    def decide(self, column: str, decision: Decision) -> None:
        """Decide about a column of the table."""
        self._check_idle()
        assert self.table is not None
        self.table.decide(column, decision)
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
        self._token, self.shown, self.withheld, self.session = "", {}, set(), None
        self.changed()

    async def look(self) -> dict[str, Any]:
        """The study as its server shows it now.

        While the agent is connected, as that has seen it last: a second connection would end the first.
        """
        if self.session is not None and self.session.study:
            self.shown = self.session.study
        if self.study is None or self.busy:
            return self.shown
        fresh = not self._token
        if fresh:
            await self._take_token()
        try:
            found = await self._fetch()
        except UnreachableError:
            if fresh:
                raise
            await self._take_token()  # tokens end after a week
            found = await self._fetch()
        if not isinstance(found, dict) or found.get("id") != self.study.joined.study:
            raise StudyError("The server shows another study than the one that was joined.")
        self.shown = found
        return found

    async def _take_token(self) -> None:
        assert self.study is not None
        agent = Agent(self.study.joined, self.home.identity(), self.config, lambda _: None)
        try:
            async with asyncio.timeout(30.0):
                self._token = await agent.token()
        except (OSError, TimeoutError, WebSocketException) as error:
            reason = str(error) or "no answer"
            raise UnreachableError(f"The study's server cannot be reached: {reason}. Check the network, and try again.") from None

    async def _fetch(self) -> Any:
        assert self.study is not None
        return await asyncio.to_thread(fetch_study, self.study, self._token, ca=self.config.ca, insecure=self.config.insecure)

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

    def client(self) -> Client:
        """The site as the library has it, with the repaired table."""
        if self.table is None or self.study is None:
            raise StudyError("Choose a table and join a study first.")
        # what the study does not use is not even handed over
        offer, drop = self.offer, set(self.withheld)
        if offer is not None:
            drop |= {called for called in self.table.used() if called not in offer.schema}
        return Client(
            self.site,
            self.table.repaired(drop),
            kinds=self.table.kinds(drop),
            levels=self.table.levels(drop) if offer is None else {},
            identity=self.home.identity(),
            min_cell=self.config.min_cell,
            rare_levels=self.config.rare_levels,
        )

    # what will leave

    def rehearse(self) -> None:
        """Begin the dry run; pages look whether it is done."""
        if self.rehearsing is None:
            self.rehearsal_failed = ""
            self.rehearsing = asyncio.get_running_loop().create_task(self._rehearse(self._version))

    async def _rehearse(self, version: int) -> None:
        try:
            shown = await self.look()
            client = self.client()
            ledger = await asyncio.to_thread(rehearse, client, shown)
            if version == self._version:
                self.rehearsal = Rehearsal(tuple(ledger.entries), self.offer)
        except ConsilienceError as error:
            if version == self._version:
                self.rehearsal_failed = str(error)
        finally:
            if version == self._version:
                self.rehearsing = None

    # consent and run

    @property
    def consent(self) -> Consent | None:
        """The consent that was given, if so; it is on disk."""
        if self.study is None:
            return None
        try:
            found = json.loads((self.study.path / "consent.json").read_text(encoding="utf-8"))
            return Consent(str(found["reference"]), float(found["time"]))
        except (OSError, ValueError, KeyError, TypeError):
            return None

    def agree(self, offer: Offer | None) -> None:
        """The owner agrees: to an offer, or (None) to tell the site's variables. The agent begins, or goes on with its answer."""
        assert self.study is not None
        if offer is not None:
            record = {"reference": offer.reference, "time": time.time(), "site": self.site, "lines": offer.lines()}
            write_private(self.study.path / "consent.json", json.dumps(record, ensure_ascii=False, indent=1).encode())
        session = self.session
        if session is not None and session.active:
            if session.pending is not None and session.pending.offer == offer:
                session.pending.answer(yes=True)
            return
        self.begin(offer, tells=offer is None)

    def begin(self, offer: Offer | None, *, tells: bool = False) -> None:
        """Start the agent. Without an offer it has nothing to agree to, and asks."""
        assert self.study is not None
        self.session = Session(self.client(), self.study, self.config, self._token, offer, tells=tells)
        self.session.start()

    def ledger(self) -> list[LedgerLine]:
        """What has left this site in the study, from the running agent or from disk."""
        if self.session is not None and self.session.ledger is not None:
            return list(self.session.ledger.entries)
        if self.study is None or not (self.study.path / "ledger.jsonl").exists():
            return []
        return self._read(self.study.path / "ledger.jsonl")

    def _read(self, file: Path) -> list[LedgerLine]:
        """A ledger from disk, whose last line may be torn. Read here and not through the agent's own class, which opens it for writing."""
        now = file.stat()
        key = (str(file), now.st_size, now.st_mtime_ns)
        if self._stored is None or self._stored[0] != key:
            whole = file.read_bytes().split(b"\n")[:-1]
            try:
                self._stored = (key, [msgspec.json.decode(line, type=LedgerLine) for line in whole])
            except msgspec.DecodeError:
                raise RecordsError(f"{str(file)!r} is damaged. Restore it from a backup.") from None
        return list(self._stored[1])

    @property
    def finished(self) -> bool:
        """Whether the result is here."""
        return self.study is not None and (self.study.path / "result.json").exists()

    async def close(self) -> None:
        """The app stops: the agent's connection ends, as after a loss."""
        if self.rehearsing is not None:
            self.rehearsing.cancel()
        if self.session is not None:
            await self.session.leave()

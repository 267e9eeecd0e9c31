"""The agent at work: its connection, what it says, and the questions it has for its owner.

The agent is the one of ``consilience client``; only its questions come to a page instead of a terminal. It asks in a thread of its own,
which waits until the page has an answer.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import threading
import time
from collections import deque
from collections.abc import Callable
from typing import Any

import httpx

from consilience.data.finding import Asker
from consilience.errors import ConsilienceError
from consilience.federation import Client
from consilience.federation.site.ledger import Ledger
from consilience.protocol.handshake import Proposal
from consilience.protocol.states import Standing
from consilience.service.agent import Agent, Outcome, Site, StudyFolder
from consilience.service.agent.asking import Asked, Decision
from consilience.service.agent.entry import check_url, context_of, download
from consilience.service.config import AgentConfig
from consilience.service.contract import Contract, decode_contract
from consilience.service.errors import UnreachableError
from consilience.service.fetching import bounded_async, read_json
from consilience.web.desk.offer import Offer
from consilience.web.desk.words import page_words

__all__ = ["Pending", "Session"]

_log = logging.getLogger("consilience.web")
MOST_WORDS = 200
POLL_SECONDS = 1.0
ANSWER_SECONDS = 5.0
LEFT = "This site has left the study: its connection is closed, and it answers nothing."


class Pending:
    """A question of the agent: a contract, or (``offer`` None) whether these names and levels may be told. One answer, once."""

    def __init__(self, offer: Offer | None, lines: list[str], warnings: list[str], contract: Contract | None = None) -> None:
        self.offer, self.lines, self.warnings, self.contract = offer, lines, warnings, contract
        self._answered = threading.Event()
        self._yes = False

    def answer(self, *, yes: bool) -> None:
        """Let the agent go on."""
        self._yes = yes
        self._answered.set()

    def wait(self) -> bool:
        """The owner's answer; in the agent's thread."""
        self._answered.wait()
        return self._yes


class _AppSite(Site):
    """A site that lets its owner's pages see which contract is being asked about, and its ledger."""

    proposed: Offer | None = None
    asker = Asker.PAGE

    def handle(self, message: Any) -> Any:
        if isinstance(message, Proposal):
            self.proposed = Offer.of_contract(decode_contract(message.contract))
        return super().handle(message)

    @property
    def record(self) -> Ledger | None:
        return self._ledger


class Session:
    """One agent, from its start to its end. ``agreed`` is what the owner agreed to, ``tells`` the words that may be told in the open.

    ``named`` are the keys of what earlier studies and this one tell together, as the owner has agreed to it.
    """

    def __init__(
        self,
        client: Client,
        folder: StudyFolder,
        config: AgentConfig,
        token: str,
        agreed: Offer | None,
        *,
        tells: tuple[str, ...] = (),
        named: frozenset[str] = frozenset(),
    ) -> None:
        self.client, self.folder, self._config, self._token = client, folder, config, token
        self.agreed, self.tells, self.named = agreed, tells, named
        self.pending: Pending | None = None
        self.words: deque[tuple[float, str]] = deque(maxlen=MOST_WORDS)
        self.outcome: Outcome | None = None
        self.failure = ""
        self.left = False
        self.study: dict[str, Any] = {}
        self.seen = 0.0
        self.started = time.time()
        self._site = _AppSite(client, folder, lambda *_: False, tell=self._tell, decide=self._decide)
        self._agent = Agent(folder.joined, client.identity, config, self._say, keep=folder.trust)
        self._task: asyncio.Task[None] | None = None
        self._over = asyncio.Event()

    def start(self, ended: Callable[[], None] = lambda: None) -> None:
        """Begin, in the running loop; ``ended`` is called at the end, however that comes."""
        self._task = asyncio.get_running_loop().create_task(self._run())
        self._task.add_done_callback(lambda _: ended())

    @property
    def active(self) -> bool:
        """Whether the agent is at work."""
        return self._task is not None and not self._task.done()

    @property
    def standing(self) -> Standing:
        """Where the site stands in the study."""
        return self._site.state.now

    @property
    def awaited(self) -> str:
        """Whom the study waits for, as the server said last; empty if it has not."""
        return self._agent.awaited

    @property
    def ledger(self) -> Ledger | None:
        """What has left the site in this study; None before anything could."""
        return self._site.record

    async def _run(self) -> None:
        ended: Outcome | None = None
        failure = ""
        watching = asyncio.create_task(self._watch())
        try:
            with self.folder.lock():
                outcome = await self._agent.run(self._site)
                self._say(f"{outcome.state}: {outcome.message}")
                if outcome.token:
                    held = set(self.client.declarations) & set(self.folder.contract.schema if self.folder.contract else ())
                    settings = self._config
                    await asyncio.to_thread(download, self.folder, outcome.token, held, ca=settings.ca, insecure=settings.insecure)
            ended = outcome
        except asyncio.CancelledError:
            self.left = True
            self._say(LEFT)
        except ConsilienceError as error:
            failure = " ".join(filter(None, (page_words(error), self._site.advice)))
        except OSError as error:
            failure = f"A file of this site cannot be used: {error.strerror or error}."
        except Exception:  # noqa: BLE001  the task ends here: nobody else would say it
            _log.exception("a defect ended a run")
            failure = "A defect of the program ended the run; what it printed says more."
        finally:
            self._over.set()
            if self.left:
                watching.cancel()
            await asyncio.gather(watching, return_exceptions=True)
            # only now: pages that say how it ended show the study as it is at the end, and not as it was a second before
            self.outcome, self.failure = ended, failure

    async def leave(self, *, told: bool = False) -> None:
        """End the connection. The agent's thread may still compute; what it computes is not sent.

        ``told`` if the owner leaves the study, which the server is told; it waits without a word for an app that was closed.
        """
        self._agent.leaving = told
        pending = self.pending
        if self._task is not None:
            self._task.cancel()
        if pending is not None:  # after the cancel, so that its answer goes nowhere
            pending.answer(yes=False)
            self.pending = None
        if self._task is not None:
            await asyncio.gather(self._task, return_exceptions=True)

    @property
    def lost(self) -> bool:
        """Whether the agent waits to connect again, and nothing has come from the server since it said so."""
        return self.active and bool(self.words) and "; again in " in self.words[-1][1] and self.words[-1][0] > self.seen

    def _decide(self, asked: Asked) -> Decision:
        """The agent's question, in its thread: answered at once if it is what the owner has agreed to, else when a page has the answer."""
        offer, keys = self._site.proposed, frozenset(one.key for one in asked.subtractions)
        if offer is not None and offer == self.agreed and keys <= self.named:
            return Decision(yes=True, by="its owner")
        self.pending = pending = Pending(offer, asked.lines, asked.warnings, asked.contract)
        yes = pending.wait()
        if yes and offer is not None:
            self.agreed, self.named = offer, self.named | keys
        self.pending = None
        return Decision(yes=yes, by="its owner")

    def _tell(self, lines: list[str], warnings: list[str]) -> bool:
        """Whether names and levels may be told: at once if these are the very words that the owner has agreed to tell."""
        if self.tells == tuple(lines):
            return True
        self.pending = pending = Pending(None, lines, warnings)
        yes = pending.wait()
        if yes:
            self.tells = tuple(lines)
        self.pending = None
        return yes

    def _say(self, words: str) -> None:
        self.words.append((time.time(), words))

    async def _watch(self) -> None:
        """Who is there and how far the study is, once a second; and once more at the end."""
        joined, settings = self.folder.joined, self._config
        address = f"{check_url(joined.url, insecure=settings.insecure)}/api/v1/studies/{joined.study}"
        headers = {"Authorization": f"Bearer {self._token}"}
        # one client for all of it: a context of trust anew each second would cost more than the question
        async with httpx.AsyncClient(verify=context_of(joined, settings.ca), timeout=ANSWER_SECONDS, headers=headers) as client:
            while self._token:
                last = self._over.is_set()
                # the agent's own connection says so; the page says from when it is
                with contextlib.suppress(httpx.HTTPError, ValueError, UnreachableError):
                    async with client.stream("GET", address) as reply:
                        found = read_json(await bounded_async(reply.aiter_bytes(), address)) if reply.status_code == 200 else None
                    if isinstance(found, dict) and found.get("id") == joined.study:
                        self.study, self.seen = found, time.time()
                if last:
                    return
                with contextlib.suppress(TimeoutError):
                    await asyncio.wait_for(self._over.wait(), POLL_SECONDS)

"""The study as its server shows it to this site, while the agent is not at work."""

from __future__ import annotations

import asyncio
from typing import Any

from websockets.exceptions import WebSocketException

from consilience.errors import StudyError
from consilience.secagg import Identity
from consilience.service.agent import Agent, StudyFolder
from consilience.service.agent.entry import fetch_study
from consilience.service.config import AgentConfig
from consilience.service.errors import UnreachableError

__all__ = ["ServerView"]

PATIENCE_SECONDS = 30.0


class ServerView:
    """One study, seen with a token that is taken when it is first needed. ``token`` is empty before that."""

    def __init__(self, folder: StudyFolder, identity: Identity, config: AgentConfig) -> None:
        self._folder, self._identity, self._config = folder, identity, config
        self.token = ""
        self._turn = asyncio.Lock()  # a second connection would end the first

    async def look(self) -> dict[str, Any]:
        """The study now; :class:`UnreachableError` if its server does not answer."""
        async with self._turn:
            fresh = not self.token
            if fresh:
                await self._take_token()
            try:
                found = await self._fetch()
            except UnreachableError:
                if fresh:
                    raise
                await self._take_token()  # tokens end after a week
                found = await self._fetch()
        if not isinstance(found, dict) or found.get("id") != self._folder.joined.study:
            raise StudyError("The server shows another study than the one that was joined.")
        return found

    async def _take_token(self) -> None:
        agent = Agent(self._folder.joined, self._identity, self._config, lambda _: None, keep=self._folder.trust)
        try:
            async with asyncio.timeout(PATIENCE_SECONDS):
                self.token = await agent.token()
        except (OSError, TimeoutError, WebSocketException) as error:
            reason = str(error) or "no answer"
            raise UnreachableError(f"The study's server cannot be reached: {reason}. Check the network, and try again.") from None

    async def _fetch(self) -> Any:
        return await asyncio.to_thread(fetch_study, self._folder, self.token, ca=self._config.ca, insecure=self._config.insecure)

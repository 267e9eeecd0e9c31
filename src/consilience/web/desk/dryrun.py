"""The dry run of a site: under way, done or failed; whatever changes what would leave the site takes it away."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

from consilience.errors import ConsilienceError
from consilience.web.desk.leaving import Rehearsal
from consilience.web.desk.words import page_words

__all__ = ["DryRun"]


class DryRun:
    """At most one at a time. ``found`` is what it would send; ``failed`` says why there is none, if it was tried."""

    def __init__(self) -> None:
        self.found: Rehearsal | None = None
        self.failed = ""
        self._task: asyncio.Task[None] | None = None

    @property
    def busy(self) -> bool:
        """Whether it is under way."""
        return self._task is not None

    def begin(self, make: Callable[[], Awaitable[Rehearsal]]) -> None:
        """Begin, in the running loop; pages look whether it is done."""
        if self._task is None:
            self.failed = ""
            self._task = asyncio.get_running_loop().create_task(self._run(make))

    async def wait(self, seconds: float) -> None:
        """Until it is over, or for so long."""
        if self._task is not None:
            await asyncio.wait([self._task], timeout=seconds)

    def forget(self) -> None:
        """It is of no use any more: neither what it found nor what it is about to find."""
        task, self._task = self._task, None
        self.found, self.failed = None, ""
        if task is not None:
            task.cancel()

    async def _run(self, make: Callable[[], Awaitable[Rehearsal]]) -> None:
        this, found, failed = asyncio.current_task(), None, ""
        try:
            found = await make()
        except ConsilienceError as error:
            failed = page_words(error)
        finally:
            if self._task is this:  # else it was forgotten meanwhile
                self._task, self.found, self.failed = None, found, failed

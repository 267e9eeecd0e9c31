"""Runs of a server's studies over sites in this process."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from consilience.federation.site.half import SiteHalf
from consilience.service.contract import Contract
from consilience.service.server.runner import Runner
from tests.federation.transport.test_transports import LoopLinks
from tests.system.processes import until


class RunLinks(LoopLinks):
    """What a run needs of its links: a patience, and a check that may end it."""

    patience = 0.0

    def __init__(self, participants: Sequence[SiteHalf], check: Callable[[], None] = lambda: None) -> None:
        super().__init__(participants)
        self.check = check
        self.asked = 0

    def one(self, name: str, message: Any, limit: int) -> Any:
        self.asked += 1
        return super().one(name, message, limit)


def run(runner: Runner, contract: Contract, links: RunLinks, *, search_only: bool = False) -> None:
    """The run of a study to its end, in threads and processes as a server has them."""
    runner._links[contract.study] = links  # type: ignore[assignment]
    (runner._queue if search_only else runner._run)(contract, links)  # type: ignore[arg-type]
    until(lambda: not runner.active)

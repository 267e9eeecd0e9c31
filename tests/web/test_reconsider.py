"""Agreeing to an offer on the site's page allows the one contract that the owner has seen, after an earlier one did not fit."""

from __future__ import annotations

import asyncio
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from consilience.service.config import AgentConfig
from consilience.web.desk.sitedesk import SiteDesk
from tests.service.agent.sites import folder_of


def test_whoever_agrees_on_the_page_has_seen_what_does_not_fit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = folder_of(tmp_path / "home")
    folder.keep_fit(bytes(32), "'site0' has 'C' = 'x'.")
    desk = SiteDesk(tmp_path, AgentConfig(home=str(tmp_path / "home")))
    begun: list[Any] = []
    monkeypatch.setattr(desk, "begin", lambda offer, **_: begun.append(offer))
    monkeypatch.setattr(desk, "telling", tuple)
    asyncio.run(desk.agree(None))  # to tell names and levels is another question
    assert folder.fit is not None
    assert not folder.fit.allowed
    offer = cast(Any, SimpleNamespace(reference="r", lines=list))
    asyncio.run(desk.agree(offer))
    assert folder.fit.allowed
    assert begun[-1] is offer

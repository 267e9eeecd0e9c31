"""Withdrawing from a study: on this site's disk first, then the server is told."""

from __future__ import annotations

from typing import Any

import httpx

from consilience.errors import AccessError
from consilience.service.agent.entry import SECONDS, check_url, context_of
from consilience.service.agent.home import StudyFolder
from consilience.service.errors import UnreachableError
from consilience.wording import printable

__all__ = ["tell_withdrawn"]


def tell_withdrawn(folder: StudyFolder, token: str, reason: str, *, ca: str = "", insecure: bool = False) -> str:
    """Tell the server that this site has withdrawn; what it says of that. The folder says so already, and nothing more is answered."""
    joined = folder.joined
    url = f"{check_url(joined.url, insecure=insecure)}/api/v1/studies/{joined.study}/withdraw"
    with httpx.Client(verify=context_of(joined, ca), timeout=SECONDS) as client:
        try:
            reply = client.post(url, json={"reason": reason}, headers={"Authorization": f"Bearer {token}"})
            told: Any = reply.json()
        except (httpx.HTTPError, ValueError) as error:
            raise UnreachableError(
                f"{url} does not answer: {printable(str(error))}. This site answers nothing more; tell it later."
            ) from None
    if reply.status_code == 409:
        return "The server knew."
    if reply.status_code != 200 or not isinstance(told, dict):
        raise AccessError(f"The server does not take it: {printable(str(told))[:300]} This site answers nothing more in any case.")
    return printable(str(told.get("words", "")))

"""Taking an invitation, and the fingerprints that people compare by telephone."""

from __future__ import annotations

from typing import Any

from starlette.requests import Request
from starlette.responses import Response

from consilience.errors import ConsilienceError
from consilience.secagg import fingerprint_of, fingerprint_text
from consilience.service.invitation import read_invitation
from consilience.web.forms import Trouble
from consilience.web.pages.site.common import check, desk_of, form_of, page, see
from consilience.web.uploads import TooLargeError, read_upload

__all__ = ["opened", "pasted", "select", "show", "spelled"]

MOST_INVITATION = 64 << 10
_SPOKEN = (
    *("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine"),
    *("alfa", "bravo", "charlie", "delta", "echo", "foxtrot"),
)


def spelled(fingerprint: str) -> list[str]:
    """A fingerprint to read aloud, a line for each group.

    >>> spelled("0a1f 99c3")
    ['zero alfa one foxtrot', 'nine nine charlie three']
    """
    return [" ".join(_SPOKEN[int(digit, 16)] for digit in group) for group in fingerprint.split()]


async def show(request: Request) -> Response:
    """A place for the invitation, or what was joined."""
    return _page(request)


def _page(request: Request, *troubles: Trouble, text: str = "") -> Response:
    desk = desk_of(request)
    server = own = ""
    if desk.study is not None:
        server = fingerprint_text(fingerprint_of(desk.study.joined.server_key))
        own = desk.home.identity().fingerprint_text
    others = [folder.joined for folder in desk.home.studies() if desk.study is None or folder.path != desk.study.path]
    values: dict[str, Any] = {"server": server, "own": own, "text": text, "others": others}
    return page(
        request, "join.html", "Join a study", troubles=list(troubles), server_spelled=spelled(server), own_spelled=spelled(own), **values
    )


async def pasted(request: Request) -> Response:
    """An invitation as text."""
    text = (await form_of(request)).text("invitation", MOST_INVITATION)
    if not text:
        return _page(request, Trouble("invitation", "Paste the invitation, or open its file."))
    return await _take(request, text, "invitation")


async def opened(request: Request) -> Response:
    """An invitation as a file."""
    try:
        found = await read_upload(request, most=MOST_INVITATION, check=lambda form: check(request, form))
    except TooLargeError:
        return _page(request, Trouble("file", "This file is too large to be an invitation."))
    if not found.name:
        return _page(request, Trouble("file", "Choose a file first."))
    return await _take(request, found.content.decode("utf-8", "replace"), "file")


async def _take(request: Request, text: str, field: str) -> Response:
    try:
        await desk_of(request).join(read_invitation(text))
    except ConsilienceError as error:
        return _page(request, Trouble(field, str(error)), text=text if field == "invitation" else "")
    return see("/join")


async def select(request: Request) -> Response:
    """Go on with a study that was joined before."""
    form = await form_of(request)
    try:
        desk_of(request).select(form.text("study", 16))
    except ConsilienceError as error:
        return _page(request, Trouble("", str(error)))
    return see("/join")

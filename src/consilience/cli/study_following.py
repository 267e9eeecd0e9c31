"""``consilience server study watch``, ``start --watch`` and ``result``: a study's events as they come, and its documents."""

from __future__ import annotations

import json
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich.markup import escape

from consilience.cli.calling import error_of, reaching
from consilience.cli.terminal import Terminal, say
from consilience.service.errors import UnreachableError
from consilience.wording import printable

if TYPE_CHECKING:
    import httpx

__all__ = ["download", "follow"]

OVER = ("finished", "failed", "cancelled")
PAUSES = (0.5, 1.0, 2.0, 4.0, 8.0, 16.0, 30.0)
"""Seconds between attempts to hear more: a server that is restarted takes some to come back."""
QUIET_SECONDS = 60.0
"""Without a sign of life, of which the server gives one in fifteen seconds, a connection is gone, though nobody has said so."""
WAY_OUT = "Ask whoever runs the server."


@dataclass
class _Heard:
    """What was heard of a study: the number of the last event, and what the last end of a run said."""

    number: int = 0
    graphs: int = 0
    headline: str = ""


def follow(client: httpx.Client, study: str) -> int:
    """Print a study's events as they come; the exit code when it is over. A server that goes meanwhile is waited for, about a minute."""
    import httpx  # noqa: PLC0415  the extra may not be installed

    console, heard, pauses = Terminal(), _Heard(), list(PAUSES)
    while True:
        before, lost = heard.number, httpx.HTTPError("it ends what it says before the study is over")
        try:
            _hear(client, study, heard, console)
            if _answered(client.get(f"/studies/{study}")).json()["state"] in OVER:
                break
        except (httpx.TransportError, httpx.HTTPStatusError) as error:
            lost = error
        pauses = list(PAUSES) if heard.number > before else pauses
        if not heard.number or not pauses:  # an address where nobody ever was is not waited for
            with reaching(client):
                raise lost
        if len(pauses) == len(PAUSES):
            Terminal(stderr=True).print("The server does not answer. It is asked again for about a minute.", highlight=False)
        time.sleep(pauses.pop(0))
    if heard.headline:
        console.print(escape(printable(heard.headline)), highlight=False, soft_wrap=True)
    return 0 if heard.graphs else 3


def _hear(client: httpx.Client, study: str, heard: _Heard, console: Terminal) -> None:
    """One stream of events, after those that were heard."""
    kind, after = "", {"Last-Event-ID": str(heard.number)}
    with client.stream("GET", f"/studies/{study}/events", timeout=QUIET_SECONDS, headers=after) as reply:
        for line in _answered(reply).iter_lines():
            if line.startswith("id: ") and line[4:].isdecimal():
                heard.number = int(line[4:])
            elif line.startswith("event: "):
                kind = line[7:]
            elif line.startswith("data: "):
                body = _event(line[6:])
                body.pop("time", None)
                words = f"{kind} {json.dumps(body, ensure_ascii=False) if body else ''}"
                console.print(escape(printable(words)), highlight=False, soft_wrap=True)
                if kind in OVER:  # sites may leave after the end
                    heard.graphs, heard.headline = int(body.get("pags", 0)), str(body.get("headline", ""))


def _answered(reply: httpx.Response) -> httpx.Response:
    """The answer, if it is one. From status 500 on the server, or a proxy before it, is in trouble, and that passes."""
    if reply.status_code >= 500:
        reply.raise_for_status()
    if reply.status_code >= 400:
        reply.read()
        raise error_of(reply)
    return reply


def _event(text: str) -> dict[str, Any]:
    try:
        body = json.loads(text)
    except ValueError:
        body = None
    if not isinstance(body, dict) or not isinstance(body.get("pags", 0), int):
        raise UnreachableError(f"The server tells an event that is none: {printable(text[:100])}. Is it a study server?")
    return body


def download(client: httpx.Client, study: str, out: Path) -> None:
    """Write a result into a folder, and say which files: the data as they came, the table and the report made of them here."""
    from consilience.iod import Discovery  # noqa: PLC0415  it is loaded when there is a result
    from consilience.service.fetching import bounded  # noqa: PLC0415  the extra may not be installed
    from consilience.service.result_reading import MOST_BYTES, files_of, read_told, readable  # noqa: PLC0415

    with reaching(client), client.stream("GET", f"/studies/{study}/documents/result.json") as reply:
        if reply.status_code >= 400:
            reply.read()
            raise error_of(reply)
        body = bounded(reply.iter_bytes(), "The result", MOST_BYTES)
    told = read_told(body, study, WAY_OUT)
    with readable(WAY_OUT):
        files = files_of(body, told, Discovery.from_dict(told))
    out.mkdir(parents=True, exist_ok=True)
    for name, content in files.items():
        (out / name).write_bytes(content)
        say(out / name)

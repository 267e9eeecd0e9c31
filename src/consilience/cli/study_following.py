"""``consilience server study watch``, ``start --watch`` and ``result``: a study's events as they come, and its documents."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich.markup import escape

from consilience.cli.calling import error_of
from consilience.cli.terminal import Terminal, say
from consilience.service.errors import UnreachableError
from consilience.wording import printable

if TYPE_CHECKING:
    import httpx

__all__ = ["download", "follow"]


def follow(client: httpx.Client, study: str) -> int:
    """Print a study's events as they come; the exit code when it is over."""
    console, graphs, headline = Terminal(), 0, ""
    with client.stream("GET", f"/studies/{study}/events", timeout=None) as reply:
        if reply.status_code >= 400:
            reply.read()
            raise error_of(reply)
        kind = ""
        for line in reply.iter_lines():
            if line.startswith("event: "):
                kind = line[7:]
            elif line.startswith("data: "):
                body = _event(line[6:])
                body.pop("time", None)
                words = f"{kind} {json.dumps(body, ensure_ascii=False) if body else ''}"
                console.print(escape(printable(words)), highlight=False, soft_wrap=True)
                if kind in ("finished", "failed", "cancelled"):  # sites may leave after the end
                    graphs, headline = int(body.get("pags", 0)), str(body.get("headline", ""))
    if headline:
        console.print(escape(printable(headline)), highlight=False, soft_wrap=True)
    return 0 if graphs else 3


def _event(text: str) -> dict[str, Any]:
    try:
        body = json.loads(text)
    except ValueError:
        body = None
    if not isinstance(body, dict) or not isinstance(body.get("pags", 0), int):
        raise UnreachableError(f"The server tells an event that is none: {printable(text[:100])}. Is it a study server?")
    return body


def download(client: httpx.Client, study: str, out: Path) -> None:
    """Write a result's documents into a folder, and say which."""
    out.mkdir(parents=True, exist_ok=True)
    for name in ("result.json", "tests.csv", "report.html"):
        reply = client.get(f"/studies/{study}/documents/{name}")
        if reply.status_code == 200:
            (out / name).write_bytes(reply.content)
            say(out / name)
        elif name == "result.json":
            raise error_of(reply)

"""What happened in a study, in words. Names in them are others' choice: templates escape them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from typing import Any

from consilience.service.store import Event
from consilience.web.rendering import size
from consilience.wording import counted

__all__ = ["CHATTER", "stage_of", "stamp", "words_of"]

CHATTER = frozenset({"round", "tests", "stage"})
"""Kinds of events that a run makes by the hundred; the audit log counts them."""


def _names(body: Mapping[str, Any]) -> str:
    return ", ".join(map(str, body.get("sites", [])))


def _capital(words: str) -> str:
    return words[:1].upper() + words[1:]


def _started(body: Mapping[str, Any]) -> str:
    names = body.get("sites", [])
    return f"The contract was fixed with {counted(len(names), 'site')}: {', '.join(map(str, names))}"


_WORDS: Mapping[str, Callable[[Mapping[str, Any]], str]] = {
    "created": lambda _: "The study was created",
    "opened": lambda _: "The study was opened",
    "joined": lambda b: f"{b.get('site')} joined",
    "removed": lambda b: f"{b.get('site')} was removed",
    "left out": lambda b: f"The study goes on without {b.get('site')}: asked for consent anew are {_names(b)}",
    "connected": lambda b: f"{b.get('site')} connected",
    "lost": lambda b: f"{b.get('site')} is not connected any more: {b.get('reason', '')}",
    "withdrew": lambda b: (
        f"{b.get('site')} withdrew"
        + (f": {b['reason']}" if b.get("reason") else "")
        + f" ({counted(int(b.get('answers', 0)), 'answer')} of it {'is' if b.get('answers') == 1 else 'are'} part of sums)"
    ),
    "waiting": lambda b: _capital(str(b.get("words", ""))),
    "checked": lambda b: f"The table of {b.get('site')} {'fits' if b.get('fits') else 'does not fit'}",
    "declared": lambda b: f"{b.get('site')} declared {counted(int(b.get('variables', 0)), 'variable')}",
    "declined": lambda b: f"{b.get('site')} declined: {b.get('reason', '')}",
    "consented": lambda b: f"{b.get('site')} consented",
    "started": _started,
    "resumed": lambda _: "The server was started again, and goes on with the run",
    "rerun": lambda b: f"It is done once more, with {counted(int(b.get('tests', 0)), 'test')} that were made before",
    "copied": lambda b: str(b.get("words", "")).removesuffix("."),
    "run": lambda b: f"A run began under new keys, with {_names(b)}",
    "round": lambda b: f"Round {b.get('rounds')}; {size(int(b.get('bytes', 0)))} so far" + _gone(b),
    "tests": lambda b: f"{counted(int(b.get('tests', 0)), 'test')} done",
    "stage": lambda b: stage_of(str(b.get("words", ""))),
    "searched": lambda _: "Graphs are sought again, from the tests that are there",
    "finished": lambda b: f"The study finished. {b.get('headline', '')}",
    "failed": lambda b: f"The study failed. {b.get('message', '')}",
    "cancelled": lambda _: "The study was cancelled",
}


def stage_of(words: str) -> str:
    """What a search says of itself, in the words of the pages.

    >>> stage_of("solving"), stage_of("solving: 3 PAGs so far"), stage_of("summarising")
    ('graphs that fit the tests are sought', 'graphs that fit the tests are sought: 3 so far', 'summarising')
    """
    return words.replace("solving", "graphs that fit the tests are sought").replace(" PAGs so far", " so far")


def _gone(body: Mapping[str, Any]) -> str:
    return f"; {body['gone']} was gone" if body.get("gone") else ""


def stamp(time: float) -> str:
    """When something happened, to the second: a log is read line against line.

    >>> stamp(0.0)
    '1970-01-01 00:00:00 UTC'
    """
    return f"{datetime.fromtimestamp(time, UTC):%Y-%m-%d %H:%M:%S} UTC"


def words_of(event: Event) -> str:
    """An event as a sentence without its full stop; an event of a kind that is not known here is its kind.

    >>> words_of(Event(1, 0.0, "joined", {"site": "muenster"})), words_of(Event(2, 0.0, "tests", {"tests": 1}))
    ('muenster joined', '1 test done')
    """
    return _WORDS[event.kind](event.body) if event.kind in _WORDS else event.kind

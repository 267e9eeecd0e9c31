"""A study's audit log: what its owners did, what its sites and its run did, in the order in which it happened."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from starlette.responses import Response

from consilience.service.server.redaction import without_result
from consilience.service.server.services import Services
from consilience.service.store import Event, StudyRow
from consilience.web.pages.server.event_words import CHATTER, stamp, words_of
from consilience.web.pages.server.life import steps
from consilience.web.pages.server.visit import Visit, shows
from consilience.wording import counted

__all__ = ["Entry", "audit_log", "entries_of"]

MOST_ENTRIES = 2000
SAME = frozenset({"created", "opened", "started", "cancelled"})
"""Events that an owner's action says as well, with who it was."""


@dataclass(frozen=True, slots=True)
class Entry:
    """A line of the log: when, who, what."""

    time: float
    who: str
    what: str

    @property
    def stamp(self) -> str:
        """When, to the second."""
        return stamp(self.time)


def entries_of(services: Services, row: StudyRow, *, bare: bool = False) -> list[Entry]:
    """All lines, the latest first; rounds, tests and stages of a run are counted where they happened. ``bare``: without what was found."""
    acted = [Entry(a.time, a.account, a.action + (f": {a.detail}" if a.detail else "")) for a in services.store.audit.of_study(row.id)]
    owned = bool(acted)  # studies from before there was a log of actions have events only
    events = _all_events(services, row.id)
    happened = _lines(map(without_result, events) if bare else events, owned=owned)
    return sorted([*acted, *happened], key=lambda entry: -entry.time)[:MOST_ENTRIES]


def _all_events(services: Services, study: str) -> Iterator[Event]:
    after = 0
    while found := services.store.runs.events(study, after):
        yield from found
        after = found[-1].number


def _lines(events: Iterable[Event], *, owned: bool) -> Iterator[Entry]:
    rounds, tests, latest = 0, 0, 0.0
    for event in events:
        if event.kind in CHATTER:
            rounds, tests = rounds + (event.kind == "round"), tests + int(event.body.get("tests", 0))
            latest = event.time
            continue
        yield from _work(rounds, tests, latest)
        rounds, tests = 0, 0
        if not (owned and event.kind in SAME):
            yield Entry(event.time, str(event.body.get("site", "server")), words_of(event))
    yield from _work(rounds, tests, latest)


def _work(rounds: int, tests: int, latest: float) -> Iterator[Entry]:
    if rounds or tests:
        yield Entry(latest, "server", f"{counted(tests, 'test')} in {counted(rounds, 'round')}")


def _audit(visit: Visit) -> Response:
    row, shown = visit.seen, visit.access.result
    entries, around = entries_of(visit.services, row, bare=not shown), steps(row, visit.request.url.path, result=shown)
    return visit.show("audit.html", "Audit log", steps=around, study=row, entries=entries, most=MOST_ENTRIES)


audit_log = shows(_audit)

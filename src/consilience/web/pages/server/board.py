"""How a run stands, folded from its events: once for everybody who looks at it, however many pages are open."""

from __future__ import annotations

import time
from collections import OrderedDict, deque
from dataclasses import dataclass, field
from threading import Lock

from consilience.service.server.redaction import without_result
from consilience.service.server.searching import waiting_words
from consilience.service.server.services import Services
from consilience.service.store import Event, State, StudyRow
from consilience.service.withdrawal import sentence_of
from consilience.web.pages.server.event_words import CHATTER, stamp, words_of
from consilience.web.pages.server.life import COLOURS, meaning_of, steps
from consilience.web.pages.server.visit import HOME
from consilience.web.rendering import fragment

__all__ = ["Board", "Boards", "Standing"]

MOST_BOARDS = 64
FRESH_SECONDS = 0.2
"""So long a look is good for everybody else who looks: the store is read five times a second, and not once for every open page."""
TICK_SECONDS = 0.2
LINES = 30
"""Latest lines that a page shows; the audit log has all of them."""


@dataclass(slots=True)
class Board:
    """What the events of a study add up to."""

    number: int = 0
    rounds: int = 0
    bytes: int = 0
    stage: str = ""
    began: float = 0.0
    latest: float = 0.0
    lost: dict[str, float] = field(default_factory=dict)
    left: set[str] = field(default_factory=set)
    lines: deque[tuple[str, str]] = field(default_factory=lambda: deque(maxlen=LINES))

    def add(self, event: Event) -> None:
        """One more event."""
        self.number, self.latest = event.number, event.time
        if event.kind == "round":
            self.rounds, self.bytes = int(event.body.get("rounds", 0)), int(event.body.get("bytes", 0))
        elif event.kind == "stage":
            self.stage = words_of(event)
        elif event.kind == "run":
            self.began = self.began or event.time
        if event.kind == "lost":
            self.lost[str(event.body.get("site", ""))] = event.time
            if event.body.get("left"):
                self.left.add(str(event.body.get("site", "")))
        elif event.kind == "connected":
            self.lost.pop(str(event.body.get("site", "")), None)
            self.left.discard(str(event.body.get("site", "")))
        if event.kind not in CHATTER:
            self.lines.appendleft((stamp(event.time), words_of(event)))


@dataclass(frozen=True, slots=True)
class Standing:
    """A study at one moment, as its page shows it: up to which event, in which state, the page's live part as HTML, and when that was.

    ``steps`` is what the page's side shows to owners and observers.
    """

    number: int
    state: State
    html: str
    at: float = 0.0
    steps: str = ""


class Boards:
    """The boards of the studies that somebody looks at. Those not asked for longest are forgotten, and made again from events."""

    def __init__(self, services: Services) -> None:
        self._services = services
        self._boards: OrderedDict[tuple[str, bool], tuple[Board, Standing | None, float]] = OrderedDict()
        self._lock = Lock()

    def standing(self, study: str, *, fresh: bool = False, bare: bool = False) -> Standing | None:
        """How a study stands, now or (unless ``fresh``) a moment ago; None if it is gone. ``bare``: without what it has found."""
        with self._lock:
            board, known, then = self._boards.pop((study, bare), (Board(), None, 0.0))
            now = time.monotonic()
            if fresh or known is None or now - then >= FRESH_SECONDS:
                row = self._services.store.studies.get(study)
                if row is None:
                    return None
                then = now
                while found := self._services.store.runs.events(study, board.number):
                    for event in found:
                        board.add(without_result(event) if bare else event)
                if known is None or known.number != board.number or known.state is not row.state or _ticks(known, now):
                    around = fragment("steps.html", steps=steps(row, f"{HOME}/{row.id}/progress", result=not bare))
                    known = Standing(board.number, row.state, self._html(row, board, bare=bare), now, around)
            self._boards[study, bare] = board, known, then
            if len(self._boards) > MOST_BOARDS:
                self._boards.popitem(last=False)
            return known

    def _html(self, row: StudyRow, board: Board, *, bare: bool) -> str:
        connected = {connection.site for connection in self._services.hub.of(row.id)}
        rows = self._services.store.studies.sites(row.id)
        sites = [(site.name, site.name in connected, site.consented, sentence_of(site) or site.declined) for site in rows]
        tests = self._services.store.runs.count_results(row.id)
        until = self._services.clock() if row.state is State.RUNNING else board.latest
        meaning = meaning_of(row.state, agreed=bool(board.began) or all(site.consented for site in rows))
        searching = self._services.runner.searching
        asks = row.state is State.RUNNING and not searching.has(row.id)  # a search needs no site
        gone = [(name, board.lost.get(name, 0.0)) for name, here, *_ in sites if not here] if asks else []
        before = searching.before(row.id)
        settings = row.contract.settings if row.contract is not None else row.settings
        asked = self._services.runner.asked(row.id) if row.state is State.RUNNING else None
        now = {"gone": gone, "settings": settings, "asked": asked, "seconds_left": asked.left(time.monotonic()) if asked else None}
        now |= {"waiting": None if before is None else waiting_words(before)}
        now |= {"withdrawn": [words for words in map(sentence_of, rows) if words]}
        now |= {"awaited": self._services.runner.room.of(row.id)}
        now |= {"searchable": row.state is State.FAILED and self._services.store.searches.get(row.id) is not None}
        around = now | {"board": board, "study": row, "colour": COLOURS[row.state], "meaning": meaning}
        return fragment("server/board.html", sites=sites, tests=tests, until=until, bare=bare, **around)


def _ticks(known: Standing, now: float) -> bool:
    """A run that has no news, as while graphs are sought, is still seen to be alive: its clock goes on."""
    return known.state is State.RUNNING and now - known.at >= TICK_SECONDS

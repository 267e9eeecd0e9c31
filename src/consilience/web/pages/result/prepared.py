"""Results that were read, kept for the next request; and decided anew at another level, one at a time."""

from __future__ import annotations

import asyncio
import json
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, TypeAlias

from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException

from consilience.errors import StudyError
from consilience.graph.drawing.svg import Positions
from consilience.iod.discovery import Discovery
from consilience.iod.report.graphs import common_positions
from consilience.iod.report.html import Html
from consilience.iod.report.pairs import Pairs
from consilience.iod.report.resampled import how_sure_section
from consilience.service.memory import give_back
from consilience.web.pages.result.choice import Choice, choose
from consilience.web.pages.result.source import ResultSource
from consilience.web.pages.result.view import View

__all__ = ["FARTHEST", "Again", "Alpha", "Desk", "Prepared", "here", "read_alpha"]

KEPT = 24
"""Results that are kept, with those at other levels: some megabytes each."""
VIEWS = 12
"""Drawings of each that are kept."""
SECONDS = 10.0
"""For the graphs of another level; what was found by then is shown, and the page says that there may be more."""
PATIENCE = 30.0
"""Seconds that somebody waits for others' recomputations before being asked to come back."""
LOWEST, HIGHEST = 1e-6, 0.5
FARTHEST = 1e5
"""Pixels from the middle: no variable stands farther away."""


@dataclass(frozen=True)
class Prepared:
    """A result with all that its pages need more than once."""

    found: Discovery
    own: Discovery
    """The result as the study decided it, which gives the layout and what another level is compared with."""
    views: OrderedDict[Choice, View] = field(default_factory=OrderedDict, repr=False)
    lock: threading.Lock = field(default_factory=threading.Lock, repr=False)

    @cached_property
    def pairs(self) -> Pairs:
        """What is said of every pair."""
        return Pairs(self.found)

    @cached_property
    def positions(self) -> Positions:
        """Where the variables stand in all drawings, also at other levels."""
        return common_positions(self.own)

    @cached_property
    def sure(self) -> Html:
        """How sure the study's own result is: drawn once."""
        return how_sure_section(self.own, self.positions)

    def view(self, choice: Choice) -> View:
        """What a choice shows. The last few are kept, with their drawings: the page, its script and its files ask for the same."""
        with self.lock:
            if choice not in self.views:
                self.views[choice] = View(self.found, self.pairs, choice)
                while len(self.views) > VIEWS:
                    self.views.popitem(last=False)
            self.views.move_to_end(choice)
            return self.views[choice]

    @property
    def again(self) -> bool:
        """True if this was decided at another level than the study's."""
        return self.found is not self.own

    def changed(self) -> int:
        """How many tests are decided otherwise than at the study's own level."""
        low, high = sorted((self.found.alpha, self.own.alpha))
        p = self.own.tests.filter(self.own.tests["informative"])["p_value"]
        return int(((p > low) & (p <= high)).sum())


@dataclass(frozen=True, slots=True)
class Alpha:
    """A level that somebody asks for; ``trouble`` says why it is none."""

    value: float | None
    text: str = ""
    trouble: str = ""


def read_alpha(text: str) -> Alpha:
    """The level in an address, rounded to three digits, so that nobody has a million of them computed.

    >>> read_alpha("0.0123456").value, read_alpha("").value, read_alpha("<b>").trouble
    (0.0123, None, 'Enter a level between 0.000001 and 0.5, such as 0.01.')
    """
    text = text.strip()
    if not text:
        return Alpha(None)
    try:
        value = float(text) if len(text) < 30 else float("nan")
    except ValueError:
        value = float("nan")
    if not LOWEST <= value <= HIGHEST:
        return Alpha(None, text[:30], f"Enter a level between {LOWEST:f} and {HIGHEST:g}, such as 0.01.")
    return Alpha(float(f"{value:.3g}"), text)


Again: TypeAlias = Callable[[ResultSource, Discovery, float, float], Discovery]
"""Decides a result at another level, in so many seconds at most."""


def here(source: ResultSource, found: Discovery, alpha: float, seconds: float) -> Discovery:
    """Decide again in this process: good enough for an app of one person."""
    del source
    again = found.redecide(alpha=alpha, time_limit=seconds)
    give_back()  # a search takes hundreds of megabytes, and its result a few
    return again


@dataclass
class Desk:
    """Where results lie that were asked for lately. One is enough for an app, whatever studies it has."""

    seconds: float = SECONDS
    again: Again = here
    _kept: OrderedDict[tuple[str, float | None], Prepared] = field(default_factory=OrderedDict)
    _lock: threading.Lock = field(default_factory=threading.Lock)
    _busy: threading.Lock = field(default_factory=threading.Lock)

    async def get(self, source: ResultSource, alpha: float | None = None) -> Prepared:
        """The result, as the study decided it or at another level."""
        own = await self._one((source.version, None), lambda: _read(source))
        if alpha is None or alpha == own.found.alpha:
            return own
        return await self._one((source.version, alpha), lambda: self._redecided(source, own, alpha))

    async def _one(self, key: tuple[str, float | None], make: Callable[[], Prepared]) -> Prepared:
        if (kept := self._look(key)) is not None:
            return kept
        end = time.monotonic() + PATIENCE
        while not self._busy.acquire(blocking=False):  # one at a time: a search takes a whole core, and the study's run needs the other
            if time.monotonic() > end:
                raise HTTPException(503, "Other results are being computed. Try again in a moment.", {"Retry-After": "10"})
            await asyncio.sleep(0.02)
            if (kept := self._look(key)) is not None:
                return kept
        try:
            made = await run_in_threadpool(make)
        finally:
            self._busy.release()
        with self._lock:
            self._kept[key] = made
            while len(self._kept) > KEPT:
                self._kept.popitem(last=False)
        return made

    def _look(self, key: tuple[str, float | None]) -> Prepared | None:
        with self._lock:
            if key in self._kept:
                self._kept.move_to_end(key)
                return self._kept[key]
        return None

    def _redecided(self, source: ResultSource, own: Prepared, alpha: float) -> Prepared:
        limit = own.found.settings.get("time_limit")
        found = self.again(source, own.found, alpha, min(self.seconds, limit or self.seconds))
        again = Prepared(found, own.found)
        again.__dict__["positions"] = own.positions  # the layout is the study's, and takes longest
        return _warmed(again)


def _read(source: ResultSource) -> Prepared:
    body = source.document("result.json")
    if body is None:
        raise HTTPException(404, "This study has no result.")
    try:
        told = json.loads(body)
    except (ValueError, RecursionError):
        told = None
    if not isinstance(told, dict):
        raise StudyError("The file result.json of this study is damaged: it holds no result. Fetch it again from the study's server.")
    found = Discovery.from_dict(told)
    made = Prepared(found, found)
    if positions := _stored(told.get("layout"), found.summary.labels):
        made.__dict__["positions"] = positions
    return _warmed(made)


def _stored(layout: Any, labels: Sequence[str]) -> Positions | None:
    """The layout that a result brings with it; None unless it has a place on a page for every variable."""
    if not isinstance(layout, dict) or set(layout) != set(labels):
        return None
    places = {name: (x, y) for name in labels if isinstance(layout[name], list) and len(layout[name]) == 2 for x, y in [layout[name]]}
    numbers = [one for place in places.values() for one in place]
    sound = all(isinstance(one, int | float) and abs(one) <= FARTHEST for one in numbers)
    return places if sound and len(places) == len(labels) else None


def _warmed(made: Prepared) -> Prepared:
    """With all that takes long: the layout, the words, and the drawing that is shown first."""
    made.view(choose({}, made.found)).svg(made.positions)
    return made

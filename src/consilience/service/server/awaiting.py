"""Whom a study waits for: worked out in one place, for its sites, for whoever follows its events, and for the pages."""

from __future__ import annotations

from threading import Lock

from consilience.protocol.handshake import Waiting
from consilience.service.server.hub import Hub
from consilience.service.store import SiteRow, State, Store, StudyRow

__all__ = ["MOVES", "WaitingRoom"]

MOVES = frozenset(
    {"opened", "joined", "removed", "connected", "lost", "declared", "checked", "declined", "consented", "left out", "resumed", "withdrew"}
)
"""Kinds of events after which a study may wait for others than before."""


class WaitingRoom:
    """Who is missing in the studies of a server, and what of that was told. From any thread."""

    def __init__(self, store: Store, hub: Hub) -> None:
        self._store, self._hub = store, hub
        self._told: dict[str, Waiting] = {}
        self._lock = Lock()

    def of(self, study: str) -> Waiting | None:
        """Whom a study waits for now; None if it is a draft or over."""
        row = self._store.studies.get(study)
        if row is None or row.state not in (State.OPEN, State.RUNNING):
            return None
        sites, here = self._store.studies.sites(study), {connection.site for connection in self._hub.of(study)}
        if row.state is State.RUNNING and (not sites or self._store.searches.get(study) is not None):  # no site is needed
            return None
        if row.state is State.OPEN:
            now = self._store.database.clock()
            invited = sum(one.expires > now for one in self._store.studies.invitations(study))
            return Waiting("connect", len(sites), _missing(sites, here, row), invited)
        if all(site.consented for site in sites):
            return Waiting("return", len(sites), _missing(sites, here, row))
        return Waiting("agree", len(sites), _missing([site for site in sites if not site.consented], here, row))

    def news(self, study: str) -> Waiting | None:
        """Whom a study waits for, if that is not what was told last."""
        with self._lock:
            found = self.of(study)
            if found is None:
                self._told.pop(study, None)
            elif self._told.get(study) != found:
                self._told[study] = found
                return found
            return None


def _missing(sites: list[SiteRow], here: set[str], row: StudyRow) -> tuple[tuple[str, str], ...]:
    reasons = ((site.name, _reason(site, row, connected=site.name in here)) for site in sites)
    return tuple((name, why) for name, why in reasons if why)


def _reason(site: SiteRow, row: StudyRow, *, connected: bool) -> str:
    """Why a study waits for a site; empty if it does not."""
    if site.withdrew is not None:
        return "it has withdrawn"
    if site.fits is False:
        return "its table does not fit"
    if site.declined:
        return "it does not agree"
    if not connected:
        return "not connected"
    if row.state is State.RUNNING:
        return "" if site.consented else "it has not agreed yet"
    return "it has not said what it measures" if row.variables is None and site.declarations is None else ""

"""The lobby: who is invited and who is there, and which pairs of variables the study can test with them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from starlette.requests import Request
from starlette.responses import Response

from consilience.federation.overlap import Fate, Overlap, PairFate, overlap_of
from consilience.secagg import fingerprint_of, fingerprint_text
from consilience.service.server import actions
from consilience.service.store import SiteRow, State, StudyRow
from consilience.web.forms import Form, Trouble
from consilience.web.pages.server.board import Standing
from consilience.web.pages.server.follow import boards_of, follow
from consilience.web.pages.server.life import steps
from consilience.web.pages.server.visit import HOME, Visit, acts, go, shows
from consilience.web.rendering import fragment

__all__ = ["invited", "lobby", "lobby_live", "removed", "withdrawn"]

SITE_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9 ._-]{0,63}")
FATES = {
    Fate.TOGETHER: ("tested", "good"),
    Fate.ALONE: ("one site alone", "warn"),
    Fate.TOO_FEW: ("too few sites", "bad"),
    Fate.NEVER: ("never", "bad"),
}
FEW = 12
"""So many pairs are named in a sentence; more are a list that is opened."""


@dataclass(frozen=True, slots=True)
class Matrix:
    """The overlap as a table: a row per variable, a cell per earlier variable."""

    names: tuple[str, ...]
    rows: tuple[tuple[str, tuple[PairFate, ...]], ...]


def overlap_now(row: StudyRow, sites: Sequence[SiteRow]) -> Overlap | None:
    """The overlap as far as it is known: declared sets; or what sites have said that they hold; None if neither is there."""
    if row.contract is not None and not row.contract.queried:
        names = tuple(v.name for v in row.contract.variables)
        return overlap_of(names, row.contract.datasets, row.settings, by_site=False)
    if row.variables is not None and row.datasets is not None:
        return overlap_of(tuple(v.name for v in row.variables), row.datasets, row.settings, by_site=False)
    held = [frozenset(d.name for d in site.declarations) for site in sites if site.declarations]
    names = tuple(sorted({name for names in held for name in names}))
    return overlap_of(names, held, row.settings, by_site=True) if held else None


def matrix_of(overlap: Overlap) -> Matrix:
    """The lower half of the table of all pairs."""
    cells = {(pair.x, pair.y): pair for pair in overlap.pairs}
    rows = tuple((name, tuple(cells[earlier, name] for earlier in overlap.names[:i])) for i, name in enumerate(overlap.names) if i)
    return Matrix(overlap.names[:-1], rows)


def _stand(visit: Visit, row: StudyRow) -> dict[str, Any]:
    """What of the page changes while sites come and go."""
    store, connected = visit.services.store, {c.site for c in visit.services.hub.of(row.id)}
    sites = store.studies.sites(row.id)
    overlap = overlap_now(row, sites)
    return {
        "study": row,
        "access": visit.access,
        "state": row.state.value,
        "awaited": visit.services.runner.room.of(row.id),
        "sites": [(site, fingerprint_text(fingerprint_of(site.identity)), site.name in connected) for site in sites],
        "needed": max(2, row.settings.min_contributors),
        "fingerprint": fingerprint_text(visit.services.identity.fingerprint),
        "overlap": overlap,
        "matrix": matrix_of(overlap) if overlap else None,
        "fates": FATES,
        "groups": [(fate, overlap.of(fate)) for fate in Fate] if overlap else [],
        "few": FEW,
    }


def _lobby(visit: Visit, troubles: Sequence[Trouble] = (), status: int = 200, invitation: tuple[str, str, float] | None = None) -> Response:
    row = visit.seen
    access = visit.access
    seen = boards_of(visit.request).standing(row.id, fresh=True, bare=not access.result)
    return visit.show(
        "lobby.html",
        "Sites",
        status=status,
        troubles=troubles,
        steps=steps(row, f"{HOME}/{row.id}/lobby", result=access.result),
        pending=visit.services.store.studies.invitations(row.id),
        now=visit.services.clock(),
        early=row.state in (State.DRAFT, State.OPEN),
        invitation=invitation,
        number=seen.number if seen else 0,
        **_stand(visit, row),
    )


async def lobby_live(request: Request) -> Response:
    """Sites that come and go, and what that does to the pairs, while the lobby is open."""

    def show(visit: Visit, _standing: Standing) -> list[tuple[str, str]]:
        values = _stand(visit, visit.seen) | {"csrf": visit.pages.csrf.token(visit.session)}
        return [(part, fragment(f"server/{part}.html", **values)) for part in ("sites", "overlap", "next")]

    return await follow(request, show, inside=True)


def _invited(visit: Visit, form: Form) -> Response:
    row, name = visit.study, form.text("site", 65)
    if not SITE_NAME.fullmatch(name):
        words = "A site's name is 1 to 64 letters, digits, spaces, dots, hyphens and underscores, and begins with a letter or a digit."
        return _lobby(visit, [Trouble("site", words)], 422)
    text, expires = actions.invite(visit.services, row, name)
    # shown in the answer to the form and kept nowhere: a redirect would have to keep it
    return _lobby(visit, invitation=(name, text, expires))


def _withdrawn(visit: Visit, form: Form) -> Response:
    row = visit.study
    if not actions.withdraw(visit.services, row, form.text("site", 64)):
        return _lobby(visit, [Trouble("", "There is no such invitation any more: it was taken, or another one replaced it.")], 404)
    return go(f"{HOME}/{row.id}/lobby")


def _removed(visit: Visit, form: Form) -> Response:
    row = visit.study
    if not actions.remove_site(visit.services, row, form.text("site", 64)):
        return _lobby(visit, [Trouble("", "There is no such site any more.")], 404)
    return go(f"{HOME}/{row.id}/lobby")


lobby = shows(_lobby)
invited, withdrawn, removed = acts(_invited, _lobby), acts(_withdrawn, _lobby), acts(_removed, _lobby)

"""The studies that an account may look at, and a new one."""

from __future__ import annotations

import time
from collections.abc import Sequence

from starlette.responses import Response

from consilience.service.deleting import MARK, STAYS
from consilience.service.server import actions
from consilience.service.server.services import may_create
from consilience.service.store import AccountRole
from consilience.web.forms import Form, Trouble
from consilience.web.pages.server.life import COLOURS
from consilience.web.pages.server.visit import HOME, Visit, acts, go, shows

__all__ = ["new_sent", "new_study", "studies"]

WAYS = (
    (
        "form",
        "By filling in a form",
        "Names, kinds, levels, and which sets of them sites measure. Sites are asked for sums only.",
    ),
    ("file", "With a study file", "The same as a TOML file, as the command line takes it; its settings are taken over, too."),
    ("site", "From what a site has declared", "A site that was asked for its variables, in this study or in another of yours."),
    ("ask", "By asking the sites", "They say what they hold when they connect: names, kinds and levels, in the open."),
)
"""How variables come into a study: value, words, hint."""


def _studies(visit: Visit) -> Response:
    store = visit.services.store
    rows = [
        (row, len(store.studies.sites(row.id)), store.runs.count_results(row.id), COLOURS[row.state], access.role.value)
        for row in store.studies.seen_by(visit.owner)
        if (access := store.members.access(row.id, visit.who)) is not None
    ]
    gone = visit.request.query_params.get("deleted", "")
    # only what the log says: an address that somebody was sent does not tell stories
    deleted = any(one.study == gone and one.action == MARK for one in store.audit.of_account(visit.owner))
    creates = store.accounts.role_of(visit.owner) is AccountRole.OWNER
    shared = any(row.owner != visit.owner for row, *_ in rows)
    told = gone if deleted else ""
    ends = visit.services.expiry.warning(time.time())
    return visit.show("studies.html", "Studies", rows=rows, creates=creates, shared=shared, deleted=told, stays=STAYS, ends=ends)


def _new(visit: Visit, troubles: Sequence[Trouble] = (), status: int = 200, name: str = "", way: str = "form") -> Response:
    may_create(visit.owner, visit.services)
    return visit.show("new_study.html", "A new study", status=status, troubles=troubles, name=name, way=way, ways=WAYS)


def _make(visit: Visit, form: Form) -> Response:
    may_create(visit.owner, visit.services)
    name, way = form.text("name", 201), form.text("way", 10)
    if not name:
        return _new(visit, [Trouble("name", "Give the study a name.")], 422, way=way)
    study = actions.create(visit.services, visit.owner, actions.declare(name))
    return go(f"{HOME}/{study}{ {'form': '/variables', 'file': '/file', 'site': '/declaration'}.get(way, '') }")


studies = shows(_studies)
new_study = shows(_new)
new_sent = acts(_make, _new)

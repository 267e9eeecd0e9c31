"""A study's own page: where it stands, what comes next, and what can be done with it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec
from starlette.responses import Response

from consilience.secagg import fingerprint_text
from consilience.service.contract import warnings_of
from consilience.service.deleting import GOES, STAYS
from consilience.service.server import actions, again, withdrawing
from consilience.service.store import State, StudyRow
from consilience.settings import Resolve
from consilience.settings.declaration import NETWORK_SETTINGS
from consilience.web.forms import Form, Trouble
from consilience.web.pages.server.life import COLOURS, meaning_of, steps
from consilience.web.pages.server.settings_form import dangers_of, plain
from consilience.web.pages.server.visit import HOME, Visit, acts, go, shows

__all__ = ["cancelled", "deleted", "done_again", "left", "opened", "renamed", "repeated", "searched", "started", "study_page"]


def _study(visit: Visit, troubles: Sequence[Trouble] = (), status: int = 200) -> Response:
    row, access = visit.shared, visit.access
    store, connected = visit.services.store, {c.site for c in visit.services.hub.of(row.id)}
    sites = store.studies.sites(row.id)
    variables = row.contract.variables if row.contract else row.variables
    return visit.show(
        "study.html",
        row.name,
        status=status,
        troubles=troubles,
        steps=steps(row, visit.request.url.path, result=access.result) if access.inside else (),
        study=row,
        state=row.state.value,
        colour=COLOURS[row.state],
        meaning=meaning_of(row.state, agreed=bool(row.rounds) or all(site.consented for site in sites)),
        sites=sites,
        connected=connected,
        pending=len(store.studies.invitations(row.id)) if access.inside else 0,
        tests=store.runs.count_results(row.id),
        searchable=row.state is State.FAILED and store.searches.get(row.id) is not None,
        variables=variables,
        changed=_changed(row),
        dangers=dangers_of(row.settings),
        warnings=warnings_of(row.contract) if row.contract else (),
        origin=_origin(visit, row),
        origin_there=bool(row.origin) and store.studies.get(row.origin) is not None,
        ways=[way.value for way in Resolve],
        needed=max(2, row.settings.min_contributors),
        access=access,
        members=store.members.of(row.id) if access.inside else (),
        mine=next((site for site in sites if site.name == visit.who.site), None),
        goes=GOES,
        stays=STAYS,
        digest=fingerprint_text(bytes.fromhex(digest)) if (digest := actions.digest_now(row, sites)) else "",
    )


def _origin(visit: Visit, row: StudyRow) -> StudyRow | None:
    """The study that this one was made from, for who may look at that one, too."""
    store = visit.services.store
    return store.studies.get(row.origin) if row.origin and visit.owner and store.members.access(row.origin, visit.who) else None


def _changed(row: StudyRow) -> list[tuple[str, str]]:
    """Settings that differ from their defaults, as texts."""
    values = ((name, getattr(row.settings, name), setting.default) for name, setting in NETWORK_SETTINGS.items())
    return [(name, plain(value)) for name, value, default in values if value != default]


def _opened(visit: Visit, _form: Form) -> Response:
    row = visit.study
    actions.open_study(visit.services, row)
    return go(f"{HOME}/{row.id}/lobby")


def _started(visit: Visit, _form: Form) -> Response:
    row = visit.study
    actions.start(visit.services, row)
    return go(f"{HOME}/{row.id}/progress")


def _cancelled(visit: Visit, _form: Form) -> Response:
    row = visit.study
    actions.cancel(visit.services, row)
    return go(f"{HOME}/{row.id}")


def _searched(visit: Visit, _form: Form) -> Response:
    row = visit.study
    actions.search_again(visit.services, row)
    return go(f"{HOME}/{row.id}/progress")


def _repeated(visit: Visit, _form: Form) -> Response:
    return go(f"{HOME}/{again.copy(visit.services, visit.study)}")


def _done_again(visit: Visit, form: Form) -> Response:
    """As it was, or with another level or another way out of contradictions."""
    row, changes = visit.study, dict[str, Any]()
    if text := form.text("alpha", 30):
        try:
            changes["alpha"] = float(text)
        except ValueError:
            return _study(visit, [Trouble("alpha", f"A level is a number between 0 and 1; got {text!r}.")], 422)
    if resolve := form.text("resolve", 30):
        changes["resolve"] = resolve
    try:
        found = again.rerun(visit.services, row, changes)
    except msgspec.ValidationError as error:
        return _study(visit, [Trouble("", f"{error}.")], 422)
    return go(f"{HOME}/{found.study}{'/progress' if found.how is not again.How.COPY else ''}")


def _left(visit: Visit, form: Form) -> Response:
    """A site withdraws, on the page that it sees with its token."""
    row = visit.shared
    if not visit.who.site:
        return _study(visit, [Trouble("", "A site withdraws itself, with its own token.")], 403)
    withdrawing.withdraw_site(visit.services, row, visit.who.site, form.text("reason", withdrawing.MOST_REASON))
    return go(f"{HOME}/{row.id}")


def _deleted(visit: Visit, form: Form) -> Response:
    row = visit.held
    if " ".join(form.text("called", 201).split()) != " ".join(row.name.split()):
        return _study(visit, [Trouble("called", "To delete the study, type its name. Nothing was deleted.")], 422)
    actions.delete(visit.services, row)
    return go(f"{HOME}?deleted={row.id}")


def _renamed(visit: Visit, form: Form) -> Response:
    row = visit.study
    if row.state is State.DRAFT or form.text("name", 201) != row.name:  # the store refuses what is no draft, and says why
        actions.edit(visit.services, row, actions.declare(form.text("name", 201), row.variables, row.datasets, row.settings))
    return go(f"{HOME}/{row.id}")


study_page = shows(_study, owner=False)
opened, started, cancelled = acts(_opened, _study), acts(_started, _study), acts(_cancelled, _study)
repeated, deleted, renamed = acts(_repeated, _study), acts(_deleted, _study), acts(_renamed, _study)
searched = acts(_searched, _study)
done_again = acts(_done_again, _study)
left = acts(_left, _study, owner=False)

"""Saying what a draft is: its variables by a form, by a study file or from sites' declarations; its settings."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import msgspec
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response

from consilience.data.schema import unite
from consilience.errors import ConsilienceError, OptionError
from consilience.service.errors import LifeCycleError
from consilience.service.server import actions
from consilience.service.server.app import status_of
from consilience.service.settings import specs_of
from consilience.service.store import SiteRow, State, StudyRow
from consilience.settings import NetworkSettings
from consilience.settings.studyfile import StudyFile, parse_study
from consilience.typed import from_plain
from consilience.web.forms import Form, Trouble
from consilience.web.pages.server.life import steps
from consilience.web.pages.server.settings_form import controls_of, read_settings
from consilience.web.pages.server.variables_form import KINDS, MOST_SETS, VariablesForm, with_measures
from consilience.web.pages.server.visit import HOME, Visit, acts, go, shows
from consilience.web.uploads import TooLargeError, read_upload

__all__ = [
    "declaration",
    "declaration_sent",
    "file_form",
    "file_sent",
    "settings",
    "settings_sent",
    "variables",
    "variables_sent",
]

MOST_FILE = 512 << 10
NOT_A_DRAFT = "Only a draft can be changed; this study is not one any more. Repeat it to have another draft."


def _draft(visit: Visit) -> StudyRow:
    row = visit.study
    if row.state is not State.DRAFT:
        raise LifeCycleError(NOT_A_DRAFT)
    return row


def _page(visit: Visit, template: str, title: str, troubles: Sequence[Trouble], status: int, **values: Any) -> Response:
    row, access = visit.seen, visit.access
    around = steps(row, visit.request.url.path, result=access.result)
    draft = row.state is State.DRAFT and access.changes  # what cannot be changed has no form
    return visit.show(template, title, status=status, steps=around, troubles=troubles, study=row, draft=draft, access=access, **values)


# variables by a form


def _variables(visit: Visit, troubles: Sequence[Trouble] = (), status: int = 200, typed: VariablesForm | None = None) -> Response:
    row = visit.seen
    given, sets = (row.contract.variables, row.contract.datasets) if row.contract else (row.variables, row.datasets)
    form = typed or VariablesForm.of_study(given, sets)
    wide = (sets is not None and len(sets) > MOST_SETS) or row.state is not State.DRAFT or not visit.access.changes
    values = {"form": form, "kinds": KINDS, "wide": wide, "variables": given, "datasets": sets, "most_sets": MOST_SETS}
    return _page(visit, "variables.html", "Variables", troubles, status, **values)


def _variables_sent(visit: Visit, form: Form) -> Response:
    row, typed = _draft(visit), VariablesForm.of_form(form)
    if form.flag("ask"):
        actions.edit(visit.services, row, actions.declare(row.name, None, None, row.settings))
        return go(f"{HOME}/{row.id}")
    if form.flag("more-rows"):
        return _variables(visit, typed=typed.with_room())
    if form.flag("more-sets"):
        return _variables(visit, typed=typed.with_set())
    specs, sets, troubles = typed.read()
    specs = with_measures(specs, row.variables or ())
    if not troubles:
        try:
            actions.edit(visit.services, row, actions.declare(row.name, specs, sets, row.settings))
            return go(f"{HOME}/{row.id}")
        except ConsilienceError as error:
            troubles = [Trouble("", str(error))]
    return _variables(visit, troubles, 422, typed)


# a study file


def _file(visit: Visit, troubles: Sequence[Trouble] = (), status: int = 200, text: str = "") -> Response:
    _draft(visit)
    return _page(visit, "file.html", "A study file", troubles, status, text=text, most=MOST_FILE)


async def file_sent(request: Request) -> Response:
    """A study file, as a file or as text."""
    visit = await run_in_threadpool(Visit.of, request)
    if not visit.owner:
        return go("/login")
    try:
        upload = await read_upload(
            request, most=MOST_FILE, check=lambda form: visit.pages.csrf.check(visit.session, form.text("csrf", 100))
        )
    except TooLargeError as error:
        return await run_in_threadpool(_file, visit, [Trouble("upload", f"{error} No study file is so long.")], 413)
    return await run_in_threadpool(_take_file, visit, upload.form.text("text", MOST_FILE), upload.name, upload.content)


def _take_file(visit: Visit, text: str, name: str, content: bytes) -> Response:
    row = visit.study
    try:
        _draft(visit)
        if not content and not text:
            return _file(visit, [Trouble("upload", "Choose a file, or paste its text.")], 422)
        given = content.decode("utf-8") if content else text
        actions.edit(visit.services, row, _declared_in(row, parse_study(given, Path(name or "study.toml"))))
    except UnicodeDecodeError:
        return _file(visit, [Trouble("upload", "A study file is text in UTF-8; this one is not.")], 422, text)
    except ConsilienceError as error:
        if row.state is not State.DRAFT:
            return _variables(visit, [Trouble("", str(error))], status_of(error))
        return _file(visit, [Trouble("upload" if content else "text", str(error))], 422, text)
    return go(f"{HOME}/{row.id}/variables")


def _declared_in(row: StudyRow, file: StudyFile) -> actions.Declared:
    """What a file says; its settings over the defaults. Variables without sets are one set, to be looked at next."""
    try:
        chosen = from_plain(msgspec.to_builtins(dict(file.settings)), NetworkSettings)
    except msgspec.ValidationError as error:
        raise OptionError(f"A setting of the file cannot be used over a network: {error}.") from None
    if not file.schema:
        return actions.declare(row.name, None, None, chosen)
    sets = file.datasets or (tuple(file.schema),)
    return actions.declare(row.name, specs_of(file.schema), sets, chosen)


# from what sites have declared


def _declaring_sites(visit: Visit) -> list[tuple[StudyRow, SiteRow]]:
    """Sites of the owner's studies that have said what they hold, this study's first."""
    store, here = visit.services.store, visit.study.id
    rows = sorted(store.studies.of_owner(visit.owner), key=lambda row: row.id != here)
    return [(row, site) for row in rows for site in store.studies.sites(row.id) if site.declarations]


def _declaration(visit: Visit, troubles: Sequence[Trouble] = (), status: int = 200) -> Response:
    _draft(visit)
    found = [
        (f"{row.id}/{site.name}", row, site.name, tuple(d.name for d in site.declarations or ())) for row, site in _declaring_sites(visit)
    ]
    return _page(visit, "declaration.html", "Variables from declarations", troubles, status, found=found)


def _declaration_sent(visit: Visit, form: Form) -> Response:
    row, chosen = _draft(visit), set(form.many("site"))
    taken = {f"{study.id}/{site.name}": site for study, site in _declaring_sites(visit) if f"{study.id}/{site.name}" in chosen}
    if not taken:
        return _declaration(visit, [Trouble("site", "Choose at least one site.")], 422)
    schema = unite({key: actions.declared_by(site) for key, site in taken.items()})
    specs = specs_of(schema)
    sets = dict.fromkeys(tuple(sorted(d.name for d in site.declarations or ())) for site in taken.values())
    actions.edit(visit.services, row, actions.declare(row.name, specs, list(sets), row.settings))
    return go(f"{HOME}/{row.id}/variables")


# settings


def _settings(visit: Visit, troubles: Sequence[Trouble] = (), status: int = 200, typed: Form | None = None) -> Response:
    return _page(visit, "settings.html", "Settings", troubles, status, groups=controls_of(visit.seen.settings, typed))


def _settings_sent(visit: Visit, form: Form) -> Response:
    row = _draft(visit)
    chosen, troubles = read_settings(form)
    if not troubles:
        try:
            actions.edit(visit.services, row, actions.declare(row.name, row.variables, row.datasets, chosen))
            return go(f"{HOME}/{row.id}")
        except ConsilienceError as error:
            troubles = [Trouble(_named(str(error)), str(error))]
    return _settings(visit, troubles, 422, form)


def _named(words: str) -> str:
    """The setting that a message begins with, as fields are called."""
    first = words.partition("=")[0].partition(" ")[0]
    return first if first in NetworkSettings.__struct_fields__ else ""


variables, variables_sent = shows(_variables), acts(_variables_sent, _variables)
file_form = shows(_file)
declaration, declaration_sent = shows(_declaration), acts(_declaration_sent, _declaration)
settings, settings_sent = shows(_settings), acts(_settings_sent, _settings)

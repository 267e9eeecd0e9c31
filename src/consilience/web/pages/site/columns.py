"""The columns: what each is taken for and why, and one page each to change it."""

from __future__ import annotations

import asyncio

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from consilience.data.kinds import Kind
from consilience.web.desk.table import Decision, SiteTable, labels_in
from consilience.web.forms import Form, Trouble
from consilience.web.pages.site.common import desk_of, form_of, page, see

__all__ = ["change", "one", "review", "show"]

KINDS = (
    ("", "Decide from the values", "As the list of columns says."),
    (Kind.CONTINUOUS.value, "Continuous", "A number that is measured, such as an age or a blood pressure."),
    (
        Kind.COUNT.value,
        "Count",
        "How often something happened, such as visits or falls: whole numbers from 0. Never decided from the values, so choose it.",
    ),
    (Kind.BINARY.value, "Binary", "Two levels, such as yes and no."),
    (Kind.ORDINAL.value, "Ordinal", "Levels with an order, such as stages."),
    (Kind.MULTINOMIAL.value, "Multinomial", "Levels without an order, such as blood groups."),
)
LONGEST = 200


def _table(request: Request) -> SiteTable:
    table = desk_of(request).table
    if table is None:
        raise HTTPException(409, "Choose a table first.")
    return table


async def show(request: Request) -> Response:
    """All columns."""
    if desk_of(request).table is None:
        return see("/data")
    table = _table(request)
    profiles = await asyncio.to_thread(table.profiles)
    excluded = [name for name in table.frame.columns if table.decision(name).excluded]
    changed = [name for name in table.frame.columns if table.decision(name) != Decision()]
    return page(request, "columns.html", "Check the columns", table=table, profiles=profiles, excluded=excluded, changed=changed)


async def review(request: Request) -> Response:
    """The owner has seen them."""
    await form_of(request)
    _table(request).reviewed = True
    return see("/fit" if desk_of(request).study is not None else "/join")


def _name(request: Request, table: SiteTable) -> str:
    number = int(request.path_params["number"])
    if not 0 <= number < table.frame.width:
        raise HTTPException(404, "The table has no such column.")
    return table.frame.columns[number]


async def one(request: Request) -> Response:
    """One column."""
    table = _table(request)
    name = _name(request, table)
    return _page(request, table, name, table.decision(name), [])


def _page(request: Request, table: SiteTable, name: str, decision: Decision, troubles: list[Trouble]) -> Response:
    labels = labels_in(table.frame[name])
    order = {label: place for place, label in enumerate(decision.levels, start=1)}
    rows = [
        (i, label, count, decision.spelling.get(label, label), order.get(decision.spelling.get(label, label), i + 1))
        for i, (label, count) in enumerate(labels.items())
    ]
    number = table.frame.columns.index(name)
    commas = any("," in label for label in labels) or decision.comma
    return page(
        request,
        "column.html",
        f"Column {name}",
        troubles=troubles,
        name=name,
        profile=table.profile(name),
        decision=decision,
        rows=rows,
        number=number,
        kinds=KINDS,
        commas=commas,
    )


async def change(request: Request) -> Response:
    """Change one column."""
    table = _table(request)
    name = _name(request, table)
    form = await form_of(request)
    if form.flag("reset"):
        desk_of(request).decide(name, Decision())
        return see("/columns")
    decision, troubles = _read(form, table, name)
    if not troubles:
        before = table.decision(name)
        desk_of(request).decide(name, decision)
        trouble = table.profile(name).trouble if not decision.excluded else ""
        if not trouble:
            return see("/columns")
        table.decide(name, before)
        troubles = [Trouble("kind", trouble)]
    return _page(request, table, name, decision, troubles)


def _read(form: Form, table: SiteTable, name: str) -> tuple[Decision, list[Trouble]]:
    troubles = []
    kind = form.text("kind")
    if kind and kind not in set(Kind):
        troubles.append(Trouble("kind", "Choose one of the kinds."))
        kind = ""
    spelling, places = {}, dict[str, float]()
    moved = False
    for i, label in enumerate(labels_in(table.frame[name])):
        given = form.raw(f"spelling-{i}").strip()
        new = label if given == label or not form.flag(f"spelling-{i}") else given[:LONGEST]  # a long one that was left alone stays whole
        if new != label:
            spelling[label] = new
        place = form.text(f"place-{i}", 10)
        if place and not place.isdecimal():
            troubles.append(Trouble(f"place-{i}", f"The place of {label} must be a whole number."))
        elif place:
            moved |= int(place) != i + 1
            places[new] = min(places.get(new, 1e9), int(place))
    places.pop("", None)
    ordered = tuple(sorted(places, key=lambda label: places[label]))
    levels = ordered if kind == Kind.ORDINAL.value or (moved and kind not in (Kind.CONTINUOUS.value, Kind.COUNT.value)) else ()
    kept = table.decision(name)
    return Decision(kind, levels, spelling, form.flag("excluded"), kept.called, form.flag("comma")), troubles

"""The columns: what each is taken for and why, how sure that is, and one page each to change it."""

from __future__ import annotations

import asyncio
from typing import Any

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from consilience.data.errors import HarmoniseError
from consilience.data.finding import Remedy
from consilience.data.harmonise.columns import ColumnPlan
from consilience.data.harmonise.plan import said_of
from consilience.data.profile import ColumnProfile
from consilience.web.desk.remedies import taken
from consilience.web.desk.table import SiteTable
from consilience.web.desk.words import page_words
from consilience.web.forms import Trouble
from consilience.web.pages.site.column_form import KINDS, fields_of, plan_of, rows_of
from consilience.web.pages.site.common import desk_of, form_of, page, see

__all__ = ["change", "one", "remedy", "review", "show"]


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
    plans = [table.column_plan(name) for name in table.frame.columns]
    derived = [(one, table.derived_profile(one)) for one in table.plan.derived]
    rows = list(zip(table.frame.columns, profiles, plans, map(said_of, plans), strict=True))
    return page(request, "columns.html", "Check the columns", table=table, rows=rows, derived=derived)


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
    return _page(request, table, name, table.column_plan(name), [])


def _page(request: Request, table: SiteTable, name: str, plan: ColumnPlan, troubles: list[Trouble]) -> Response:
    kept = table.column_plan(name)
    profile = table.profile(name)
    return page(
        request,
        "column.html",
        f"Column {name}",
        troubles=troubles,
        name=name,
        profile=profile,
        plan=plan,
        rows=rows_of(table.frame[name], plan),
        number=table.frame.columns.index(name),
        kinds=KINDS,
        fields=fields_of(plan),
        changes=[change for change in table.changes if change.column == name],
        remedies=ways_out(profile, kept),
        dates=table.frame[name].dtype.is_temporal() or profile.holds == "dates or times" or bool(plan.date) or _dated(profile),
        numeric=table.frame[name].dtype.is_numeric(),
    )


def _dated(profile: ColumnProfile) -> bool:
    return any(sign.code == "date" for sign in profile.signs)


def ways_out(profile: ColumnProfile, plan: ColumnPlan) -> list[tuple[int, int, Remedy]]:
    """The ways out that one click takes: the places of finding and remedy, which a form sends, and the remedy."""
    return [
        (i, j, remedy)
        for i, finding in enumerate(profile.signs)
        for j, remedy in enumerate(finding.remedies)
        if taken(plan, remedy) is not None and not plan.drop
    ]


async def remedy(request: Request) -> Response:
    """Take a way out that a finding names."""
    table = _table(request)
    name = _name(request, table)
    form = await form_of(request)
    kept = table.column_plan(name)
    chosen = next((r for i, j, r in ways_out(table.profile(name), kept) if form.text("way") == f"{i}-{j}-{r.step}-{r.value}"), None)
    made = taken(kept, chosen) if chosen is not None else None
    if made is None:
        return _page(
            request, table, name, kept, [Trouble("", "The column has changed since this page was loaded. Nothing was done; look again.")]
        )
    try:
        desk_of(request).decide(made)
    except HarmoniseError as error:
        return _page(request, table, name, kept, [Trouble("", page_words(error))])
    return see(f"/columns/{request.path_params['number']}")


async def change(request: Request) -> Response:
    """Change one column."""
    table = _table(request)
    name = _name(request, table)
    form = await form_of(request)
    if form.flag("reset"):
        desk_of(request).decide(ColumnPlan(name=name))
        return see("/columns")
    made, troubles = plan_of(form, table.frame[name], table.column_plan(name))
    if not troubles:
        troubles = _decided(request, table, made)
    return see("/columns") if not troubles else _page(request, table, name, made, troubles)


def _decided(request: Request, table: SiteTable, made: ColumnPlan) -> list[Trouble]:
    """Do it, unless it cannot be done; what is wrong with it, then."""
    before = table.column_plan(made.name)
    try:
        desk_of(request).decide(made)
    except HarmoniseError as error:
        return [Trouble(_field(error, made), page_words(error))]
    profile = table.profile(made.name)
    # a column that was refused and still is has been looked at; what the owner has said of it is not lost
    wrong = profile.trouble if (made.kind or made.levels) and not made.drop and not profile.usable else ""
    if wrong:
        desk_of(request).decide(before)
    return [Trouble("kind", wrong)] if wrong else []


def _field(error: HarmoniseError, made: ColumnPlan) -> str:
    """The field that an error is about, as far as its words say so."""
    words = str(error)
    marks: dict[str, Any] = {"called": "rename", "unit": "unit", "converted": "unit", "date": "date_of", "day": "date_of", "range": "low"}
    if "cannot be read so" in words:
        return "missing"
    return next((field for mark, field in marks.items() if mark in words), "kind" if made.kind else "missing")

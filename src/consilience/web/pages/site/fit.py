"""The study's variables beside the site's own columns, with what repairs a conflict on the same page."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from starlette.requests import Request
from starlette.responses import Response

from consilience.data.errors import HarmoniseError
from consilience.data.harmonise.columns import ColumnPlan
from consilience.data.harmonise.scales import UNITS
from consilience.data.kinds import level_label
from consilience.errors import ConsilienceError
from consilience.web.desk import SiteDesk
from consilience.web.desk.fitting import Match, kind_words, lost_pairs, pairs_of, suggested
from consilience.web.desk.table import SiteTable
from consilience.web.desk.words import page_words
from consilience.web.forms import Form, Trouble
from consilience.web.pages.site.common import desk_of, form_of, page, see

__all__ = ["change", "show"]

CHANGED = "The study or your table has changed since this page was loaded. Nothing was done; look again."
MISSING = "missing"
"""A choice beside the study's levels, which have a sign in front of them: a level may have any name."""


async def show(request: Request) -> Response:
    """Every variable of the study."""
    desk = desk_of(request)
    if desk.table is None:
        return see("/data")
    if desk.study is None:
        return see("/join")
    try:
        await desk.look()
    except ConsilienceError as error:
        return page(request, "unreachable.html", "The study cannot be reached", status=502, words=str(error), back="/fit")
    return _page(request)


def _page(request: Request, *troubles: Trouble, given: Mapping[str, str] | None = None) -> Response:
    desk = desk_of(request)
    assert desk.table is not None
    matches = desk.matches()
    offer = desk.offer
    taken = {match.column for match in matches if match.column}
    free = [name for name in desk.table.frame.columns if name not in taken and not desk.table.column_plan(name).drop]
    held = [match.variable.name for match in matches if match.state == "matches"]
    withheld = [match.variable.name for match in matches if match.state == "withheld"]
    return page(
        request,
        "fit.html",
        "Does your table fit the study?",
        troubles=list(troubles),
        offer=offer,
        matches=matches,
        free=free,
        held=held,
        pairs=pairs_of(offer.datasets, held) if offer else None,
        lost=lost_pairs(withheld, held),
        among=offer is not None and tuple(sorted(held)) in offer.datasets,
        kind_words=kind_words,
        suggested=suggested,
        columns=desk.table.frame.columns,
        units=tuple(UNITS),
        given=given or {},
    )


async def change(request: Request) -> Response:
    """Repair a conflict, match a column, withhold variables, or go on."""
    desk = desk_of(request)
    form = await form_of(request)
    if desk.table is None or desk.study is None:
        return see("/fit")
    matches = desk.matches()
    what = form.text("do")
    if what == "withhold" or form.flag("continue"):
        kept = set(form.many("withheld"))
        desk.withhold({match.variable.name for match in matches if match.variable.name.strip() in kept})
        if not form.flag("continue"):
            return see("/fit")
        if desk.offer is not None and not desk.fits():
            words = "Repair or withhold what is in conflict." if desk.held else "No variable of the study is matched yet."
            return _page(request, Trouble("variables", words))
        desk.confirm_fit()
        return see("/leaving" if desk.offer is not None else "/consent")
    number = form.text("variable", 6)
    if not number.isdecimal() or int(number) >= len(matches):
        return _page(request, Trouble("", CHANGED))
    match = matches[int(number)]
    if form.text("seen") != match.seen:
        return _page(request, Trouble("", CHANGED))
    if what == "levels" and match.fix == "levels" and match.column in desk.table.frame.columns:
        return _levels(request, int(number), match, form)
    try:
        made = _repaired(desk, match, what, form)
        if made is not None:
            desk.decide(made)
    except HarmoniseError as error:
        return _page(request, Trouble(f"unit-{number}" if what == "unit" else "variables", page_words(error)))
    return see(f"/fit#variable-{number}")


def _repaired(desk: SiteDesk, match: Match, what: str, form: Form) -> ColumnPlan | None:
    """A column's plan after a repair; None where nothing was chosen."""
    assert desk.table is not None
    table, variable = desk.table, match.variable
    if what == "column":
        column = form.raw("column")
        return replace(table.column_plan(column), rename=variable.name) if column in table.frame.columns else None
    if match.column not in table.frame.columns:  # a derived variable is repaired where it is derived
        return None
    plan = table.column_plan(match.column)
    if what == "release":
        return replace(plan, rename="")
    if what == "kind":
        return replace(plan, kind="", levels=())
    if what == "unit" and form.text("unit", 40):
        return replace(plan, unit=form.text("unit", 40), factor=None, offset=None)
    if what == "range" and variable.range is not None:
        # in the study's unit, which the range is in
        own = plan.units[1]
        unit = f"{own} -> {variable.unit}" if own and variable.unit and own != variable.unit else plan.unit
        return replace(plan, range=variable.range, unit=unit)
    return None


def _levels(request: Request, number: int, match: Match, form: Form) -> Response:
    """Each strange level gets one of the study's, or is said to be missing: by choice, never because a choice was passed over."""
    desk = desk_of(request)
    assert desk.table is not None
    given = {f"level-{number}-{i}": form.raw(f"level-{i}") for i in range(len(match.strange))}
    allowed = {f"={level}": level for level in match.variable.levels} | {MISSING: ""}
    troubles = [
        Trouble(field, f"Choose what {label} is in {match.variable.name}, or that it is none of its levels.")
        for (field, choice), label in zip(given.items(), match.strange, strict=True)
        if choice not in allowed
    ]
    if troubles:
        return _page(request, *troubles, given=given)
    chosen = {label: allowed[choice] for label, choice in zip(match.strange, given.values(), strict=True)}
    before = desk.table.column_plan(match.column)
    after = replace(before, recode=_recode(desk.table, before, chosen), kind="", levels=())
    first = next(iter(given))
    try:
        desk.decide(after)
    except HarmoniseError as error:
        return _page(request, Trouble(first, page_words(error)), given=given)
    if desk.table.column(match.variable.name).drop_nulls().is_empty():
        desk.decide(before)
        words = f"{match.variable.name} would have no value left. Give at least one of them a level, or withhold the variable below."
        return _page(request, Trouble(first, words), given=given)
    return see(f"/fit#variable-{number}")


def _recode(table: SiteTable, before: ColumnPlan, chosen: Mapping[str, str]) -> tuple[tuple[str, str], ...]:
    """From what the file says, through what was respelled before, to the study's levels."""
    recode = dict(before.recode)
    for value in table.frame[before.name].unique().drop_nulls().to_list():
        label = level_label(value)
        now = recode.get(label, label)
        recode |= {label: chosen[now]} if now in chosen else {}
    return tuple(sorted(recode.items()))

"""The study's variables beside the site's own columns, with what repairs a conflict on the same page."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from starlette.requests import Request
from starlette.responses import Response

from consilience.data.kinds import level_label
from consilience.errors import ConsilienceError
from consilience.web.desk import SiteDesk
from consilience.web.desk.fitting import Match, kind_words, lost_pairs, pairs_of, suggested
from consilience.web.desk.table import respelled
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
    free = [name for name in desk.table.frame.columns if name not in taken and not desk.table.decision(name).excluded]
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
    if what == "levels" and match.fix == "levels":
        return _levels(request, int(number), match, form)
    _repair(desk, match, what, form)
    return see(f"/fit#variable-{number}")


def _repair(desk: SiteDesk, match: Match, what: str, form: Form) -> None:
    assert desk.table is not None
    table = desk.table
    if what == "column" and form.raw("column") in table.frame.columns:
        column = form.raw("column")
        desk.decide(column, replace(table.decision(column), called=match.variable.name))
    elif what == "release" and match.column:
        desk.decide(match.column, replace(table.decision(match.column), called=""))
    elif what == "kind" and match.column:
        desk.decide(match.column, replace(table.decision(match.column), kind="", levels=()))


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
    before = desk.table.decision(match.column)
    spelling = dict(before.spelling)
    # from what the file says, through what was respelled before, to the study's level
    for value in desk.table.frame[match.column].unique().drop_nulls().to_list():
        label = level_label(value)
        now = before.spelling.get(label, label)
        spelling |= {label: chosen[now]} if now in chosen else {}
    after = replace(before, spelling=spelling, kind="", levels=())
    if respelled(desk.table.frame[match.column], after).drop_nulls().is_empty():
        words = f"{match.variable.name} would have no value left. Give at least one of them a level, or withhold the variable below."
        return _page(request, Trouble(next(iter(given)), words), given=given)
    desk.decide(match.column, after)
    return see(f"/fit#variable-{number}")

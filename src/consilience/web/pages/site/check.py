"""The check: everything that is doubtful or refused about the table, in one place, before anything is agreed to."""

from __future__ import annotations

import asyncio

from starlette.requests import Request
from starlette.responses import Response

from consilience.errors import ConsilienceError
from consilience.web.pages.site.common import desk_of, page, see

__all__ = ["show"]


async def show(request: Request) -> Response:
    """All findings, the gravest first; with a study, what its units and ranges say."""
    desk = desk_of(request)
    table = desk.table
    if table is None:
        return see("/data")
    unreachable = ""
    if desk.study is not None:
        try:
            await desk.look()
        except ConsilienceError as error:
            unreachable = str(error)
    found = await asyncio.to_thread(desk.check)
    columns = await asyncio.to_thread(table.profiles)
    plans = [table.column_plan(name) for name in table.frame.columns]
    counts = {name: sum(p.standing.value == name and not plan.drop for p, plan in zip(columns, plans, strict=True)) for name in STANDINGS}
    return page(
        request,
        "check.html",
        "Check your table",
        table=table,
        found=found,
        counts=counts,
        places=_places(table.frame.columns, [plan.final for plan in plans]),
        measured=[match for match in desk.matches() if match.variable.unit or match.variable.range is not None],
        numbers={name: number for number, name in enumerate(table.frame.columns)},
        offer=desk.offer,
        unreachable=unreachable,
    )


STANDINGS = ("sure", "doubtful", "refused", "excluded")


def _places(names: list[str], finals: list[str]) -> dict[str, int]:
    """The pages of columns, by their names in the file and after the plan."""
    return {final: number for number, final in enumerate(finals)} | {name: number for number, name in enumerate(names)}

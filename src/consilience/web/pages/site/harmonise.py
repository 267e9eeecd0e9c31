"""Harmonising: all that is done with the table, before and after; variables that are computed from others; the plan as a file."""

from __future__ import annotations

from starlette.requests import Request
from starlette.responses import Response

from consilience.data.errors import HarmoniseError
from consilience.data.harmonise import Plan, as_toml
from consilience.data.harmonise.derived import read_derived
from consilience.web.desk.words import page_words
from consilience.web.forms import Trouble
from consilience.web.pages.site.common import check, desk_of, form_of, page, see
from consilience.web.uploads import TooLargeError, read_upload

__all__ = ["change", "derive", "download", "show", "upload"]

MOST_BYTES = 1 << 20
KINDS = (("", "decide from the values"), *((kind, kind) for kind in ("continuous", "count", "binary", "ordinal", "multinomial")))


async def show(request: Request) -> Response:
    """What is done, before and after."""
    return see("/data") if desk_of(request).table is None else _page(request)


def _page(request: Request, *troubles: Trouble, name: str = "", expression: str = "", kind: str = "") -> Response:
    table = desk_of(request).table
    assert table is not None
    numbers = {column: number for number, column in enumerate(table.frame.columns)}
    profiles = [(one, table.derived_profile(one)) for one in table.plan.derived]
    return page(
        request,
        "harmonise.html",
        "What is done with your table",
        troubles=list(troubles),
        table=table,
        plan=table.plan,
        lines=table.plan.lines(),
        changes=table.changes,
        numbers=numbers,
        derived=profiles,
        findings=[f for f in table.findings if f.code in ("recode-absent", "range-empties")],
        given={"name": name, "expression": expression, "kind": kind},
        kinds=KINDS,
        names=[name for name in table.after if name],
    )


async def derive(request: Request) -> Response:
    """A variable more, computed from others."""
    form = await form_of(request)
    desk = desk_of(request)
    if desk.table is None:
        return see("/data")
    name, text, kind = form.text("name", 200), form.text("expression", 2000), form.text("kind", 20)
    troubles = [
        Trouble(field, words)
        for field, value, words in (
            ("name", name, "Give the new variable a name."),
            ("expression", text, "Give an expression, as in weight / (height / 100) ** 2."),
        )
        if not value
    ]
    if not troubles:
        try:
            made = read_derived(name, {"expression": text, **({"kind": kind} if kind else {})})
            desk.derive((*(one for one in desk.table.plan.derived if one.name != name), made))
        except HarmoniseError as error:
            troubles = [Trouble("name" if "called" in str(error) else "expression", page_words(error))]
    return _page(request, *troubles, name=name, expression=text, kind=kind) if troubles else see("/harmonise")


async def change(request: Request) -> Response:
    """Take a derived variable back, or all of it."""
    form = await form_of(request)
    desk = desk_of(request)
    if desk.table is None:
        return see("/data")
    gone = form.raw("without")
    try:
        if form.flag("reset"):
            desk.follow(Plan())
        elif form.flag("without"):
            desk.derive(one for one in desk.table.plan.derived if one.name != gone)
    except HarmoniseError as error:
        return _page(request, Trouble("", page_words(error)))
    return see("/harmonise")


async def download(request: Request) -> Response:
    """The plan as a file, which the command line takes as well."""
    table = desk_of(request).table
    if table is None:
        return see("/data")
    headers = {"Content-Disposition": 'attachment; filename="site.toml"'}
    return Response(as_toml(table.plan), media_type="application/toml; charset=utf-8", headers=headers)


async def upload(request: Request) -> Response:
    """A plan from a file, in place of what was decided."""
    desk = desk_of(request)
    try:
        found = await read_upload(request, most=MOST_BYTES, check=lambda form: check(request, form))
    except TooLargeError as error:
        return _page(request, Trouble("plan", f"A site's file has at most {error.most:,} bytes."))
    if desk.table is None:
        return see("/data")
    if not found.name:
        return _page(request, Trouble("plan", "Choose a file first."))
    try:
        desk.follow(Plan.parse(found.content.decode("utf-8-sig"), found.name))
    except UnicodeDecodeError:
        return _page(request, Trouble("plan", f"{found.name} is no text in UTF-8."))
    except HarmoniseError as error:
        return _page(request, Trouble("plan", str(error).removeprefix("At 'this site': ")))
    return see("/harmonise")

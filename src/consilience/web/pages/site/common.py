"""What the pages of the site's app share: the steps and how far each is, the frame around a page, and forms with their token."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse

from consilience.iod.wording import counted
from consilience.web.desk import SiteDesk
from consilience.web.forms import Form, Trouble, read_form
from consilience.web.rendering import Link, Shell, render
from consilience.web.security import Csrf

__all__ = ["Task", "csrf_of", "desk_of", "form_of", "page", "see", "shell_of", "tasks_of"]

LATER = "Cannot start yet"
FOOTER = "This app runs on this machine only. The table stays in its memory; what leaves it is on the page Run, line by line."


@dataclass(frozen=True, slots=True)
class Task:
    """A step: where it is, what it is for, and how far it is."""

    title: str
    href: str
    hint: str
    state: str
    colour: str = ""


def desk_of(request: Request) -> SiteDesk:
    """The desk of this app."""
    found: SiteDesk = request.app.state.desk
    return found


def csrf_of(request: Request) -> str:
    """The token for forms of this session."""
    guard: Csrf = request.app.state.csrf
    return guard.token(request.app.state.session)


async def form_of(request: Request) -> Form:
    """The form of a request, if it has this session's token."""
    form = await read_form(request)
    check(request, form)
    return form


def check(request: Request, form: Form) -> None:
    """Answer 403 unless the form has this session's token."""
    guard: Csrf = request.app.state.csrf
    guard.check(request.app.state.session, form.text("csrf"))


def see(path: str) -> RedirectResponse:
    """Go on to a page of this app: loading it again does not send the form again."""
    return RedirectResponse(path, 303)


def tasks_of(desk: SiteDesk) -> list[Task]:
    """The steps, each with its state."""
    table, study = desk.table, desk.study
    offer = desk.offer
    tasks = [_data(desk), _columns(desk), _harmonise(desk)]
    tasks.append(
        Task("Join", "/join", "Take the invitation to a study.", "Done", "good")
        if study
        else Task("Join", "/join", "Take the invitation to a study.", "To do", "busy")
    )
    ready = table is not None and study is not None
    hint = "Compare the study’s variables with your columns."
    if not ready:
        tasks.append(Task("Fit", "", hint, LATER))
    elif offer is not None and any(match.state == "conflict" for match in desk.matches()):
        tasks.append(Task("Fit", "/fit", hint, "Conflict", "bad"))
    else:
        tasks.append(Task("Fit", "/fit", hint, *(("Done", "good") if desk.fit_confirmed else ("To do", "busy"))))
    tasks.append(_check(desk))
    hint = "A dry run: see in words and numbers what would leave this site."
    done = desk.dry_run.found is not None
    state = ("Done", "good") if done else ("To do", "busy")
    tasks.append(
        Task("What will leave", "/leaving", hint, *state)
        if ready and desk.fit_confirmed and offer is not None
        else Task("What will leave", "", hint, LATER)
    )
    return [*tasks, _consent(desk, rehearsed=done), _run(desk), _result(desk)]


def _data(desk: SiteDesk) -> Task:
    hint = "Choose the table that this site takes part with."
    if desk.table is None:
        return Task("Data", "/data", hint, "To do", "busy")
    size = f"{counted(desk.table.frame.height, 'row')}, {counted(desk.table.frame.width, 'column')}"
    return Task("Data", "/data", f"{desk.table.name}: {size}.", "Done", "good")


def _columns(desk: SiteDesk) -> Task:
    hint = "Check what each column is taken for, and repair what is odd."
    if desk.table is None:
        return Task("Columns", "", hint, LATER)
    return Task("Columns", "/columns", hint, *(("Done", "good") if desk.table.reviewed else ("To do", "busy")))


def _harmonise(desk: SiteDesk) -> Task:
    hint = "See what is done with your table, before and after; as needed."
    if desk.table is None:
        return Task("Harmonise", "", hint, LATER)
    steps = len(desk.table.plan.lines())
    return Task("Harmonise", "/harmonise", hint, f"{counted(steps, 'step')}" if steps else "Nothing changed")


def _check(desk: SiteDesk) -> Task:
    hint = "See everything that is doubtful or refused, in one place."
    if desk.table is None:
        return Task("Check", "", hint, LATER)
    found = desk.check()
    if refused := found.count("refused"):
        return Task("Check", "/check", hint, f"{refused} refused", "bad")
    if doubtful := found.count("doubtful"):
        return Task("Check", "/check", hint, f"{doubtful} doubtful", "warn")
    return Task("Check", "/check", hint, "Nothing stands against it", "good")


def _consent(desk: SiteDesk, *, rehearsed: bool) -> Task:
    hint = "Agree to the study, by typing this site’s name."
    session = desk.session
    if session is not None and session.pending is not None:
        return Task("Consent", "/consent", hint, "Your answer is needed", "warn")
    if desk.study is not None and (desk.study.contract is not None or (session is not None and session.active)):
        return Task("Consent", "/consent/given", hint, "Done", "good")
    if desk.over:
        return Task("Consent", "", hint, f"The study is {desk.over}")
    if desk.table is not None and desk.study is not None and (rehearsed or (desk.shown and desk.shown.get("variables") is None)):
        return Task("Consent", "/consent", hint, "To do", "busy")
    return Task("Consent", "", hint, LATER)


def _run(desk: SiteDesk) -> Task:
    hint = "Answer the study’s requests; every message is written down."
    session = desk.session
    if desk.finished:
        return Task("Run", "/run", hint, "Finished", "good")
    if session is not None and session.active:
        return Task("Run", "/run", hint, "Running", "busy")
    if session is not None and (session.failure or session.outcome is not None):
        return Task("Run", "/run", hint, "Ended", "bad")
    if session is not None or (desk.study is not None and desk.study.contract is not None):
        return Task("Run", "/run", hint, "Stopped", "warn")
    return Task("Run", "", hint, LATER)


def _result(desk: SiteDesk) -> Task:
    hint = "The graphs that fit all sites’ data."
    return Task("Result", "/result", hint, "Ready", "good") if desk.finished else Task("Result", "", hint, LATER)


def shell_of(request: Request) -> Shell:
    """What stands around a page."""
    desk = desk_of(request)
    path = request.url.path
    steps = tuple(
        Link(
            task.title,
            task.href,
            bool(task.href) and (path == task.href or path.startswith(f"{task.href.removesuffix('/given')}/")),
            task.state,
        )
        for task in tasks_of(desk)
    )
    return Shell("consilience", steps=steps, who=f"site {desk.site}" if desk.site else "", footer=FOOTER)


def page(
    request: Request, template: str, title: str, *, status: int = 200, troubles: list[Trouble] | tuple[Trouble, ...] = (), **values: Any
) -> HTMLResponse:
    """A page of the app. A form with troubles is a page like others: browsers call every other status an error of the program."""
    found: dict[str, Any] = {
        "shell": shell_of(request),
        "csrf": csrf_of(request),
        "desk": desk_of(request),
        "title": title,
        "troubles": troubles,
        "over": desk_of(request).over,
    }
    return render(f"site/{template}", status, **found, **values)

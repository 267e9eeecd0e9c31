"""One request to a page: who asks, whether that may be, and what stands around the answer.

Every view is a plain function of a :class:`Visit`, called in a thread: it reads the store and renders. Forms are read, and their tokens
checked, before a view sees them.
"""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response

from consilience.errors import ConsilienceError
from consilience.service.errors import RateLimitError, TokenError
from consilience.service.server.app import status_of
from consilience.service.server.services import (
    Services,
    access_to,
    held_study,
    own_study,
    seen_study,
    shared_study,
    told_study,
    whole_study,
)
from consilience.service.store import Access, Principal, StudyRow, TokenKind
from consilience.web.forms import Form, Trouble, read_form
from consilience.web.live import Streams
from consilience.web.rendering import Link, Shell, render
from consilience.web.security import Csrf

if TYPE_CHECKING:
    from consilience.service.server.openid.provider import Provider

__all__ = ["HOME", "Pages", "View", "Visit", "acts", "go", "local_path", "login_first", "shows"]

HOME = "/studies"
_LOCAL = re.compile(r"/(?:studies|account)(?:/[A-Za-z0-9][A-Za-z0-9._-]*)*")


@dataclass(frozen=True, slots=True)
class Pages:
    """The parts of the pages of one server. ``cookie`` names the session, ``secure`` says that browsers reach it over TLS, ``openid`` is
    the provider by which people may log in, if one is configured.
    """

    services: Services
    csrf: Csrf
    streams: Streams
    cookie: str
    secure: bool
    openid: Provider | None = None


@dataclass(frozen=True, slots=True)
class Visit:
    """A request, the session that came with it, and whose it is; nobody's if ``who`` is empty."""

    request: Request
    pages: Pages
    session: str
    who: Principal

    @classmethod
    def of(cls, request: Request) -> Visit:
        """The visit of a request, its session looked up."""
        pages: Pages = request.app.state.pages
        session = request.cookies.get(pages.cookie, "")
        try:
            who = pages.services.store.accounts.who(session, TokenKind.PAGES) if session else Principal()
        except TokenError:
            who, session = Principal(), ""
        return cls(request, pages, session, who)

    @property
    def services(self) -> Services:
        """The parts of the server."""
        return self.pages.services

    @property
    def owner(self) -> str:
        """The account that asks, an owner's or an observer's; empty for a site."""
        return self.who.owner

    @property
    def address(self) -> str:
        """Where the request comes from, for the limits on trying."""
        return self.request.client.host if self.request.client else ""

    @property
    def agent(self) -> str:
        """What the browser calls itself."""
        return self.request.headers.get("user-agent", "")

    @property
    def study(self) -> StudyRow:
        """The study that the address names, for an owner who may change it; or 404, and 403 for an observer."""
        return own_study(self.request.path_params["study"], self.who, self.services)

    @property
    def held(self) -> StudyRow:
        """The same, for the one who owns it and not for those with whom it is shared."""
        return held_study(self.request.path_params["study"], self.who, self.services)

    @property
    def seen(self) -> StudyRow:
        """The study that the address names, for its owners and its observers, or 404."""
        return seen_study(self.request.path_params["study"], self.who, self.services)

    @property
    def shared(self) -> StudyRow:
        """The study that the address names, for its owners, its observers and its sites, or 404."""
        return shared_study(self.request.path_params["study"], self.who, self.services)

    @property
    def told(self) -> StudyRow:
        """The same, where what it has found is shown."""
        return told_study(self.request.path_params["study"], self.who, self.services)

    @property
    def whole(self) -> StudyRow:
        """The same, for owners and observers: what the server knows of it, all of it."""
        return whole_study(self.request.path_params["study"], self.who, self.services)

    @property
    def access(self) -> Access:
        """What who asks may with the study that the address names, or 404."""
        return access_to(self.request.path_params["study"], self.who, self.services)[1]

    def shell(self, steps: Sequence[Link] = ()) -> Shell:
        """What stands around the page."""
        path, links = self.request.url.path, list[Link]()
        if self.owner:
            links = [Link("Studies", HOME, path.startswith(HOME)), Link("Account", "/account", path.startswith("/account"))]
        elif self.who.site:
            links = [Link("The study", f"{HOME}/{self.who.study}", path == f"{HOME}/{self.who.study}")]
        name = self.owner or (f"{self.who.site} (site)" if self.who.site else "")
        csrf = self.pages.csrf.token(self.session)
        return Shell("consilience study server", "/", tuple(links), tuple(steps), name, "/logout" if name else "", csrf)

    def show(self, template: str, title: str, *, status: int = 200, steps: Sequence[Link] = (), **values: Any) -> HTMLResponse:
        """A page of this visit. A form that is not right is a page like others: browsers call 422 an error of the program."""
        shell = self.shell(steps)
        return render(
            f"server/{template}", 200 if status == 422 else status, shell=shell, title=title, csrf=shell.csrf, **{"troubles": (), **values}
        )


View = Callable[[Visit], Response]
Action = Callable[[Visit, Form], Response]
Again = Callable[[Visit, Sequence[Trouble], int], Response]
Endpoint = Callable[[Request], Awaitable[Response]]


def go(path: str) -> RedirectResponse:
    """To another page, after a form: the browser asks for it anew, and a reload does not send the form twice."""
    return RedirectResponse(path, 303)


def local_path(given: str) -> str:
    """Where to go after a login: a page of ours, whatever was asked for.

    >>> local_path("/studies/00112233aabbccdd"), local_path("https://evil.example"), local_path("//evil.example/studies")
    ('/studies/00112233aabbccdd', '/studies', '/studies')
    """
    return given if len(given) <= 200 and _LOCAL.fullmatch(given) else HOME


def login_first(visit: Visit) -> HTTPException:
    """To the login, and from there back to this page."""
    return HTTPException(303, headers={"Location": f"/login?next={quote(local_path(visit.request.url.path), safe='/')}"})


def shows(view: View, *, owner: bool = True, anyone: bool = False) -> Endpoint:
    """A page for owners and observers; with ``owner=False`` also for sites, with ``anyone`` for everybody."""

    async def endpoint(request: Request) -> Response:
        visit = await run_in_threadpool(Visit.of, request)
        if not anyone and visit.who == Principal():
            raise login_first(visit)
        if owner and not anyone and not visit.owner:
            raise HTTPException(404, "There is no such page.")
        return await run_in_threadpool(view, visit)

    return endpoint


def acts(action: Action, again: Again, *, owner: bool = True) -> Endpoint:
    """What a form does, once. ``again`` shows the form's page with what is wrong."""

    async def endpoint(request: Request) -> Response:
        visit = await run_in_threadpool(Visit.of, request)
        if visit.who == Principal():
            return go("/login")
        form = await read_form(request)
        visit.pages.csrf.check(visit.session, form.text("csrf"))
        if owner and not visit.owner:
            raise HTTPException(404, "There is no such page.")
        return await run_in_threadpool(attempt, visit, form, action, again)

    return endpoint


def attempt(visit: Visit, form: Form, action: Action, again: Again) -> Response:
    """The action's answer; or its page, with the reason why it could not be done."""
    try:
        return action(visit, form)
    except ConsilienceError as error:
        response = again(visit, [Trouble("", str(error))], status_of(error))
        if isinstance(error, RateLimitError):
            response.headers["Retry-After"] = str(int(error.wait) + 1)
        return response

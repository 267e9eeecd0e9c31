"""What stands between a browser and both apps: headers on every answer, and a check of where every request comes from."""

from __future__ import annotations

import hashlib
import hmac
import logging
from collections.abc import Collection

from starlette.datastructures import Headers, MutableHeaders
from starlette.exceptions import HTTPException
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

__all__ = ["POLICY", "Csrf", "Shield"]

POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; font-src 'self'; form-action 'self'; "
    "frame-ancestors 'none'; base-uri 'none'"
)
"""Nothing but our own files, and nobody may frame us. Inline scripts and styles are not run, so a name that had slipped through unescaped
would still be text."""
HEADERS = {
    "Content-Security-Policy": POLICY,
    "X-Content-Type-Options": "nosniff",
    # Not "no-referrer": under it browsers send "Origin: null" with our own forms, and the check below could not tell them from others'.
    # Other sites see nothing either way.
    "Referrer-Policy": "same-origin",
    "X-Frame-Options": "DENY",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
}
SAFE = ("GET", "HEAD", "OPTIONS")
_log = logging.getLogger("consilience.web")


class Shield:
    """ASGI middleware around an app's pages; the outermost of those that are added to it.

    ``hosts`` are the values of ``Host`` that are served; empty: any, for a server that is reached under names it does not know. ``links``
    says that a link from another origin may lead here (to a study server, from a mail; never to the site's app); ``doors`` are
    the only paths to which one may, where that is not so. ``outside`` are
    beginnings of paths that programs use and not browsers with cookies: their answers get the headers, their requests are not checked.
    """

    def __init__(
        self,
        app: ASGIApp,
        *,
        hosts: Collection[str] = (),
        links: bool = False,
        doors: tuple[str, ...] = (),
        outside: tuple[str, ...] = (),
    ) -> None:
        self._app, self._hosts, self._links, self._doors, self._outside = app, frozenset(hosts), links, doors, outside

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        begun = False

        async def shielded(message: Message) -> None:
            nonlocal begun
            if message["type"] == "http.response.start":
                begun = True
                headers = MutableHeaders(scope=message)
                for name, value in HEADERS.items():
                    headers.setdefault(name, value)
                # what does not change may be kept but is asked for anew; what may hold names, tokens or results is not kept
                headers.setdefault("Cache-Control", "no-cache" if scope["path"].startswith("/static/") else "no-store")
            await send(message)

        wrong = "" if scope["path"].startswith(self._outside) else self.objection(scope)
        if wrong:
            await PlainTextResponse(wrong, 403)(scope, receive, shielded)
            return
        try:
            await self._app(scope, receive, shielded)
        except Exception:
            # here and not in the framework's own handler, which sits outside of all middleware and would answer without the headers
            if begun:
                raise
            _log.exception("a page has failed", extra={"path": scope["path"]})
            await PlainTextResponse("Something is wrong with this page. The log says what.", 500)(scope, receive, shielded)

    def objection(self, scope: Scope) -> str:
        """Why a request is not served; empty if it is."""
        headers = Headers(scope=scope)
        host = headers.get("host", "")
        if self._hosts and host not in self._hosts:  # a name of somebody else's that was pointed at this machine
            return "This address is not served here."
        origin, fetched = headers.get("origin"), headers.get("sec-fetch-site")
        if origin is not None and origin != f"{scope['scheme']}://{host}":
            return "Requests from pages of other origins are not answered."
        if scope["method"] not in SAFE and origin is None and fetched != "same-origin":
            return "A form must come from a page of this app."  # browsers say so with every form
        if fetched in (None, "same-origin", "none"):
            return ""
        followed = scope["method"] == "GET" and (headers.get("sec-fetch-mode"), headers.get("sec-fetch-dest")) == ("navigate", "document")
        return (
            "" if followed and (self._links or scope["path"] in self._doors) else "Requests from pages of other origins are not answered."
        )


class Csrf:
    """Tokens that tie a form to a session: nobody can make one who has not seen a page of that session.

    >>> guard = Csrf(b"secret")
    >>> guard.valid("session", guard.token("session")), guard.valid("another", guard.token("session")), guard.valid("session", "")
    (True, False, False)
    """

    def __init__(self, secret: bytes) -> None:
        self._secret = secret

    def token(self, session: str) -> str:
        """The token of a session, for the field ``csrf`` of its forms."""
        return hmac.new(self._secret, b"csrf/" + session.encode(), hashlib.sha256).hexdigest()

    def valid(self, session: str, given: str) -> bool:
        """Whether this is the session's token."""
        return hmac.compare_digest(self.token(session).encode(), given.encode())

    def check(self, session: str, given: str) -> None:
        """Answer 403 unless this is the session's token."""
        if not self.valid(session, given):
            raise HTTPException(403, "This form is not of your session, or that has ended. Go back, load the page again and repeat it.")

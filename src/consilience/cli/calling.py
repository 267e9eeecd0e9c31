"""Calls to a study server's REST interface, for its owner at the command line."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from consilience import __version__
from consilience.cli.optional import need_service
from consilience.errors import AccessError, ConsilienceError, OptionError
from consilience.service.errors import ConfigurationError, UnreachableError
from consilience.wording import printable

if TYPE_CHECKING:
    import httpx

__all__ = ["AsJson", "Ca", "Server", "StudyId", "call", "error_of", "reaching", "rest_client"]

Server = Annotated[str, typer.Option(help="Address of the server.", envvar="CONSILIENCE_SERVER_PUBLIC_URL")]
Ca = Annotated[str, typer.Option(help="Certificate to trust (PEM), for a server with one of its own.", envvar="CONSILIENCE_SERVER_CA")]
StudyId = Annotated[str, typer.Argument(help="The study's id.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON.")]
TOKEN = "CONSILIENCE_SERVER_TOKEN"  # noqa: S105  the name of a variable


def rest_client(server: str, ca: str, *, login: bool = True) -> httpx.Client:
    """A client for a server's REST interface, with the token of the environment."""
    need_service()
    import httpx  # noqa: PLC0415

    from consilience.service.tls import client_context  # noqa: PLC0415

    if not server:
        raise ConfigurationError("Say which server is meant: --server https://… or CONSILIENCE_SERVER_PUBLIC_URL.")
    trusted = Path(ca).read_text(encoding="ascii") if ca else ""
    token = os.environ.get(TOKEN, "")
    if login and not token:
        raise AccessError(f"Log in first: export {TOKEN}=$(consilience server study login NAME).")
    headers = {"User-Agent": f"consilience/{__version__}"} | ({"Authorization": f"Bearer {token}"} if login else {})
    return httpx.Client(base_url=f"{server.rstrip('/')}/api/v1", verify=client_context(trusted), headers=headers, timeout=30.0)


def call(client: httpx.Client, method: str, path: str, body: Any = None) -> Any:
    """The answer to one request, JSON as what it says and else as bytes; an error in words if it was not done."""
    with reaching(client):
        reply = client.request(method, path, json=body) if body is not None else client.request(method, path)
    if reply.status_code >= 400:
        raise error_of(reply)
    return reply.json() if reply.content and reply.headers.get("content-type", "").startswith("application/json") else reply.content


@contextmanager
def reaching(client: httpx.Client) -> Iterator[None]:
    """A server that does not answer, or stops in the middle of it, or is not trusted: an error in words."""
    import httpx  # noqa: PLC0415

    from consilience.service.tls import untrusted  # noqa: PLC0415

    try:
        yield
    except httpx.HTTPError as error:
        if reason := untrusted(error):
            raise UnreachableError(
                f"The certificate of {client.base_url} is not one that this machine trusts: {reason}. Where the server has one of its own "
                f"making, give it with --ca FILE or CONSILIENCE_SERVER_CA: tls.crt in the server's folder, anew after each renewal."
            ) from None
        raise UnreachableError(f"{client.base_url} does not answer: {printable(str(error))}.") from None


def error_of(reply: httpx.Response) -> ConsilienceError:
    """Why something was not done, in the server's words."""
    try:
        body = reply.json()
    except ValueError:
        return UnreachableError(f"The server answers with status {reply.status_code}.")
    told = body if isinstance(body, dict) else {"detail": body}
    message = told.get("message") or json.dumps(told.get("detail", told), ensure_ascii=False)
    kind = AccessError if reply.status_code in (401, 403, 404, 429) else OptionError
    return kind(printable(str(message)))

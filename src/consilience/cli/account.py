"""``consilience server account``: one's own account on a running server, over its REST interface."""

from __future__ import annotations

import sys
import time
from typing import Annotated

import typer
from rich.markup import escape
from rich.table import Table

from consilience.cli.calling import AsJson, Ca, Server, call, rest_client
from consilience.cli.terminal import Terminal, say, say_json
from consilience.errors import OptionError

__all__ = ["account_app"]

account_app = typer.Typer(help="Your own account: who is logged in, your password, links that you were given.", no_args_is_help=True)
Stdin = Annotated[bool, typer.Option("--stdin", help="Read what is asked for from standard input, a line each.")]


def _asked(given: bool, *questions: str) -> list[str]:
    """Answers that nobody else may read: from standard input for scripts, from the terminal for people, never from the command line."""
    if given:
        return [sys.stdin.readline().rstrip("\n") for _ in questions]
    return [str(typer.prompt(words, hide_input=True, confirmation_prompt=words.startswith("new"), err=True)) for words in questions]


@account_app.command("show")
def show(server: Server = "", ca: Ca = "") -> None:
    """Your account's name, and what it may."""
    with rest_client(server, ca) as client:
        found = call(client, "GET", "/account")
    say(f"{found['name']} ({found['role']})")


@account_app.command("sessions")
def sessions(server: Server = "", ca: Ca = "", as_json: AsJson = False) -> None:
    """Who is logged in to your account: browsers and programs, since when and from where."""
    with rest_client(server, ca) as client:
        found = call(client, "GET", "/sessions")
    if as_json:
        say_json(found)
        return
    table = Table()
    for heading in ("session", "with", "from", "since", "last seen", "ends"):
        table.add_column(heading)
    for one in found:
        times = (time.strftime("%Y-%m-%d %H:%M", time.gmtime(one[key])) for key in ("created", "seen", "expires"))
        table.add_row(one["id"] + (" (this one)" if one["this"] else ""), escape(one["agent"]), escape(one["address"]), *times)
    Terminal().print(table)


@account_app.command("end")
def end(
    session: Annotated[str, typer.Argument(help="The session's id, from the list.")] = "",
    others: Annotated[bool, typer.Option("--others", help="All but this one.")] = False,
    server: Server = "",
    ca: Ca = "",
) -> None:
    """End a session or a token of your account, or all others.

    Example: consilience server account end --others
    """
    if bool(session) == others:
        raise OptionError("Say which session is to end, or --others for all but this one.")
    with rest_client(server, ca) as client:
        if others:
            say(call(client, "DELETE", "/sessions")["ended"])
        else:
            call(client, "DELETE", f"/sessions/{session}")


@account_app.command("password")
def password(server: Server = "", ca: Ca = "", stdin: Stdin = False) -> None:
    """Change your password. All other sessions and tokens of your account end."""
    old, new = _asked(stdin, "password", "new password (at least 12 characters)")
    with rest_client(server, ca) as client:
        call(client, "POST", "/account/password", {"old": old, "new": new})


@account_app.command("reset")
def reset(server: Server = "", ca: Ca = "", stdin: Stdin = False) -> None:
    """Set another password with a link that whoever operates the server has made for you."""
    link, new = _asked(stdin, "link", "new password (at least 12 characters)")
    with rest_client(server, ca, login=False) as client:
        call(client, "POST", "/password-reset", {"key": link.rpartition("#")[2], "password": new})


@account_app.command("accept")
def accept(
    name: Annotated[str, typer.Argument(help="The name that your account will have.")],
    server: Server = "",
    ca: Ca = "",
    stdin: Stdin = False,
) -> None:
    """Make an account with a link that whoever operates the server has made for you."""
    link, new = _asked(stdin, "link", "new password (at least 12 characters)")
    with rest_client(server, ca, login=False) as client:
        found = call(client, "POST", "/accounts", {"key": link.rpartition("#")[2], "name": name, "password": new})
    say(f"{found['name']} ({found['role']})")

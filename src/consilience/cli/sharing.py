"""``consilience server study share`` and its like: who has a study."""

from __future__ import annotations

import time
from typing import Annotated, Any

import typer
from rich.markup import escape
from rich.table import Table

from consilience.cli.calling import AsJson, Ca, Server, StudyId, call, rest_client
from consilience.cli.terminal import Terminal, say, say_json
from consilience.errors import OptionError

__all__ = ["add_sharing_commands"]

Name = Annotated[str, typer.Argument(help="Name of the account.")]


def share(
    study: StudyId,
    name: Name,
    observer: Annotated[bool, typer.Option(help="It sees the study, and changes nothing.")] = False,
    result: Annotated[bool, typer.Option(help="An observer sees the result, too.")] = False,
    server: Server = "",
    ca: Ca = "",
) -> None:
    """Share a study with another account: as a co-owner, or as an observer.

    Example: consilience server study share 00112233aabbccdd eve --observer --result
    """
    if result and not observer:
        raise OptionError("--result is for an observer; a co-owner sees the result in any case. Say --observer, or leave it out.")
    with rest_client(server, ca) as client:
        body = {"role": "observer" if observer else "co-owner", "result": result}
        _show(call(client, "PUT", f"/studies/{study}/members/{name}", body))


def unshare(study: StudyId, name: Name, server: Server = "", ca: Ca = "") -> None:
    """Take a study back from an account; or, by your own name, give up one that is shared with you."""
    with rest_client(server, ca) as client:
        call(client, "DELETE", f"/studies/{study}/members/{name}")


def transfer(study: StudyId, name: Name, server: Server = "", ca: Ca = "") -> None:
    """Hand a study over to another account. You are a co-owner from then on."""
    with rest_client(server, ca) as client:
        say(call(client, "POST", f"/studies/{study}/transfer", {"account": name})["owner"])


def members(study: StudyId, server: Server = "", ca: Ca = "", as_json: AsJson = False) -> None:
    """Who has a study beside its owner."""
    with rest_client(server, ca) as client:
        found = call(client, "GET", f"/studies/{study}/members")
    if as_json:
        say_json(found)
    else:
        _show(found)


def history(study: StudyId, server: Server = "", ca: Ca = "", as_json: AsJson = False) -> None:
    """What was done to a study, and by which account."""
    with rest_client(server, ca) as client:
        found = call(client, "GET", f"/studies/{study}/audit")
    if as_json:
        say_json(found)
        return
    console = Terminal()
    for one in found:
        when = time.strftime("%Y-%m-%d %H:%M:%S UTC", time.gmtime(one["time"]))
        words = one["action"] + (f": {one['detail']}" if one["detail"] else "")
        console.print(f"{when}  {escape(one['account'])}  {escape(words)}", highlight=False, soft_wrap=True)


def _show(found: list[dict[str, Any]]) -> None:
    table = Table()
    for heading in ("account", "role", "sees the result"):
        table.add_column(heading)
    for one in found:
        table.add_row(escape(one["account"]), one["role"], "yes" if one["result"] else "no")
    Terminal().print(table)


def add_sharing_commands(app: typer.Typer) -> None:
    """Add the commands to ``consilience server study``."""
    for name, command in (("share", share), ("unshare", unshare), ("transfer", transfer), ("members", members), ("history", history)):
        app.command(name)(command)

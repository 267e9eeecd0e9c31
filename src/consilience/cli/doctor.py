"""``consilience doctor``: what stands in the way of a site, with the sentence to send to whoever can change it."""

from __future__ import annotations

import sys
from importlib.util import find_spec
from pathlib import Path
from typing import Annotated

import typer
from rich.markup import escape
from rich.table import Table

from consilience import __version__
from consilience.cli.terminal import Terminal, say_json
from consilience.service.config import load_agent
from consilience.service.doctor.folders import look_at_folder
from consilience.service.doctor.machine import look_at_machine
from consilience.service.doctor.server import Known, look_at_server
from consilience.service.doctor.sign import Sign, Standing, in_the_way
from consilience.service.errors import InvitationError
from consilience.wording import counted

__all__ = ["doctor"]

MARKS = {Standing.GOOD: "[green]good[/]", Standing.NOTICE: "[bold yellow]notice[/]", Standing.OBSTACLE: "[bold red]obstacle[/]"}


def doctor(
    files: Annotated[list[Path] | None, typer.Argument(help="Tables of this site, to be looked at as well.", show_default=False)] = None,
    server: Annotated[str, typer.Option(help="Address of a study server, https://….")] = "",
    invitation: Annotated[str, typer.Option(help="File with an invitation, or - for standard input: its server. It is not used up.")] = "",
    config: Annotated[
        Path | None, typer.Option("--config", help="TOML file with settings of the site.", envvar="CONSILIENCE_CLIENT_CONFIG")
    ] = None,
    home: Annotated[str | None, typer.Option(help="Folder with the identity and the studies; the servers of these are looked at.")] = None,
    ca: Annotated[str | None, typer.Option(help="Certificate authorities to trust (PEM).")] = None,
    port: Annotated[int, typer.Option(help="Port that the app is to listen on; 0 is any.", min=0, max=65535)] = 0,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Look for what stands in the way of taking part: installation, folder, network, server, tables; and what to ask the IT department.

    Exit code 0 if nothing does, 1 if something does. Nothing is changed, nothing of a table leaves this machine, and a server is sent
    only what anybody may ask it.

    Example: consilience doctor --invitation invitation.txt muenster.csv
    """
    settings = load_agent(config, home=home, ca=ca)
    folder = Path(settings.home)
    groups = {"This machine": look_at_machine(__version__, port), f"The folder {settings.home}": look_at_folder(folder)}
    for known in _servers(server, invitation, folder):
        groups[f"The server {known.url}"] = look_at_server(known, settings.ca)
    for file in files or []:
        groups[f"The table {file}"] = _table(file)
    signs = [sign for found in groups.values() for sign in found]
    ways = in_the_way(signs)
    if as_json:
        parts = [{"of": name, "signs": [sign.to_dict() for sign in found]} for name, found in groups.items()]
        say_json({"ok": not ways, "version": __version__, "groups": parts})
    else:
        _show(groups, Terminal())
    raise typer.Exit(1 if ways else 0)


def _servers(server: str, invitation: str, folder: Path) -> list[Known]:
    """Which servers are looked at: that of an option, that of an invitation, else those of all studies that were joined."""
    if invitation:
        from consilience.service.invitation import read_invitation  # noqa: PLC0415

        try:
            text = sys.stdin.read() if invitation == "-" else Path(invitation).read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as error:
            raise InvitationError(f"The invitation should be in {invitation!r}: {error}.") from None
        found = read_invitation(text)
        return [Known(server or found.url, found.server, found.certificate, found.study)]
    if server:
        return [Known(server)]
    if not (folder / "studies").is_dir() or find_spec("httpx") is None:  # without the extra, which is told among the packages
        return []
    from consilience.service.agent.home import Home  # noqa: PLC0415

    joined = {one.url: one for one in (study.joined for study in Home(folder).studies())}
    return [Known(one.url, one.server_key, one.certificate, one.study) for one in joined.values()]


def _table(file: Path) -> list[Sign]:
    from consilience.cli.sites import clients_of  # noqa: PLC0415
    from consilience.service.doctor.tables import look_at_table  # noqa: PLC0415

    return look_at_table(file, lambda path: clients_of([path], None, None))


def _show(groups: dict[str, list[Sign]], console: Terminal) -> None:
    for name, signs in groups.items():
        console.print(f"[bold]{escape(name)}[/]", highlight=False, soft_wrap=True)
        table = Table.grid(padding=(0, 1))
        table.add_column(no_wrap=True)
        table.add_column(no_wrap=True)
        table.add_column(overflow="fold")
        for sign in signs:
            table.add_row(f"  {MARKS[sign.standing]}", escape(sign.about), escape(sign.words))
            if sign.ask:
                table.add_row("", "[dim]to send[/]", f"[italic]{escape(sign.ask)}[/]")
        console.print(table)
        console.print()
    ways = in_the_way([sign for signs in groups.values() for sign in signs])
    if ways:
        console.print(
            f"[bold red]{counted(len(ways), 'thing')} in the way:[/] {escape(', '.join(sign.about for sign in ways))}.", highlight=False
        )
    else:
        console.print("[bold green]Nothing stands in the way.[/]", highlight=False)

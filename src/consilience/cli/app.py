"""``consilience``: the commands, and how errors become exit codes.

0: answered. 1: a defect of the program. 2: bad input, with a message that says the way out. 3: the data cannot answer. 130: interrupted;
if graphs were being sought, what was found until then is shown and written all the same.
"""

from __future__ import annotations

import typer

from consilience import __version__
from consilience.cli.app_command import app_command
from consilience.cli.check import check_files
from consilience.cli.client import client_app
from consilience.cli.demo import demo
from consilience.cli.discovery import discovery
from consilience.cli.independence import independence
from consilience.cli.redecision import redecision
from consilience.cli.reproduce import reproduce
from consilience.cli.server import server_app
from consilience.cli.simulation import simulation

__all__ = ["app"]

app = typer.Typer(
    name="consilience",
    help="Causal discovery across data sets that may not leave their sites.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)


def _version(value: bool) -> None:
    if value:
        print(__version__)
        raise typer.Exit


@app.callback()
def _root(version: bool = typer.Option(False, "--version", callback=_version, is_eager=True, help="Print the version and exit.")) -> None:
    del version


app.command("demo")(demo)
app.command("check")(check_files)
app.command("test")(independence)
app.command("discover")(discovery)
app.command("redecide")(redecision)
app.command("simulate")(simulation)
app.command("reproduce")(reproduce)
app.command("app")(app_command)
app.add_typer(server_app, name="server")
app.add_typer(client_app, name="client")

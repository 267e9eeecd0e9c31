"""Which commands there are, and where each of them is."""

from __future__ import annotations

from importlib import import_module

import typer

from consilience import __version__

__all__ = ["COMMANDS", "application"]

COMMANDS = {
    "demo": "consilience.cli.demo:demo",
    "check": "consilience.cli.check:check_files",
    "test": "consilience.cli.independence:independence",
    "discover": "consilience.cli.discovery:discovery",
    "effect": "consilience.cli.effect:effect",
    "redecide": "consilience.cli.redecision:redecision",
    "next": "consilience.cli.planning:measure_next",
    "power": "consilience.cli.planning:plan",
    "simulate": "consilience.cli.simulation:simulation",
    "reproduce": "consilience.cli.reproduce:reproduce",
    "app": "consilience.cli.app_command:app_command",
    "server": "consilience.cli.server:server_app",
    "client": "consilience.cli.client:client_app",
}
"""A process runs one command, and need not load what the others need."""


def _version(value: bool) -> None:
    if value:
        print(__version__)
        raise typer.Exit


def _root(version: bool = typer.Option(False, "--version", callback=_version, is_eager=True, help="Print the version and exit.")) -> None:
    del version


def application(*names: str) -> typer.Typer:
    """The command line with these commands, or with all.

    >>> [command.name for command in application("check").registered_commands]
    ['check']
    """
    made = typer.Typer(
        name="consilience",
        help="Causal discovery across data sets that may not leave their sites.",
        no_args_is_help=True,
        add_completion=False,
        pretty_exceptions_enable=False,
    )
    made.callback()(_root)
    for name in names or COMMANDS:
        module, _, attribute = COMMANDS[name].partition(":")
        found = getattr(import_module(module), attribute)
        if isinstance(found, typer.Typer):
            made.add_typer(found, name=name)
        else:
            made.command(name)(found)
    return made

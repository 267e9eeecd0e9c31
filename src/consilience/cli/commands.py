"""Which commands there are, and where each of them is."""

from __future__ import annotations

import typer

from consilience import __version__
from consilience.cli.waiting import Where, waiting

__all__ = ["COMMANDS", "application"]

COMMANDS = {
    "demo": Where(
        "consilience.cli.demo:demo",
        "Three synthetic sites with mixed kinds, different variables and site effects: tested three ways, then brought to a graph.",
    ),
    "check": Where(
        "consilience.cli.check:check_files",
        "Look at files before anything runs: kinds and why, missing codes, units, spellings, names, pairs, and how long it will take.",
    ),
    "test": Where(
        "consilience.cli.independence:independence",
        "Test whether X is independent of Y given others, across the files of several sites.",
    ),
    "discover": Where(
        "consilience.cli.discovery:discovery",
        "Find every PAG over all variables that agrees with the CI decisions at each site.",
    ),
    "effect": Where(
        "consilience.cli.effect:effect",
        "Find the graphs that agree with every site, and tell the total effect of X on Y where they identify it.",
    ),
    "redecide": Where(
        "consilience.cli.redecision:redecision",
        "Decide again on the tests of a finished result: another alpha, other knowledge, another way out of contradictions.",
    ),
    "next": Where(
        "consilience.cli.planning:measure_next",
        "Which further variable at which site would settle most of what the graphs of a result disagree about.",
    ),
    "power": Where(
        "consilience.cli.planning:plan",
        "How often studies of a design find each edge of a graph and each mark at its ends, by simulation. Ctrl-C shows what there is.",
    ),
    "simulate": Where(
        "consilience.cli.simulation:simulation",
        "Simulate sites with mixed kinds, site effects and latent causes from a graph: one CSV per site, a study file, the truth.",
    ),
    "reproduce": Where(
        "consilience.cli.reproduce:reproduce",
        "Repeat the paper's simulation study: accuracy of CI decisions, p-values against the pooled test, distances of graphs.",
    ),
    "app": Where(
        "consilience.cli.app_command:app_command",
        "Take part in a study with a browser instead of commands. The app answers this machine only.",
    ),
    "doctor": Where(
        "consilience.cli.doctor:doctor",
        "Look for what stands in the way of taking part: installation, folder, network, server, tables; and what to ask the IT department.",
    ),
    "server": Where("consilience.cli.server:server_app", "Set up and run a study server, and manage its studies."),
    "client": Where("consilience.cli.client:client_app", "Take part in a study: join it, answer it, look at what has left this site."),
    "nvflare": Where("consilience.cli.nvflare:nvflare_app", "Run a study on the network of NVIDIA FLARE."),
}


def _version(value: bool) -> None:
    if value:
        print(__version__)
        raise typer.Exit


def _root(version: bool = typer.Option(False, "--version", callback=_version, is_eager=True, help="Print the version and exit.")) -> None:
    del version


def application() -> typer.Typer:
    """The command line.

    >>> sorted(typer.main.get_command(application()).commands)[:4]
    ['app', 'check', 'client', 'demo']
    """
    made = typer.Typer(
        name="consilience",
        cls=waiting(COMMANDS),
        help="Causal discovery across data sets that may not leave their sites.",
        no_args_is_help=True,
        add_completion=False,
        pretty_exceptions_enable=False,
    )
    made.callback()(_root)
    return made

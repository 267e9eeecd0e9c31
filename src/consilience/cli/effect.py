"""``consilience effect``: what would become of one variable if another were set, as the graphs over all sites have it."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from consilience.cli.options import Given, takes_settings
from consilience.cli.reading_options import Read, takes_reading
from consilience.cli.searching import watched
from consilience.cli.show import ended_early, show_effects
from consilience.cli.sites import METHODS, choose, clients_of, make_test, say_findings, write_ledgers
from consilience.cli.terminal import Terminal, say_json
from consilience.iod import Knowledge, discover
from consilience.iod.discover import discover_arguments, knowledge_of
from consilience.settings import Part
from consilience.settings.effects import effect_text

__all__ = ["effect"]


@takes_reading
@takes_settings(Part.GRAPHS, Part.TESTS, without=("on_dropout",), instead=METHODS)  # files do not vanish
def effect(
    x: Annotated[str, typer.Argument(help="The variable that is set; * for every variable.")],
    y: Annotated[str, typer.Argument(help="The variable that is looked at; * for every variable.")],
    files: Annotated[list[Path], typer.Argument(help="One .csv or .parquet file per site, or one study file (.toml).", show_default=False)],
    reading: Read,
    settings: Given,
    knowledge: Annotated[
        Path | None, typer.Option(help="What is known before the data: tiers, exogenous, required, … (a TOML file).")
    ] = None,
    kind: Annotated[
        list[str] | None, typer.Option(help="Declare a kind: NAME=continuous|binary|ordinal|multinomial|count. Repeatable.")
    ] = None,
    levels: Annotated[list[str] | None, typer.Option(help="Declare levels in order: NAME=low,middle,high. Repeatable.")] = None,
    harmonise: Annotated[
        list[str] | None, typer.Option(help="What is done with a site's table first: SITE=site.toml, or one file for all. Repeatable.")
    ] = None,
    ledger: Annotated[Path | None, typer.Option(help="Write what left each site, as JSON Lines, to this file.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the result as JSON and nothing else.")] = False,
) -> None:
    """Find the graphs that agree with every site, and tell the total effect of X on Y where they identify it.

    Every graph is asked for itself: by which variables it adjusts, whether it rules an effect out, or why there is no telling. Exit code 3
    if no graph says anything.

    Example: consilience effect smoking cancer muenster.csv marburg.csv
    """
    method, chosen = choose(files, settings)
    known = knowledge_of(chosen) if knowledge is None else Knowledge.from_toml(knowledge)
    clients = clients_of(files, kind, levels, reading, harmonise)
    test = make_test(clients, method, chosen)
    say_findings(test, None)
    arguments = discover_arguments(chosen) | {"knowledge": known, "effects": (effect_text(x, y),)}
    found = watched(
        lambda say, stop: discover(test, **arguments, progress=say, stop=stop),
        time_limit=chosen.time_limit,
        quiet=as_json,
    )
    if ledger is not None:
        write_ledgers(clients, ledger)
    if as_json:
        say_json({"method": method.value, "headline": found.headline, "effects": [one.to_dict() for one in found.effects]})
    else:
        console = Terminal()
        console.print(found.headline, markup=False, highlight=False, soft_wrap=True)
        show_effects(found, console)
    raise typer.Exit(130 if ended_early(found) else 0 if any(one.known for one in found.effects) else 3)

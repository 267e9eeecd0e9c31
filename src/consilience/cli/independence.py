"""``consilience test``: one conditional-independence test over the files of several sites."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

import typer

from consilience.citest import CIResult
from consilience.cli.options import Given, takes_settings
from consilience.cli.reading_options import Read, split_names, takes_reading
from consilience.cli.show import changes_table, kinds_table, result_table, show_diagnostics, show_strength
from consilience.cli.sites import METHODS, choose, clients_of, make_test, say_findings, write_ledgers
from consilience.cli.terminal import Terminal, say_json
from consilience.settings import Part

__all__ = ["independence"]


@takes_reading
@takes_settings(Part.TESTS, without=("on_dropout",), instead=METHODS)  # files do not vanish
def independence(
    x: Annotated[str, typer.Argument(help="One variable.")],
    y: Annotated[str, typer.Argument(help="The other.")],
    files: Annotated[list[Path], typer.Argument(help="One .csv or .parquet file per site, or one study file (.toml).", show_default=False)],
    reading: Read,
    settings: Given,
    given: Annotated[
        list[str] | None, typer.Option(help="Conditioning variables, separated by commas. Repeatable.", show_default=False)
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
    """Test whether X is independent of Y given others, across the files of several sites.

    Example: consilience test C E --given A muenster.csv marburg.csv
    """
    clients = clients_of(files, kind, levels, reading, harmonise)
    method, chosen = choose(files, settings)
    test = make_test(clients, method, chosen)
    others = split_names(given)
    say_findings(test, (x, y, *others))
    result = test.test(x, y, others)
    if ledger is not None:
        write_ledgers(clients, ledger)
    if as_json:
        say_json(_finite(replace(result, method=result.method or method.value)))
    else:
        console = Terminal()
        if (changed := changes_table(clients)) is not None:
            console.print(changed)
        console.print(kinds_table(clients, [x, y, *result.given]))
        console.print(result_table(result, method.value))
        show_strength(result, console)
        show_diagnostics(result, console)
    raise typer.Exit(0 if result.informative else 3)


def _finite(result: CIResult) -> dict[str, Any]:
    """The result with NaN as null: JSON has no NaN. Which method it is of comes first."""
    plain = {"method": result.method, **result.to_dict()}
    for direction in plain["directions"]:
        direction |= {k: None for k, v in direction.items() if isinstance(v, float) and math.isnan(v)}
    return plain

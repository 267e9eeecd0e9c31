"""``consilience test``: one conditional-independence test over the files of several sites."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Annotated, Any

import typer

from consilience.citest import CIResult
from consilience.cli.options import Given, takes_settings
from consilience.cli.reading_options import Read, split_names, takes_reading
from consilience.cli.show import changes_table, kinds_table, result_table, show_diagnostics, show_strength
from consilience.cli.site_options import AsJson, DeclaredKinds, DeclaredLevels, LedgerFile, Plans, SiteFiles
from consilience.cli.sites import METHODS, choose, clients_of, make_test, say_findings, write_ledgers
from consilience.cli.terminal import Terminal, say_json
from consilience.settings import Part

__all__ = ["independence"]


@takes_reading
@takes_settings(Part.TESTS, without=("on_dropout",), instead=METHODS)  # files do not vanish
def independence(
    x: Annotated[str, typer.Argument(help="One variable.")],
    y: Annotated[str, typer.Argument(help="The other.")],
    files: SiteFiles,
    reading: Read,
    settings: Given,
    given: Annotated[
        list[str] | None, typer.Option(help="Conditioning variables, separated by commas. Repeatable.", show_default=False)
    ] = None,
    kind: DeclaredKinds = None,
    levels: DeclaredLevels = None,
    harmonise: Plans = None,
    ledger: LedgerFile = None,
    as_json: AsJson = False,
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

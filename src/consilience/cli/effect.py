"""``consilience effect``: what would become of one variable if another were set, as the graphs over all sites have it."""

from __future__ import annotations

from typing import Annotated

import typer

from consilience.cli.options import Given, takes_settings
from consilience.cli.reading_options import Read, takes_reading
from consilience.cli.searching import watched
from consilience.cli.show import ended_early, show_effects
from consilience.cli.site_options import AsJson, DeclaredKinds, DeclaredLevels, KnowledgeFile, LedgerFile, Plans, SiteFiles
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
    files: SiteFiles,
    reading: Read,
    settings: Given,
    knowledge: KnowledgeFile = None,
    kind: DeclaredKinds = None,
    levels: DeclaredLevels = None,
    harmonise: Plans = None,
    ledger: LedgerFile = None,
    as_json: AsJson = False,
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

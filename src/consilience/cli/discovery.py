"""``consilience discover``: the PAGs that agree with every site's file."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.markup import escape

from consilience.cli.files import prepare_folder, write_result
from consilience.cli.options import Given, takes_settings
from consilience.cli.reading_options import Read, takes_reading
from consilience.cli.searching import watched
from consilience.cli.show import changes_table, exit_code, kinds_table, show_discovery
from consilience.cli.site_options import AsJson, DeclaredKinds, DeclaredLevels, KnowledgeFile, LedgerFile, Plans, SiteFiles
from consilience.cli.sites import METHODS, choose, clients_of, make_test, say_findings, write_ledgers
from consilience.cli.terminal import Terminal, say_json
from consilience.iod import Knowledge, discover
from consilience.iod.discover import discover_arguments, knowledge_of
from consilience.settings import LOCAL, Part
from consilience.settings.declaration import LOCAL_SETTINGS

__all__ = ["discovery"]


@takes_reading
@takes_settings(Part.GRAPHS, Part.STABILITY, Part.TESTS, without=("on_dropout",), instead=METHODS)  # files do not vanish
def discovery(
    files: SiteFiles,
    reading: Read,
    settings: Given,
    knowledge: KnowledgeFile = None,
    kind: DeclaredKinds = None,
    levels: DeclaredLevels = None,
    harmonise: Plans = None,
    effect: Annotated[
        list[str] | None, typer.Option(help='Estimate an effect over the graphs found: "X -> Y", or "* -> Y" for all on Y. Repeatable.')
    ] = None,
    jobs: Annotated[int, typer.Option(help=LOCAL_SETTINGS["jobs"].about.doc, min=1)] = LOCAL.jobs,
    out: Annotated[
        Path | None,
        typer.Option(help="Write the report (HTML), drawings (SVG), the result (JSON) and the CI table (CSV) into this folder."),
    ] = None,
    ledger: LedgerFile = None,
    as_json: AsJson = False,
) -> None:
    """Find every PAG over all variables that agrees with the CI decisions at each site.

    Where decisions contradict each other, the strongest are kept, and the first line says how many were overruled. Ctrl-C stops the search
    for graphs and shows what was found (exit code 130); a second one ends it at once. A study file may give settings, too; options win.

    Example: consilience discover --out result muenster.csv marburg.csv
    """
    if out is not None:
        prepare_folder(out)
    method, chosen = choose(files, settings)
    known = knowledge_of(chosen) if knowledge is None else Knowledge.from_toml(knowledge)
    clients = clients_of(files, kind, levels, reading, harmonise)
    test = make_test(clients, method, chosen)
    say_findings(test, None)
    console = Terminal()
    arguments = discover_arguments(chosen) | {"knowledge": known, "effects": (*chosen.effects, *(effect or ()))}
    found = watched(
        lambda say, stop: discover(test, **arguments, jobs=jobs, progress=say, stop=stop),
        time_limit=chosen.time_limit,
        quiet=as_json,
    )
    if ledger is not None:
        write_ledgers(clients, ledger)
    if out is not None:
        write_result(found, out)
    if as_json:
        say_json({"method": method.value, **found.to_dict()})
    else:
        if (changed := changes_table(clients)) is not None:
            console.print(changed)
        console.print(kinds_table(clients, sorted({name for held in found.datasets for name in held})))
        show_discovery(found, console)
        if out is not None:
            console.print(f"\nwritten to {escape(str(out))}", highlight=False)
    raise typer.Exit(exit_code(found))

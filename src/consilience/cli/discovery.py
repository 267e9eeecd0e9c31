"""``consilience discover``: the PAGs that agree with every site's file."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.markup import escape
from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

from consilience.cli.options import Given, takes_settings
from consilience.cli.show import kinds_table, show_discovery
from consilience.cli.sites import METHODS, choose, clients_of, make_test, variables_in, write_ledgers
from consilience.errors import OptionError
from consilience.graph import PAG
from consilience.graph.drawing.svg import Positions
from consilience.iod import Discovery, Knowledge, discover
from consilience.iod.discover import discover_arguments, knowledge_of
from consilience.iod.report.graphs import common_positions
from consilience.settings import LOCAL, Part
from consilience.settings.declaration import LOCAL_SETTINGS

__all__ = ["discovery"]

MOST_DRAWN = 100
"""PAGs that are drawn, best first; the JSON has all of them."""


@takes_settings(Part.GRAPHS, Part.TESTS, without=("on_dropout",), instead=METHODS)  # files do not vanish
def discovery(
    files: Annotated[list[Path], typer.Argument(help="One .csv or .parquet file per site, or one study file (.toml).", show_default=False)],
    settings: Given,
    knowledge: Annotated[
        Path | None, typer.Option(help="What is known before the data: tiers, exogenous, required, … (a TOML file).")
    ] = None,
    kind: Annotated[list[str] | None, typer.Option(help="Declare a kind: NAME=continuous|binary|ordinal|multinomial. Repeatable.")] = None,
    levels: Annotated[list[str] | None, typer.Option(help="Declare levels in order: NAME=low,middle,high. Repeatable.")] = None,
    jobs: Annotated[int, typer.Option(help=LOCAL_SETTINGS["jobs"].about.doc, min=1)] = LOCAL.jobs,
    out: Annotated[
        Path | None,
        typer.Option(help="Write the report (HTML), drawings (SVG), the result (JSON) and the CI table (CSV) into this folder."),
    ] = None,
    ledger: Annotated[Path | None, typer.Option(help="Write what left each site, as JSON Lines, to this file.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the result as JSON and nothing else.")] = False,
) -> None:
    """Find every PAG over all variables that agrees with the CI decisions at each site.

    A study file may give settings, too; options win over it.

    Example: consilience discover --out result muenster.csv marburg.csv
    """
    if out is not None:
        _prepare(out)
    method, chosen = choose(files, settings)
    known = knowledge_of(chosen) if knowledge is None else Knowledge.from_toml(knowledge)
    clients = clients_of(files, kind, levels)
    test = make_test(clients, method, chosen, variables_in(files))
    console = Console()
    columns = (SpinnerColumn(), TextColumn("{task.description}"), TimeElapsedColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True, disable=as_json) as bar:
        task = bar.add_task("testing", total=None)
        found = discover(
            test,
            **discover_arguments(chosen) | {"knowledge": known},
            jobs=jobs,
            progress=lambda words: bar.update(task, description=words),
        )
    if ledger is not None:
        write_ledgers(clients, ledger)
    if out is not None:
        _write(found, out)
    if as_json:
        print(json.dumps({"method": method.value, **found.to_dict()}, indent=2, ensure_ascii=False))
    else:
        console.print(kinds_table(clients, sorted({name for held in found.datasets for name in held})))
        show_discovery(found, console)
        if out is not None:
            console.print(f"\nwritten to {escape(str(out))}", highlight=False)
    raise typer.Exit(0 if found.pags else 3)


def _prepare(out: Path) -> None:
    """Make the folder before any work is done, so that none is lost for want of it."""
    try:
        out.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise OptionError(f"--out is a folder that exists or can be made; got {out} ({error.strerror}).") from error


def _write(found: Discovery, out: Path) -> None:
    """The report, drawings of the summary, all PAGs and local PAGs, the whole result as JSON, the CI table as CSV."""
    found.to_html(out / "report.html")
    positions = common_positions(found)
    (out / "summary.svg").write_text(found.summary.to_svg(positions=positions), encoding="utf-8")
    _draw(found.pags[:MOST_DRAWN], out, "pag", positions)
    _draw(found.local_pags, out, "local", positions)
    (out / "result.json").write_text(json.dumps(found.to_dict(), indent=2, ensure_ascii=False), encoding="utf-8")
    flat = found.tests.with_columns(found.tests["given"].list.join(","))
    flat.write_csv(out / "tests.csv")


def _draw(pags: tuple[PAG, ...], out: Path, name: str, positions: Positions) -> None:
    width = len(str(len(pags)))
    for number, pag in enumerate(pags, start=1):
        own = {label: positions[label] for label in pag.labels}
        (out / f"{name}-{number:0{width}d}.svg").write_text(pag.to_svg(positions=own), encoding="utf-8")

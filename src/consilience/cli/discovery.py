"""``consilience discover``: the PAGs that agree with every site's file."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.markup import escape
from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

from consilience.cli.show import kinds_table, show_discovery
from consilience.cli.sites import Method, clients_of, make_test, write_ledgers
from consilience.errors import OptionError
from consilience.glm.layout import Ordinal, SiteEffects
from consilience.graph import PAG
from consilience.graph.drawing.svg import Positions
from consilience.iod import Discovery, Knowledge, discover
from consilience.iod.discover import Engine, Resolve
from consilience.iod.published.union import Variant
from consilience.iod.report.graphs import common_positions

__all__ = ["discovery"]

MOST_DRAWN = 100
"""PAGs that are drawn, best first; the JSON has all of them."""


def discovery(
    files: Annotated[list[Path], typer.Argument(help="One .csv or .parquet file per site, or one study file (.toml).", show_default=False)],
    alpha: Annotated[float, typer.Option(help="Significance level of the CI decisions.")] = 0.05,
    max_given: Annotated[int | None, typer.Option(help="Largest conditioning set.", min=0)] = None,
    method: Annotated[Method, typer.Option(help="How sites are brought together.")] = Method.FEDCI,
    engine: Annotated[Engine, typer.Option(help="A constraint solver (exact), or the published algorithm (iod).")] = Engine.EXACT,
    resolve: Annotated[
        Resolve, typer.Option(help="Where decisions contradict each other: no graph (strict), or those that overrule the least (optimal).")
    ] = Resolve.STRICT,
    knowledge: Annotated[Path | None, typer.Option(help="What is known before the data: tiers, required, forbidden (a TOML file).")] = None,
    selection_bias: Annotated[bool, typer.Option(help="Allow for selection bias: undirected edges.")] = False,
    limit: Annotated[int, typer.Option(help="Most graphs to list; the summary covers all.", min=1)] = 10_000,
    time_limit: Annotated[float | None, typer.Option(help="Most seconds to spend on graphs after the tests.", min=0)] = None,
    variant: Annotated[
        Variant, typer.Option(help="With --engine iod: local marks that guide the search; the list is the same.")
    ] = Variant.TRIPLES,
    site_effects: Annotated[SiteEffects, typer.Option(help="Where the sites' intercepts live.")] = SiteEffects.PROFILED,
    ordinal: Annotated[Ordinal, typer.Option(help="How ordinal responses are modelled.")] = Ordinal.PROPORTIONAL,
    kind: Annotated[list[str] | None, typer.Option(help="Declare a kind: NAME=continuous|binary|ordinal|multinomial. Repeatable.")] = None,
    levels: Annotated[list[str] | None, typer.Option(help="Declare levels in order: NAME=low,middle,high. Repeatable.")] = None,
    jobs: Annotated[int, typer.Option(help="With --engine iod: processes that validate candidates.", min=1)] = 1,
    out: Annotated[
        Path | None,
        typer.Option(help="Write the report (HTML), drawings (SVG), the result (JSON) and the CI table (CSV) into this folder."),
    ] = None,
    ledger: Annotated[Path | None, typer.Option(help="Write what left each site, as JSON Lines, to this file.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the result as JSON and nothing else.")] = False,
) -> None:
    """Find every PAG over all variables that agrees with the CI decisions at each site.

    Example: consilience discover --out result muenster.csv marburg.csv
    """
    if out is not None:
        _prepare(out)
    known = None if knowledge is None else Knowledge.from_toml(knowledge)
    clients = clients_of(files, kind, levels)
    test = make_test(clients, method, site_effects, ordinal)
    console = Console()
    columns = (SpinnerColumn(), TextColumn("{task.description}"), TimeElapsedColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True, disable=as_json) as bar:
        task = bar.add_task("testing", total=None)
        found = discover(
            test,
            alpha=alpha,
            engine=engine,
            resolve=resolve,
            knowledge=known,
            max_given=max_given,
            selection_bias=selection_bias,
            limit=limit,
            time_limit=time_limit,
            variant=variant,
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

"""``consilience power`` and ``consilience next``: what a study of some design would find, and what to measure next."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Annotated

import typer
from rich.markup import escape
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from consilience.cli.interrupt import Interruptible
from consilience.cli.options import Given, takes_settings
from consilience.cli.sites import pairs_of
from consilience.cli.terminal import Terminal, say_json
from consilience.errors import OptionError
from consilience.iod import Discovery
from consilience.settings import LOCAL, Part
from consilience.simulate import GraphPower, graph_power, next_measurement

__all__ = ["measure_next", "plan"]

HEARD = "stopping; what was simulated will be shown (Ctrl-C once more ends at once)"


@takes_settings(Part.TESTS, Part.GRAPHS, without=("cluster",))  # rows that are simulated have no wards
def plan(
    graph: Annotated[
        str, typer.Option(help="The truth: a PAG, MAG or DAG as text, such as 'A o-> C, B o-> C, C --> D'.", show_default=False)
    ],
    settings: Given,
    sites: Annotated[int, typer.Option(help="How many sites.", min=1)] = 4,
    site: Annotated[
        list[str] | None,
        typer.Option(help="In place of --sites: a site and what it measures, NAME=A,B,C. Repeatable. What no site measures is latent."),
    ] = None,
    rows: Annotated[int, typer.Option(help="Rows of each site.", min=2)] = 500,
    exclusive: Annotated[str, typer.Option(help="Variables that only every second (third, …) site measures, separated by commas.")] = "",
    kind: Annotated[
        list[str] | None, typer.Option(help="Fix a kind: NAME=continuous|binary|ordinal|multinomial|count. Repeatable; others are random.")
    ] = None,
    replications: Annotated[int, typer.Option(help="Studies to simulate.", min=1)] = 100,
    seed: Annotated[int, typer.Option(help="The same seed gives the same numbers on every machine.", min=0)] = 1,
    jobs: Annotated[int, typer.Option(help="Processes; by default as many as there are processors.", min=1)] = os.cpu_count() or 1,
    cluster: Annotated[str, typer.Option(help="Address of a Dask scheduler, such as tcp://10.0.0.5:8786: work is done there.")] = "",
    as_json: Annotated[bool, typer.Option("--json", help="Print the result as JSON and nothing else.")] = False,
) -> None:
    """How often studies of a design find each edge of a graph and each mark at its ends, by simulation. Ctrl-C shows what there is.

    Example: consilience power --graph "A o-> C, B o-> C, C --> D" --site north=A,B,C --site south=B,C,D --rows 300
    """
    named = {name: [v for v in held.split(",") if v] for name, held in pairs_of("--site", site).items()}
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, console=Terminal(stderr=True), transient=True, disable=as_json) as bar:
        task = bar.add_task("simulating", total=replications)
        with Interruptible(lambda: bar.update(task, description=HEARD)) as interrupt:
            found = graph_power(
                graph,
                sites=named or sites,
                rows=rows,
                exclusive=[name for name in exclusive.split(",") if name],
                kinds=pairs_of("--kind", kind),
                replications=replications,
                seed=seed,
                jobs=cluster or jobs,
                progress=lambda done, _: bar.update(task, completed=done),
                stop=interrupt.stop,
                **settings,
            )
    if as_json:
        say_json(found.to_dict())
    else:
        _show(found, Terminal())


def _show(found: GraphPower, console: Terminal) -> None:
    head, *lines = str(found).splitlines()
    console.print(f"[bold]{escape(head)}[/]", highlight=False, soft_wrap=True)
    for line in lines:
        console.print(escape(line), highlight=False, soft_wrap=True)


def measure_next(
    result: Annotated[
        Path,
        typer.Argument(help="A result.json, written by `discover --out` or downloaded from a study server.", show_default=False),
    ],
    site: Annotated[
        list[str] | None, typer.Option(help="A site and what it measures, NAME=A,B,C. Repeatable; by default the study's data sets.")
    ] = None,
    variable: Annotated[list[str] | None, typer.Option(help="One that could be measured. Repeatable; by default all of the study.")] = None,
    jobs: Annotated[int, typer.Option(help="Processes.", min=1)] = LOCAL.jobs,
    as_json: Annotated[bool, typer.Option("--json", help="Print the table as JSON and nothing else.")] = False,
) -> None:
    """Which further variable at which site would settle most of what the graphs of a result disagree about.

    Example: consilience next result/result.json --variable age
    """
    named = {name: held.split(",") for name, held in pairs_of("--site", site).items()}
    told = next_measurement(_read(result), named or None, variables=variable, jobs=jobs)
    if as_json:
        now = {"open": told.open, "rows_alone": told.rows_alone, "graphs": told.graphs, "complete": told.complete}
        say_json(now | {"measurements": told.table.to_dicts()})
        return
    console = Terminal()
    for line in str(told).splitlines():
        console.print(escape(line), highlight=False, soft_wrap=True)


def _read(path: Path) -> Discovery:
    try:
        told = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise OptionError(f"A result is a file that exists and holds JSON; got {path} ({error}).") from error
    return Discovery.from_dict(told)

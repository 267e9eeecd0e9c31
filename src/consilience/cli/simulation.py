"""``consilience simulate``: synthetic sites from a graph, as files."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.markup import escape

from consilience.cli.show import kinds_table
from consilience.cli.sites import pairs_of
from consilience.cli.terminal import Terminal
from consilience.simulate import from_graph, random_pag
from consilience.simulate.files import write_files

__all__ = ["simulation"]


def simulation(
    out: Annotated[Path, typer.Option(help="Folder for the files.", show_default=False)],
    graph: Annotated[
        str, typer.Option(help="A PAG, MAG or DAG as text, such as 'A o-> C, B o-> C, C --> D'; or random:5 for five variables.")
    ] = "random:5",
    sites: Annotated[int, typer.Option(help="How many sites.", min=1)] = 4,
    n: Annotated[int, typer.Option(help="Rows over all sites.", min=1)] = 2000,
    exclusive: Annotated[str, typer.Option(help="Variables that only every second (third, …) site measures, separated by commas.")] = "",
    kind: Annotated[
        list[str] | None, typer.Option(help="Fix a kind: NAME=continuous|binary|ordinal|multinomial|count. Repeatable; others are random.")
    ] = None,
    seed: Annotated[int, typer.Option(help="The same seed gives the same files on every machine.", min=0)] = 1,
) -> None:
    """Simulate sites with mixed kinds, site effects and latent causes from a graph: one CSV per site, a study file, the truth.

    Example: consilience simulate --graph "A o-> C, B o-> C, C --> D" --exclusive A,D --out try
    """
    size = graph.removeprefix("random:")
    chosen = random_pag(int(size), [seed, 1]) if graph.startswith("random:") and size.isdigit() else graph
    alone = [name for name in exclusive.split(",") if name]
    made = from_graph(chosen, n=n, sites=sites, seed=seed, kinds=pairs_of("--kind", kind), exclusive=alone)
    written = write_files(made, out)
    console = Terminal()
    console.print(kinds_table(made.clients()[:2], list(made.schema)))
    if sites > 2:
        console.print(f"and {sites - 2} more" if sites > 3 else "and one more", highlight=False)
    console.print(f"made from {escape(str(made.pag))}", highlight=False, soft_wrap=True)
    console.print(
        f"{len(written)} files in {escape(str(out))}; try: consilience discover {escape(str(written[0]))}", highlight=False, soft_wrap=True
    )

"""``consilience check``: what tables are taken for, what looks wrong in them and between them, and what a discovery will take."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer
from rich.markup import escape
from rich.table import Table

from consilience.cli.findings import show_findings
from consilience.cli.reading_options import Read, takes_reading
from consilience.cli.site_options import DeclaredKinds, DeclaredLevels
from consilience.cli.sites import clients_of
from consilience.cli.terminal import Terminal, say_json
from consilience.errors import OptionError
from consilience.iod import Check, check
from consilience.iod.check import SiteCheck
from consilience.wording import counted

__all__ = ["check_files"]

MOST_ROWS = 40
"""Columns of a table that are shown; those of which something was noticed come first, and the page and JSON have all of them."""
MOST_LEVELS = 6


@takes_reading
def check_files(
    files: Annotated[list[Path], typer.Argument(help="One table per site, or one study file (.toml).", show_default=False)],
    reading: Read,
    kind: DeclaredKinds = None,
    levels: DeclaredLevels = None,
    out: Annotated[Path | None, typer.Option(help="Write the check as one HTML page to this file.")] = None,
    estimate: Annotated[bool, typer.Option(help="Measure how long a test takes.")] = True,
    as_json: Annotated[bool, typer.Option("--json", help="Print the check as JSON and nothing else.")] = False,
) -> None:
    """Look at files before anything runs: kinds and why, missing codes, units, spellings, names, pairs, and how long it will take.

    Exit code 0 if nothing is refused, 3 if something is. Nothing is changed, and nothing leaves this machine.

    Example: consilience check muenster.csv marburg.csv --out check.html
    """
    found = check(clients_of(files, kind, levels, reading), estimate=estimate)
    if out is not None:
        try:
            found.to_html(out)
        except OSError as error:
            raise OptionError(f"--out is a file that can be written; got {out} ({error.strerror}).") from None
    if as_json:
        say_json(found.to_dict())
    else:
        _show(found, Terminal())
        if out is not None:
            Terminal().print(f"\nwritten to {escape(str(out))}", highlight=False, soft_wrap=True)
    raise typer.Exit(0 if found.ok else 3)


def _show(found: Check, console: Terminal) -> None:
    for site in found.sites:
        console.print(_table(site))
        show_findings(site.findings, console)
        console.print()
    if len(found.sites) > 1:
        console.print("[bold]Between sites[/]")
        show_findings(found.across, console)
        console.print()
    if found.estimate is not None:
        console.print(f"[bold]A discovery[/]: {escape(str(found.estimate))}", highlight=False)
    console.print(f"[bold]{escape(found.headline)}[/]", highlight=False)


def _table(site: SiteCheck) -> Table:
    noticed = {name for finding in site.findings for name in finding.columns}
    rows = sorted(site.variables.iter_rows(named=True), key=lambda row: row["name"] not in noticed)
    table = Table(title=escape(f"{site.name}, {counted(site.rows, 'row')}"), title_justify="left", title_style="bold")
    for heading in ("column", "kind", "verdict", "because", "levels", "missing"):
        table.add_column(heading, justify="right" if heading == "missing" else "left", overflow="fold")
    for row in rows[:MOST_ROWS]:
        cells = (row["name"], row["kind"] or "–", row["verdict"], row["because"], _levels(row["levels"]), f"{row['missing']:,}")
        table.add_row(*map(escape, cells))
    if len(rows) > MOST_ROWS:
        table.caption, table.caption_justify = f"and {len(rows) - MOST_ROWS} columns more; --out and --json have all", "left"
    return table


def _levels(levels: Sequence[str]) -> str:
    more = f" and {len(levels) - MOST_LEVELS} more" if len(levels) > MOST_LEVELS else ""
    return ", ".join(levels[:MOST_LEVELS]) + more

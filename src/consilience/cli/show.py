"""Tables for the terminal."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import polars as pl
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from consilience.citest import CIResult
from consilience.federation import Client
from consilience.iod import Decision, Discovery

__all__ = ["format_p", "kinds_table", "result_table", "show_discovery"]

MOST_SHOWN = 20
"""PAGs that are printed; files and JSON have all of them."""


def format_p(p: float) -> str:
    """A p-value for people.

    >>> format_p(0.03379), format_p(1e-30)
    ('0.0338', '<1e-15')
    """
    if p < 1e-15:
        return "<1e-15"
    return f"{p:.4f}" if p >= 1e-4 else f"{p:.1e}"


def kinds_table(clients: Sequence[Client], names: Sequence[str]) -> Table:
    """How each site's columns were read."""
    table = Table(title="Variables as read", title_justify="left")
    for heading in ("site", "variable", "kind", "because", "levels", "missing"):
        table.add_column(heading, justify="right" if heading == "missing" else "left")
    for client in clients:
        rows = {row["name"]: row for row in client.variables.iter_rows(named=True)}
        first = True
        for name in names:
            row = rows.get(name)
            site = client.name if first else ""
            first = False
            if row is None:
                table.add_row(escape(site), escape(name), "[dim]not measured[/]", "", "", "")
            else:
                levels = escape(" ".join(row["levels"]) + (f" (rare: {' '.join(row['rare'])})" if row["rare"] else ""))
                table.add_row(escape(site), escape(name), row["kind"], row["because"], levels, str(row["missing"]))
        table.add_section()
    return table


def result_table(result: CIResult, method: str) -> Table:
    """One result with both directions."""
    given = f" | {', '.join(result.given)}" if result.given else ""
    verdict = f"p = {format_p(result.p_value)}" if result.informative else f"not informative: {result.reason}"
    caption = f"{method}: {verdict}; n = {result.n}, sites = {result.contributors}, rounds = {result.rounds}"
    if not result.converged:
        caption += "; NOT CONVERGED"
    table = Table(title=escape(f"{result.x} ⫫ {result.y}{given}"), title_justify="left", caption=escape(caption), caption_justify="left")
    for heading in ("response", "statistic", "df", "p", "log-lik. without", "log-lik. with", "note"):
        table.add_column(heading, justify="left" if heading in ("response", "note") else "right")
    for d in result.directions:
        note = d.reason or ("perfectly predicted level" if d.separated else "")
        table.add_row(
            escape(d.response),
            f"{d.statistic:.4f}",
            str(d.df),
            format_p(d.p_value),
            f"{d.loglik_restricted:.2f}",
            f"{d.loglik_unrestricted:.2f}",
            escape(note),
        )
    if not result.directions:
        table.add_row("[dim]only combined p-values[/]", "", "", format_p(result.p_value), "", "", "")
    return table


def show_discovery(found: Discovery, console: Console) -> None:
    """Local PAGs, the list of PAGs as edges in text, and what is to be said about them."""
    for held, pag in zip(found.datasets, found.local_pags, strict=True):
        console.print(f"[bold]data set {escape(', '.join(held))}[/]: {escape(str(pag))}", highlight=False)
    count = f"{len(found.pags)}{'' if found.complete else ' or more'}"
    best = found.resolve == "optimal" and (found.overruled or found.conflicts)
    verb = f"overrule{'s' if count == '1' else ''} the least" if best else f"agree{'s' if count == '1' else ''} with every data set"
    console.print(
        f"\n[bold]{count} PAG{'' if count == '1' else 's'} {verb}[/] ({found.tests.height} tests at {found.alpha:g})",
        highlight=False,
    )
    for number, pag in enumerate(found.pags[:MOST_SHOWN], start=1):
        console.print(f"{number:3d}  {escape(str(pag))}", highlight=False)
    if len(found.pags) > MOST_SHOWN:
        console.print(f"     … and {len(found.pags) - MOST_SHOWN} more; --out or --json has all of them", highlight=False)
    if len(found.pags) > 1 or not found.complete:
        console.print(f"\n[bold]In all of them[/]: {escape(_certain(found))}", highlight=False)
    _show_decisions("These decisions cannot hold together; without any one of them they could:", found.conflicts, console)
    _show_decisions("Overruled:", found.overruled, console)
    if found.conflicts and not found.pags and found.resolve == "strict":
        console.print("\n--resolve optimal finds the graphs that overrule the least evidence.", highlight=False)


def _certain(found: Discovery) -> str:
    """The edges that all graphs have, with the marks that they share."""
    rows = found.summary.frame.filter(pl.col("edge") == "all").iter_rows(named=True)
    return ", ".join(f"{row['x']} {_shared(row, 'x', '<')}-{_shared(row, 'y', '>')} {row['y']}" for row in rows) or "no edge"


def _shared(row: dict[str, Any], end: str, head: str) -> str:
    marks = {"arrow": head, "tail": "-", "circle": "o"}
    return next((sign for name, sign in marks.items() if row[f"{name}_at_{end}"] == "all"), "?")


def _show_decisions(title: str, decisions: Sequence[Decision], console: Console) -> None:
    if decisions:
        console.print(f"\n[bold]{title}[/]", highlight=False)
        for decision in decisions[:MOST_SHOWN]:
            console.print(f"  - {escape(decision.text)}", highlight=False)
        if len(decisions) > MOST_SHOWN:
            console.print(f"    … and {len(decisions) - MOST_SHOWN} more", highlight=False)

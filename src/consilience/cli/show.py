"""Tables for the terminal."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from consilience.citest import CIResult
from consilience.federation import Client
from consilience.iod import Discovery

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
    """Local PAGs and the list of PAGs, as edges in text."""
    for held, pag in zip(found.datasets, found.local_pags, strict=True):
        console.print(f"[bold]data set {escape(', '.join(held))}[/]: {escape(str(pag))}", highlight=False)
    console.print(
        f"\n[bold]{len(found.pags)} {'PAG agrees' if len(found.pags) == 1 else 'PAGs agree'}[/] with every data set "
        f"({found.tests.height} tests at {found.alpha:g}; candidates: {found.candidates})",
        highlight=False,
    )
    for number, pag in enumerate(found.pags[:MOST_SHOWN], start=1):
        console.print(f"{number:3d}  {escape(str(pag))}", highlight=False)
    if len(found.pags) > MOST_SHOWN:
        console.print(f"     … and {len(found.pags) - MOST_SHOWN} more; --out or --json has all of them", highlight=False)
    if not found.pags:
        console.print("     No graph agrees with all CI decisions: some of them contradict each other.", highlight=False)

"""``consilience demo``: three synthetic sites, and what three methods say about them."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer
from rich.markup import escape
from rich.progress import Progress
from rich.table import Table

from consilience.cli.show import format_p, kinds_table, show_discovery
from consilience.cli.terminal import Terminal
from consilience.federation import Client, Server, fisher, pooled
from consilience.iod import discover
from consilience.settings import DEFAULTS
from consilience.simulate import introductory_example, mixed_sites
from consilience.simulate.example import DECISIVE

__all__ = ["demo"]

ALPHA = DEFAULTS.alpha
FIRST = 1
"""The first seed there is. On most seeds the decisions contradict each other, as they do on real data: a demonstration should show it."""
ABSENT = {0: ["E"], 2: ["D"]}
QUESTIONS = [
    ("A", "B", []),
    ("A", "C", []),
    ("A", "C", ["B"]),
    ("A", "D", ["C"]),
    ("A", "E", ["B"]),
    ("B", "D", ["A", "C"]),
    ("C", "D", ["A"]),
    ("C", "E", []),
    ("C", "E", ["B"]),
    ("D", "E", ["B"]),
    ("D", "E", ["A", "C"]),
]


def demo(
    n: Annotated[int, typer.Option(help="Rows over all three sites.", min=60)] = 1800,
    seed: Annotated[int, typer.Option(help="Seed of the synthetic data.")] = FIRST,
) -> None:
    """Three synthetic sites with mixed kinds, different variables and site effects: tested three ways, then brought to a graph.

    The structure is A → B → C, A → D ← C, B → E. Site 1 does not measure E, site 3 does not measure D.
    """
    console = Terminal()
    frames = mixed_sites(n=n, sites=3, seed=seed, shift=1.0, missing=0.02, absent=ABSENT)
    clients = [Client(name, frame) for name, frame in frames.items()]
    console.print(kinds_table(clients, list("ABCDE")))
    server, meta, together = Server(clients), fisher(clients), pooled(clients)
    with Progress(console=console, transient=True) as bar:
        task = bar.add_task("testing", total=len(QUESTIONS))
        federated = server.test_many(QUESTIONS, progress=lambda done, _: bar.update(task, completed=done))
    combined, yardstick = meta.test_many(QUESTIONS), together.test_many(QUESTIONS)
    table = Table(title=f"X ⫫ Y | Z, as each method sees it (bold: rejected at {ALPHA})", title_justify="left")
    for heading in ("test", "n", "sites", "fedci", "pooled", "fisher"):
        table.add_column(heading, justify="left" if heading == "test" else "right")
    for f, m, p in zip(federated, combined, yardstick, strict=True):
        given = f" | {', '.join(f.given)}" if f.given else ""
        table.add_row(f"{f.x} ⫫ {f.y}{given}", str(f.n), str(f.contributors), *(_cell(r.p_value) for r in (f, p, m)))
    console.print(table)
    widest = max(abs(f.p_value - p.p_value) for f, p in zip(federated, yardstick, strict=True))
    console.print(
        f"fedci never saw a row: {server.rounds} rounds, {server.bytes / 1024:.0f} KiB. Largest difference to pooled: {widest:.1e}.\n",
        highlight=False,
    )
    show_discovery(discover(server, alpha=ALPHA), console)
    whence = f"seed {seed}, the first there is: it was not chosen for its result" if seed == FIRST else f"seed {seed}"
    console.print(f"\nThe data were made from A → B → C, A → D ← C, B → E ({whence}).", highlight=False)
    _example(console)
    called = sys.argv[0] if Path(sys.argv[0]).name == "consilience" else "consilience"
    console.print(
        f"\nTo click through a study in a browser, with a server and three sites on this machine: {escape(called)} app --trial",
        highlight=False,
        soft_wrap=True,
    )


def _example(console: Terminal) -> None:
    """The paper's introduction: the same two sites, brought together by p-values and by sums."""
    made = introductory_example()
    clients = made.clients()
    x, y, given = DECISIVE
    console.print("\n[bold]Why sums and not p-values[/]: two sites, 2,000 rows each, after the paper's first figure.", highlight=False)
    console.print(
        "This seed was chosen, the only one of 250 on which it happens this way; all decisions must hold (strict).", highlight=False
    )
    table = Table(show_lines=True)
    tests = {"Fisher's method (p-values)": fisher(clients), "fedci (sums)": Server(clients)}
    results = {name: discover(test, alpha=ALPHA, resolve="strict") for name, test in tests.items()}
    for heading in ("", *tests):
        table.add_column(heading, overflow="fold")
    decided = [tests[name].test(x, y, given).p_value for name in tests]
    table.add_row(
        f"{x} ⫫ {y} | {', '.join(given)}", *(f"p = {format_p(p)}: {'dependent' if p <= ALPHA else 'independent'}" for p in decided)
    )
    for i, held in enumerate(results["fedci (sums)"].datasets):
        table.add_row(f"site {i + 1}: {', '.join(held)}", *(str(found.local_pags[i]) for found in results.values()))
    table.add_row("together, strict", *("\n".join(map(str, found.pags)) or "[bold red]no graph agrees[/]" for found in results.values()))
    again = [found.redecide(resolve=DEFAULTS.resolve.value, ask=tests[name]) for name, found in results.items()]
    table.add_row("together, if the weakest give way", *(escape(found.headline) for found in again))
    console.print(table)
    federated = results["fedci (sums)"].pags
    verdict = "which is what fedci finds" if federated == (made.pag,) else "which fedci does not find"
    console.print(f"The data were made from {made.pag}, {verdict}.", highlight=False, soft_wrap=True)


def _cell(p: float) -> str:
    return f"[bold]{format_p(p)}[/]" if p < ALPHA else format_p(p)

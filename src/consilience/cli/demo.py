"""``consilience demo``: three synthetic sites, and what three methods say about them."""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer
from rich.markup import escape
from rich.progress import Progress
from rich.table import Table

from consilience.citest import CIResult
from consilience.cli.demo_study import ALPHA, FIRST, KINDS, ROWS, TRUTH, Series, kept, kind_of, kinds_of_answers, sites
from consilience.cli.files import prepare_folder, write_result
from consilience.cli.show import format_p, kinds_table, show_discovery
from consilience.cli.terminal import Terminal
from consilience.federation import Server, fisher, pooled
from consilience.iod import discover
from consilience.settings import DEFAULTS
from consilience.simulate import introductory_example
from consilience.simulate.example import DECISIVE

__all__ = ["demo"]

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
    n: Annotated[int, typer.Option(help="Rows over all three sites.", min=60)] = ROWS,
    seed: Annotated[int, typer.Option(help="Seed of the synthetic data.")] = FIRST,
    out: Annotated[
        Path | None,
        typer.Option(help="The folder for the report and the other files of the result. Default: a new one where temporary files are."),
    ] = None,
) -> None:
    """Three synthetic sites with mixed kinds, different variables and site effects: tested three ways, then brought to a graph.

    The structure is A → B → C, A → D ← C, B → E. Site 1 does not measure E, site 3 does not measure D.
    """
    if out is not None:
        prepare_folder(out)
    console = Terminal()
    clients = sites(n, seed)
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
    console.print(f"fedci never saw a row: {server.rounds} rounds, {server.bytes / 1024:.0f} KiB.", highlight=False)
    console.print(f"{_difference(federated, yardstick)}\n", highlight=False)
    found = discover(server, alpha=ALPHA)
    show_discovery(found, console)
    kind = kind_of(map(str, found.pags))
    whence = f"seed {seed}, the first there is: it was not chosen for its result" if seed == FIRST else f"seed {seed}"
    console.print(f"\nThe data were made from A → B → C, A → D ← C, B → E ({whence}).", highlight=False)
    console.print(f"The PAG of that is {TRUTH}. Found here: {kind}.\n", highlight=False)
    console.print(_frequencies(kept(), n, kind))
    _example(console)
    folder = Path(tempfile.mkdtemp(prefix="consilience-demo-")) if out is None else out
    write_result(found, folder)
    called = sys.argv[0] if Path(sys.argv[0]).name == "consilience" else "consilience"
    for words, way in (
        ("The report of the three sites, with drawings and tables beside it", (folder.resolve() / "report.html").as_uri()),
        ("To click through a study in a browser, with a server and three sites on this machine", f"{called} app --trial"),
    ):
        console.print(f"\n{words}: {escape(way)}", highlight=False, soft_wrap=True)


def _difference(federated: Sequence[CIResult], yardstick: Sequence[CIResult]) -> str:
    """How far p-values are from those of pooled rows: of tests that several sites do, and of those that one does alone."""
    apart: dict[bool, list[float]] = {True: [0.0], False: [0.0]}
    for f, p in zip(federated, yardstick, strict=True):
        apart[f.contributors > 1].append(abs(f.p_value - p.p_value))
    several, alone = max(apart[True]), max(apart[False])
    words = f"Largest difference to pooled: {several:.1e}"
    return f"{words}; {alone:.1e} where one site tests alone, which tells three digits." if alone else f"{words}."


def _frequencies(series: Sequence[Series], n: int, kind: str) -> Table:
    """How often which answer comes over seeds; that of this run is bold.

    >>> from consilience.cli.demo_study import Answer
    >>> found = Series(60, (Answer(1, (str(TRUTH),), 0, True), Answer(2, ("A o-o B",), 3, True)))
    >>> [column.header for column in _frequencies([found], 60, "other edges").columns]
    ['How often which answer comes', '60 rows, 2 seeds']
    """
    table = Table(caption="counted by benchmarks/demo_seeds.py, from the first seed on", caption_justify="left")
    table.add_column("How often which answer comes")
    for one in series:
        table.add_column(f"{one.rows:,} rows, {len(one.answers)} seeds", justify="right")
    counts = [kinds_of_answers(one.answers) for one in series]
    for row in (row for row in KINDS if any(row in counted for counted in counts)):
        here = [one.rows == n and row == kind for one in series]
        table.add_row(row, *(f"[bold]{c.get(row, 0)}[/]" if bold else str(c.get(row, 0)) for c, bold in zip(counts, here, strict=True)))
    table.add_section()
    table.add_row("decisions contradict each other", *(str(sum(found.overruled > 0 for found in one.answers)) for one in series))
    table.add_row("the same as from pooled rows", *(str(sum(found.as_pooled for found in one.answers)) for one in series))
    return table


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

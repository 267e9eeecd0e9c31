"""``consilience reproduce``: the paper's simulation study."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from enum import StrEnum
from pathlib import Path
from typing import Annotated, TypeVar

import typer
from rich.box import SIMPLE_HEAD
from rich.markup import escape
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn
from rich.table import Table

from consilience.cli.terminal import Terminal
from consilience.parallel import Jobs
from consilience.reproduction.checks import Check, check_results
from consilience.reproduction.experiment import Experiment, Results
from consilience.reproduction.page import write_page
from consilience.reproduction.real_life import HEAD, Data, RealLifeStudy, page_of, summarise
from consilience.reproduction.report import write_report
from consilience.reproduction.sizes import Size
from consilience.reproduction.tables import StudyTable, tables_of
from consilience.simulate.plotting import need_matplotlib

__all__ = ["reproduce"]

SHOWN = ("accuracy-all", "log-ratio-iqr", "shd", "cohens-d")
"""Tables that are printed; all of them are in files."""


class Study(StrEnum):
    """Which study is run."""

    PAPER = "paper"
    METHODS = "methods"
    REAL_LIFE = "real-life"


def reproduce(
    size: Annotated[
        Size, typer.Option(help="smoke: seconds; default: under half an hour on 2 cores; paper: all 10,800 runs.")
    ] = Size.DEFAULT,
    out: Annotated[
        Path, typer.Option(help="Folder for results, tables, figures and the page. A run that was stopped goes on there.")
    ] = Path("reproduction"),
    jobs: Annotated[int, typer.Option(help="Processes; by default as many as there are processors.", min=1)] = os.cpu_count() or 1,
    cluster: Annotated[str, typer.Option(help="Address of a Dask scheduler, such as tcp://10.0.0.5:8786: work is done there.")] = "",
    page: Annotated[Path | None, typer.Option(help="Write the page here, too, its figures in a folder beside it.")] = None,
    study: Annotated[
        Study,
        typer.Option(
            help="paper: linear models; methods: the same data, tests of residuals and random effects beside; "
            "real-life: the same graphs with bent effects, unequal noise and wards."
        ),
    ] = Study.PAPER,
) -> None:
    """Repeat the paper's simulation study: accuracy of CI decisions, p-values against the pooled test, distances of graphs.

    Stop it whenever you like; the same command goes on where it was. Exit code 3 if the numbers do not show what they must.
    """
    if study is not Study.PAPER:
        other = RealLifeStudy(out, size, Data(study.value))
        _real_life(other, cluster or jobs, page, f"consilience reproduce --study {study.value} --size {size.value}")
        return
    need_matplotlib()  # before half an hour of work, not after
    console = Terminal()
    results: Results = _with_bar(Experiment(out, size).run, out, cluster or jobs)
    command = f"consilience reproduce --size {size.value}"
    written = write_report(results, out, command)
    if page is not None:
        write_page(results, page, page.stem, command)
        beside = page.parent / page.stem
        beside.mkdir(parents=True, exist_ok=True)
        for figure in written:
            if figure.suffix == ".svg":
                shutil.copy(figure, beside)
    for table in tables_of(results):
        if table.name in SHOWN:
            console.print(f"[bold]{escape(table.title)}[/]", highlight=False)
            console.print(_rich(table))
    checks = check_results(results)
    _show_checks(checks, console)
    console.print(f"\n{len(written)} files in {escape(str(out))}; read {escape(str(written[0]))} first", highlight=False, soft_wrap=True)
    if size is Size.SMOKE:
        console.print("A smoke run is too small to show anything: its checks are printed, not enforced.", highlight=False)
    raise typer.Exit(0 if size is Size.SMOKE or all(check.holds for check in checks) else 3)


def _real_life(study: RealLifeStudy, jobs: Jobs, page: Path | None, command: str) -> None:
    """A study of other tests: its table on the screen, its page in the folder."""
    records = _with_bar(study.run, study.folder, jobs)
    written = [study.folder / f"{study.data.value}.md", *([page] if page else [])]
    for path in written:
        path.write_text(page_of(records, study.plan.graphs, command, study.data), encoding="utf-8")
    shown = Table(box=SIMPLE_HEAD, padding=(0, 1))
    for heading in HEAD:
        named = heading == "method"
        shown.add_column(heading, justify="left" if named else "right", no_wrap=named, min_width=16 if named else None)
    for row in summarise(records, study.plan.graphs):
        shown.add_row(*row)
    console = Terminal()
    console.print(shown)
    console.print(
        f"{len(records)} runs in {escape(str(study.folder))}; the page is {escape(str(written[-1]))}", highlight=False, soft_wrap=True
    )


T = TypeVar("T")


def _with_bar(run: Callable[[Jobs, Callable[[int, int], None]], T], folder: Path, jobs: Jobs) -> T:
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TextColumn("left"),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=Terminal(stderr=True), speed_estimate_period=600) as bar:
        task = bar.add_task("simulating", total=None)
        try:
            return run(jobs, lambda done, total: bar.update(task, completed=done, total=total))
        except KeyboardInterrupt:
            bar.console.print(f"stopped; what is done is in {escape(str(folder))}, and the same command goes on", highlight=False)
            raise


def _rich(table: StudyTable) -> Table:
    shown = Table(box=SIMPLE_HEAD, padding=(0, 1))
    for i, heading in enumerate(table.head):
        shown.add_column(heading, justify="left" if i < table.left else "right")
    previous = ""
    for row in table.rows:
        shown.add_row(row[0] if row[0] != previous else "", *row[1:])
        previous = row[0]
    return shown


def _show_checks(checks: list[Check], console: Terminal) -> None:
    console.print("[bold]What the study must show[/]")
    for check in checks:
        sign = "[green]yes[/]" if check.holds else "[bold red]NO[/] "
        console.print(f"  {sign}  {escape(check.claim)}\n       [dim]{escape(check.detail)}[/]", highlight=False, soft_wrap=True)

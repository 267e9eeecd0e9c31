"""``consilience app --trial``: a study server and three sites on this machine, to click through."""

from __future__ import annotations

from pathlib import Path

import typer
from rich.markup import escape

from consilience.cli.terminal import Terminal

__all__ = ["run_trial"]


def run_trial(split: Path | None) -> None:
    """Start everything, say what to open, and wait for Ctrl-C; then nothing is left, neither process nor file."""
    from consilience.web.trial import OWNER, Trial, interruptible  # noqa: PLC0415  the extra may not be installed
    from consilience.web.trial_tables import own_tables, synthetic_tables  # noqa: PLC0415

    console = Terminal(highlight=False, soft_wrap=True)
    tables = own_tables(split) if split is not None else synthetic_tables()
    console.print("Starting a study server and three sites; this takes a few seconds.")
    ended = ""
    try:
        with interruptible(), Trial(tables) as trial:
            console.print(f"\n{escape(tables.words)}\n")
            console.print(f"[bold]The study's owner[/]  {trial.server}\n  log in as {OWNER} with the password {escape(trial.password)}")
            for site in trial.sites:
                console.print(f"[bold]{escape(site.name)}[/]  {escape(site.address)}")
                console.print(f"  its table and its invitation are in {escape(str(site.folder))}")
            console.print("\nAt each site: choose the table, take the invitation, read, consent. Then the owner starts the study.")
            console.print("All of it runs on this machine only. Ctrl-C ends it and deletes everything.")
            ended = trial.wait()
            said = trial.log(ended)
    except KeyboardInterrupt:
        console.print("\nThe trial is over; nothing is left of it.")
        return
    Terminal(stderr=True, soft_wrap=True).print(f"[bold red]error:[/] the trial's process {ended!r} ended: {escape(said.strip())}")
    raise typer.Exit(1)

"""Where the command line begins, and how errors become exit codes."""

from __future__ import annotations

import os
import sys
from contextlib import suppress
from typing import NoReturn

from consilience.cli.later import load_later
from consilience.errors import ConsilienceError

__all__ = ["main"]

COMPUTE = ("polars", "scipy.special", "clingo", "httpx")
"""Packages that many modules import, and few commands use before somebody has looked at a page or a line of theirs."""


def main() -> None:
    """Run a command; an error of ours is one line on standard error and exit code 2."""
    load_later(COMPUTE)
    from consilience.cli.commands import application  # noqa: PLC0415  typer takes longer than the rest of this module

    command = application()
    try:
        command(prog_name="consilience")
    except ConsilienceError as error:
        for words in _words_of(error):
            _say(f"[bold red]error:[/] {_escape(words)}")
        _end(2)
    except KeyboardInterrupt:
        _say("interrupted")
        _end(130)
    except SystemExit as ended:
        if ended.code is None or isinstance(ended.code, int):
            _end(ended.code or 0)
        raise


def _end(code: int) -> NoReturn:
    """End the process: at once, if a step of the solver that nobody waits for any more would keep it for seconds or minutes."""
    patience = sys.modules.get("consilience.iod.solver.patience")  # whoever has not looked for graphs has not loaded it
    if patience is not None and patience.under_way():
        for stream in (sys.stdout, sys.stderr):
            with suppress(OSError, ValueError):  # whoever read it has gone
                stream.flush()
        os._exit(code)
    sys.exit(code)


def _say(words: str) -> None:
    from consilience.cli.terminal import Terminal  # noqa: PLC0415

    Terminal(stderr=True).print(words, soft_wrap=True, highlight=False)


def _words_of(error: ConsilienceError) -> list[str]:
    """What is wrong, with ways out that are options: somebody at a terminal has no use for arguments of Python."""
    if not error.findings:
        return [str(error)]
    from consilience.data.finding import Asker  # noqa: PLC0415

    return [finding.said(Asker.COMMAND) for finding in error.findings]


def _escape(text: str) -> str:
    return text.replace("[", r"\[")

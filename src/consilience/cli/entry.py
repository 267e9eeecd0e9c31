"""Where the command line begins, and how errors become exit codes."""

from __future__ import annotations

import sys

from consilience.errors import ConsilienceError

__all__ = ["main"]


def main() -> None:
    """Run a command; an error of ours is one line on standard error and exit code 2."""
    # whoever opens an app waits in front of a browser: the other commands, and all that they need, are not loaded for one
    from consilience.cli.commands import COMMANDS, application  # noqa: PLC0415

    command = application(*(name for name in sys.argv[1:2] if name in COMMANDS))
    try:
        command(prog_name="consilience")
    except ConsilienceError as error:
        for words in _words_of(error):
            _say(f"[bold red]error:[/] {_escape(words)}")
        sys.exit(2)
    except KeyboardInterrupt:
        _say("interrupted")
        sys.exit(130)


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

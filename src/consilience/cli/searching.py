"""A search for graphs with a line that says what is done and what is proved so far, and that Ctrl-C stops without losing anything."""

from __future__ import annotations

from collections.abc import Callable

from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

from consilience.cli.interrupt import Interruptible
from consilience.cli.terminal import Terminal
from consilience.iod import Discovery
from consilience.iod.discover import TESTING, Stage

__all__ = ["watched"]

HEARD = "stopping; what was found will be shown (Ctrl-C once more ends at once)"


def watched(search: Callable[[Stage, Callable[[], bool]], Discovery], *, time_limit: float | None, quiet: bool = False) -> Discovery:
    """Run ``search``, which is handed whom to tell and whom to ask whether to stop."""
    most = "" if time_limit is None else f"at most {time_limit:g} s; "
    columns = (SpinnerColumn(), TextColumn("{task.description}"), TimeElapsedColumn())
    with Progress(*columns, console=Terminal(stderr=True), transient=True, disable=quiet) as bar:
        task = bar.add_task(TESTING, total=None)
        with Interruptible(lambda: bar.update(task, description=HEARD)) as interrupt:

            def say(words: str) -> None:
                interrupt.searching |= not words.startswith(TESTING)
                if not interrupt.stopped:
                    hint = f" ({most}Ctrl-C shows what was found)" if interrupt.searching else ""
                    bar.update(task, description=f"{words}{hint}")

            return search(say, interrupt.stop)

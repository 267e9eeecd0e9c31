"""What was found in tables, as lines at a terminal."""

from __future__ import annotations

from collections.abc import Sequence

from rich.markup import escape
from rich.padding import Padding

from consilience.cli.terminal import Terminal
from consilience.data.finding import Asker, Finding, Grade

__all__ = ["show_findings"]

COLOURS = {Grade.REFUSED: "bold red", Grade.DOUBTFUL: "bold yellow", Grade.NOTICE: "dim"}


def show_findings(findings: Sequence[Finding], console: Terminal) -> None:
    """Findings one below the other, in the words of the command line."""
    for finding in findings:
        words = f"[{COLOURS[finding.grade]}]{finding.grade.value}[/] {escape(finding.said(Asker.COMMAND))}"
        console.print(Padding(words, (0, 0, 0, 2)), highlight=False)
    if not findings:
        console.print("  nothing to say", style="dim")

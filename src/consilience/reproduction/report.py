"""All that a study leaves behind: tables as text, CSV and Markdown, figures as SVG, and the page."""

from __future__ import annotations

from pathlib import Path

from consilience.reproduction.experiment import Results
from consilience.reproduction.figures import draw_figures
from consilience.reproduction.page import write_page
from consilience.reproduction.tables import tables_of

__all__ = ["write_report"]


def write_report(results: Results, folder: Path, command: str = "consilience reproduce") -> list[Path]:
    """Write everything below ``folder``; the paths, the page first."""
    written = [folder / "reproduction.md"]
    write_page(results, written[0], "figures", command)
    tables = folder / "tables"
    tables.mkdir(parents=True, exist_ok=True)
    for table in tables_of(results):
        for suffix, text in (("txt", table.to_text() + "\n"), ("csv", table.to_csv()), ("md", table.to_markdown() + "\n")):
            path = tables / f"{table.name}.{suffix}"
            path.write_text(text, encoding="utf-8")
            written.append(path)
    return written + draw_figures(results, folder / "figures")

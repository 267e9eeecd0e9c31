"""Options that the commands on sites' files share: the files, what is declared of them, and where to write what left each site."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

__all__ = ["AsJson", "DeclaredKinds", "DeclaredLevels", "KnowledgeFile", "LedgerFile", "Plans", "SiteFiles"]

SiteFiles = Annotated[list[Path], typer.Argument(help="One .csv or .parquet file per site, or one study file (.toml).", show_default=False)]
KnowledgeFile = Annotated[Path | None, typer.Option(help="What is known before the data: tiers, exogenous, required, … (a TOML file).")]
DeclaredKinds = Annotated[
    list[str] | None, typer.Option(help="Declare a kind: NAME=continuous|binary|ordinal|multinomial|count. Repeatable.")
]
DeclaredLevels = Annotated[list[str] | None, typer.Option(help="Declare levels in order: NAME=low,middle,high. Repeatable.")]
Plans = Annotated[
    list[str] | None, typer.Option(help="What is done with a site's table first: SITE=site.toml, or one file for all. Repeatable.")
]
LedgerFile = Annotated[Path | None, typer.Option(help="Write what left each site, as JSON Lines, to this file.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print the result as JSON and nothing else.")]

"""``consilience redecide``: graphs from the tests of a result that is there, decided otherwise, without asking any site."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.markup import escape

from consilience.cli.files import prepare_folder, write_result
from consilience.cli.options import Given, takes_settings
from consilience.cli.searching import watched
from consilience.cli.show import exit_code, show_discovery
from consilience.cli.terminal import Terminal, say_json
from consilience.errors import OptionError
from consilience.iod.knowledge import Knowledge
from consilience.iod.redecide import Record, redecide
from consilience.settings import Part

__all__ = ["redecision"]


@takes_settings(Part.GRAPHS, default="as before")
def redecision(
    result: Annotated[
        Path,
        typer.Argument(help="A result.json, written by `discover --out` or downloaded from a study server.", show_default=False),
    ],
    settings: Given,
    knowledge: Annotated[Path | None, typer.Option(help="Other knowledge: tiers, required, forbidden (a TOML file).")] = None,
    without_knowledge: Annotated[bool, typer.Option("--without-knowledge", help="Leave out what was known before.")] = False,
    out: Annotated[Path | None, typer.Option(help="Write the report, drawings, the result and the CI table into this folder.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the result as JSON and nothing else.")] = False,
) -> None:
    """Decide again on the tests of a finished result: another alpha, other knowledge, another way out of contradictions.

    No site is asked. Tests that this would need and that were not made are counted and named; they are unknown, not independence.

    Example: consilience redecide result.json --alpha 0.01 --out stricter
    """
    if knowledge is not None and without_knowledge:
        raise OptionError("--knowledge gives other knowledge and --without-knowledge none; take one of them.")
    record = Record.read(result)
    if out is not None:
        prepare_folder(out)
        if (out / "result.json").resolve() == result.resolve():
            raise OptionError(f"--out {out} would write over {result}; name another folder.")
    known = None if without_knowledge else ... if knowledge is None else Knowledge.from_toml(knowledge)
    limit = settings.get("time_limit", record.settings.get("time_limit"))
    found = watched(
        lambda say, stop: redecide(record, knowledge=known, progress=say, stop=stop, **settings),
        time_limit=limit,
        quiet=as_json,
    )
    console = Terminal()
    if out is not None:
        write_result(found, out)
    if as_json:
        say_json(found.to_dict())
    else:
        show_discovery(found, console)
        if out is not None:
            console.print(f"\nwritten to {escape(str(out))}", highlight=False)
    raise typer.Exit(exit_code(found))

"""``consilience test``: one conditional-independence test over the files of several sites."""

from __future__ import annotations

import json
import math
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console

from consilience.citest import CIResult, CITest
from consilience.cli.show import kinds_table, result_table
from consilience.data.reading import load
from consilience.errors import OptionError, UnknownVariableError
from consilience.federation import Client, Server, pooled
from consilience.glm.layout import Ordinal, SiteEffects

__all__ = ["independence"]


class Method(StrEnum):
    """How the sites' data are brought together."""

    FEDCI = "fedci"
    FISHER = "fisher"
    POOLED = "pooled"


def independence(
    x: Annotated[str, typer.Argument(help="One variable.")],
    y: Annotated[str, typer.Argument(help="The other.")],
    files: Annotated[list[Path], typer.Argument(help="One .csv or .parquet file per site.", show_default=False)],
    given: Annotated[str, typer.Option(help="Conditioning variables, separated by commas.")] = "",
    method: Annotated[
        Method, typer.Option(help="Common models from sums (fedci), combined p-values (fisher), or all rows together (pooled).")
    ] = Method.FEDCI,
    site_effects: Annotated[SiteEffects, typer.Option(help="Where the sites' intercepts live.")] = SiteEffects.PROFILED,
    ordinal: Annotated[Ordinal, typer.Option(help="How ordinal responses are modelled.")] = Ordinal.PROPORTIONAL,
    kind: Annotated[list[str] | None, typer.Option(help="Declare a kind: NAME=continuous|binary|ordinal|multinomial. Repeatable.")] = None,
    levels: Annotated[list[str] | None, typer.Option(help="Declare levels in order: NAME=low,middle,high. Repeatable.")] = None,
    ledger: Annotated[Path | None, typer.Option(help="Write what left each site, as JSON Lines, to this file.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the result as JSON and nothing else.")] = False,
) -> None:
    """Test whether X is independent of Y given others, across the files of several sites.

    Example: consilience test C E --given A muenster.csv marburg.csv
    """
    clients = _clients(files, _pairs("--kind", kind), {n: v.split(",") for n, v in _pairs("--levels", levels).items()})
    test: CITest
    if method is Method.POOLED:
        test = pooled(clients, site_effects=site_effects is not SiteEffects.NONE, ordinal=ordinal)
    else:
        test = Server(clients, method=method.value, site_effects=site_effects, ordinal=ordinal)
    result = test.test(x, y, [name for name in given.split(",") if name])
    if ledger is not None:
        ledger.write_text("".join(client.record.lines(site=client.name) for client in clients), encoding="utf-8")
    if as_json:
        print(json.dumps({"method": method.value, **_finite(result)}, indent=2))
    else:
        console = Console()
        console.print(kinds_table(clients, [x, y, *result.given]))
        console.print(result_table(result, method.value))
    raise typer.Exit(0 if result.informative else 3)


def _clients(files: list[Path], kinds: dict[str, str], levels: dict[str, list[str]]) -> list[Client]:
    names = [file.stem for file in files]
    if len(set(names)) < len(names):
        names = [str(file) for file in files]
    frames = [load(file, name) for name, file in zip(names, files, strict=True)]
    for variable in (*kinds, *levels):
        if not any(variable in frame.columns for frame in frames):
            raise UnknownVariableError(f"--kind and --levels declare columns of the files; no file has a column {variable!r}.")
    return [
        Client(
            name,
            frame,
            kinds={n: k for n, k in kinds.items() if n in frame.columns},
            levels={n: v for n, v in levels.items() if n in frame.columns},
        )
        for name, frame in zip(names, frames, strict=True)
    ]


def _pairs(option: str, values: list[str] | None) -> dict[str, str]:
    pairs: dict[str, str] = {}
    for value in values or []:
        name, sign, rest = value.partition("=")
        if not sign or not name or not rest:
            raise OptionError(f"{option} takes NAME=VALUE; got {value!r}.")
        pairs[name] = rest
    return pairs


def _finite(result: CIResult) -> dict[str, Any]:
    """The result with NaN as null: JSON has no NaN."""
    plain = result.to_dict()
    for direction in plain["directions"]:
        direction |= {k: None for k, v in direction.items() if isinstance(v, float) and math.isnan(v)}
    return plain

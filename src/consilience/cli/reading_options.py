"""Options that say how files are read and which columns are used, the same for every command that reads tables."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from functools import wraps
from typing import Annotated, Any

import typer

__all__ = ["Read", "split_names", "takes_reading"]

Read = dict[str, Any]
"""Arguments of :class:`consilience.Client` that were given on the command line, by name."""

_MANY = {
    "variables": "Use these columns only, separated by commas. Repeatable.",
    "missing": "A word or a number that stands for a missing value, in every column. Repeatable.",
}
_ONE = {
    "decimal": "The decimal mark of text files, if it is not to be found out.",
    "thousands": "The mark between thousands in text files; '' for none.",
    "separator": "What separates the fields of text files; 'tab' for tabs.",
    "encoding": "The encoding of text files.",
    "sheet": "The sheet of Excel files: its name, or its number from 1.",
    "table": "The table of databases.",
    "query": "What to ask a database for, in SQL.",
    "memory": "What each site's table may take, such as 2GB; larger Parquet files and DuckDB databases are read a block at a time.",
}


def takes_reading(command: Callable[..., None]) -> Callable[..., None]:
    """Make the parameter ``reading`` of a command one option for each way of reading a table."""

    @wraps(command)
    def run(**values: Any) -> None:
        given: Read = {name: value for name in (*_MANY, *_ONE) if (value := values.pop(name)) not in (None, [])}
        if "variables" in given:
            given["variables"] = split_names(given["variables"])
        command(**values, reading=given)

    own = inspect.signature(command, eval_str=True).parameters
    options = [_option(name, list[str], words) for name, words in _MANY.items()] + [
        _option(name, str, words) for name, words in _ONE.items()
    ]
    parameters = [p for name, old in own.items() for p in (options if name == "reading" else (old,))]
    run.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    run.__annotations__ = {p.name: p.annotation for p in parameters}
    return run


def _option(name: str, kind: Any, words: str) -> inspect.Parameter:
    option = typer.Option(f"--{name}", help=words, show_default=False)
    return inspect.Parameter(name, inspect.Parameter.POSITIONAL_OR_KEYWORD, default=None, annotation=Annotated[kind | None, option])


def split_names(values: list[str] | None) -> list[str]:
    r"""Names from options that may be repeated and may hold several each, separated by commas.

    A comma that belongs to a name is written ``\,``.

    >>> split_names(["sex, exang", "age", "dose\\, mg"])
    ['sex', 'exang', 'age', 'dose, mg']
    """
    hidden = "\0"
    parts = (part.replace(hidden, ",").strip() for value in values or [] for part in value.replace("\\,", hidden).split(","))
    return list(dict.fromkeys(part for part in parts if part))

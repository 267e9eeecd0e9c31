"""Whether a command that a page shows is one: its program, its options and its arguments are there. Nothing is run."""

from __future__ import annotations

import re
import tomllib
from functools import cache
from pathlib import Path
from typing import Any

import typer

from consilience.cli.app import app

ROOT = Path(__file__).parents[1]
TYPED = (
    "consilience",
    "python",
    "python3",
    "pip",
    "make",
    "podman",
    "docker",
    "dask",
    "nvflare",
    "git",
    "curl",
    "sudo",
    "export",
    "$",
    ">>>",
)
"""Words with which a line begins that somebody types."""


def wrong_with(words: list[str], *, whole: bool = True) -> str:
    """What is wrong with a command; empty if nothing is, or if the program is not of this project.

    ``whole``: all that a command needs must be there. In a sentence a command is named, and said which option is meant.

    >>> wrong_with(["consilience", "redecide", "result.json", "--alpha", "0.01"])
    ''
    >>> wrong_with(["consilience", "redecide", "result.json", "--alpah", "0.01"])
    'No such option: --alpah (Possible options: --alpha, --help)'
    >>> wrong_with(["consilience", "check"]), wrong_with(["consilience", "check"], whole=False)
    ("Missing argument 'files'.", '')
    >>> wrong_with(["make", "cofee"]), wrong_with(["pip", "install", "consilience[wbe]"])
    ('make has no target cofee', 'there is no extra wbe')
    """
    program, *rest = words
    if program == "consilience":
        return _parsed(rest) if whole else _named(rest)
    if program == "make":
        targets = [word for word in rest if re.fullmatch(r"[a-z-]+", word)]
        return next((f"make has no target {one}" for one in targets if one not in _targets()), "")
    if re.fullmatch(r"python[\d.]*|\.venv/bin/python", program) and rest and rest[0].endswith(".py"):
        return _script(rest)
    if program == "pip":
        extras = [extra for word in rest if (said := re.match(r"consilience\[(.*)\]", word)) for extra in said[1].split(",")]
        return next((f"there is no extra {one}" for one in extras if one not in _extras()), "")
    return ""


def _parsed(words: list[str]) -> str:
    """As the program itself takes them, up to where it would begin to work."""
    command: Any = typer.main.get_command(app)
    name, parent = "consilience", None
    while True:
        try:
            parent = command.make_context(name, list(words), parent=parent)
            command = parent.command
            if not hasattr(command, "resolve_command"):
                return ""
            name, command, words = command.resolve_command(parent, [*parent._protected_args, *parent.args])
        except typer.Exit:  # --help and --version
            return ""
        except Exception as error:  # noqa: BLE001  whatever the program would say
            said = error.format_message() if hasattr(error, "format_message") else str(error)
            return " ".join(said.split()) or type(error).__name__


def _named(words: list[str]) -> str:
    """Commands as far as they are words of the command line, and options by their names."""
    command: Any = typer.main.get_command(app)
    rest = list(words)
    while hasattr(command, "commands") and rest and not rest[0].startswith("-"):
        word = rest.pop(0)
        if not re.fullmatch(r"[a-z-]+", word):
            break
        if word not in command.commands:
            return f"No such command {word!r}."
        command = getattr(command.commands[word], "loaded", command.commands[word])
    known = {"--help"} | {option for one in command.params for option in (*one.opts, *one.secondary_opts)}
    return next((f"No such option: {word}" for word in rest if word.startswith("-") and word.partition("=")[0] not in known), "")


def _script(words: list[str]) -> str:
    path = ROOT / words[0]
    if not path.is_file():
        return f"there is no {words[0]}"
    text = path.read_text(encoding="utf-8")
    options = [word.partition("=")[0] for word in words[1:] if word.startswith("--")]
    return next((f"{words[0]} has no option {one}" for one in options if f'"{one}"' not in text), "")


@cache
def _targets() -> frozenset[str]:
    return frozenset(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE))


@cache
def _extras() -> frozenset[str]:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    return frozenset(project["optional-dependencies"])

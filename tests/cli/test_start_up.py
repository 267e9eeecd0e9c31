"""Programs start at once: a command is loaded when it runs, a package when it is used. ``benchmarks/start_up.py`` has all commands."""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import typer
from typer.testing import CliRunner

from consilience.cli.app import app
from consilience.cli.commands import COMMANDS
from consilience.cli.later import load_later
from consilience.cli.waiting import Waiting, Where, waiting


def bench() -> Any:
    spec = importlib.util.spec_from_file_location("start_up", Path(__file__).parents[2] / "benchmarks" / "start_up.py")
    assert spec is not None
    assert spec.loader is not None
    found = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(found)
    return found


def commands_of(group: Any, *words: str) -> Iterator[tuple[tuple[str, ...], Any]]:
    """All commands below a group that are not loaded with it, and below those that are groups themselves."""
    for name, command in group.commands.items():
        if isinstance(command, Waiting):
            yield (*words, name), command
        loaded = getattr(command, "loaded", command)
        if hasattr(loaded, "commands"):
            yield from commands_of(loaded, *words, name)


WAITING = dict(commands_of(typer.main.get_command(app)))


def test_every_command_of_the_list_waits() -> None:
    assert {words[0] for words in WAITING if len(words) == 1} == set(COMMANDS)
    assert ("server", "study") in WAITING
    assert ("server", "study", "rerun") in WAITING


@pytest.mark.parametrize("words", WAITING, ids=" ".join)
def test_the_line_that_stands_for_a_command_is_its_own_first_sentence(words: tuple[str, ...]) -> None:
    command = WAITING[words]
    assert command.short_help == " ".join(command.loaded.help.split("\n\n")[0].split())
    assert command.loaded.name == command.name


def test_a_waiting_command_runs_is_helped_and_is_completed_as_any_other() -> None:
    """A group whose commands are loaded shows the same help, and takes the same words, as one whose commands wait."""
    loaded = typer.Typer(help="Both.", callback=lambda: None)
    from consilience.cli.account import account_app  # noqa: PLC0415
    from consilience.cli.check import check_files  # noqa: PLC0415

    loaded.command("check")(check_files)
    loaded.add_typer(account_app, name="account")
    places = {
        "check": Where("consilience.cli.check:check_files", COMMANDS["check"].words),
        "account": Where("consilience.cli.account:account_app", WAITING["server", "account"].short_help),
    }
    lazy = typer.Typer(cls=waiting(places), help="Both.", callback=lambda: None)
    run = CliRunner().invoke
    for words in ([], ["--help"], ["check", "--help"], ["check"], ["account"], ["account", "end", "--help"], ["chekc"], ["check", "--no"]):
        ours, theirs = run(lazy, words), run(loaded, words)
        assert (ours.exit_code, ours.output) == (theirs.exit_code, theirs.output), words
        assert ours.output
    for typed in ("", "account ", "account e", "check --e"):
        asked = {"_ROOT_COMPLETE": "complete_bash", "COMP_WORDS": f"root {typed}", "COMP_CWORD": str(len(typed.split(" ")))}
        ours, theirs = (run(one, [], env=asked, prog_name="root") for one in (lazy, loaded))
        assert ours.output == theirs.output
        assert ours.output.strip()


def test_what_is_not_installed_does_not_wait() -> None:
    load_later(["nothing_of_this_name", "nothing_of_this_name.at_all"])
    assert not {name for name in sys.modules if name.startswith("nothing_of_this_name")}
    assert importlib.util.find_spec("nothing_of_this_name") is None


@pytest.mark.slow
@pytest.mark.parametrize(
    ("what", "loads"),
    [
        ("--help", set()),
        ("--version", set()),
        ("import consilience", set()),
        ("from consilience import *", {"numpy", "cryptography"}),
        ("server --help", {"pydantic"}),  # typer itself takes it to read options
        ("server study --help", {"pydantic"}),
        ("server accounts --home nowhere", {"pydantic"}),
        ("client --help", {"pydantic"}),
        ("client run --home nowhere --data nothing.csv", {"pydantic", "numpy", "cryptography"}),
        ("server run --home nowhere", {"pydantic", "numpy", "cryptography", "fastapi", "starlette", "uvicorn"}),
    ],
)
def test_a_process_loads_what_it_uses(what: str, loads: set[str]) -> None:
    start_up = bench()
    _, modules = start_up.started(what)
    packages = {name.partition(".")[0] for name in modules}
    assert "consilience" in packages, "the program ran"
    assert packages & set(start_up.HEAVY) <= loads


@pytest.mark.slow
def test_the_start_takes_no_longer_than_a_few_imports_of_numpy() -> None:
    """Processor time, the least of seven, as a ratio: a busy or slow machine gives the same answer. Where numpy takes 0.09 s, help takes
    less than 0.27 s, and the library less than 0.5 s.
    """
    start_up = bench()
    everything = "from consilience import *"
    found = start_up.measured((start_up.PEER, "--help", "import consilience", everything))
    seconds = {what: row["least"] for what, row in found.items()}
    assert seconds["--help"] < 3.0 * seconds[start_up.PEER]
    assert seconds["import consilience"] < seconds[start_up.PEER]
    assert seconds[everything] < 5.5 * seconds[start_up.PEER], "with polars it was six, with scipy and the solver eight"

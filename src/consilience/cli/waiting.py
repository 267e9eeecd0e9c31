"""Commands that are loaded when they run: until then a line in the list of commands stands for each.

A process runs one command, and does not load what the others need. ``--help`` runs none.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from importlib import import_module
from typing import Any, NamedTuple

import typer
from typer.core import TyperCommand, TyperGroup

__all__ = ["Waiting", "Where", "waiting"]


class Where(NamedTuple):
    """Where a command is, as module:name, and the first sentence of its help, word for word: a test holds it against the command's own."""

    place: str
    words: str


class Waiting(TyperCommand):
    """A command, or a group of them, that is not loaded yet."""

    def __init__(self, name: str, where: Where) -> None:
        super().__init__(name, short_help=where.words)
        self._place = where.place

    @cached_property
    def loaded(self) -> Any:
        """The command itself."""
        module, _, attribute = self._place.partition(":")
        found = getattr(import_module(module), attribute)
        group = typer.Typer(callback=lambda: None)
        if isinstance(found, typer.Typer):
            group.add_typer(found, name=self.name)
        else:
            group.command(self.name)(found)
        made: Any = typer.main.get_command(group)
        return made.commands[self.name]

    def make_context(self, info_name: str | None, args: list[str], parent: Any = None, **extra: Any) -> Any:
        """The context of the command itself: from here on, for options, help and completion, it is in this one's place."""
        return self.loaded.make_context(info_name, args, parent=parent, **extra)


def waiting(commands: Mapping[str, Where], *, last: bool = False) -> type[TyperGroup]:
    """The class of a group with these commands; those that are registered as usual come after them or, with ``last``, before.

    >>> group = typer.Typer(cls=waiting({"check": Where("consilience.cli.check:check_files", "Look at files.")}), callback=lambda: None)
    >>> made = typer.main.get_command(group)
    >>> made.commands["check"].short_help
    'Look at files.'
    >>> [option.name for option in made.commands["check"].loaded.params][:2]
    ['files', 'variables']
    """

    class Group(TyperGroup):
        def __init__(self, **given: Any) -> None:
            super().__init__(**given)
            ours = {name: Waiting(name, where) for name, where in commands.items()}
            self.commands = {**self.commands, **ours} if last else {**ours, **self.commands}

    return Group

"""Options of commands that are settings of a study: names, words, ranges and defaults are the declaration's."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import wraps
from typing import Annotated, Any

import typer

from consilience.settings import SETTINGS, Part, names_of
from consilience.settings.field import Setting

__all__ = ["Given", "takes_settings"]

Given = dict[str, Any]
"""Settings that were given on the command line, by name; what was not given is not there, so that a study file may say it."""


def takes_settings(
    *parts: Part, without: tuple[str, ...] = (), instead: Mapping[str, tuple[type, str]] | None = None, default: str | None = None
) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Make the parameter ``settings`` of a command one option for each setting of some parts.

    ``instead`` gives an option other choices than the setting has, and a sentence on them; ``default`` says in words what counts if an
    option is not given, where that is not the setting's own default.
    """
    settings = {name: SETTINGS[name] for name in names_of(*parts) if name not in without}
    for name, (kind, words) in (instead or {}).items():
        about = replace(settings[name].about, doc=words)
        settings[name] = replace(settings[name], type=kind, about=about)

    def decorate(command: Callable[..., None]) -> Callable[..., None]:
        @wraps(command)
        def run(**values: Any) -> None:
            given = {name: value for name in settings if (value := values.pop(name)) is not None}
            command(**values, settings=given)

        own = inspect.signature(command, eval_str=True).parameters
        options = [_option(setting, default) for setting in settings.values()]
        parameters = [p for name, old in own.items() for p in (options if name == "settings" else (old,))]
        run.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
        run.__annotations__ = {p.name: p.annotation for p in parameters}
        return run

    return decorate


def _option(setting: Setting, default: str | None) -> inspect.Parameter:
    """None stands for "not given"; the default that counts then is shown."""
    flag = f"{'' if setting.default else 'no-'}{setting.name.replace('_', '-')}"
    shown: Any = default or (flag if setting.type is bool else setting.plain_default)
    # Said in the help itself: typer puts a default that is text into brackets of its own, "(0.05)", as if it were a remark.
    words = setting.about.doc if shown is None else f"{setting.about.doc} \\[default: {shown}]"
    option = typer.Option(help=words, min=setting.about.ge, max=setting.about.le, show_default=False)
    kind = inspect.Parameter.POSITIONAL_OR_KEYWORD
    return inspect.Parameter(setting.name, kind, default=None, annotation=Annotated[setting.type | None, option])

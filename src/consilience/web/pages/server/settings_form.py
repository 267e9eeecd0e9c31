"""The settings of a study as a form, made from their declaration: nothing about a setting is said here a second time."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, get_args, get_origin

import msgspec

from consilience.disclosure.words import EFFECTS_WARNING
from consilience.errors import OptionError
from consilience.service.contract import COPIES_WARNING, LEFT_OUT_WARNING, PAIR_WARNING, RESTART_WARNING
from consilience.service.settings import JOINT_WARNING
from consilience.settings import Batching, Dropout, NetworkSettings, Part, SingleSite, SiteEffects
from consilience.settings.declaration import NETWORK_SETTINGS, OVER_A_NETWORK
from consilience.settings.field import Setting
from consilience.web.forms import Form, Trouble
from consilience.web.pages.server.variables_form import join_words, split_words
from consilience.web.rendering import duration

__all__ = ["DANGERS", "Control", "controls_of", "dangers_of", "plain", "read_settings"]

HEADINGS = {
    Part.TESTS: "How tests are done",
    Part.GRAPHS: "How graphs are found",
    Part.KNOWLEDGE: "What is known before the data",
    Part.STABILITY: "How sure the result is",
    Part.EFFECTS: "What is estimated when the graphs are found",
    Part.EXCHANGE: "How the server and the sites work together",
}


@dataclass(frozen=True, slots=True)
class Danger:
    """A setting that can disclose more: what it can do, and for which values."""

    words: str
    when: Callable[[Any], bool]


DANGERS: Mapping[str, Danger] = {
    "min_contributors": Danger(PAIR_WARNING + " With 3 or more, no site can do so alone.", lambda value: value < 3),
    "min_rows": Danger("The fewer rows a sum is over, the more it says about each of them.", lambda value: value < 10),
    "single_site": Danger(
        "What one site alone can test leaves it as its own p-value, rounded to three digits; nothing is summed over.",
        lambda value: value is SingleSite.LOCAL,
    ),
    "site_effects": Danger(JOINT_WARNING, lambda value: value is SiteEffects.JOINT),
    "allow_joint": Danger(JOINT_WARNING, bool),
    "on_dropout": Danger(RESTART_WARNING, lambda value: value is Dropout.RESTART),
    "bootstrap": Danger(COPIES_WARNING, lambda value: value > 0),
    "leave_one_out": Danger(LEFT_OUT_WARNING, bool),
    "effects": Danger(EFFECTS_WARNING, bool),
    "batching": Danger("More sums leave the sites than the search needs; none is of another kind.", lambda value: value is Batching.ALL),
}
"""Settings that decide what leaves the sites. Every site sees them before it consents."""


@dataclass(frozen=True, slots=True)
class Control:
    """A setting as a field: its kind of control, its text, and what is said about it."""

    setting: Setting
    value: str
    default: str
    changed: bool
    danger: str
    active: bool

    @property
    def name(self) -> str:
        """The name, as the field has it."""
        return self.setting.name

    @property
    def label(self) -> str:
        """The name in words."""
        return self.setting.name.replace("_", " ").capitalize()

    @property
    def kind(self) -> str:
        """``choice``, ``flag``, ``lines``, ``text`` or ``number``."""
        if self.setting.is_choice:
            return "choice"
        if self.setting.type is bool:
            return "flag"
        if self.setting.type is str:
            return "text"
        return "lines" if get_origin(self.setting.type) is tuple else "number"

    @property
    def choices(self) -> list[tuple[str, str]]:
        """The words it may be, as a select takes them."""
        return [(word, word) for word in self.setting.choices]

    @property
    def hint(self) -> str:
        """What it means, what it may be, what it is if nobody says otherwise, and why it is so over a network."""
        parts = [self.setting.about.doc.replace("`", "")]
        if self.kind in ("number", "text"):
            parts.append(f"May be {self.setting.range_in_words()}.")
        if self.kind == "lines":
            parts.append("One line a tier, variables with commas between them." if _nested(self.setting) else "One line each.")
        seconds = f" ({duration(self.setting.default)})" if self.name.endswith("_seconds") or self.name == "time_limit" else ""
        parts.append(f"Default: {self.default or 'none'}{seconds}.")
        if self.name in OVER_A_NETWORK and OVER_A_NETWORK[self.name].default is not msgspec.NODEFAULT:
            parts.append(f"Over a network so, because {OVER_A_NETWORK[self.name].why}.")
        return " ".join(parts)


def controls_of(settings: NetworkSettings, typed: Form | None = None) -> list[tuple[str, list[Control]]]:
    """All settings by subject; with what was typed, where something was."""
    return [(heading, list(_controls(part, settings, typed))) for part, heading in HEADINGS.items()]


def _controls(part: Part, settings: NetworkSettings, typed: Form | None) -> Iterator[Control]:
    for name, setting in NETWORK_SETTINGS.items():
        if setting.about.part is not part:
            continue
        value, danger = getattr(settings, name), DANGERS.get(name)
        text = plain(value)
        if typed is not None:
            text = ("yes" if typed.flag(name) else "no") if setting.type is bool else typed.text(name)
        active = danger is not None and danger.when(value)
        yield Control(setting, text, plain(setting.default), value != setting.default, danger.words if danger else "", active)


def dangers_of(settings: NetworkSettings) -> list[tuple[str, str, str]]:
    """Settings that are as dangerous as they can be: name, value, words; beside those that are so by default."""
    found = []
    for name, danger in DANGERS.items():
        value = getattr(settings, name)
        if danger.when(value) and value != NETWORK_SETTINGS[name].default:
            found.append((name, plain(value), danger.words))
    return found


def plain(value: Any) -> str:
    """A setting's value as text: what a field shows, and what is read from it again.

    >>> plain(0.05), plain(None), plain(True), plain((("A", "B, C"),))
    ('0.05', '', 'yes', 'A, "B, C"')
    """
    if value is None:
        return ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, tuple):
        return "\n".join(join_words(line) if isinstance(line, tuple) else line for line in value)
    return f"{value:.15g}" if isinstance(value, float) else str(value)


def read_settings(form: Form) -> tuple[NetworkSettings, list[Trouble]]:
    """The settings of a form, and what is wrong with each. What is wrong has its default."""
    found: dict[str, Any] = {}
    troubles = []
    for name, setting in NETWORK_SETTINGS.items():
        try:
            found[name] = setting.check(_given(setting, form))
        except OptionError as error:
            troubles.append(Trouble(name, str(error)))
    return NetworkSettings(**found), troubles


def _given(setting: Setting, form: Form) -> Any:
    text = form.text(setting.name, 40_000)
    if setting.type is bool:
        return form.flag(setting.name)
    if get_origin(setting.type) is tuple:
        lines = [line.strip() for line in text.splitlines() if line.strip()]
        return tuple(map(split_words, lines)) if _nested(setting) else tuple(lines)
    if setting.is_choice:
        return text
    if not text:
        return None if setting.optional else setting.default
    if setting.type is str:
        return text
    try:
        return int(text) if setting.type is int else float(text)
    except ValueError:
        kind = "a whole number" if setting.type is int else "a number"
        raise OptionError(f"{setting.name} must be {kind}; got {text[:40]!r}.") from None


def _nested(setting: Setting) -> bool:
    return get_origin(get_args(setting.type)[0]) is tuple

"""The settings as a page of the documentation. A test holds ``docs/settings.md`` against it."""

from __future__ import annotations

from typing import Any

from consilience.settings.declaration import LOCAL_SETTINGS, NETWORK_SETTINGS, OVER_A_NETWORK, SETTINGS, Part
from consilience.settings.field import Setting

__all__ = ["settings_page"]

HEAD = """\
# Settings

Every setting is declared once, in `src/consilience/settings/declaration.py`; this page is written from it
(`python tests/settings/make_page.py`). `Server` and `discover` take settings as arguments, the commands `test` and `discover` as options
(`--min-rows 50`), a [study file](service.md#the-study-file) in its section `[settings]`; the REST interface and the contract have the
same names.
"""
HEADINGS = {
    Part.TESTS: "How tests are done (`Server`)",
    Part.GRAPHS: "How graphs are found (`discover`)",
    Part.KNOWLEDGE: "What is known before the data (`discover(knowledge=...)`)",
    Part.STABILITY: "How sure the result is (`discover`)",
    Part.EFFECTS: "What is estimated then (`discover`)",
    Part.EXCHANGE: "How a study server and its sites work together",
}
OTHERWISE = """
## Over a network

A study on a study server has the same settings, with these differences and no others.

| setting | default there | may be there | because |
|---|---|---|---|
"""
BESIDE = """
## Not a setting

Two arguments are no part of a study: they stand neither in a contract nor in a study file.

| argument | default | may be | meaning |
|---|---|---|---|
"""


def settings_page() -> str:
    """``docs/settings.md``, as Markdown."""
    parts = [HEAD]
    for part, heading in HEADINGS.items():
        rows = (_row(setting) for setting in SETTINGS.values() if setting.about.part is part)
        parts.append(f"\n## {heading}\n\n| setting | default | may be | meaning |\n|---|---|---|---|\n{''.join(rows)}")
    there = (NETWORK_SETTINGS[name] for name in OVER_A_NETWORK)
    parts += [OTHERWISE, *(_row(setting, OVER_A_NETWORK[setting.name].why) for setting in there)]
    parts += [BESIDE, *map(_row, LOCAL_SETTINGS.values())]
    return "".join(parts)


def _row(setting: Setting, words: str = "") -> str:
    return f"| `{setting.name}` | {_plain(setting.plain_default)} | {setting.range_in_words()} | {words or setting.about.doc} |\n"


def _plain(value: Any) -> str:
    """A default as a study file has it; what a file would leave out is a dash."""
    if value is None or value == ():
        return "–"
    if isinstance(value, bool):
        return f"`{str(value).lower()}`"
    return f"`{value:.15g}`" if isinstance(value, float) else f"`{value}`"

"""What was noticed about data, by whichever rule: how grave it is, in words, and the ways out.

One type for all of it: what a reader could not type without guessing, what a column's values say of its kind, what harmonising changed,
what does not fit between sites. A way out is kept as what to do, not as text, so that the command line can name its options, Python its
arguments, and a page its button.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

__all__ = ["Asker", "Finding", "Grade", "Remedy", "Step", "recoding"]


class Grade(StrEnum):
    """How grave a finding is.

    >>> Grade("doubtful").stops
    False
    """

    NOTICE = "notice"
    """Something was done or left out, and nothing need be decided."""
    DOUBTFUL = "doubtful"
    """It is used as it is, and may be wrong: somebody should look."""
    REFUSED = "refused"
    """It is not used as it is: any answer would be a guess."""

    @property
    def stops(self) -> bool:
        """True if nothing may be computed with it before somebody has decided."""
        return self is Grade.REFUSED


class Asker(StrEnum):
    """Who reads a message, and so in which words a way out is said."""

    PYTHON = "python"
    COMMAND = "command"
    PAGE = "page"


class Step(StrEnum):
    """What can be done about a finding."""

    KIND = "kind"
    LEVELS = "levels"
    MISSING = "missing"
    DECIMAL = "decimal"
    THOUSANDS = "thousands"
    SEPARATOR = "separator"
    ENCODING = "encoding"
    VARIABLES = "variables"
    DROP = "drop"
    RENAME = "rename"
    RECODE = "recode"
    STRIP = "strip"
    UNIT = "unit"
    FACTOR = "factor"
    RANGE = "range"
    DATE = "date"


_PYTHON = {
    Step.KIND: "kinds={{{column!r}: {value!r}}}",
    Step.LEVELS: "levels={{{column!r}: [{value}]}}",
    Step.MISSING: "missing=[{value!r}]",
    Step.DECIMAL: "decimal={value!r}",
    Step.THOUSANDS: "thousands={value!r}",
    Step.SEPARATOR: "separator={value!r}",
    Step.ENCODING: "encoding={value!r}",
    Step.VARIABLES: "variables=[{value}]",
    Step.DROP: "harmonise={{{column!r}: {{'drop': True}}}}",
    Step.RENAME: "harmonise={{{column!r}: {{'rename': {value!r}}}}}",
    Step.RECODE: "harmonise={{{column!r}: {{'recode': {{{value}}}}}}}",
    Step.STRIP: "harmonise={{{column!r}: {{'strip': {value!r}}}}}",
    Step.UNIT: "harmonise={{{column!r}: {{'unit': {value!r}}}}}",
    Step.FACTOR: "harmonise={{{column!r}: {{'factor': {value}}}}}",
    Step.RANGE: "harmonise={{{column!r}: {{'range': [{value}]}}}}",
    Step.DATE: "harmonise={{{column!r}: {{'date': {value!r}}}}}",
}
_COMMAND = {
    Step.KIND: "--kind {column}={value}",
    Step.LEVELS: "--levels {column}={value}",
    Step.MISSING: "--missing {value!r}",
    Step.DECIMAL: "--decimal {value!r}",
    Step.THOUSANDS: "--thousands {value!r}",
    Step.SEPARATOR: "--separator {value!r}",
    Step.ENCODING: "--encoding {value}",
    Step.VARIABLES: "--variables {value}",
    Step.DROP: "drop = true under [columns.{column!r}] of the site's file (--harmonise site.toml)",
    Step.RENAME: "rename = {value!r} under [columns.{column!r}] of the site's file (--harmonise site.toml)",
    Step.RECODE: "recode = {{{value}}} under [columns.{column!r}] of the site's file (--harmonise site.toml)",
    Step.STRIP: "strip = {value!r} under [columns.{column!r}] of the site's file (--harmonise site.toml)",
    Step.UNIT: "unit = {value!r} under [columns.{column!r}] of the site's file (--harmonise site.toml)",
    Step.FACTOR: "factor = {value} under [columns.{column!r}] of the site's file (--harmonise site.toml)",
    Step.RANGE: "range = [{value}] under [columns.{column!r}] of the site's file (--harmonise site.toml)",
    Step.DATE: "date = {value!r} under [columns.{column!r}] of the site's file (--harmonise site.toml)",
}
_PAGE = {
    Step.KIND: "choose the kind {value}",
    Step.LEVELS: "put the levels in order: {value}",
    Step.MISSING: "make {value!r} missing",
    Step.DECIMAL: "read {value!r} as the decimal mark",
    Step.THOUSANDS: "read {value!r} as the mark between thousands",
    Step.SEPARATOR: "read the file as separated by {value!r}",
    Step.ENCODING: "read the file as {value}",
    Step.VARIABLES: "choose the variables {value}",
    Step.DROP: "exclude the column",
    Step.RENAME: "call the column {value!r}",
    Step.RECODE: "respell the levels: {value}",
    Step.STRIP: "read the numbers without {value!r}",
    Step.UNIT: "convert the unit: {value}",
    Step.FACTOR: "multiply by {value}",
    Step.RANGE: "keep values in the range {value} only",
    Step.DATE: "turn the date into {value}",
}
_WORDS = {Asker.PYTHON: _PYTHON, Asker.COMMAND: _COMMAND, Asker.PAGE: _PAGE}


@dataclass(frozen=True, slots=True)
class Remedy:
    """One way out.

    Attributes
    ----------
    step : Step
        What to do.
    column : str
        With which column; empty where it is about the whole file.
    value : str
        With which value.

    Examples
    --------
    >>> remedy = Remedy(Step.KIND, "stage", "ordinal")
    >>> remedy.said(Asker.COMMAND), remedy.said(Asker.PYTHON)
    ('--kind stage=ordinal', "kinds={'stage': 'ordinal'}")
    """

    step: Step
    column: str = ""
    value: str = ""

    def said(self, asker: Asker) -> str:
        """The way out, in the words of whoever asked."""
        value = _recoded(self.value, asker) if self.step is Step.RECODE else self.value
        return _WORDS[asker][self.step].format(column=self.column, value=value)


def recoding(column: str, levels: Mapping[str, str]) -> Remedy:
    """The way out of levels that are written in two ways.

    >>> remedy = recoding("sex", {"F": "female"})
    >>> remedy.said(Asker.PYTHON), remedy.said(Asker.PAGE)
    ("harmonise={'sex': {'recode': {'F': 'female'}}}", "respell the levels: 'F' as 'female'")
    """
    return Remedy(Step.RECODE, column, json.dumps(dict(levels), ensure_ascii=False))


def _recoded(value: str, asker: Asker) -> str:
    """The pairs of a recoding, as each asker writes them; what is no such pairs is said as it is."""
    try:
        levels = json.loads(value)
    except ValueError:
        return value
    if asker is Asker.COMMAND:  # JSON's strings are TOML's basic strings
        return ", ".join(f"{json.dumps(old, ensure_ascii=False)} = {json.dumps(new, ensure_ascii=False)}" for old, new in levels.items())
    between = ": " if asker is Asker.PYTHON else " as "
    return ", ".join(f"{old!r}{between}{new!r}" for old, new in levels.items())


@dataclass(frozen=True, slots=True)
class Finding:
    """Something that was noticed.

    Attributes
    ----------
    code : str
        Which rule it is, for programs and tests: ``"identifier"``, ``"mostly-numbers"``, ``"units"``, …
    grade : Grade
        How grave it is.
    words : str
        What was seen, as one or more whole sentences, without the way out.
    columns : tuple of str
        Which columns or variables it is about.
    sites : tuple of str
        Which sites, where it is about how they fit together.
    remedies : tuple of Remedy
        The ways out, the most likely first.

    Examples
    --------
    >>> found = Finding("constant", Grade.NOTICE, "'ward' has one value only.", ("ward",), remedies=(Remedy(Step.DROP, "ward"),))
    >>> found.said(Asker.PYTHON)
    "'ward' has one value only. To have it otherwise: harmonise={'ward': {'drop': True}}."
    """

    code: str
    grade: Grade
    words: str
    columns: tuple[str, ...] = ()
    sites: tuple[str, ...] = ()
    remedies: tuple[Remedy, ...] = ()

    def said(self, asker: Asker = Asker.PYTHON) -> str:
        """The whole message: what was seen, and the ways out in the words of whoever asked."""
        if not self.remedies:
            return self.words
        before = "To have it otherwise" if self.grade is Grade.NOTICE else "The way out"
        return f"{self.words} {before}: {', or '.join(remedy.said(asker) for remedy in self.remedies)}."

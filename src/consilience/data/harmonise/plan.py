"""A site's plan: what is done with its table before anything is computed, from a file that its owner wrote. TOML.

::

    [columns.chol]
    missing = [-9, "k.A."]                # codes of this column
    strip = "mg/dl"                       # "233 mg/dl" is 233
    unit = "mg/dl -> mmol/l"              # the factor depends on the substance: by the column's name, or analyte = "cholesterol"
    range = [0.5, 30]                     # what is outside becomes missing

    [columns.Geschlecht]
    rename = "sex"
    recode = { m = "male", w = "female", "?" = "" }

    [derived]
    bmi = "weight / (height / 100) ** 2"

The steps of a column are done in this order, however they are written: missing, strip and decimal, date, recode, unit, range. Then columns
are renamed, then variables are derived, in the order of the file and from the new names, and at the end columns are dropped.
"""

from __future__ import annotations

import hashlib
import json
import os
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from consilience.data.errors import HarmoniseError, nearest
from consilience.data.harmonise.applied import Applied, after
from consilience.data.harmonise.applying import Frame, Harmonised, harmonise
from consilience.data.harmonise.columns import ColumnPlan, read_column, recoded
from consilience.data.harmonise.derived import Derived, read_derived
from consilience.data.sources.loaded import Loaded

__all__ = ["Plan", "said_of"]

LABEL = "consilience/harmonise/1"
TOP = ("columns", "derived")


@dataclass(frozen=True, slots=True)
class Plan:
    """What is done with a site's table before anything is computed.

    Attributes
    ----------
    columns : tuple of ColumnPlan
        By name.
    derived : tuple of Derived
        In the order in which they are computed.

    Examples
    --------
    >>> plan = Plan.of({"chol": {"unit": "mg/dl -> mmol/l"}, "ward": {"drop": True}})
    >>> plan.lines()
    ['chol: unit mg/dl -> mmol/l (cholesterol)', 'ward: dropped']
    >>> len(plan.digest)
    64
    """

    columns: tuple[ColumnPlan, ...] = ()
    derived: tuple[Derived, ...] = ()

    @classmethod
    def of(cls, source: Plan | Mapping[str, Any] | str | os.PathLike[str]) -> Plan:
        """A plan from wherever it is: itself, a mapping, or the path of a file.

        Parameters
        ----------
        source : Plan, mapping or path
            A mapping has the sections of the file, ``columns`` and ``derived``; one with other keys is the section ``columns``.

        Returns
        -------
        Plan

        Raises
        ------
        HarmoniseError
            If it cannot be read; the message names the entry.
        """
        if isinstance(source, Plan):
            return source
        if isinstance(source, Mapping):
            return cls.read(source if source and set(source) <= set(TOP) else {"columns": source})
        try:
            text = Path(source).read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError, ValueError) as error:
            raise HarmoniseError(f"{str(source)!r} cannot be read as a site's file (TOML): {error}") from None
        return cls.parse(text, str(source))

    @classmethod
    def parse(cls, text: str, path: str = "site.toml") -> Plan:
        """A plan from the text of a file; ``path`` is what it is called in messages.

        >>> Plan.parse("columns.ward.drop = true").columns[0].drop
        True
        """
        try:
            return cls.read(tomllib.loads(text))
        except (tomllib.TOMLDecodeError, RecursionError) as error:
            raise HarmoniseError(f"{path!r} cannot be read as a site's file (TOML): {error}") from None
        except HarmoniseError as error:
            raise type(error)(f"{error}\nSee {path!r}.") from None

    @classmethod
    def read(cls, content: Mapping[str, Any]) -> Plan:
        """A plan from the sections ``columns`` and ``derived``."""
        for key in content:
            if key not in TOP:
                raise HarmoniseError(f"A site's file has the sections [columns.NAME] and [derived]; got {key!r}.{nearest(key, TOP)}")
        columns, derived = (content.get(key, {}) for key in TOP)
        for key, entries in zip(TOP, (columns, derived), strict=True):
            if not isinstance(entries, Mapping):
                raise HarmoniseError(f"[{key}] is a table; got {entries!r}.")
        found = tuple(read_column(str(name), columns[name]) for name in sorted(columns, key=str))
        plan = cls(found, tuple(read_derived(str(name), entry) for name, entry in derived.items()))
        _check_names(plan)
        return plan

    def apply(self, frame: Frame, owner: str = "") -> Harmonised[Frame]:
        """The table after the plan, what was changed, and what was noticed; see :func:`consilience.data.harmonise.harmonise`.

        >>> import polars as pl
        >>> Plan.of({"ward": {"drop": True}}).apply(pl.DataFrame({"age": [61.5], "ward": ["3b"]})).frame.columns
        ['age']
        """
        return harmonise(self.columns, self.derived, frame, owner)

    def applied(self, loaded: Loaded, owner: str = "") -> Applied:
        """What a source gave after the plan, by the new names."""
        return after(self, loaded, owner)

    def plain(self) -> dict[str, Any]:
        """The plan in the types of JSON, in one form, however it was written."""
        return {"columns": {c.name: c.plain() for c in self.columns}, "derived": [d.plain() for d in self.derived]}

    @property
    def digest(self) -> str:
        """SHA-256 over a label and that form, as hexadecimal digits. It belongs to the site's own records: who knows the files could guess
        a plan from it.
        """
        text = json.dumps([LABEL, self.plain()], sort_keys=True, ensure_ascii=False, separators=(",", ":"))
        return hashlib.sha256(text.encode()).hexdigest()

    @property
    def kinds(self) -> dict[str, str]:
        """The kinds that it declares, by the new names."""
        return {c.final: c.kind for c in self.columns if c.kind and not c.drop} | {d.name: d.kind for d in self.derived if d.kind}

    @property
    def levels(self) -> dict[str, tuple[str, ...]]:
        """The levels that it declares, by the new names."""
        found = {c.final: c.levels for c in self.columns if c.levels and not c.drop}
        return found | {d.name: d.levels for d in self.derived if d.levels}

    @property
    def units(self) -> dict[str, tuple[str, str]]:
        """By new name, the unit that a column has afterwards, and its substance, where the plan says so."""
        return {c.final: (c.units[1], c.substance) for c in self.columns if c.units[1] and not c.drop}

    def lines(self) -> list[str]:
        """The plan in words, a line for each column and derived variable."""
        return [f"{c.name}: {said_of(c)}" for c in self.columns] + [
            f"{d.name}: derived as {d.expression.text}{_kinds(d)}" for d in self.derived
        ]


def _check_names(plan: Plan) -> None:
    names = [c.final for c in plan.columns if c.rename] + [d.name for d in plan.derived]
    for name in names:
        if names.count(name) > 1:
            raise HarmoniseError(f"Every column and derived variable has a name of its own; {name!r} is given twice.")
        if not name.strip():
            raise HarmoniseError("A derived variable has a name; got an empty one.")


def said_of(c: ColumnPlan) -> str:
    """One column's steps in words, in the order in which they are done.

    >>> said_of(ColumnPlan(name="ward", drop=True))
    'dropped'
    """
    scaled = "" if c.factor is None and c.offset is None else f"× {1.0 if c.factor is None else c.factor:g} + {c.offset or 0.0:g}"
    steps = (
        f"missing {', '.join(map(repr, c.missing))}" if c.missing else "",
        f"strip {c.strip!r}" if c.strip else "",
        f"decimal mark {c.decimal!r}" if c.decimal else "",
        c.date,
        f"recode {recoded(c)}" if c.recode else "",
        f"unit {c.unit}{f' ({c.substance})' if c.substance else ''}" if c.unit else "",
        scaled.removesuffix(" + 0"),
        "" if c.range is None else f"range {c.range[0]:g} to {c.range[1]:g}",
        f"renamed {c.rename!r}" if c.rename else "",
        "dropped" if c.drop else "",
        _kinds(c),
    )
    return "; ".join(filter(None, steps)) or "nothing"


def _kinds(found: ColumnPlan | Derived) -> str:
    return "; ".join(filter(None, (found.kind and f"kind {found.kind}", ", ".join(found.levels) and f"levels {', '.join(found.levels)}")))

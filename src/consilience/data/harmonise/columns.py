"""What is to be done with one column, as its owner wrote it: checked, in words, and in a form that a digest can be made of."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any

from consilience.data.errors import HarmoniseError, nearest
from consilience.data.harmonise.analytes import find_analyte
from consilience.data.harmonise.scales import unit_named
from consilience.data.harmonise.units import Conversion, convert
from consilience.data.kinds import as_kind, level_label
from consilience.errors import OptionError

__all__ = ["ColumnPlan", "Dated", "read_column", "recoded"]

_DATE = re.compile(r"^(?:days since (?P<since>\d{4}-\d\d-\d\d)|age at (?P<at>.+)|(?P<year>year))$")


@dataclass(frozen=True, slots=True)
class Dated:
    """What a date becomes: ``"since"`` a day, an age ``"at"`` another date, or its ``"year"``."""

    what: str
    of: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ColumnPlan:
    """What is to be done with one column.

    Attributes
    ----------
    name : str
        As the site's table has it.
    missing : tuple of str
        Words and codes that stand for "missing" in this column; numbers are compared by value.
    strip : str
        What stands behind the numbers of a text: ``"mg/dl"`` in ``"233 mg/dl"``.
    decimal : str
        The decimal mark of numbers that were read as text, ``","`` or ``"."``; the other is taken as the mark between thousands.
    date : str
        ``"days since 2020-01-01"``, ``"age at COLUMN"`` (or at a day), or ``"year"``.
    recode : tuple of pairs of str
        Levels, old and new; an empty new one makes it missing.
    unit : str
        ``"mg/dl -> mmol/l"`` converts; ``"mg/dl"`` says what the unit is, so that a study that declares another can have it converted.
    analyte : str
        Of which substance, where the factor depends on it; by default what the column is called.
    factor, offset : float, optional
        A conversion that is in no table: new = old × factor + offset.
    range : pair of float, optional
        What is outside becomes missing; after the conversion.
    rename : str
        The study's name for it.
    kind : str
        The kind of variable.
    levels : tuple of str
        Its levels, in their order, after recoding.
    drop : bool
        Leave it out, once derived variables have been computed.
    """

    name: str
    missing: tuple[str, ...] = ()
    strip: str = ""
    decimal: str = ""
    date: str = ""
    recode: tuple[tuple[str, str], ...] = ()
    unit: str = ""
    analyte: str = ""
    factor: float | None = None
    offset: float | None = None
    range: tuple[float, float] | None = None
    rename: str = ""
    kind: str = ""
    levels: tuple[str, ...] = ()
    drop: bool = False

    @property
    def final(self) -> str:
        """What it is called afterwards."""
        return self.rename or self.name

    @property
    def changes_values(self) -> bool:
        """True if its values are not what they were, or it is gone."""
        made = self.missing or self.strip or self.decimal or self.date or self.recode or self.conversion or self.range
        return bool(made) or self.drop

    @property
    def dated(self) -> Dated | None:
        """What its dates become."""
        match = _DATE.match(self.date)
        return None if match is None else Dated(match.lastgroup or "", match[match.lastgroup or 0])

    @property
    def substance(self) -> str:
        """Which substance it is, as far as that is known: as it says, or as it is called."""
        found = find_analyte(self.analyte or self.final) or find_analyte(self.name)
        return self.analyte or ("" if found is None else found.name)

    @property
    def units(self) -> tuple[str, str]:
        """The unit that it has, and the one that it is given; empty where nothing was said."""
        old, arrow, new = (part.strip() for part in self.unit.replace("→", "->").partition("->"))
        return old, new if arrow else old

    @property
    def conversion(self) -> Conversion | None:
        """How its numbers are converted, if so."""
        if self.factor is not None or self.offset is not None:
            return Conversion(1.0 if self.factor is None else self.factor, self.offset or 0.0)
        old, new = self.units
        return None if old == new else convert(self.substance, old, new)

    def plain(self) -> dict[str, Any]:
        """What it says, without what it leaves out, in the types of JSON."""
        found = {field.name: getattr(self, field.name) for field in fields(self) if field.name != "name"}
        found["recode"] = dict(sorted(self.recode))
        return {
            key: list(value) if isinstance(value, tuple) else value
            for key, value in found.items()
            if value not in (None, "", (), {}, False)
        }


def recoded(plan: ColumnPlan) -> str:
    """What is recoded, in words.

    >>> recoded(ColumnPlan(name="sex", recode=(("?", ""), ("M", "male"))))
    "'?' -> missing, 'M' -> 'male'"
    """
    return ", ".join(f"{old!r} -> {new!r}" if new else f"{old!r} -> missing" for old, new in plan.recode)


_KEYS = tuple(field.name for field in fields(ColumnPlan) if field.name != "name")


def read_column(name: str, entry: Any) -> ColumnPlan:
    """A column's plan from a mapping, checked.

    Parameters
    ----------
    name : str
        The column.
    entry : mapping
        Any of the attributes of :class:`ColumnPlan`.

    Returns
    -------
    ColumnPlan

    Raises
    ------
    HarmoniseError
        If a key or a value has no meaning; it names the key.

    Examples
    --------
    >>> read_column("chol", {"unit": "mg/dl -> mmol/l", "range": [0.5, 30]}).range
    (0.5, 30.0)
    """
    if not isinstance(entry, Mapping):
        raise HarmoniseError(f"What is done with {name!r} is a table of steps, as in {{'drop': True}}; got {entry!r}.")
    for key in entry:
        if key not in _KEYS:
            raise HarmoniseError(f"[columns.{name}] has no key {key!r}.{nearest(str(key), _KEYS)}")
    read = {key: _READERS[key](name, key, value) for key, value in entry.items()}
    return _consistent(ColumnPlan(name=name, **read))


def _consistent(plan: ColumnPlan) -> ColumnPlan:
    where = f"[columns.{plan.name}]"
    if plan.factor is not None and "->" in plan.unit.replace("→", "->"):
        raise HarmoniseError(f"{where} has a unit to convert and a factor as well: give one of them.")
    if plan.date and _DATE.match(plan.date) is None:
        raise HarmoniseError(f"A date becomes 'days since 2020-01-01', 'age at COLUMN' or 'year'; date of {where} says {plan.date!r}.")
    if plan.recode and (plan.conversion is not None or plan.date):
        raise HarmoniseError(f"{where} recodes levels and converts numbers: a column has levels or numbers. Use missing for codes.")
    try:
        for unit in filter(None, plan.units):
            unit_named(unit)
        _ = plan.conversion
    except OptionError as error:
        # a unit that is only stated may be one that no table knows: it is compared with the study's as text
        if "->" in plan.unit.replace("→", "->"):
            raise HarmoniseError(f"{error} See unit of {where}.") from None
    return plan


def _text(name: str, key: str, value: Any) -> str:
    if not isinstance(value, str) or (not value.strip() and key != "strip"):
        raise HarmoniseError(f"{key} of [columns.{name}] is text; got {value!r}.")
    return value.strip()


def _decimal(name: str, key: str, value: Any) -> str:
    if value not in (",", "."):
        raise HarmoniseError(f"{key} of [columns.{name}] is ',' or '.'; got {value!r}.")
    return str(value)


def _number(name: str, key: str, value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value) or (key == "factor" and value == 0):
        raise HarmoniseError(f"{key} of [columns.{name}] is a finite number{', not 0' if key == 'factor' else ''}; got {value!r}.")
    return float(value)


def _range(name: str, key: str, value: Any) -> tuple[float, float]:
    try:
        low, high = (float(end) for end in value if not isinstance(end, bool | str))
    except (TypeError, ValueError):
        raise HarmoniseError(f"{key} of [columns.{name}] is two numbers, as in [0.5, 30] (inf for no end); got {value!r}.") from None
    if not low <= high:
        raise HarmoniseError(f"{key} of [columns.{name}] goes from the lower to the higher end; got {value!r}.")
    return low, high


def _labels(name: str, key: str, value: Any) -> tuple[str, ...]:
    if isinstance(value, str | int | float):
        value = [value]
    if not isinstance(value, list | tuple) or not value or not all(isinstance(item, str | int | float) for item in value):
        raise HarmoniseError(f"{key} of [columns.{name}] is a list of words or numbers; got {value!r}.")
    return tuple(level_label(item) for item in value)


def _recode(name: str, key: str, value: Any) -> tuple[tuple[str, str], ...]:
    if not isinstance(value, Mapping) or not value or not all(isinstance(v, str | int | float) for pair in value.items() for v in pair):
        raise HarmoniseError(f"{key} of [columns.{name}] is a table from old to new levels, as in {{M = 'male'}}; got {value!r}.")
    return tuple(sorted((level_label(old), level_label(new)) for old, new in value.items()))


def _kind(name: str, key: str, value: Any) -> str:
    try:
        return as_kind(_text(name, key, value), name).value
    except OptionError as error:
        raise HarmoniseError(f"{error} See kind of [columns.{name}].") from None


def _drop(name: str, key: str, value: Any) -> bool:
    if not isinstance(value, bool):
        raise HarmoniseError(f"{key} of [columns.{name}] is true or false; got {value!r}.")
    return value


_READERS: dict[str, Any] = {
    **dict.fromkeys(("strip", "date", "unit", "analyte", "rename"), _text),
    **dict.fromkeys(("factor", "offset"), _number),
    **dict.fromkeys(("missing", "levels"), _labels),
    "decimal": _decimal,
    "range": _range,
    "recode": _recode,
    "kind": _kind,
    "drop": _drop,
}

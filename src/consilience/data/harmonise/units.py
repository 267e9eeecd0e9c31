"""From one unit to another, and which factors between two sites' medians look like a unit.

Units of one dimension convert by their scales alone (``cm`` to ``in``). Between grams and moles a molar mass is needed, and so the name of
the substance; between equivalents and moles its charge.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache

from consilience.data.harmonise.analytes import ANALYTES, Analyte, analyte_named, find_analyte
from consilience.data.harmonise.scales import CHARGE, MASS, MOLAR, Unit, unit_named
from consilience.errors import OptionError

__all__ = ["Conversion", "KnownFactor", "convert", "known_factors", "unit_between"]


@dataclass(frozen=True, slots=True)
class Conversion:
    """``new = old × factor + offset``.

    >>> convert("", "°F", "°C").of(98.6)
    37.0
    """

    factor: float
    offset: float = 0.0

    def of(self, value: float) -> float:
        """One value, converted; twelve digits, since a unit is no more exact than that."""
        return float(f"{value * self.factor + self.offset:.12g}")


def convert(analyte: str, old: str, new: str) -> Conversion:
    """How to convert a measurement.

    Parameters
    ----------
    analyte : str
        What was measured (``"cholesterol"``, ``"Kreatinin"``, ``"hdl"``). Empty where the units alone say it, as from pounds to kilograms.
    old, new : str
        Units, as people write them.

    Returns
    -------
    Conversion

    Raises
    ------
    OptionError
        If a unit or the substance is not known, or the two units do not measure the same.

    Examples
    --------
    >>> round(convert("cholesterol", "mg/dl", "mmol/l").factor, 5)
    0.02586
    >>> round(convert("creatinine", "mg/dL", "umol/L").factor, 2)
    88.4
    >>> round(convert("", "lb", "kg").factor, 4)
    0.4536
    """
    source, target = unit_named(old), unit_named(new)
    between = 1.0 if source.dimension == target.dimension else _between(analyte, source, target)
    # to the base of one dimension, to the base of the other, and from there to the unit; only units of one dimension have offsets
    factor = source.scale * between / target.scale
    return Conversion(factor, (source.offset - target.offset) / target.scale)


def _between(analyte: str, source: Unit, target: Unit) -> float:
    """From the base of one dimension to that of another: through moles."""
    if not {source.dimension, target.dimension} <= {MASS, MOLAR, CHARGE}:
        raise OptionError(
            f"{source.name} measures {source.dimension} and {target.name} measures {target.dimension}: one is not the other's unit. "
            f"Correct the units, or give a factor (and an offset) instead."
        )
    if not analyte:
        raise OptionError(
            f"How much {target.name} a {source.name} is depends on the substance. Name it, as in analyte = 'cholesterol', or give a factor."
        )
    known = analyte_named(analyte)
    return _per_mole(known, target) / _per_mole(known, source)


def _per_mole(analyte: Analyte, unit: Unit) -> float:
    """How many of a dimension's base unit are in one mole."""
    if unit.dimension == CHARGE and not analyte.charge:
        raise OptionError(f"{unit.name} counts charges, and {analyte.name} is no ion of the table. Give a factor instead.")
    return {MASS: analyte.mass, MOLAR: 1.0, CHARGE: float(analyte.charge)}[unit.dimension]


@dataclass(frozen=True, slots=True)
class KnownFactor:
    """Two units in which the same thing is reported: ``one = other × factor + offset``.

    Attributes
    ----------
    factor, offset : float
        The line between them; the factor is above 1, the offset 0 except for temperatures and glycated haemoglobin.
    words : str
        ``"cholesterol in mg/dl and mmol/l"``.
    analyte : str
        Which substance; empty where the units alone say it.
    one, other : str
        The unit of the larger numbers, and that of the smaller ones.
    """

    factor: float
    offset: float
    words: str
    analyte: str
    one: str
    other: str


_PLAIN_PAIRS = (
    ("g/l", "g/dl"),
    ("mg/l", "mg/dl"),
    ("µmol/l", "mmol/l"),
    ("lb", "kg"),
    ("g", "kg"),
    ("cm", "m"),
    ("cm", "in"),
    ("mm", "cm"),
    ("in", "m"),
    ("mmHg", "kPa"),
    ("°F", "°C"),
    ("%", "fraction"),
    ("days", "years"),
    ("months", "years"),
    ("kJ", "kcal"),
    ("/µl", "10^9/l"),
    ("U/l", "µkat/l"),
    ("mmol/mol", "% NGSP"),
)


@cache  # it is asked for once for every two sites and every number
def known_factors() -> tuple[KnownFactor, ...]:
    """Every pair of units in which the same thing is commonly reported, with the factor between them.

    Returns
    -------
    tuple of KnownFactor
        Larger numbers first: ``factor`` is above 1 where there is no offset.

    Examples
    --------
    >>> found = {known.words: round(known.factor, 2) for known in known_factors()}
    >>> found["cholesterol in mg/dl and mmol/l"], found["creatinine in µmol/l and mg/dl"]
    (38.67, 88.4)
    """
    pairs: Iterable[tuple[str, str, str]] = ((a.name, *a.usual) for a in ANALYTES.values())
    found = [_known(analyte, old, new) for analyte, old, new in (*pairs, *(("", one, other) for one, other in _PLAIN_PAIRS))]
    return tuple(known for known in found if known.factor != 1.0)


def _known(analyte: str, old: str, new: str) -> KnownFactor:
    line = convert(analyte, new, old)
    if line.factor < 1 and not line.offset:
        old, new, line = new, old, convert(analyte, old, new)
    return KnownFactor(line.factor, line.offset, f"{f'{analyte} in ' if analyte else ''}{old} and {new}", analyte, old, new)


def unit_between(one: float, other: float, name: str = "", tolerance: float = 0.15) -> tuple[KnownFactor, ...]:
    """Which pairs of units would explain two medians of the same variable.

    Parameters
    ----------
    one, other : float
        The medians at two sites, in either order.
    name : str
        What the variable is called: where that is a substance of the table, its own units come first, and other substances' are left out.
    tolerance : float
        How far, as a share, the medians may be from the factor: sites have different patients.

    Returns
    -------
    tuple of KnownFactor
        The nearest first; none if the medians are within 1.5 times of each other, or no pair fits.

    Examples
    --------
    >>> unit_between(240.0, 6.1, "chol")[0].words
    'cholesterol in mg/dl and mmol/l'
    >>> unit_between(240.0, 231.0, "chol")
    ()
    """
    low, high = sorted((one, other))
    if low <= 0 or not math.isfinite(high) or high / low < 1.5:
        return ()
    substance = find_analyte(name)
    own = "" if substance is None else substance.name
    misses = [(abs(math.log((low * known.factor + known.offset) / high)), known) for known in known_factors() if _fits(known, own, low)]
    near = [(miss, known) for miss, known in misses if miss <= math.log1p(tolerance)]
    return tuple(known for _, known in sorted(near, key=lambda pair: (pair[1].analyte != own, pair[0])))


def _fits(known: KnownFactor, own: str, low: float) -> bool:
    return low * known.factor + known.offset > 0 and (not own or known.analyte in ("", own))

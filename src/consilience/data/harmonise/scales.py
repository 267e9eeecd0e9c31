"""Units of measurement: what each measures, and how it is counted in the base unit of that.

A unit is a line ``base = value × scale + offset``. Spellings are read as people write them: ``mg/dL``, ``umol/l``, ``mm Hg``, ``°C``.
"""

from __future__ import annotations

from dataclasses import dataclass
from difflib import get_close_matches

from consilience.errors import OptionError

__all__ = ["UNITS", "Dimension", "Unit", "unit_named"]

Dimension = str
"""What is measured: ``"mass concentration"``, ``"length"``, …; units of one dimension can be converted without knowing the substance."""

MASS, MOLAR, CHARGE = "mass concentration", "molar concentration", "charge concentration"


@dataclass(frozen=True, slots=True)
class Unit:
    """A unit: its usual spelling, what it measures, and the line to that dimension's base unit.

    >>> unit_named("mg/dL")
    Unit(name='mg/dl', dimension='mass concentration', scale=0.01, offset=0.0)
    """

    name: str
    dimension: Dimension
    scale: float
    offset: float = 0.0


_TABLE: dict[Dimension, dict[str, tuple[float, ...]]] = {
    # base g/l
    MASS: {
        "kg/l": (1e3,),
        "g/l": (1.0,),
        "g/dl": (10.0,),
        "mg/dl": (1e-2,),
        "mg/l": (1e-3,),
        "mg/ml": (1.0,),
        "µg/ml": (1e-3,),
        "µg/dl": (1e-5,),
        "µg/l": (1e-6,),
        "ng/ml": (1e-6,),
        "ng/dl": (1e-8,),
        "ng/l": (1e-9,),
        "pg/ml": (1e-9,),
        "pg/dl": (1e-11,),
    },
    # base mol/l
    MOLAR: {"mol/l": (1.0,), "mmol/l": (1e-3,), "µmol/l": (1e-6,), "nmol/l": (1e-9,), "pmol/l": (1e-12,)},
    # base eq/l
    CHARGE: {"eq/l": (1.0,), "meq/l": (1e-3,)},
    # base kg; the pound and the inch are exact since the international agreement of 1959
    "mass": {"kg": (1.0,), "g": (1e-3,), "mg": (1e-6,), "lb": (0.45359237,), "oz": (0.45359237 / 16,), "st": (0.45359237 * 14,)},
    "length": {"m": (1.0,), "cm": (1e-2,), "mm": (1e-3,), "in": (0.0254,), "ft": (0.3048,)},
    "volume": {"l": (1.0,), "dl": (0.1,), "cl": (1e-2,), "ml": (1e-3,), "µl": (1e-6,)},
    # base kelvin
    "temperature": {"K": (1.0,), "°C": (1.0, 273.15), "°F": (5 / 9, 273.15 - 32 * 5 / 9)},
    # base kPa; 1 mmHg = 101.325/760 kPa to seven digits, 1 cmH2O by the conventional density of water
    "pressure": {"kPa": (1.0,), "hPa": (0.1,), "Pa": (1e-3,), "mmHg": (0.133322387415,), "cmH2O": (0.0980665,), "mbar": (0.1,)},
    # base day; a year of 365.25 days, a month of a twelfth of it
    "time": {
        "years": (365.25,),
        "months": (365.25 / 12,),
        "weeks": (7.0,),
        "days": (1.0,),
        "hours": (1 / 24,),
        "minutes": (1 / 1440,),
        "seconds": (1 / 86400,),
    },
    "share": {"fraction": (1.0,), "%": (1e-2,), "‰": (1e-3,)},
    # base cells per litre
    "cell count": {"10^9/l": (1e9,), "10^12/l": (1e12,), "10^6/l": (1e6,), "10^3/µl": (1e9,), "10^6/µl": (1e12,), "/µl": (1e6,)},
    "energy": {"kJ": (1.0,), "kcal": (4.184,)},
    # base U/l; the katal is a mole per second, the unit of enzymes a micromole per minute
    "enzyme activity": {"U/l": (1.0,), "kU/l": (1e3,), "µkat/l": (60.0,), "nkat/l": (0.06,)},
    # Glycated haemoglobin: the master equation of the NGSP and the IFCC network, NGSP% = 0.09148 IFCC + 2.152
    "glycated haemoglobin": {"mmol/mol": (1.0,), "% NGSP": (1 / 0.09148, -2.152 / 0.09148)},
}

_ALSO = {
    "u/l": "U/l",
    "iu/l": "U/l",
    "g/100ml": "g/dl",
    "mg%": "mg/dl",
    "lbs": "lb",
    "pounds": "lb",
    "inch": "in",
    "inches": "in",
    "feet": "ft",
    "c": "°C",
    "degc": "°C",
    "celsius": "°C",
    "f": "°F",
    "degf": "°F",
    "fahrenheit": "°F",
    "kelvin": "K",
    "torr": "mmHg",
    "year": "years",
    "yr": "years",
    "yrs": "years",
    "jahre": "years",
    "month": "months",
    "monate": "months",
    "week": "weeks",
    "wochen": "weeks",
    "day": "days",
    "d": "days",
    "tage": "days",
    "hour": "hours",
    "h": "hours",
    "stunden": "hours",
    "min": "minutes",
    "s": "seconds",
    "percent": "%",
    "prozent": "%",
    "1": "fraction",
    "giga/l": "10^9/l",
    "tera/l": "10^12/l",
    "gpt/l": "10^9/l",
    "tpt/l": "10^12/l",
    "/nl": "10^9/l",
    "/pl": "10^12/l",
    "k/µl": "10^3/µl",
    "%ngsp": "% NGSP",
}
_EXACT = {"G/l": "10^9/l", "G/L": "10^9/l", "T/l": "10^12/l", "T/L": "10^12/l"}
"""Where a capital letter changes the meaning: giga per litre is no gram per litre."""

UNITS = {name: Unit(name, dimension, *line) for dimension, units in _TABLE.items() for name, line in units.items()}
"""All units, by their usual spelling."""


def _plain(text: str) -> str:
    """A spelling without what people vary: case, spaces, the sign for micro, powers, what stands for a litre."""
    found = "".join(text.split()).casefold().replace("\u03bc", "µ").replace("\u00b5", "µ").replace("×", "").replace("*", "^")
    found = found.replace("⁹", "^9").replace("³", "^3").replace("⁶", "^6").replace("¹²", "^12").replace("litre", "l").replace("liter", "l")
    if found.startswith(("umol", "ug/", "ul", "ukat")):
        found = "µ" + found[1:]
    return found.replace("/ul", "/µl").replace("10e", "10^").replace("x10^", "10^").replace("mcg", "µg")


_KNOWN = {_plain(name): name for name in UNITS} | {_plain(name): unit for name, unit in _ALSO.items()}


def unit_named(text: str) -> Unit:
    """The unit of a spelling.

    Parameters
    ----------
    text : str
        As people write it.

    Returns
    -------
    Unit

    Raises
    ------
    OptionError
        If it is not in the table.

    Examples
    --------
    >>> unit_named("umol/L").name, unit_named("mm Hg").name, unit_named("G/l").name, unit_named("g/l").name
    ('µmol/l', 'mmHg', '10^9/l', 'g/l')
    """
    name = _EXACT.get(text.strip()) or _KNOWN.get(_plain(text))
    if name is None:
        near = get_close_matches(_plain(text), _KNOWN, 3)
        hint = f"Near it are {', '.join(dict.fromkeys(_KNOWN[n] for n in near))}. " if near else ""
        raise OptionError(f"{text!r} is no unit of the table. {hint}Give a factor (and an offset) instead, as in factor = 0.0259.")
    return UNITS[name]

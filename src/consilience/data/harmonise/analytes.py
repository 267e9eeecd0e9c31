"""Substances whose mass and amount laboratories report, with the molar mass that the conversion rests on.

Molar masses are computed from chemical formulas with the abridged standard atomic weights of IUPAC (2021), so that every factor can be
checked with pencil and paper. Where laboratories agree on something else than the molecule that is meant, the table says so: triglycerides
count as triolein, urea nitrogen as the two nitrogen atoms of urea, phosphate as phosphorus, haemoglobin as its monomer with one iron atom
(16 114.5 g/mol, the value of the International Council for Standardization in Haematology).
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from difflib import get_close_matches

from consilience.errors import OptionError

__all__ = ["ANALYTES", "Analyte", "analyte_named", "find_analyte", "molar_mass"]

WEIGHTS = {
    "H": 1.008,
    "Li": 6.94,
    "C": 12.011,
    "N": 14.007,
    "O": 15.999,
    "Na": 22.990,
    "Mg": 24.305,
    "P": 30.974,
    "S": 32.06,
    "Cl": 35.45,
    "K": 39.098,
    "Ca": 40.078,
    "Fe": 55.845,
    "Co": 58.933,
    "Cu": 63.546,
    "Zn": 65.38,
    "I": 126.90,
    "Pb": 207.2,
}
"""Abridged standard atomic weights, IUPAC 2021."""


def molar_mass(formula: str) -> float:
    """Grams per mole.

    >>> round(molar_mass("C6H12O6"), 3)
    180.156
    """
    return sum(WEIGHTS[element] * int(count or 1) for element, count in re.findall(r"([A-Z][a-z]?)(\d*)", formula))


@dataclass(frozen=True, slots=True)
class Analyte:
    """A substance: its name, its molar mass in g/mol, its charge if it is an ion, and the two units that laboratories report it in."""

    name: str
    mass: float
    usual: tuple[str, str]
    charge: int = 0


_ROWS: tuple[tuple[str, str, tuple[str, str], int, tuple[str, ...]], ...] = (
    ("glucose", "C6H12O6", ("mg/dl", "mmol/l"), 0, ("glukose", "blutzucker", "blood glucose", "blood sugar", "fasting glucose", "glc")),
    ("cholesterol", "C27H46O", ("mg/dl", "mmol/l"), 0, ("chol", "total cholesterol", "cholesterin", "gesamtcholesterin", "tc")),
    ("HDL cholesterol", "C27H46O", ("mg/dl", "mmol/l"), 0, ("hdl", "hdl c", "hdl chol", "hdl cholesterin")),
    ("LDL cholesterol", "C27H46O", ("mg/dl", "mmol/l"), 0, ("ldl", "ldl c", "ldl chol", "ldl cholesterin")),
    ("triglycerides", "C57H104O6", ("mg/dl", "mmol/l"), 0, ("triglyceride", "triglyzeride", "tg", "trig", "neutralfette")),
    ("creatinine", "C4H7N3O", ("mg/dl", "µmol/l"), 0, ("kreatinin", "crea", "krea", "serum creatinine", "creat")),
    ("urea", "CH4N2O", ("mg/dl", "mmol/l"), 0, ("harnstoff",)),
    ("urea nitrogen", "N2", ("mg/dl", "mmol/l"), 0, ("bun", "blood urea nitrogen", "harnstoff n")),
    ("uric acid", "C5H4N4O3", ("mg/dl", "µmol/l"), 0, ("urate", "harnsäure", "harnsaeure", "uricacid")),
    ("bilirubin", "C33H36N4O6", ("mg/dl", "µmol/l"), 0, ("bili", "total bilirubin", "direct bilirubin")),
    ("haemoglobin", "", ("g/dl", "mmol/l"), 0, ("hemoglobin", "hämoglobin", "haemoglobin", "hb", "hgb")),
    ("calcium", "Ca", ("mg/dl", "mmol/l"), 2, ("kalzium", "ca")),
    ("magnesium", "Mg", ("mg/dl", "mmol/l"), 2, ("mg2+",)),
    ("phosphate", "P", ("mg/dl", "mmol/l"), 0, ("phosphorus", "phosphat", "inorganic phosphate")),
    ("sodium", "Na", ("meq/l", "mmol/l"), 1, ("natrium",)),
    ("potassium", "K", ("meq/l", "mmol/l"), 1, ("kalium",)),
    ("chloride", "Cl", ("meq/l", "mmol/l"), 1, ("chlorid",)),
    ("iron", "Fe", ("µg/dl", "µmol/l"), 0, ("eisen", "serum iron")),
    ("zinc", "Zn", ("µg/dl", "µmol/l"), 0, ("zink",)),
    ("copper", "Cu", ("µg/dl", "µmol/l"), 0, ("kupfer",)),
    ("lead", "Pb", ("µg/dl", "µmol/l"), 0, ("blei",)),
    ("lactate", "C3H6O3", ("mg/dl", "mmol/l"), 0, ("laktat", "lactic acid")),
    ("ammonia", "NH3", ("µg/dl", "µmol/l"), 0, ("ammoniak",)),
    ("homocysteine", "C4H9NO2S", ("mg/l", "µmol/l"), 0, ("homocystein",)),
    ("cortisol", "C21H30O5", ("µg/dl", "nmol/l"), 0, ()),
    ("testosterone", "C19H28O2", ("ng/dl", "nmol/l"), 0, ("testosteron",)),
    ("estradiol", "C18H24O2", ("pg/ml", "pmol/l"), 0, ("oestradiol", "östradiol", "e2")),
    ("progesterone", "C21H30O2", ("ng/ml", "nmol/l"), 0, ("progesteron",)),
    ("thyroxine", "C15H11I4NO4", ("µg/dl", "nmol/l"), 0, ("t4", "ft4", "thyroxin")),
    ("triiodothyronine", "C15H12I3NO4", ("ng/dl", "nmol/l"), 0, ("t3", "ft3")),
    ("25-hydroxyvitamin D", "C27H44O2", ("ng/ml", "nmol/l"), 0, ("vitamin d", "25 oh d", "calcidiol", "25 oh vitamin d")),
    ("vitamin B12", "C63H88CoN14O14P", ("pg/ml", "pmol/l"), 0, ("b12", "cobalamin")),
    ("folate", "C19H19N7O6", ("ng/ml", "nmol/l"), 0, ("folic acid", "folsäure", "folat")),
)
MONOMER = 16114.5
"""Grams of haemoglobin that hold one mole of iron."""

ANALYTES: dict[str, Analyte] = {
    name: Analyte(name, molar_mass(formula) if formula else MONOMER, usual, charge) for name, formula, usual, charge, _ in _ROWS
}
"""Every substance of the table, by name."""


def _plain(text: str) -> str:
    return "".join(character for character in text.casefold() if character.isalnum())


_ALIASES = {_plain(alias): name for name, *_, also in _ROWS for alias in (name, *also)}


def find_analyte(text: str) -> Analyte | None:
    """The substance that goes by this name, in English, German or short, whatever its case; None if there is none.

    >>> find_analyte("Total_Cholesterol").name, find_analyte("weight")
    ('cholesterol', None)
    """
    name = _ALIASES.get(_plain(text))
    return None if name is None else ANALYTES[name]


def analyte_named(text: str) -> Analyte:
    """The same; an ``OptionError`` that names the nearest ones if there is none."""
    found = find_analyte(text)
    if found is None:
        near = [_ALIASES[alias] for alias in get_close_matches(_plain(text), _ALIASES, 3)] or list(ANALYTES)[:6]
        raise OptionError(
            f"{text!r} is no substance of the table of units. Near it are {', '.join(dict.fromkeys(near))}. "
            f"Give a factor instead, as in factor = 0.0259."
        )
    return found

"""Units: factors against the numbers of laboratory handbooks, and against molar masses added up by hand."""

from __future__ import annotations

import pytest

from consilience.data.harmonise import convert, known_factors, unit_between
from consilience.data.harmonise.analytes import ANALYTES, analyte_named, molar_mass
from consilience.data.harmonise.scales import unit_named
from consilience.errors import OptionError

# by hand from atomic weights, H 1.008, C 12.011, N 14.007, O 15.999
BY_HAND = {
    "glucose": 6 * 12.011 + 12 * 1.008 + 6 * 15.999,
    "cholesterol": 27 * 12.011 + 46 * 1.008 + 15.999,
    "triglycerides": 57 * 12.011 + 104 * 1.008 + 6 * 15.999,
    "creatinine": 4 * 12.011 + 7 * 1.008 + 3 * 14.007 + 15.999,
    "urea": 12.011 + 4 * 1.008 + 2 * 14.007 + 15.999,
    "urea nitrogen": 2 * 14.007,
    "uric acid": 5 * 12.011 + 4 * 1.008 + 4 * 14.007 + 3 * 15.999,
    "bilirubin": 33 * 12.011 + 36 * 1.008 + 4 * 14.007 + 6 * 15.999,
    "calcium": 40.078,
}

# what handbooks print, to their digits
HANDBOOK = [
    ("glucose", "mmol/l", "mg/dl", 18.016),
    ("cholesterol", "mmol/l", "mg/dl", 38.67),
    ("hdl", "mmol/l", "mg/dl", 38.67),
    ("triglycerides", "mmol/l", "mg/dl", 88.57),
    ("creatinine", "mg/dl", "µmol/l", 88.42),
    ("urea", "mmol/l", "mg/dl", 6.006),
    ("BUN", "mg/dl", "mmol/l", 0.357),
    ("haemoglobin", "g/dl", "mmol/l", 0.6206),
    ("hb", "g/l", "mmol/l", 0.06206),
    ("bilirubin", "mg/dl", "µmol/l", 17.1),
    ("calcium", "mg/dl", "mmol/l", 0.2495),
    ("calcium", "meq/l", "mmol/l", 0.5),
    ("uric acid", "mg/dl", "µmol/l", 59.48),
    ("phosphate", "mg/dl", "mmol/l", 0.3229),
    ("iron", "µg/dl", "µmol/l", 0.1791),
    ("cortisol", "µg/dl", "nmol/l", 27.59),
    ("testosterone", "ng/dl", "nmol/l", 0.03467),
    ("estradiol", "pg/ml", "pmol/l", 3.671),
    ("vitamin d", "ng/ml", "nmol/l", 2.496),
    ("b12", "pg/ml", "pmol/l", 0.738),
    ("T4", "µg/dl", "nmol/l", 12.87),
    ("lactate", "mg/dl", "mmol/l", 0.111),
    ("", "lb", "kg", 0.45359237),
    ("", "in", "cm", 2.54),
    ("", "mmHg", "kPa", 0.133322),
    ("", "kcal", "kJ", 4.184),
    ("", "g/dl", "g/l", 10.0),
    ("", "/µl", "10^9/l", 0.001),
    ("", "µkat/l", "U/l", 60.0),
]


@pytest.mark.parametrize("name", BY_HAND)
def test_molar_masses_are_those_of_the_formulas(name: str) -> None:
    assert ANALYTES[name].mass == pytest.approx(BY_HAND[name], rel=1e-12)


@pytest.mark.parametrize(("analyte", "old", "new", "factor"), HANDBOOK)
def test_factors_are_those_of_the_handbooks(analyte: str, old: str, new: str, factor: float) -> None:
    assert convert(analyte, old, new).factor == pytest.approx(factor, rel=2e-3)
    assert convert(analyte, old, new).factor * convert(analyte, new, old).factor == pytest.approx(1.0, rel=1e-12)


def test_temperatures_and_glycated_haemoglobin_have_offsets() -> None:
    assert convert("", "°F", "°C").of(212) == 100
    assert convert("", "°C", "°F").of(37) == pytest.approx(98.6)
    assert convert("", "°C", "K").of(0) == 273.15
    assert convert("", "% NGSP", "mmol/mol").of(7.0) == pytest.approx(53, abs=0.1)  # the consensus statement's 7 % is 53 mmol/mol


@pytest.mark.parametrize(
    ("spelling", "name"),
    [("mg/dL", "mg/dl"), ("MG/DL", "mg/dl"), ("umol/L", "µmol/l"), ("μmol/l", "µmol/l"), ("mm Hg", "mmHg"), ("C", "°C"), ("G/l", "10^9/l"),
     ("g/l", "g/l"), ("10^3/uL", "10^3/µl"), ("mcg/dl", "µg/dl"), ("10⁹/l", "10^9/l"), ("lbs", "lb"), ("Jahre", "years")],
)  # fmt: skip
def test_units_are_read_as_people_write_them(spelling: str, name: str) -> None:
    assert unit_named(spelling).name == name


@pytest.mark.parametrize(
    ("analyte", "old", "new", "words"),
    [
        ("", "mg/dl", "mmol/l", "depends on the substance"),
        ("cholestrol", "mg/dl", "mmol/l", "Near it are cholesterol"),
        ("", "kg", "cm", "measures mass and cm measures length"),
        ("glucose", "mg/dlx", "mmol/l", "Near it are mg/dl"),
        ("glucose", "meq/l", "mmol/l", "counts charges"),
    ],
)
def test_what_cannot_be_converted_says_the_way_out(analyte: str, old: str, new: str, words: str) -> None:
    with pytest.raises(OptionError, match=words):
        convert(analyte, old, new)


def test_every_known_factor_is_above_one_and_turns_one_unit_into_the_other() -> None:
    for known in known_factors():
        assert known.factor > 1
        assert convert(known.analyte, known.other, known.one).of(2.0) == pytest.approx(2.0 * known.factor + known.offset, rel=1e-9)


@pytest.mark.parametrize(
    ("one", "other", "name", "words"),
    [
        (240.0, 6.1, "chol", "cholesterol in mg/dl and mmol/l"),
        (0.9, 84.0, "Kreatinin", "creatinine in µmol/l and mg/dl"),
        (98.4, 36.9, "temp", "°F and °C"),
        (178.0, 1.75, "height", "cm and m"),
        (165.0, 77.0, "weight", "lb and kg"),
        (145.0, 14.1, "hb", "g/l and g/dl"),
    ],
)
def test_medians_that_differ_by_a_unit_are_recognised(one: float, other: float, name: str, words: str) -> None:
    assert unit_between(one, other, name)[0].words == words


@pytest.mark.parametrize(("one", "other"), [(61.0, 70.0), (0.0, 5.0), (-3.0, 4.0), (1.0, 5000.0), (float("nan"), 2.0)])
def test_other_medians_are_not(one: float, other: float) -> None:
    assert unit_between(one, other, "age") == ()


def test_names_are_found_in_english_german_and_short() -> None:
    assert {analyte_named(name).name for name in ("Total Cholesterol", "CHOL", "Cholesterin", "gesamt-cholesterin")} == {"cholesterol"}
    assert molar_mass("NaCl") == pytest.approx(58.44)

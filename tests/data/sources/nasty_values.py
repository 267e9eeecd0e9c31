"""Columns whose values are not what they seem: missing codes, units, identifiers, dates, codes, types that a program changed."""

from __future__ import annotations

from collections.abc import Iterable

from tests.data.sources.nasty import AGES, GOOD, MARKERS, ROWS, Nasty, cells, each, plain, some


def one(name: str, about: str, column: Iterable[object], done: str, kind: str, *codes: str, called: str = "value") -> Nasty:
    """A good table with one more column, and what that becomes."""
    return Nasty(f"{name}.csv", about, plain(cells(**{called: column})), done, GOOD | {called: kind}, codes=frozenset(codes))


def word(name: str, text: str) -> Nasty:
    """Numbers, and a word for "missing" among them."""
    return one(name, f"'{text}' for missing among numbers", some(MARKERS, text), "read as missing, and that is said", "continuous")


MISSING = tuple(
    word(f"missing-{i}", text)
    for i, text in enumerate((".", "n/a", "#N/A", "-", "k.A.", "unknown", "?", "NULL", "NaN", "Missing", "nicht bekannt"))
)
VALUES = (
    *MISSING,
    one("minus-nine", "-9 for missing", some(MARKERS, -9, 6), "used, with a warning", "continuous", "missing-code"),
    one("nines", "999 for missing", some(MARKERS, 999, 6), "used, with a warning", "continuous", "missing-code"),
    one(
        "zeros", "0 for missing, as some hospitals' cholesterol", some(MARKERS, 0, 6), "used, with a warning", "continuous", "missing-code"
    ),
    one("units", "'233 mg/dl'", [f"{m} mg/dl" for m in MARKERS], "refused: strip the unit", "refused", "mostly-numbers"),
    one("some-units", "a unit in some rows", some(MARKERS, "233 mg/dl"), "refused: the values are named", "refused", "mostly-numbers"),
    one("below", "'<5' below the limit of detection", some(MARKERS, "<5"), "refused: the values are named", "refused", "mostly-numbers"),
    one("percent", "'12%'", [f"{m:.0f}%" for m in MARKERS], "refused: strip the sign", "refused", "mostly-numbers"),
    one(
        "comma-thousand",
        "'12,345' throughout: decimal or thousands?",
        [f'"{12 + i},{345 + i}"' for i in range(ROWS)],
        "refused: say which",
        "refused",
    ),
    one("names", "a name in every row", each(lambda i: f"Patient {i * 37 % 101}"), "excluded, and that is said", "excluded", "identifier"),
    one(
        "patient",
        "numbers of patients",
        each(lambda i: 100_000 + i * 7919 % 90_001),
        "excluded, and that is said",
        "excluded",
        "identifier",
        called="patient_id",
    ),
    one(
        "counter",
        "integers that count the rows",
        each(lambda i: i + 1),
        "excluded, and that is said",
        "excluded",
        "identifier",
        called="nr",
    ),
    one(
        "iso",
        "dates, 2020-03-01",
        each(lambda i: f"2020-{1 + i % 12:02}-{1 + i % 28:02}"),
        "excluded; days or ages on request",
        "excluded",
        "date",
    ),
    one(
        "german-dates",
        "dates, 31.12.2020",
        each(lambda i: f"{1 + i % 28:02}.{1 + i % 12:02}.2020"),
        "excluded; days or ages on request",
        "excluded",
        "date",
    ),
    one(
        "number-dates",
        "dates, 20200301",
        each(lambda i: 20200000 + (1 + i % 12) * 100 + 1 + i % 28),
        "excluded; days or ages on request",
        "excluded",
        "date",
    ),
    one("times", "times with dates", each(lambda i: f"2020-03-{1 + i % 28:02} 1{i % 10}:30:00"), "excluded", "excluded", "date"),
    one(
        "codes", "codes that hardly two rows share", each(lambda i: f"I{20 + i % 25}"), "refused: group them", "refused", "too-many-levels"
    ),
    one(
        "zero-one",
        "0.0 and 1.0, integers that a program made floats because of gaps",
        some(each(lambda i: f"{i % 2}.0"), ""),
        "binary",
        "binary",
    ),
    one("grades", "1.0, 2.0, 3.0 with gaps", some(each(lambda i: f"{1 + i % 3}.0"), ""), "ordinal", "ordinal"),
    one("booleans", "TRUE, false, True", each(lambda i: ("TRUE", "false", "True")[i % 3]), "binary", "binary"),
    one(
        "spelling",
        "'yes', 'Yes' and 'YES '",
        each(lambda i: ("yes", "Yes", "YES ", "no")[i % 4]),
        "used, with a warning",
        "multinomial",
        "spelling",
    ),
    one("leading-zeros", "codes with leading zeros, 007", each(lambda i: f"00{i % 4}"), "text, not numbers", "multinomial"),
    one("exponents", "1e3, +2.5E+02", each(lambda i: f"{'+' if i % 2 else ''}{1 + i / 8:.3f}e{1 + i % 3}"), "numbers", "continuous"),
    one("infinite", "'inf' among numbers", some(MARKERS, "inf"), "refused: infinite values", "refused"),
    one("constant", "one value in every row", each(lambda i: "ward 3"), "used, and said to be constant", "multinomial", "constant"),
    one("constant-number", "one number in every row", each(lambda i: 0), "used, and said to be constant", "binary", "constant"),
    one("nothing", "no value in any row", each(lambda i: ""), "left out, and that is said", "excluded"),
    one(
        "half",
        "half numbers, half words",
        each(lambda i: f"{i * 17}.5" if i % 2 else f"level {i % 4}"),
        "refused: neither text nor numbers",
        "refused",
    ),
    one(
        "essay",
        "sentences",
        each(lambda i: f"The patient came on day {i} and said that all was well."),
        "excluded, and that is said",
        "excluded",
        "identifier",
    ),
    one(
        "rare",
        "a level that one row has",
        some(each(lambda i: ("A", "B")[i % 2]), "AB", 40),
        "used, and said to be rare",
        "multinomial",
        "rare",
    ),
    one("euro", "'€ 12.50'", [f"€ {m:.2f}" for m in MARKERS], "refused: strip the sign", "refused"),
    one("excel", "#DIV/0! and #REF!", some(some(MARKERS, "#DIV/0!"), "#REF!", 9), "read as missing, and that is said", "continuous"),
    one(
        "outlier",
        "one value a million times as large",
        [*MARKERS[:-1], MARKERS[-1] * 1e6],
        "used, and named as far out",
        "continuous",
        "outlier",
    ),
    one("huge", "integers beyond 64 bits", [10**30 + int(a * 10**20) for a in AGES], "numbers", "continuous"),
)

"""Words that stand for "missing".

Two lists. What R, pandas and databases write, and the question mark of the UCI repository, is missing in every column. What people write is
missing among numbers only, where it can mean nothing else; in a column of text, ``unknown`` may be an answer, and stays one.
Numbers (-9, 99, 999) are in neither: whether they are codes is judged, and said, never assumed.
"""

from __future__ import annotations

from collections.abc import Iterable

from consilience.frames import pl

__all__ = ["MISSING", "WORDS", "codes_of", "is_missing", "is_word"]

MISSING = ("", "?", "NA", "N/A", "NaN", "nan", "NULL", "null", "None")
"""Text that stands for a missing value in every column of a text file.

Not ``-``, ``.``, ``-9`` or ``999``: they are levels or numbers somewhere. ``NA`` is Namibia's code, too; whoever has such a column passes a
frame.
"""

WORDS = frozenset(
    (
        *(".", "..", "-", "--", "---", "–", "—", "/", "*", "**"),
        *(
            "n/a",
            "#n/a",
            "#na",
            "na",
            "<na>",
            "#nv",
            "nan",
            "-nan",
            "+nan",
            "1.#qnan",
            "-1.#ind",
            *("#null!", "#div/0!", "#ref!", "#value!", "#name?", "#num!", "#wert!", "#bezug!", "#zahl!"),
            "null",
            "(null)",
            "none",
            "nil",
        ),
        *("missing", "miss", "unknown", "unk", "not known", "not available", "not applicable", "not done", "not measured", "no data"),
        *("not recorded", "not reported", "undefined", "n.a.", "n. a.", "nd", "n.d.", "n. d."),
        *(
            "k.a.",
            "k. a.",
            "k.a",
            "ka",
            "k/a",
            "keine angabe",
            "keine daten",
            "unbekannt",
            "nicht bekannt",
            "nicht verfügbar",
            "nicht erhoben",
        ),
        *("nicht gemessen", "nicht durchgeführt", "n.b.", "n. b.", "nb", "fehlt", "fehlend"),
        *("inconnu", "non disponible", "desconocido", "sconosciuto", "onbekend"),
    )
)
"""Words that are missing among numbers, in small letters and with single spaces."""


def is_missing(text: pl.Expr, extra: Iterable[str] = ()) -> pl.Expr:
    """True where text is missing in every column: the usual signs, and what the owner names, in any case and by value.

    >>> pl.Series(["NA", "-9.0", "Z"]).to_frame("x").select(is_missing(pl.col("x"), ["-9", "z"])).to_series().to_list()
    [True, True, True]
    """
    named = [word.strip() for word in extra]
    found = text.is_in(list(MISSING))
    if named:
        found |= text.str.to_lowercase().is_in([word.lower() for word in named])
    if codes := codes_of(named):
        found |= text.cast(pl.Float64, strict=False).is_in(codes).fill_null(value=False)
    return found


def is_word(text: pl.Expr) -> pl.Expr:
    """True where text is a word that is missing among numbers.

    >>> pl.Series(["k.A.", "Not known", "12"]).to_frame("x").select(is_word(pl.col("x"))).to_series().to_list()
    [True, True, False]
    """
    return text.str.to_lowercase().str.replace_all(r"[\s_]+", " ").is_in(sorted(WORDS))


def codes_of(words: Iterable[str]) -> list[float]:
    """The numbers among the owner's words.

    >>> codes_of(["-9", "99,5", "unknown"])
    [-9.0, 99.5]
    """
    found = []
    for word in words:
        try:
            found.append(float(word.strip().replace(",", ".")))
        except ValueError:
            continue
    return found

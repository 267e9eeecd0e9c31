"""The limits by which columns are judged, each with its reason. The page *Reading data* has them as a table."""

from __future__ import annotations

import re

__all__ = [
    "ENOUGH_ROWS",
    "FAR",
    "FEW_NUMBERS",
    "IDENTIFIER",
    "MANY_LEVELS",
    "MOSTLY",
    "MOSTLY_MISSING",
    "MOST_INTEGER_LEVELS",
    "MOST_LEVELS",
    "NAMELESS",
    "NEAR_UNIQUE",
    "OFTEN",
    "ROWS_PER_LEVEL",
    "YEAR",
]

MOST_INTEGER_LEVELS = 10
"""A column of whole numbers with more distinct values than this is continuous unless declared otherwise.

Grades, stages and classes have fewer; ages, counts and readings of instruments have more. Ordinal for all integers, as the paper has it,
would give an age fifty columns as a predictor and fifty thresholds as a response. An eleven-point scale (0 to 10) falls on the other
side, and has to be declared; so has a count, whatever its values.
"""
MOSTLY = 0.5
"""Text in which more than this share of the rows are numbers (or dates) is a column of numbers (or dates) that could not be read.

Half is much less than any column of numbers with typing errors has, and much more than a column of words with some numbers among them.
"""
ENOUGH_ROWS = 20
"""With fewer rows, that all values differ says nothing."""
NEAR_UNIQUE = 0.9
"""Text of which this share of the rows has a value of its own tells who somebody is, or is written freely."""
NAMED_UNIQUE = 0.5
"""Where the name says that it is an identifier, fewer different values are enough: a patient may have come twice."""
MOST_LEVELS = 50
"""Text with more levels is no variable unless somebody declares it: each level but one is a column of every model."""
ROWS_PER_LEVEL = 5
"""Levels with fewer rows than this on average are refused: their models would have about as many parameters as rows.

The χ² law of a test needs some five expected rows in a cell. A model below four rows for each parameter is refused again when the sums
over all sites are known.
"""
MANY_LEVELS = 20
"""From here it is said that models with the variable become large."""
FEW_NUMBERS = 5
"""Decimal numbers of so few different values may be grades or groups."""
MOSTLY_MISSING = 0.5
"""A column with a larger share of gaps is named: every test that uses it loses these rows."""
FAR = 3.0
"""Distances from the median to a quartile that a suspected code lies away from the median, at least: twice the standard deviation of
normal numbers. Numbers of which nearly half are zeros (packs, drinks, days) have quartiles so wide that zero is not far."""
OFTEN = 5.0
"""A suspected code occurs so many times as often as the other values do on average, where these are too many to be looked at."""
IDENTIFIER = re.compile(
    r"(^|[_\W])(id|ids|mrn|uuid|guid|pid|key|ssn|barcode|record|case_?no|fall_?(nr|no|nummer)|(patient|pat)_?(no|nr|number|nummer)|"
    r"patienten_?(id|nr|nummer)|person_?id|subject_?id|study_?id)($|[_\W])|(?-i:[a-z](Id|ID|Nr|No)$)",
    re.IGNORECASE,
)
"""Names of identifiers."""
NAMELESS = re.compile(
    r"^(|unnamed:? ?_?\d*|index|level_0|__index_level_\d+__|rownames?|row_?(no|nr|number|num)|column_\d+|\.\.\.\d+|_duplicated_\d+)$",
    re.IGNORECASE,
)
"""Names that programs give to the numbers of rows when they write a table."""
YEAR = re.compile(r"year|jahr|yr|date|datum", re.IGNORECASE)
"""Names of calendar years and dates."""

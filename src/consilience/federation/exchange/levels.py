"""Variables with more levels than the rows of a test can tell anything about."""

from __future__ import annotations

from consilience.citest.question import Question
from consilience.data.judging.limits import MANY_LEVELS, ROWS_PER_LEVEL
from consilience.data.schema import Schema

__all__ = ["thin_levels"]


def thin_levels(question: Question, schema: Schema, rows: int) -> str:
    """Why the rows of a test are too few for its levels, or the empty string.

    A site refuses such a column by itself, unless its owner declares it; over sites, levels add up and rows may be missing. With few levels
    the models of a test say whether they can be fitted; with many, each of them has rows and all of them fit nothing but noise.

    >>> thin_levels(Question("X", "Y", ()), Schema({"X": ("multinomial", range(200)), "Y": "continuous"}), 600)
    'X has 200 levels, and 600 rows are fewer than 5 for each'
    """
    for name in question.variables:
        levels = len(schema[name].levels)
        if levels > MANY_LEVELS and rows < ROWS_PER_LEVEL * levels:
            return f"{name} has {levels} levels, and {rows:,} rows are fewer than {ROWS_PER_LEVEL} for each"
    return ""

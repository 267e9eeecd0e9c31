"""Making one site's table fit a study: names, levels, units, codes, ranges, dates and derived variables, by a plan that is written down.

A :class:`Plan` is read from a ``site.toml`` or the same in Python. :func:`harmonise` applies it to a table, and tells what it changed,
before and after.
"""

from consilience.data.harmonise.applied import Applied
from consilience.data.harmonise.applying import Harmonised, harmonise
from consilience.data.harmonise.changes import Change, Summary
from consilience.data.harmonise.plan import Plan
from consilience.data.harmonise.units import Conversion, KnownFactor, convert, known_factors, unit_between
from consilience.data.harmonise.writing import as_toml

__all__ = [
    "Applied",
    "Change",
    "Conversion",
    "Harmonised",
    "KnownFactor",
    "Plan",
    "Summary",
    "as_toml",
    "convert",
    "harmonise",
    "known_factors",
    "unit_between",
]

"""Making one site's table fit a study: names, levels, units, codes, ranges, dates and derived variables, by a plan that is written down.

A :class:`Plan` is read from a ``site.toml`` or the same in Python. It is applied to a table, and tells what it changed, before and after.
"""

from consilience.data.harmonise.units import Conversion, KnownFactor, convert, known_factors, unit_between

__all__ = ["Conversion", "KnownFactor", "convert", "known_factors", "unit_between"]

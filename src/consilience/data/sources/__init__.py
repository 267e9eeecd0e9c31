"""Where a site's table comes from: one module for each kind of file, object and database.

Every source gives the same thing, a :class:`Loaded`: a typed table, what was found out about it, and what could not be typed without
guessing. Nothing here decides what a column *is*; that is judged from its values, in the same way wherever they came from.
"""

from consilience.data.sources.columns import typed, typed_text
from consilience.data.sources.loaded import Loaded
from consilience.data.sources.loading import Scanned, load, load_bytes, scan, scan_larger
from consilience.data.sources.options import Reading
from consilience.data.sources.registry import SUFFIXES, suffix_of

__all__ = ["SUFFIXES", "Loaded", "Reading", "Scanned", "load", "load_bytes", "scan", "scan_larger", "suffix_of", "typed", "typed_text"]

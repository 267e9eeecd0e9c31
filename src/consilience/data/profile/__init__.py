"""What the owner of a table sees of its columns before a study: kind with its reason, levels, gaps, a small drawing, and what looks odd.

All of it is for the owner's eyes: counts of single levels and smallest values are in it, and none of it may leave the site.
"""

from consilience.data.profile.bins import Bin, histogram
from consilience.data.profile.profiling import ColumnProfile, LevelCount, TableProfile, profile_column, profile_table

__all__ = ["Bin", "ColumnProfile", "LevelCount", "TableProfile", "histogram", "profile_column", "profile_table"]

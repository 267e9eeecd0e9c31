"""What can be said of a table's columns from statistics alone: counts, quantiles, the most frequent values, what text looks like.

Everything that is judged, shown or compared about a column starts here, and nothing here decides anything. The statistics are expressions
over a lazy table, so that the table itself need not fit into memory. They are for the owner's eyes: none of it leaves a site by itself.
"""

from consilience.data.facts.column import ColumnFacts, Holds, TextFacts
from consilience.data.facts.measure import facts_of

__all__ = ["ColumnFacts", "Holds", "TextFacts", "facts_of"]

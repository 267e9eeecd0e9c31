"""Integration of overlapping data sets: from CI decisions to the complete list of PAGs.

====================  ==================================================================
module                what it does
====================  ==================================================================
``decisions``         CI decisions: independent, dependent or unknown
``skeleton``          FCI's adjacency search in every data set, in batches
``local``             local PAGs
``evidence``          decisions as evidence: weights and words
``knowledge``         what is known before the data, by ``statements`` and tiers
``solution``          a problem solved by either engine, ranked and summarised
``exact/``            the engine on a constraint solver; contradictions; summaries
``published/``        the engine of the published algorithm
``validate``          whether a graph agrees with the data sets
``ranking``           which graphs the evidence supports best
``summary``           what holds in all, some or no graph
``discover``          the function for users
``discovery``         its result
``report/``           the result as a page
====================  ==================================================================
"""

from consilience.iod.discover import discover
from consilience.iod.discovery import Discovery
from consilience.iod.evidence import Decision
from consilience.iod.knowledge import Knowledge
from consilience.iod.summary import Summary

__all__ = ["Decision", "Discovery", "Knowledge", "Summary", "discover"]

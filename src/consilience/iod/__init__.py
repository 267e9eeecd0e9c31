"""Integration of overlapping data sets: from CI decisions to the complete list of PAGs.

====================  ==================================================================
module                step of the published algorithm
====================  ==================================================================
``decisions``         CI decisions: independent, dependent or unknown
``skeleton``          FCI's adjacency search in every data set, in batches
``local``             local PAGs
``union``             the union graph, its marks, its removable edges
``candidates``        skeletons, open triples, closure with branching
``validate``          which candidates are solutions
``engine``            the loop over all of it
``discover``          the function for users and its result
====================  ==================================================================
"""

from consilience.iod.discover import Discovery, discover

__all__ = ["Discovery", "discover"]

"""``engine="iod"``: the published algorithm (Tillman & Spirtes 2011) in the three variants of the fedCI-IOD paper.

====================  ==================================================================
module                step
====================  ==================================================================
``union``             the union graph, its marks, its removable edges
``candidates``        skeletons, open triples, closure with branching
``engine``            the loop over all of it
====================  ==================================================================
"""

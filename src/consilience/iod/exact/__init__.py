"""``engine="exact"``: the constraint solver lists the graphs that agree with all data sets.

``engine`` lists Markov equivalence classes, those that agree with everything or those that give up the least; ``outline`` answers what
holds in all, some or no graph without listing them.
"""

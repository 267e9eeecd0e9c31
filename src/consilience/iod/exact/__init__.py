"""``engine="exact"``: the constraint solver lists the graphs that agree with all data sets.

====================  ==================================================================
module                what it does
====================  ==================================================================
``engine``            the Markov equivalence classes that agree with every decision
``strongest``         those that agree with the strongest that hold together
``optimal``           those that give up the least in all, with a bound
``makeshift``         a graph where there is no time for any of these
``outline``           what holds in all, some or no graph, without listing them
====================  ==================================================================
"""

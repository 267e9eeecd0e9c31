"""``engine="exact"``: a constraint solver (clingo) finds the graphs that agree with all data sets.

``known`` draws the conclusions that need no search; ``program`` puts the rest to the solver, whose rules are in the ``.lp`` files beside
it; ``engine`` lists Markov equivalence classes; ``optimal`` and ``conflict`` treat decisions that contradict each other; ``members`` adds
background knowledge to a class; ``outline`` answers what holds in all, some or no graph without listing them.
"""

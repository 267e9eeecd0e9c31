"""``engine="exact"``: a constraint solver (clingo) finds the graphs that agree with all data sets.

``known`` draws the conclusions that need no search; ``problem`` says what graphs have to agree with, and puts it to the solver;
``program`` is the solver, whose rules are in the ``.lp`` files beside it; ``engine`` lists Markov equivalence classes, those that agree
with everything or those that give up the least; ``conflict`` finds decisions that cannot hold together; ``outline`` answers what holds in
all, some or no graph without listing them.
"""

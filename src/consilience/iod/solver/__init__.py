"""The constraint solver (clingo) below both engines: MAGs as answers of a logic program.

====================  ==================================================================
module                what it does
====================  ==================================================================
``deduction``         the conclusions that need no search
``encoding``          what graphs have to agree with, as facts for the solver
``program``           the solver; its rules are in the ``.lp`` files beside it
``listing``           Markov equivalence classes, one after the other
``consequences``      what all answers share, and what some have
``conflict``          decisions that cannot hold together
====================  ==================================================================

The exact engine lists graphs with it. The published algorithm finds its graphs without, but asks which of them have a member that obeys
background knowledge, and why there is none.
"""

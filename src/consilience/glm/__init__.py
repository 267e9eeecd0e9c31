"""Response models: array kernels of one site, and the solver that turns sums of their output into estimates.

========================  ===================================================================
module                    what it holds
========================  ===================================================================
``kernel``                the interface of a kernel and the conventions all of them share
``logit`` … ``generalized``  one response model each
``site_effects``          one site's answer: profiled, coordinate, joint, none
``blocked``               the same over many rows, a block at a time; ``tally`` is whether sums are about enough of them
``products``              products of a few long rows, in the pieces that linear algebra is fast at
``random_effects``        the same with random effects, whose parts are ``gaussian``, ``quadrature`` and ``laplace``
``layout``                parameter counts and the flat vector a site sends
``gram``                  ranks and Gaussian fits from aggregated cross-products
``swept``                 what a site's own intercept, slopes and curves leave of its columns
``smooth``                penalised means from aggregated cross-products
``solver``                damped Newton on sums, as a state machine; ``spread`` is its step for a standard deviation
========================  ===================================================================

No I/O, no federation, no options from the environment.
"""

"""What a study's server and its sites say to each other, and what a site checks before it answers.

Every request is one module that holds both halves of it: its fields, the length of the answer, the rows it touches, what a site checks,
what a site computes, how the sum over sites is read, and its words for the ledger. To add a request is to add a module and a line in
``catalogue``.

=================  ===========================================================================================
``request``        what every request has to say of itself
``survey``         who can contribute how many rows; the order of magnitude of spreads
``locate``         where the numbers lie (only without site effects)
``products``       level counts and cross-products; rounded p-values of tests that one site alone can do
``evaluate``       log-likelihood, score and information of models at given parameters
``standardise``    outcomes under an intervention, predicted by fitted models
``local_tests``    a site's own p-values (Fisher's method)
``place``          where a number lies, by the middle half of each site's rows (this and the next three: tests of residuals)
``grid``           how many rows lie between given values; counts of ordered levels
``mean_products``  cross-products for smooth means
``residual_products``  sums of products of residuals; made by ``residuals`` and ``products_of`` on columns of ``expanded``, by ``clusters``
``catalogue``      all of them, a line each
-----------------  -------------------------------------------------------------------------------------------
``desk``           what a site has before it when it computes: its table, its caches, its own tests
``guard``          the rules that a site holds requests against, by name
``history``        what a site must not forget: what it answered, with whom, in which units
-----------------  -------------------------------------------------------------------------------------------
``messages``       requests and key exchange as they travel
``handshake``      what is said before and around a run; the signed challenge
``framing``        messages as bytes, in frames
``states``         the states of a site in a study and what moves it from one to the next: one table
``errors``         refusals, and the codes under which they travel
=================  ===========================================================================================

No sockets, no files, no clocks in here.
"""

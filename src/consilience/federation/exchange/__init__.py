"""The server's half of a test: which requests are asked, what their sums say, and when a test is answered. No I/O.

==============  =====================================================================================
``batch``       a batch of tests as an exchange of requests and sums, all models in the same rounds
``fisher``      the same for Fisher's method
``residual``    the same for products of residuals; ``find_knots`` and ``knots``, ``residual_plan`` and ``residual_sums`` are its parts
``sums``        every sum that was learnt so far, and how models are fitted from them
``likelihood``  what a model looks like given the cross-products, and what two nested fits say
==============  =====================================================================================

The site's half is what :mod:`consilience.protocol` has each request do, behind :mod:`consilience.federation.site`. A site uses this half
for its own tests: they are the same test, with one site.
"""

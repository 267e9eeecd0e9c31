"""The site's half: who holds the data, what it checks, what it sends, and what it writes down. Audit this folder and ``protocol``.

=============  ================================================================================================
``client``     a site's table, under its name: what users make
``half``       the site's half of one study: keys, checks, answers
``own_tests``  a site's tests on its own rows
``ledger``     everything that left the site, in words
=============  ================================================================================================

What each request makes a site check and compute stands in that request's own module in :mod:`consilience.protocol`. Of the server's half
only ``own_tests`` makes use: a site's own test is the same test, with one site.
"""

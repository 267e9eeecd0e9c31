"""What a site remembers of earlier studies, and what these tell together with a new one: no study by itself can see that.

===============  =========================================================================
``marks``        whether a table is the one that it was, without keeping it
``past``         the studies that the site agreed to, on disk, across servers and names
``subtracting``  what earlier studies and a new one tell together: of whom, of which rows
``recalling``    what of all that matters for a contract, before the site's owner is asked
===============  =========================================================================

It is read here and written here; who is asked, and who may say yes to it, is ``asking``'s and ``policy``'s.
"""

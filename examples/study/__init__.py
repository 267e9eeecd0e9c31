"""What the pages of the example studies share: the same questions asked in several ways, tables of what they say, and pictures.

``heart.py`` and ``lung.py`` run a study each and write a page with these parts. Numbers come from results, and so do the sentences that
depend on them.
"""

"""A discovery as one HTML page that needs nothing else: no network, no server, no other file.

====================  ==================================================================
module                part of the page
====================  ==================================================================
``html``              elements, with everything escaped that is not one
``sentences``         the result in sentences
``tables``            tables, and the one of all tests
``graphs``            the summary, the list and the local graphs, drawn alike
``pairs``             two variables, joined or not: what is said of them, and by which tests
``reasons``           why a mark is certain
``legends``           what the lines of a drawing say
``effects``           effects over the listed graphs
``linear``            whether linear models hold
``intervals``         numbers with their intervals as small plots
``how_strong``        how strong two variables go together
``how_sure``          how sure they are joined, by resampled copies of the data
``resampled``         the section on that
``sections``          the other sections
``reading``           how to read the page
``page``              all of it on a page with ``page.css``, ``parts.css``, ``tables.js`` and ``page.js``
``digest``            the little of it that a notebook shows
====================  ==================================================================

The pages of the apps show the same: they take tables, words, ``parts.css`` and ``tables.js`` from here.
"""

from consilience.iod.report.digest import render_digest
from consilience.iod.report.page import render, write_report

__all__ = ["render", "render_digest", "write_report"]

"""Integration of overlapping data sets: from CI decisions to the complete list of PAGs.

====================  ==================================================================
module                what it does
====================  ==================================================================
``answers``           the answers of a CI test: independent, dependent or unknown
``skeleton``          FCI's adjacency search in every data set, in batches
``d_sep_links``       where edges are that no set of neighbours separates, and what does
``local``             local PAGs
``evidence``          answers as decisions: weights and words
``knowledge``         what is known before the data, by tiers, ``relations`` and ``groups``; ``coherence`` finds what contradicts itself
``validate``          whether a graph agrees with the data sets
``search_problem``    what graphs have to agree with
``clock``             time limits, and who is told that work goes on
``solver/``           the constraint solver; contradictions
``exact/``            the engine on the solver; summaries without a list
``published/``        the engine of the published algorithm
``ranking``           which graphs the evidence supports best
``summary``           what holds in all, some or no graph; ``summary_drawing`` draws it
``solution``          a problem solved by either engine, ranked and summarised
``discover``          the function for users
``discovery``         its result
``effects``           what the listed graphs say of the effect of one variable on another; ``effects_words`` in sentences
``estimating``        which adjustment sets are used for that, and whom to ask for estimates
``report/``           the result as a page
``check/``            whether data are ready for it, before anything runs
====================  ==================================================================

The engines know the problem, the solver and the clock below them, not each other.
"""

from consilience.iod.check import Check, check
from consilience.iod.discover import discover
from consilience.iod.discovery import Discovery
from consilience.iod.effects import Effects
from consilience.iod.evidence import Decision
from consilience.iod.knowledge import Knowledge
from consilience.iod.summary import Summary

__all__ = ["Check", "Decision", "Discovery", "Effects", "Knowledge", "Summary", "check", "discover"]

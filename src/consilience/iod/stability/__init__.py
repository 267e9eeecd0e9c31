"""How sure: what a discovery would have found in resampled data, and without each of the sites.

================  =========================================================================================
module            what it does
================  =========================================================================================
``replicate``     one replicate: the same search over other rows, and the graphs that come of it
``asking``        many replicates in the same rounds
``kept``          their answers as bytes, where graphs are sought elsewhere and later
``running``       what all replicates say together, with progress; what is finished stays
``words``         the same in sentences
``counting``      shares of edges, marks and decisions over replicates; the consensus graph
``influence``     how much hangs on one site
``result``        :class:`Stability`, what ``found.stability`` is
================  =========================================================================================

A replicate is searched as the study was: the same levels of tests, the same way out of contradictions, lists of graphs by the exact engine.
"""

from consilience.iod.stability.asking import AskedSites, Source, source_of
from consilience.iod.stability.kept import KeptReplicates, kept_of
from consilience.iod.stability.replicate import Plan, first_questions
from consilience.iod.stability.result import Stability
from consilience.iod.stability.running import assess

__all__ = ["AskedSites", "KeptReplicates", "Plan", "Source", "Stability", "assess", "first_questions", "kept_of", "source_of"]

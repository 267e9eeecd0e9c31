"""Conditional-independence tests: the interface, questions, results, and p-values from statistics.

Nothing here fits a model: :mod:`consilience.federation` has the tests over several sites, :mod:`consilience.graph` the oracle.
"""

from consilience.citest.diagnostics import Diagnosis, Diagnostics
from consilience.citest.effect import Contrast, Estimate
from consilience.citest.interface import CITest
from consilience.citest.question import Question
from consilience.citest.result import CIResult, Direction
from consilience.citest.size import Size

__all__ = ["CIResult", "CITest", "Contrast", "Diagnosis", "Diagnostics", "Direction", "Estimate", "Question", "Size"]

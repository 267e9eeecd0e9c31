"""Conditional-independence tests: the interface, likelihood-ratio logic, batches as exchanges of requests and sums.

Nothing here sends anything: ``batch.batch`` yields requests and is sent sums; ``site.SiteWorker`` turns a request into one
site's vector; what lies between them is the business of ``federation``.
"""

from consilience.citest.interface import CITest
from consilience.citest.question import Question
from consilience.citest.result import CIResult, Direction

__all__ = ["CIResult", "CITest", "Direction", "Question"]

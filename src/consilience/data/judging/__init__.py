"""What a column is taken for, judged from its statistics by rules that are written down, each a small function of its own.

A verdict has a kind, how sure it is, the reason, and what was noticed. What somebody declares wins over every guess, but not over what
cannot be. The limits are in :mod:`consilience.data.judging.limits`, each with its reason; the page *Reading data* shows them.
"""

from consilience.data.judging.across import Common, in_common
from consilience.data.judging.judge import judge, judge_all
from consilience.data.judging.verdict import Standing, Verdict

__all__ = ["Common", "Standing", "Verdict", "in_common", "judge", "judge_all"]

"""The order in which a person should read the graphs: best supported first.

Score. Of every CI test that was run, a graph predicts the decision. Its score is the weight of the decisions that it contradicts
(:mod:`~consilience.iod.evidence`): up to a factor, how much less likely it makes the p-values than a graph that agrees with all
of them would. Less is better; 0 means that it agrees with every test.

All graphs of a strict list have the same independences within each completely tested data set, hence the same score there: no CI test
on these data can tell them apart. Among equals the graph with the fewest edges comes first, the sparsest that explains the decisions
(G. Raskutti, C. Uhler, Learning directed acyclic graph models based on sparsest permutations, Stat 7, 2018); then the text decides.
"""

from __future__ import annotations

from collections.abc import Sequence

from consilience.graph.marksets import MarkSets
from consilience.graph.separation import Separation
from consilience.iod.answers import Answers, Key
from consilience.iod.evidence import weight
from consilience.iod.local import Local

__all__ = ["scores"]


def scores(mags: Sequence[MarkSets], answers: Answers, locals_: Sequence[Local], *, strict: bool) -> list[float]:
    """The weight of the decisions that each MAG contradicts, over all tests.

    With ``strict``, tests within completely tested data sets are looked at for the first MAG only: all agree on them.
    """
    if not mags:
        return []
    settled = [local.variables for local in locals_ if local.complete] if strict else []
    common: list[Key] = []
    own: list[Key] = []
    for key, result in answers.results.items():
        if result.informative and result.converged:
            x, y, given = key
            held = given | 1 << x | 1 << y
            (common if any(held & ~variables == 0 for variables in settled) else own).append(key)
    # A list may have ten thousand graphs and a study a hundred thousand tests: what all agree on is asked once.
    base = _contradicted(mags[0], common, answers)
    return [base + (_contradicted(mag, own, answers) if own else 0.0) for mag in mags]


def _contradicted(mag: MarkSets, keys: Sequence[Key], answers: Answers) -> float:
    separation = Separation(mag)
    wrong = [key for key in keys if separation.separated(*key) != answers.independent(key)]
    return sum((weight(answers.p_value(key), answers.alpha) for key in wrong), start=0.0)

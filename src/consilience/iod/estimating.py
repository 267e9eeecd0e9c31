"""From a list of graphs to estimates: which adjustment sets are used, and whom to ask."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from consilience.citest.effect import Estimate
from consilience.citest.question import Question, ask
from consilience.errors import OptionError
from consilience.graph.adjustment import adjustment_sets
from consilience.graph.identification import Adjustment, Identification
from consilience.iod.effects import Effects, GraphEffect
from consilience.iod.errors import NobodyToAskError
from consilience.settings.effects import EVERY, read_effect

if TYPE_CHECKING:  # a Discovery estimates with this module
    from consilience.iod.discovery import Discovery

__all__ = ["MOST_PAIRS", "estimate_effects", "pairs_of", "wanted_estimates"]

MOST_PAIRS = 100
"""Pairs that are asked for at once. A pair takes a model or some; all pairs of eleven variables are 110."""
MOST_GRAPHS = 1000
"""Graphs of one list that are looked at, the best first."""
MOST_SETS = 12
"""Adjustment sets of one pair that are estimated, besides those without which a graph would have none."""

Pair = tuple[str, str]
Sets = tuple[tuple[str, ...], ...]
Estimator = Callable[[Sequence[Question]], Sequence[Estimate]]


def pairs_of(asked: Iterable[str], variables: Collection[str]) -> list[Pair]:
    """The pairs that texts ask for, each once; ``*`` is every variable.

    >>> pairs_of(["A -> B", "* -> B"], ["A", "B", "C"])
    [('A', 'B'), ('C', 'B')]
    """
    found: dict[Pair, None] = {}
    for first, second in map(read_effect, asked):
        sources, targets = (sorted(variables) if name == EVERY else [name] for name in (first, second))
        for x in sources:
            for y in targets:
                if x != y or EVERY not in (first, second):
                    question = ask(x, y, (), variables)
                    found[question.x, question.y] = None
    if len(found) > MOST_PAIRS:
        raise OptionError(f"At most {MOST_PAIRS} effects are estimated of one list of graphs; got {len(found)}. Name those that matter.")
    return list(found)


def estimate_effects(found: Discovery, pairs: Sequence[Pair], test: Any, most_given: int | None = None) -> tuple[Effects, ...]:
    """What the listed graphs say of each pair. All estimates that this takes are asked for as one batch.

    ``test`` answers with estimates if it can (:meth:`consilience.Server.effects`); ``most_given`` bounds the sets, where a study does.
    """
    said = _asked(found, pairs)
    wanted = {pair: _candidates(told, most_given) for pair, told in said.items()}
    questions = [Question(*pair, given) for pair, sets in wanted.items() for given in sets]
    answers = dict(zip(questions, _estimator(test)(questions), strict=True)) if questions else {}
    made = []
    for pair, told in said.items():
        known = {given: answers[Question(*pair, given)] for given in wanted[pair]}
        made.append(_effects(pair, told, known, found, most_given))
    return tuple(made)


def wanted_estimates(found: Discovery, pairs: Sequence[Pair], most_given: int | None = None) -> list[Question]:
    """What :func:`estimate_effects` asks for: who has no sites at hand has them asked beforehand."""
    return [Question(*pair, given) for pair, told in _asked(found, pairs).items() for given in _candidates(told, most_given)]


def _asked(found: Discovery, pairs: Sequence[Pair]) -> dict[Pair, list[Adjustment]]:
    return {pair: [adjustment_sets(pag, *pair, datasets=found.datasets) for pag in found.pags[:MOST_GRAPHS]] for pair in pairs}


def _estimator(test: Any) -> Estimator:
    """What answers with estimates; an error that says what to do where nothing does."""
    found = getattr(test, "effects", None)
    if not callable(found):
        raise NobodyToAskError(
            "This result has no sites to ask for an estimate. Where they are at hand, as in discover(Server(clients)), found.effect(x, y) "
            'asks them; for a stored result or a study over a network declare effects beforehand, effects=["x -> y", …].'
        )
    estimator: Estimator = found
    return estimator


def _candidates(told: Sequence[Adjustment], most_given: int | None) -> list[tuple[str, ...]]:
    """The sets to estimate: those that serve most graphs, and one for every graph that would have none."""
    served = Counter(given for one in told for given in _within(one.sets, most_given))
    order = {given: place for place, given in enumerate(sorted(served, key=lambda given: (-served[given], len(given), given)))}
    chosen = dict.fromkeys(list(order)[:MOST_SETS])
    for one in told:
        sets = _within(one.sets, most_given)
        if sets and not any(given in chosen for given in sets):
            chosen[min(sets, key=order.__getitem__)] = None
    return list(chosen)


def _within(sets: Sets, most_given: int | None) -> Sets:
    return sets if most_given is None else tuple(given for given in sets if len(given) <= most_given)


def _effects(
    pair: Pair, told: Sequence[Adjustment], known: Mapping[tuple[str, ...], Estimate], found: Discovery, most_given: int | None
) -> Effects:
    graphs = tuple(_said(one, known, most_given) for one in told)
    used = Counter(graph.used for graph in graphs if graph.used is not None)
    estimates = tuple(known[given] for given, _ in used.most_common())
    others = tuple(estimate for given, estimate in known.items() if given not in used)
    return Effects(*pair, graphs, estimates, others, found.complete, len(found.pags))


def _said(one: Adjustment, known: Mapping[tuple[str, ...], Estimate], most_given: int | None) -> GraphEffect:
    """What a graph says, by the best of its sets: one with numbers, over most rows, with the shortest interval."""
    usable = [known[given] for given in one.sets if given in known]
    if usable:
        best = min(usable, key=lambda estimate: (not estimate.known, -estimate.n, estimate.width, estimate.given))
        return GraphEffect(one.identification.value, one.sets, best.given, one.in_words())
    words = one.in_words()
    if one.identification is Identification.ADJUSTED:
        words = f"The effect of {one.x} on {one.y} is not estimated, since the study conditions on at most {most_given} variables."
    return GraphEffect(one.identification.value, one.sets, None, words)

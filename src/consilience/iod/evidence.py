"""CI decisions as evidence: what each says, how strong it is, and in which words it is told.

Weight. A decision with p-value p weighs |ln(p / α)|. Where p-values are uniform under independence and Beta(ξ, 1) under dependence
(S. Triantafillou, I. Tsamardinos, A. Roumpelaki, Learning neighborhoods of high confidence in constraint-based causal discovery, PGM
2014), the log-odds of the two answers are a straight line in ln p; with α as the point of indifference they are (1 - ξ) ln(p / α).
The factor is the same for all decisions, so which set of decisions weighs least does not depend on ξ.

A local adjacency rests on many tests that all rejected. It fails if one of them does, so it weighs as much as the weakest.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from math import log

from consilience.graph.marksets import bits
from consilience.iod.answers import Answers, Key
from consilience.iod.local import Local

__all__ = ["Decision", "Ruling", "Source", "rulings", "strength", "verdicts", "weight"]

SMALLEST_P = 1e-300
"""p-values below are counted as this one: an oracle says 0 and large samples underflow to it, and weights must stay finite."""


class Source(StrEnum):
    """Where a decision comes from."""

    SEPARATION = "separation"
    CONNECTION = "connection"
    ADJACENCY = "adjacency"
    KNOWLEDGE = "knowledge"


@dataclass(frozen=True, slots=True)
class Decision:
    """One decision that the graphs have to agree with.

    A *separation* is one test that did not reject, a *connection* one that did. An *adjacency* stands for all tests of a pair within its
    data sets; x, y, given and p_value are those of the weakest. *Knowledge* has neither p-value nor weight: it is never given up.

    Attributes
    ----------
    kind : Source
        ``"separation"``, ``"connection"``, ``"adjacency"`` or ``"knowledge"``.
    text : str
        What it says, in words; also ``str(decision)``.
    x, y : str
        The two variables; empty for knowledge.
    given : tuple of str
        The variables that were given.
    p_value : float or None
        Of the test; None for knowledge.
    weight : float or None
        How strongly the p-value speaks for the decision, ``|ln(p / α)|``; None for knowledge.

    Examples
    --------
    >>> import consilience as cs
    >>> told = cs.Decision(Source.SEPARATION, "A and B are independent (p = 0.6)", "A", "B", (), 0.6, 2.5)
    >>> print(told)
    A and B are independent (p = 0.6)
    """

    kind: Source
    text: str
    x: str = ""
    y: str = ""
    given: tuple[str, ...] = ()
    p_value: float | None = None
    weight: float | None = None

    def __str__(self) -> str:
        return self.text


@dataclass(frozen=True, slots=True)
class Ruling:
    """A decision as constraints on numbered nodes.

    ``separated`` and ``connected`` are (x, y, given as bits), ``inseparable`` are (data set, x, y).
    """

    decision: Decision
    separated: Key | None = None
    connected: Key | None = None
    inseparable: tuple[tuple[int, int, int], ...] = ()


def strength(decision: Decision) -> float:
    """A decision's weight as a number; knowledge, which has none, is not weighed."""
    return decision.weight or 0.0


def weight(p_value: float, alpha: float) -> float:
    """How strongly a p-value speaks for the decision that it leads to.

    >>> round(weight(0.5, 0.05), 3), round(weight(0.0005, 0.05), 3), weight(0.05, 0.05)
    (2.303, 4.605, 0.0)
    """
    return abs(log(max(p_value, SMALLEST_P) / alpha))


def rulings(locals_: Sequence[Local], answers: Answers) -> list[Ruling]:
    """The separations and adjacencies of all data sets, each decision once, however many data sets share it."""
    tests: dict[tuple[int, int], list[tuple[int, float]]] = defaultdict(list)
    for (x, y, given), result in answers.results.items():
        if result.informative and result.converged and not answers.independent((x, y, given)):
            tests[x, y].append((given, result.p_value))
    separated = dict.fromkeys((x, y, given) for local in locals_ for (x, y), given in local.sepsets.items())
    weakest: dict[tuple[int, int, int], list[tuple[int, int]]] = defaultdict(list)  # the test, its data sets and how many tests each has
    for number, local in enumerate(locals_, start=1):
        for x, y in sorted(local.inseparable):
            own = [(p, given) for given, p in tests[x, y] if given & ~local.variables == 0]
            weakest[x, y, max(own)[1]].append((number, len(own)))
    found = [Ruling(_verdict(answers, key), separated=key) for key in separated]
    for (x, y, given), held in weakest.items():
        assumed = any((x, y) in locals_[number - 1].assumed for number, _ in held)
        ruling = _adjacency(answers, (x, y, given), held, len(locals_), assumed=assumed)
        found.append(Ruling(ruling, inseparable=tuple((number, x, y) for number, _ in held)))
    return found


def verdicts(answers: Answers, max_given: int | None = None) -> list[Ruling]:
    """Every test that was answered (given at most so many variables), as a decision of its own."""
    found = []
    for key, result in answers.results.items():
        if result.informative and result.converged and (max_given is None or len(result.given) <= max_given):
            separated, connected = (key, None) if answers.independent(key) else (None, key)
            found.append(Ruling(_verdict(answers, key), separated, connected))
    return found


def _verdict(answers: Answers, key: Key) -> Decision:
    """What one answered test says."""
    x, y, given, p = _named(answers, key)
    kind, word = (Source.SEPARATION, "independent") if answers.independent(key) else (Source.CONNECTION, "dependent")
    return Decision(kind, f"{x} and {y} are {word}{_given(given)} (p = {p:.2g})", x, y, given, p, weight(p, answers.alpha))


def _adjacency(answers: Answers, key: tuple[int, int, int], held: Iterable[tuple[int, int]], datasets: int, *, assumed: bool) -> Decision:
    """A pair that no set of its data sets separates; ``assumed`` if larger sets than were allowed might."""
    x, y, given, p = _named(answers, key)
    numbers = [str(number) for number, _ in held]
    most = max(count for _, count in held)
    where = "" if datasets == 1 else f" of data set {numbers[0]}" if len(numbers) == 1 else f" of data sets {' and '.join(numbers)}"
    whatever = "whatever was tried" if assumed else "whatever is given"
    tried = f", {whatever} ({most} tests{where}; weakest{_given(given) or ' given nothing'}" if most > 1 else f"{_given(given)} ("
    return Decision(
        Source.ADJACENCY,
        f"{x} and {y} are dependent{tried}{': ' if most > 1 else ''}p = {p:.2g})",
        x,
        y,
        given,
        p,
        weight(p, answers.alpha),
    )


def _named(answers: Answers, key: tuple[int, int, int]) -> tuple[str, str, tuple[str, ...], float]:
    x, y, given = key
    return answers.names[x], answers.names[y], tuple(answers.names[z] for z in bits(given)), answers.p_value(key)


def _given(names: Sequence[str]) -> str:
    return f" given {', '.join(names)}" if names else ""

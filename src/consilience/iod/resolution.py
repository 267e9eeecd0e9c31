"""How contradictions between decisions were resolved, and how far that is proved."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, dataclass, field, replace
from typing import Any, Self

from consilience.iod.evidence import Decision, strength
from consilience.settings.choices import Resolve

__all__ = ["Resolution", "plain_decision"]


@dataclass(frozen=True, slots=True)
class Resolution:
    """What became of the decisions that the graphs had to agree with.

    Attributes
    ----------
    how : Resolve
        What was done, which with ``"auto"`` is not known before: ``STRICT`` if nothing had to give way.
    overruled : tuple of Decision
        Decisions that no listed graph agrees with because of others, strongest first. Empty if all decisions hold together.
    given_up : float
        Their total weight, in the first graph of the list.
    bound : float
        No graph gives up less than this in total: equal to ``given_up`` where that is proved to be least, 0 where nothing is known.
    proved : bool
        True if the choice is final: the time sufficed to consider every decision (strongest first), or to prove the optimum.
    undecided : int
        Decisions that there was no time to consider. Graphs may contradict them.
    weakest : Decision or None
        The weakest decision that was accepted, if decisions were considered one by one.
    reasons : dict of Decision to tuple of Decision
        Of an overruled decision, stronger ones that it cannot hold together with, where they are known.
    decisions : int
        How many decisions there are in all; 0 if nobody counted.
    total : float
        Their total weight.
    """

    how: Resolve
    overruled: tuple[Decision, ...] = ()
    given_up: float = 0.0
    bound: float = 0.0
    proved: bool = True
    undecided: int = 0
    weakest: Decision | None = None
    reasons: dict[Decision, tuple[Decision, ...]] = field(default_factory=dict)
    decisions: int = 0
    total: float = 0.0

    @property
    def gap(self) -> float:
        """How much less some graph might give up.

        >>> Resolution(Resolve.OPTIMAL, given_up=31.5, bound=20.0, proved=False).gap
        11.5
        """
        return max(0.0, self.given_up - self.bound)

    def among(self, decisions: Iterable[Decision]) -> Self:
        """The same, with the number and the weight of all decisions that were looked at.

        >>> from consilience.iod.evidence import Source
        >>> one = Decision(Source.SEPARATION, "A and B are independent", weight=2.5)
        >>> Resolution(Resolve.STRICT).among([one, one]).total
        5.0
        """
        weights = [strength(decision) for decision in decisions]
        return replace(self, decisions=len(weights), total=sum(weights))

    def to_dict(self) -> dict[str, Any]:
        """Plain types, for JSON.

        >>> Resolution(Resolve.STRICT).to_dict()["how"]
        'strict'
        """
        return {
            "how": self.how.value,
            "decisions": self.decisions,
            "total": self.total,
            "overruled": [plain_decision(decision) for decision in self.overruled],
            "given_up": self.given_up,
            "bound": self.bound,
            "gap": self.gap,
            "proved": self.proved,
            "undecided": self.undecided,
            "weakest": None if self.weakest is None else plain_decision(self.weakest),
            "reasons": [
                {"overruled": plain_decision(decision), "stronger": [plain_decision(one) for one in stronger]}
                for decision, stronger in self.reasons.items()
            ],
        }


def plain_decision(decision: Decision) -> dict[str, Any]:
    """A decision as plain types, for JSON."""
    return {**asdict(decision), "kind": decision.kind.value, "given": list(decision.given)}

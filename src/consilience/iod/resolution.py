"""How contradictions between decisions were resolved, and how far that is proved."""

from __future__ import annotations

from dataclasses import dataclass, field

from consilience.iod.evidence import Decision
from consilience.settings.choices import Resolve

__all__ = ["Resolution"]


@dataclass(frozen=True, slots=True)
class Resolution:
    """What became of the decisions that the graphs had to agree with.

    Attributes
    ----------
    how : Resolve
        What was done, which with ``"auto"`` is not known before: ``STRICT`` if nothing had to give way.
    overruled : tuple of Decision
        Decisions that graphs of the list do not agree with because of others, strongest first. Strongest first, they hold in none of them;
        but where decisions of the same weight clash, one graph gives up this and another that, as with ``OPTIMAL``. Empty if all decisions
        hold together.
    given_up : float
        The total weight of the decisions that the graphs contradict; if they differ in it, because time ran out, that of the best.
    bound : float
        No graph gives up less than this in total: equal to ``given_up`` where that is proved to be least, 0 where nothing is known.
    proved : bool
        True if the choice is final: the time sufficed to consider every decision (strongest first), or to prove the optimum.
    undecided : int
        Decisions that there was no time to consider, one by one. Graphs may contradict them.
    weakest : Decision or None
        The weakest decision that was accepted, if decisions were considered one by one.
    reasons : dict of Decision to tuple of Decision
        Of an overruled decision, stronger ones that it cannot hold together with, where they are known.
    """

    how: Resolve
    overruled: tuple[Decision, ...] = ()
    given_up: float = 0.0
    bound: float = 0.0
    proved: bool = True
    undecided: int = 0
    weakest: Decision | None = None
    reasons: dict[Decision, tuple[Decision, ...]] = field(default_factory=dict)

    @property
    def gap(self) -> float:
        """How much less some graph might give up.

        >>> Resolution(Resolve.OPTIMAL, given_up=31.5, bound=20.0, proved=False).gap
        11.5
        """
        return max(0.0, self.given_up - self.bound)

"""How much of the study is run. Sizes are nested: what a smaller one has computed, a larger one takes over."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from consilience.reproduction.design import Run

__all__ = ["SIZES", "Plan", "Size"]


class Size(StrEnum):
    """How much of the study is run."""

    SMOKE = "smoke"
    DEFAULT = "default"
    PAPER = "paper"


@dataclass(frozen=True, slots=True)
class Plan:
    """The runs of one size, and how many cases of appendix D go with them."""

    graphs: int
    replications: int
    samples: tuple[int, ...]
    partitions: tuple[int, ...]
    cases: int

    def runs(self) -> list[Run]:
        """Every run, all settings once before any is repeated."""
        return sorted(
            Run(r, g, n, k) for r in range(self.replications) for g in range(self.graphs) for n in self.samples for k in self.partitions
        )


SIZES = {
    Size.SMOKE: Plan(2, 1, (500, 1000), (4, 8), 3),
    Size.DEFAULT: Plan(30, 8, (500, 1000, 2500, 5000), (4, 8, 12), 100),
    Size.PAPER: Plan(30, 30, (500, 1000, 2500, 5000), (4, 8, 12), 100),
}

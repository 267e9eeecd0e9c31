"""Which variable sets have the same rows, by their counts alone."""

from __future__ import annotations

from consilience.federation.exchange.sums import Sums

__all__ = ["SameRows"]


class SameRows:
    """Sets with the same conditioning variables, joined where one contains the other and both have as many rows: the same rows, then.

    >>> from consilience.data.schema import Schema
    >>> sums = Sums(Schema({"A": "continuous", "B": "continuous"}), counts={("A",): (2, 9), ("A", "B"): (2, 9), ("B",): (2, 10)})
    >>> same = SameRows(sums)
    >>> same.join(("A", "B"), ("A",))
    >>> same.join(("A", "B"), ("B",))
    >>> same.first(("A", "B"))
    ('A',)
    """

    def __init__(self, sums: Sums) -> None:
        self.sums, self.to = sums, dict[tuple[str, ...], tuple[str, ...]]()

    def first(self, variables: tuple[str, ...]) -> tuple[str, ...]:
        """The set that stands for all with the same rows."""
        while (above := self.to.get(variables, variables)) != variables:
            variables = above
        return variables

    def join(self, large: tuple[str, ...], small: tuple[str, ...]) -> None:
        """Join the two if they have the same rows; of sets that are joined, the smallest stands for all."""
        if not small or not {large, small} <= self.sums.counts.keys() or self.sums.rows(large) != self.sums.rows(small):
            return
        low, high = sorted((self.first(large), self.first(small)), key=lambda s: (len(s), s))
        self.to[high] = low

"""How fast tests that were asked for together come in, and how long the rest of them will take at that pace."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["Pace"]

LEAST_TESTS, LEAST_SECONDS = 5, 3.0
"""Before so many tests and so much time, a pace is a guess, and none is told."""


@dataclass(frozen=True, slots=True)
class Pace:
    """Tests asked for together: how many are done, how many they are, and how many were done when they were first seen, and when.

    Attributes
    ----------
    done, total : int
        Tests that are done, and tests that were asked for.
    first : int
        Tests that were done at ``since``; what a journal gives again after a restart takes no time, and is no pace.
    since, now : float
        Seconds on a clock that only goes forward: at the first sight of these tests, and at the latest.
    """

    done: int
    total: int
    first: int
    since: float
    now: float

    @classmethod
    def after(cls, before: Pace | None, done: int, total: int, now: float) -> Pace:
        """The next sight of the same tests, or the first of others."""
        if before is None or before.total != total or done < before.done:
            return cls(done, total, done, now, now)
        return cls(done, total, before.first, before.since, now)

    def left(self, now: float) -> float | None:
        """Seconds until these tests are done, if the others take as long as those that are; None while that is a guess.

        The time since the latest sight is taken off, so that the figure goes down between two of them.

        >>> Pace(30, 90, 10, since=0.0, now=20.0).left(now=20.0), Pace(30, 90, 10, since=0.0, now=20.0).left(now=25.0)
        (60.0, 55.0)
        >>> Pace(2, 90, 0, since=0.0, now=20.0).left(now=20.0) is None
        True
        """
        made, took = self.done - self.first, self.now - self.since
        if made < LEAST_TESTS or took < LEAST_SECONDS:
            return None
        return max(0.0, took / made * (self.total - self.done) - (now - self.now))

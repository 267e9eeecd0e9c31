"""How long a search may take, and whom it tells that it goes on. Both engines and the solver below them look at it."""

from __future__ import annotations

import time
from collections.abc import Callable

__all__ = ["Clock", "Endless", "TimeIsUp"]


class TimeIsUp(Exception):  # noqa: N818  not an error: the caller returns what it has
    """The time limit has been reached."""


class Clock:
    """When to stop, and whom to tell that work goes on. ``tell`` may raise: that cancels the search. ``stop`` says whether somebody wants
    what there is, now: as if time were up.

    >>> clock = Clock(time_limit=0.0, tell=print)
    >>> try:
    ...     clock.tick()
    ... except TimeIsUp:
    ...     print("time is up")
    solving
    time is up
    """

    def __init__(
        self, time_limit: float | None = None, tell: Callable[[str], None] | None = None, stop: Callable[[], bool] | None = None
    ) -> None:
        self._time_limit = time_limit
        self._end = None if time_limit is None else time.monotonic() + time_limit
        self._tell = tell or (lambda _: None)
        self._stop = stop or (lambda: False)
        self.words = "solving"

    def again(self) -> Clock:
        """The same time once more, from now on. Who has said stop is not heard again: what was found is still to be finished."""
        return Clock(self._time_limit, self._tell)

    def part(self, share: float) -> Clock:
        """A share of the time that is left, from now on."""
        left = self.left()
        clock = Clock(None if left is None else share * left, self._tell, self._stop)
        clock.words = self.words
        return clock

    def left(self) -> float | None:
        """Seconds that are left, at least 0; None without a limit.

        >>> Clock().left(), Clock(0.0).left()
        (None, 0.0)
        """
        return None if self._end is None else max(0.0, self._end - time.monotonic())

    def keep(self, share: float) -> None:
        """Use only this share of the time that is left."""
        left = self.left()
        if left is not None:
            self._end = time.monotonic() + share * left

    def tick(self) -> None:
        """Tell, and raise :class:`TimeIsUp` if it is."""
        self._tell(self.words)  # before the limit is looked at: who cancels must be heard even where there is no limit
        if self._stop() or (self._end is not None and time.monotonic() >= self._end):
            raise TimeIsUp


class Endless(Clock):
    """For the few questions whose answer is needed even when time is up, and which take no time to speak of.

    >>> Endless(0.0).tick()
    """

    def tick(self) -> None:
        """Go on."""

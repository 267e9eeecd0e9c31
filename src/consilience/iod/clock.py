"""How long a search may take, and whom it tells that it goes on. Both engines and the solver below them look at it."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

__all__ = ["Clock", "TimeIsUp"]


class TimeIsUp(Exception):  # noqa: N818  not an error: the caller returns what it has
    """The time limit has been reached, or somebody who may asked to stop."""


class Clock:
    """When to stop, and whom to tell that work goes on. ``tell`` may raise: that cancels the search.

    ``stop`` is asked now and then; when it says True, time is up, whatever the limit. In contrast to a search that is cancelled, one whose
    time is up returns what it has.

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
        """The same time once more, from now on."""
        return Clock(self._time_limit, self._tell, self._stop)

    def part(self, share: float) -> Clock:
        """A share of the time that is left, from now on."""
        left = self.left()
        return Clock(None if left is None else share * left, self._tell, self._stop)

    def left(self) -> float | None:
        """Seconds that are left, at least 0; None without a limit.

        >>> Clock().left(), Clock(0.0).left()
        (None, 0.0)
        """
        return None if self._end is None else max(0.0, self._end - time.monotonic())

    def wait(self, most: float) -> float:
        """For how long one may wait before the next :meth:`tick`."""
        left = self.left()
        return most if left is None else min(most, left)

    @contextmanager
    def halted(self) -> Iterator[None]:
        """What is done meanwhile does not count."""
        start = time.monotonic()
        yield
        if self._end is not None:
            self._end += time.monotonic() - start

    def tick(self) -> None:
        """Tell, and raise :class:`TimeIsUp` if it is."""
        self._tell(self.words)  # before the limit is looked at: who cancels must be heard even where there is no limit
        if self._stop() or (self._end is not None and time.monotonic() >= self._end):
            raise TimeIsUp

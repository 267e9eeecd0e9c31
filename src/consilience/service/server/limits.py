"""How often something may be tried: a bucket of attempts per key that fills up again with time."""

from __future__ import annotations

from collections.abc import Callable
from threading import Lock

from consilience.service.errors import RateLimitError

__all__ = ["RateLimit"]

MOST_KEYS = 10_000
"""Keys remembered: a few megabytes. Somebody with more addresses than that is not held back by counting addresses."""


class RateLimit:
    """At most ``burst`` attempts at once and ``per_minute`` on average, for each key; ``clock`` gives seconds.

    An attempt that was right is given back: only failures count. Beyond a number of keys the fullest buckets are forgotten.

    >>> now = 0.0
    >>> limit = RateLimit("logins", burst=1, per_minute=6, clock=lambda: now)
    >>> limit.take("10.0.0.1")
    >>> limit.take("10.0.0.1")
    Traceback (most recent call last):
    consilience.service.errors.RateLimitError: Too many failed logins; the next may be made in 10 seconds.
    >>> now = 10.0
    >>> limit.take("10.0.0.1")
    """

    def __init__(self, what: str, burst: int, per_minute: float, clock: Callable[[], float]) -> None:
        self._what, self._burst, self._per_second, self._clock = what, float(burst), per_minute / 60.0, clock
        self._buckets: dict[str, tuple[float, float]] = {}
        self._lock = Lock()

    def take(self, key: str) -> None:
        """Count an attempt; :class:`RateLimitError` if there were too many."""
        with self._lock:
            # taken before the attempt is made, and given back after: many attempts at the same moment cannot all find the bucket full
            left = self._left(key)
            if left < 1.0:
                wait = (1.0 - left) / self._per_second
                raise RateLimitError(f"Too many failed {self._what}; the next may be made in {wait:.0f} seconds.", wait)
            self._put(key, left - 1.0)

    def give_back(self, key: str) -> None:
        """The attempt was right."""
        with self._lock:
            self._put(key, min(self._burst, self._left(key) + 1.0))

    def _left(self, key: str) -> float:
        left, then = self._buckets.get(key, (self._burst, self._clock()))
        return min(self._burst, left + (self._clock() - then) * self._per_second)

    def _put(self, key: str, left: float) -> None:
        if left >= self._burst:  # a full bucket and none are the same, so the memory holds those who fail and nobody else
            self._buckets.pop(key, None)
            return
        if len(self._buckets) >= MOST_KEYS and key not in self._buckets:
            # the fullest, which holds back least: a flood of new keys with a failure each pushes out itself, and not who failed often
            del self._buckets[max(self._buckets, key=self._left)]
        self._buckets[key] = (left, self._clock())

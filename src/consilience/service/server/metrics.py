"""Counters of the server, in Prometheus' text format. Numbers only: no names of studies or sites."""

from __future__ import annotations

from collections import Counter
from threading import Lock

__all__ = ["Metrics"]

HELP = {
    "rounds": "Rounds answered by all sites.",
    "bytes": "Bytes of requests and masked answers.",
    "runs_started": "Runs begun or gone on with.",
    "runs_finished": "Runs that ended with a result.",
    "runs_failed": "Runs that ended without one.",
    "sites_lost": "Connections of sites that ended.",
    "sites_refused": "Connections refused: no proof of identity.",
    "messages_refused": "Messages that were malformed, too long or out of turn.",
    "logins_failed": "Failed logins.",
    "joins_failed": "Invitations that were not valid.",
    "links_failed": "One-time links that were not valid.",
    "storage_errors": "Attempts of runs that the database did not let through; they are repeated.",
}


class Metrics:
    """Counts that only go up.

    >>> metrics = Metrics()
    >>> metrics.add("rounds", 2)
    >>> "consilience_rounds_total 2" in metrics.text({"sites_connected": 3})
    True
    """

    def __init__(self) -> None:
        self._counts: Counter[str] = Counter()
        self._lock = Lock()

    def add(self, name: str, by: int = 1) -> None:
        """Count."""
        with self._lock:  # adding is reading and writing: runs count from threads of their own
            self._counts[name] += by

    def text(self, gauges: dict[str, float]) -> str:
        """All counters, then ``gauges``: what is so now."""
        with self._lock:
            lines = [
                line
                for name, words in HELP.items()
                for line in (
                    f"# HELP consilience_{name}_total {words}",
                    f"# TYPE consilience_{name}_total counter",
                    f"consilience_{name}_total {self._counts[name]}",
                )
            ]
        for name, value in gauges.items():
            lines += [f"# TYPE consilience_{name.partition('{')[0]} gauge", f"consilience_{name} {value:g}"]
        # a gauge with labels comes in several lines, and Prometheus wants its type once
        seen: set[str] = set()
        unique = [line for line in lines if not (line.startswith("#") and line in seen) and not seen.add(line)]  # type: ignore[func-returns-value]
        return "\n".join(unique) + "\n"

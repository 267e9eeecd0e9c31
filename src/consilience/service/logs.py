"""Logs as one JSON object a line. Secrets do not get here: nobody logs a header, a query, a body or a token."""

from __future__ import annotations

import json
import logging
import time
from collections.abc import Callable
from datetime import UTC, datetime
from threading import Lock

__all__ = ["JsonLines", "Sparing", "set_up_logs"]

BURST, PER_SECOND = 1000, 20.0
"""Lines of one kind: a busy hour has them all, and a flood writes 4 kB a second."""
MOST_KINDS = 1000

# what every record has: all else was given by us with extra=, and belongs into the line
_STANDARD = frozenset(vars(logging.LogRecord("", 0, "", 0, "", (), None))) | {"message", "asctime", "taskName", "color_message"}


class JsonLines(logging.Formatter):
    """A record as JSON: time, level, where from, what, and the fields that were given with it.

    >>> record = logging.LogRecord("consilience.server", logging.INFO, "", 0, "finished", (), None)
    >>> record.study = "00112233aabbccdd"
    >>> json.loads(JsonLines().format(record))["study"]
    '00112233aabbccdd'
    """

    def format(self, record: logging.LogRecord) -> str:
        """One line."""
        moment = datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds")
        line = {"time": moment, "level": record.levelname.lower(), "from": record.name, "event": record.getMessage()}
        line |= {key: value for key, value in vars(record).items() if key not in _STANDARD}
        if record.exc_info:
            line["traceback"] = self.formatException(record.exc_info)
        return json.dumps(line, ensure_ascii=False, default=str)


class Sparing(logging.Filter):
    """Of lines of one kind ``burst`` at once and then ``per_second``: a flood must not fill the disk. The next line of this kind that is
    written says how many were left out.

    >>> now, sparing = 0.0, Sparing(burst=1, per_second=1.0, clock=lambda: now)
    >>> records = [logging.LogRecord("consilience.server", logging.INFO, "", 0, "request", (), None) for _ in range(4)]
    >>> [sparing.filter(record) for record in records[:3]]
    [True, False, False]
    >>> now = 1.0
    >>> sparing.filter(records[3]), records[3].left_out
    (True, 2)
    """

    def __init__(self, burst: int = BURST, per_second: float = PER_SECOND, clock: Callable[[], float] = time.monotonic) -> None:
        super().__init__()
        self._burst, self._per_second, self._clock, self._lock = float(burst), per_second, clock, Lock()
        self._kinds: dict[tuple[str, str], tuple[float, float, int]] = {}

    def filter(self, record: logging.LogRecord) -> bool:
        """True if the line is written."""
        kind, now = (record.name, str(record.msg)), self._clock()
        with self._lock:
            if kind not in self._kinds and len(self._kinds) >= MOST_KINDS:
                self._kinds.clear()  # messages are constants; this is for a library whose messages are not
            left, then, out = self._kinds.get(kind, (self._burst, now, 0))
            left = min(self._burst, left + (now - then) * self._per_second)
            if left < 1.0:
                self._kinds[kind] = (left, now, out + 1)
                return False
            self._kinds[kind] = (left - 1.0, now, 0)
        if out:
            record.left_out = out
        return True


def set_up_logs(level: str = "INFO") -> None:
    """Send all logs of this process through :class:`JsonLines` to standard error."""
    handler = logging.StreamHandler()
    handler.setFormatter(JsonLines())
    handler.addFilter(Sparing())
    root = logging.getLogger()
    root.handlers[:] = [handler]
    root.setLevel(level)
    # lines with whole addresses, and a line per request that Guardrail writes already
    for noisy in ("uvicorn.access", "uvicorn.error", "httpx", "httpcore", "websockets"):
        logging.getLogger(noisy).setLevel("WARNING")

"""Logs as one JSON object a line. Secrets do not get here: nobody logs a header, a query, a body or a token."""

from __future__ import annotations

import json
import logging
from datetime import UTC, datetime

__all__ = ["JsonLines", "set_up_logs"]

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
        time = datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds")
        line = {"time": time, "level": record.levelname.lower(), "from": record.name, "event": record.getMessage()}
        line |= {key: value for key, value in vars(record).items() if key not in _STANDARD}
        if record.exc_info:
            line["traceback"] = self.formatException(record.exc_info)
        return json.dumps(line, ensure_ascii=False, default=str)


def set_up_logs(level: str = "INFO") -> None:
    """Send all logs of this process through :class:`JsonLines` to standard error."""
    handler = logging.StreamHandler()
    handler.setFormatter(JsonLines())
    root = logging.getLogger()
    root.handlers[:] = [handler]
    root.setLevel(level)
    # lines with whole addresses, and a line per request that Guardrail writes already
    for noisy in ("uvicorn.access", "uvicorn.error", "httpx", "httpcore", "websockets"):
        logging.getLogger(noisy).setLevel("WARNING")

"""When the server's certificate ends, said in time."""

from __future__ import annotations

from datetime import UTC, datetime

from consilience.service.tls import is_self_signed, life_of
from consilience.wording import counted

__all__ = ["WARN_DAYS", "Expiry"]

WARN_DAYS = 42
"""Six weeks before the end: an authority may take some, and people are on holiday."""


class Expiry:
    """The end of a certificate (PEM), in words for those who operate the server; nothing where there is none."""

    def __init__(self, certificate: str) -> None:
        self._end = life_of(certificate)[1] if certificate else None
        self._own = bool(certificate) and is_self_signed(certificate)

    @property
    def day(self) -> str:
        """The day on which it ends."""
        return self._end.date().isoformat() if self._end else ""

    def warning(self, now: float) -> str:
        """What is to be done soon; empty while there is time.

        >>> from consilience.service.tls import self_signed
        >>> import time
        >>> Expiry(self_signed(["localhost"], days=100)[0]).warning(time.time())
        ''
        >>> Expiry(self_signed(["localhost"], days=10)[0]).warning(time.time())  # doctest: +ELLIPSIS
        "The server's certificate ends on ..., in 9 days: then nobody can connect. Renew it: consilience server renew-certificate, ..."
        """
        if self._end is None:
            return ""
        left = self._end - datetime.fromtimestamp(now, UTC)
        if left.days >= WARN_DAYS:
            return ""
        way = "consilience server renew-certificate, " if self._own else "get a new one from where it came from, "
        if left.total_seconds() <= 0:
            said = f"The server's certificate has ended on {self.day}: nobody can connect."
        else:
            said = f"The server's certificate ends on {self.day}, in {counted(left.days, 'day')}: then nobody can connect."
        return f"{said} Renew it: {way}and start the server again."

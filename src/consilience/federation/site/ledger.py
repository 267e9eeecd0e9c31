"""A site's record of everything that left it, in words. Entries are added, never changed."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path

from consilience.frames import pl
from consilience.wording import printable

__all__ = ["Ledger", "LedgerLine", "printable"]


@dataclass(frozen=True, slots=True)
class LedgerLine:
    """One line: what was asked, what was sent (``numbers`` and ``bytes``; zero if refused), and with whom it was masked.

    ``digest`` is the SHA-256 of what left, in hexadecimal; empty if nothing did, or if a former version wrote the line.
    """

    time: str
    study: str
    run: str
    round: int
    what: str
    numbers: int
    bytes: int
    masked_with: int
    refused: str = ""
    digest: str = ""


def _now() -> datetime:
    return datetime.now(UTC)


class Ledger:
    """Entries in order, with running totals.

    >>> ledger = Ledger(clock=lambda: datetime(2026, 1, 31, tzinfo=UTC))
    >>> ledger.add("s", "r", 0, "counts of 3 variable sets", 6, 96, masked_with=2)
    >>> ledger.add("s", "r", 0, "counts of 3 variable sets", 0, 0, masked_with=2, refused="RepeatedRoundError: ...")
    >>> ledger.frame()["total_numbers"].to_list(), ledger.totals()["refused"]
    ([6, 6], 1)
    """

    def __init__(self, clock: Callable[[], datetime] = _now) -> None:
        self._entries: list[LedgerLine] = []
        self._clock = clock

    def add(
        self,
        study: str,
        run: str,
        number: int,
        what: str,
        numbers: int,
        n_bytes: int,
        *,
        masked_with: int,
        refused: str = "",
        digest: str = "",
    ) -> None:
        """Append one line. Names in it may be anybody's: what is not printable is escaped."""
        time = self._clock().isoformat(timespec="milliseconds")
        number = min(max(number, 0), 2**64 - 1)
        entry = LedgerLine(time, study, run, number, printable(what), numbers, n_bytes, masked_with, printable(refused), digest)
        self.keep(entry)
        self._entries.append(entry)

    def keep(self, entry: LedgerLine) -> None:
        """Make a line outlive the process, before the message it tells of leaves. In memory there is nothing to do."""

    @property
    def entries(self) -> tuple[LedgerLine, ...]:
        """All lines, oldest first."""
        return tuple(self._entries)

    def frame(self) -> pl.DataFrame:
        """The lines as a table, with running totals of what left the site."""
        schema = {"time": pl.String, "study": pl.String, "run": pl.String, "round": pl.UInt64, "what": pl.String, "numbers": pl.Int64}
        schema |= {"bytes": pl.Int64, "masked_with": pl.Int64, "refused": pl.String, "digest": pl.String}
        lines = pl.DataFrame([asdict(entry) for entry in self._entries], schema=schema)
        return lines.with_columns(total_numbers=pl.col("numbers").cum_sum(), total_bytes=pl.col("bytes").cum_sum())

    def totals(self, study: str | None = None) -> dict[str, int]:
        """How many messages, numbers and bytes have left the site (in one study, if it is named), and how many requests it refused."""
        entries = [entry for entry in self._entries if study is None or entry.study == study]
        sent = [entry for entry in entries if not entry.refused]
        return {
            "messages": len(sent),
            "numbers": sum(entry.numbers for entry in sent),
            "bytes": sum(entry.bytes for entry in sent),
            "refused": len(entries) - len(sent),
        }

    def lines(self, **extra: str) -> str:
        """The ledger as JSON Lines; ``extra`` fields stand first in each."""
        return "".join(json.dumps({**extra, **asdict(entry)}, ensure_ascii=False) + "\n" for entry in self._entries)

    def write(self, path: Path) -> None:
        """Write the ledger as JSON Lines."""
        path.write_text(self.lines(), encoding="utf-8")

"""Sums on disk: what a job that was cut off has asked is answered from here when it is submitted again."""

from __future__ import annotations

import os
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

import msgspec

from consilience.federation.transport import Journal, JournalEntry
from consilience.service.appending import Appending
from consilience.service.errors import RecordsError
from consilience.typed import from_msgpack

__all__ = ["FileJournal"]

_LENGTH = 8


class FileJournal(Journal):
    """The journal of one contract in a file: each entry with its length in front; a torn one at the end is cut off.

    A round that came to nothing because a site was lost is not written down: the job ends with it, and the next one asks it again.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = Path(folder) / "journal"
    ...     FileJournal(file).append(JournalEntry(b"asked", bytes(8), 8))
    ...     FileJournal(file).append(JournalEntry(b"next", b"", 0, gone="mainz"))
    ...     [entry.request for entry in FileJournal(file).entries()]
    [b'asked']
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        data = path.read_bytes() if path.exists() else b""
        self._entries: list[JournalEntry] = []
        whole = 0
        while len(data) >= whole + _LENGTH:
            end = whole + _LENGTH + int.from_bytes(data[whole : whole + _LENGTH], "big")
            if end > len(data):
                break
            try:
                self._entries.append(from_msgpack(data[whole + _LENGTH : end], JournalEntry))
            except msgspec.DecodeError as error:
                raise RecordsError(
                    f"{str(path)!r} must be whole but for its very end; the entry at byte {whole} is damaged: {error}. Restore it from a "
                    f"backup, or delete it: all sums are then asked again."
                ) from None
            whole = end
        self._disk = Appending(path, whole, torn=whole < len(data))

    def entries(self) -> Iterable[JournalEntry]:
        """All entries, oldest first."""
        return tuple(self._entries)

    def append(self, entry: JournalEntry) -> None:
        """Add one, durably."""
        if entry.gone:
            return
        data = msgspec.msgpack.encode(entry)
        self._disk.add(len(data).to_bytes(_LENGTH, "big") + data)
        self._entries.append(entry)

    def close(self) -> None:
        """Let go of the file."""
        self._disk.close()

    def delete(self) -> None:
        """The study is finished: overwrite what was there, and delete it. What the disk keeps beneath is the disk's business."""
        self.close()
        self._entries.clear()
        with suppress(OSError), self._path.open("r+b") as file:
            file.write(bytes(self._path.stat().st_size))
            file.flush()
            os.fsync(file.fileno())
        self._path.unlink(missing_ok=True)

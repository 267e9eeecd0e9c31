"""Files that only grow, each addition on disk before anything rests on it: ledgers, histories, journals."""

from __future__ import annotations

import contextlib
import os
from pathlib import Path
from weakref import finalize

from consilience.service.errors import RecordsError

__all__ = ["Appending"]


class Appending:
    """A file that only grows, synced after every addition. What cannot be written as a whole is taken back, and is the last attempt.

    ``torn`` says that something incomplete stands behind the first ``whole`` bytes; it is cut off before the first addition.
    """

    def __init__(self, path: Path, whole: int, *, torn: bool) -> None:
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        self._path, self._whole, self._torn, self._broken = path, whole, torn, False
        self._file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        self.close = finalize(self, os.close, self._file)
        """Let go of the file; whoever forgets to, does so when nobody has this any more."""

    def add(self, data: bytes) -> None:
        """Write ``data`` behind what is there; it is on disk when this returns."""
        if self._broken:
            raise RecordsError(f"{str(self._path)!r} could not be written before, so nothing more is answered. Start this site again.")
        try:
            # the torn end is cut off only now: reading a folder, say for the ledger, changes nothing in it
            if self._torn:
                os.ftruncate(self._file, self._whole)
                self._torn = False
            self._whole = os.fstat(self._file).st_size
            while data:  # a write may be short, on a disk that is nearly full
                data = data[os.write(self._file, data) :]
            os.fsync(self._file)
        except BaseException as error:  # a KeyboardInterrupt between write and sync as well
            # Broken for good: after a failed fsync nobody knows what is on disk, and trying again may report success for pages that the
            # kernel has dropped.
            self._broken = True
            with contextlib.suppress(OSError):
                os.ftruncate(self._file, self._whole)
                os.fsync(self._file)
            if not isinstance(error, OSError):
                raise
            raise RecordsError(
                f"{str(self._path)!r} must be on disk before anything is answered, and cannot be written: {error.strerror}. "
                f"Nothing was sent. Make room, or whatever else it needs, and start this site again."
            ) from None

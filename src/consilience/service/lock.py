"""One process per folder: two would answer, or ask, twice."""

from __future__ import annotations

import os
from pathlib import Path
from typing import IO

from consilience.service.errors import ConfigurationError

__all__ = ["lock_folder"]


def lock_folder(folder: Path) -> IO[bytes]:
    """Take a folder for this process; :class:`ConfigurationError` if another has it. It is held as long as the file is open.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as name, lock_folder(Path(name)):
    ...     lock_folder(Path(name))  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    consilience.service.errors.ConfigurationError: Another process works with ... already. Stop it first.
    """
    # flock and not a file with a process id: the system lets go of it when the process ends, however it ends, and no stale lock is left
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    file = os.fdopen(os.open(folder / "lock", os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600), "ab")
    try:
        import fcntl  # noqa: PLC0415  not on Windows, where one process per folder is the operator's word
    except ImportError:
        return file
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        file.close()
        raise ConfigurationError(f"Another process works with {str(folder)!r} already. Stop it first.") from None
    return file

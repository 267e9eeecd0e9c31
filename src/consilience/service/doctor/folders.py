"""A site's or a server's folder: room on the disk, whether it can be written, and who may read what must stay private."""

from __future__ import annotations

import errno
import os
import shutil
import stat
import tempfile
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

from consilience.service.doctor.sign import Sign, good, notice, obstacle

__all__ = ["look_at_folder"]

LEAST_BYTES = 100 << 20
"""Room that a site needs: its ledger, its memory of what was answered, and results, each some megabytes in a large study."""
EASY_BYTES = 1 << 30
TRIED_BYTES = 1 << 20
PRIVATE = ("identity.pem", "*.key", "studies.sqlite*", "studies/*/study.json")
"""Who can read these can speak in a site's place, or read the sums of studies."""
_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)


def look_at_folder(folder: Path) -> list[Sign]:
    """The signs of a folder, which need not be there yet. A file of a megabyte is written into it, or beside it, and taken away again."""
    return [*_disk_signs(folder), *_rights_signs(folder)]


def _disk_signs(folder: Path) -> Iterator[Sign]:
    there = next(path for path in (folder.absolute(), *folder.absolute().parents) if path.is_dir())
    free = shutil.disk_usage(there).free
    try:
        with tempfile.TemporaryFile(dir=there) as file:
            file.write(os.urandom(TRIED_BYTES))  # not zeros, of which some disks keep none
            file.flush()
            os.fsync(file.fileno())
    except OSError as error:
        if error.errno in _FULL:
            yield obstacle("disk", f"There is no room for a file of 1 MiB in {str(there)!r}: {error.strerror}.", _more_room(there))
        else:
            yield obstacle(
                "disk",
                f"Nothing can be written in {str(there)!r}: {error.strerror}.",
                f"Please let my account write in {str(there)!r}, or give me a folder of my own on a disk of this machine.",
            )
        return
    words = f"{free / (1 << 30):.1f} GiB are free in {str(there)!r}"
    if free < LEAST_BYTES:
        yield obstacle("disk", f"{words}: too little for records that must not be lost.", _more_room(there))
    elif free < EASY_BYTES:
        yield notice("disk", f"{words}: enough to begin with.", _more_room(there))
    else:
        yield good("disk", f"{words}, and it can be written.")


def _more_room(folder: Path) -> str:
    return f"Please make room on the disk of {str(folder)!r} for my account: 1 GiB is enough."


def _rights_signs(folder: Path) -> Iterator[Sign]:
    if os.name != "posix":  # rights are lists there, which Python does not read
        yield notice(
            "rights",
            f"Who may read {str(folder)!r} is not looked at on {os.name}.",
            f"Please see to it that only my account can read {str(folder.absolute())!r}, and what is in it.",
        )
        return
    if not folder.is_dir():
        yield good("rights", f"{str(folder)!r} is not there yet; it will be readable by your account alone.")
        return
    loose = 0
    for path in sorted({file for pattern in PRIVATE for file in folder.glob(pattern)}):
        mode, owner = path.stat().st_mode, path.stat().st_uid
        if mode & 0o077 or owner not in (os.getuid(), 0):
            loose += 1
            who = "others on this machine can read it" if mode & 0o044 else "others may write it" if mode & 0o022 else "it is another's"
            yield obstacle(
                "rights",
                f"{str(path)!r} must be your account's alone; {who} (mode {stat.S_IMODE(mode):03o}).",
                f"Please make {str(path.absolute())!r} the file of my account alone (chmod 600, chown), and tell me who could read it "
                f"since {_day(path)}.",
            )
    mode = folder.stat().st_mode
    if mode & 0o022:
        loose += 1
        yield obstacle(
            "rights",
            f"Others on this machine may put files into {str(folder)!r} (mode {stat.S_IMODE(mode):03o}), in the place of the site's own.",
            f"Please let nobody but my account write in {str(folder.absolute())!r} (chmod 700).",
        )
    if not loose:
        yield good("rights", f"What must stay private in {str(folder)!r} is readable by your account alone.")


def _day(path: Path) -> str:
    return datetime.fromtimestamp(path.stat().st_mtime, UTC).strftime("%d %B %Y")

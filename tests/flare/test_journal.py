"""Sums on disk: what is whole comes back, what is torn is cut off, what is damaged is said, and a finished study leaves none."""

from __future__ import annotations

from pathlib import Path

import pytest

from consilience.federation.transport import JournalEntry
from consilience.flare.journal import FileJournal
from consilience.service.errors import RecordsError

ENTRIES = [JournalEntry(bytes([k]) * 32, bytes(8 * k), 8 * k) for k in range(1, 4)]


def written(path: Path) -> bytes:
    journal = FileJournal(path)
    for entry in ENTRIES:
        journal.append(entry)
    journal.close()
    return path.read_bytes()


def test_every_cut_keeps_the_entries_before_it(tmp_path: Path) -> None:
    path = tmp_path / "journal"
    data = written(path)
    for cut in range(len(data) + 1):
        path.write_bytes(data[:cut])
        journal = FileJournal(path)
        kept = list(journal.entries())
        assert kept == ENTRIES[: len(kept)]
        journal.append(ENTRIES[0])  # what was torn is gone, and does not stand between
        journal.close()
        again = FileJournal(path)
        assert list(again.entries()) == [*kept, ENTRIES[0]]
        again.close()


def test_damage_is_not_repaired(tmp_path: Path) -> None:
    path = tmp_path / "journal"
    data = bytearray(written(path))
    data[8] ^= 0xFF
    path.write_bytes(bytes(data))
    with pytest.raises(RecordsError, match="at byte 0 is damaged"):
        FileJournal(path)


def test_sums_are_overwritten_when_they_are_deleted(tmp_path: Path) -> None:
    path, other = tmp_path / "journal", tmp_path / "other name"
    written(path)
    other.hardlink_to(path)
    size = path.stat().st_size
    FileJournal(path).delete()
    assert not path.exists()
    assert other.read_bytes() == bytes(size)

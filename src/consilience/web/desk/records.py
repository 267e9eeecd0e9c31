"""What the app reads and writes in a study's folder: that its owner has agreed, and the ledger that the agent keeps."""

from __future__ import annotations

import hashlib
import hmac
import json
from pathlib import Path

import msgspec

from consilience.federation.site.ledger import LedgerLine
from consilience.frames import pl
from consilience.secagg import Identity
from consilience.secagg.context import sha256
from consilience.service.agent import StudyFolder
from consilience.service.chain import read_chain
from consilience.service.tls import write_private
from consilience.typed import from_json

__all__ = ["Consent", "LedgerFile", "keep_consent", "mark_of", "read_consent"]

_MARK = b"consilience/app/table/1"


class Consent(msgspec.Struct, frozen=True):
    """That the owner has agreed: when, to what (its reference and its words), and to take part with which of the study's variables.

    ``table`` is the mark of the table (:func:`mark_of`); empty in records of before there was one. ``plan`` is the digest of the plan by
    which the table was made, as the agent keeps it, and ``steps`` are its lines; empty where nothing was harmonised. ``digest`` is the
    contract's, as the study stood then, and ``named`` what earlier studies and this one tell together, in the words that were shown.
    """

    reference: str
    time: float
    site: str
    variables: tuple[str, ...]
    lines: tuple[str, ...]
    table: str = ""
    plan: str = ""
    steps: tuple[str, ...] = ()
    digest: str = ""
    named: tuple[str, ...] = ()


def mark_of(frame: pl.DataFrame, identity: Identity) -> str:
    """Tells a table from another, whatever the order of its rows and columns; says nothing about it to whoever has not the site's key.

    >>> identity, frame = Identity.generate(), pl.DataFrame({"a": [1, 2], "b": ["x", "y"]})
    >>> mark_of(frame, identity) == mark_of(frame.select("b", "a").reverse(), identity)
    True
    >>> mark_of(frame, identity) == mark_of(frame.head(1), identity)
    False
    """
    rows = frame.select(sorted(frame.columns)).hash_rows(seed=0).sort().to_numpy().tobytes()
    return hmac.new(sha256(identity.sign(_MARK)), rows, hashlib.sha256).hexdigest()


def keep_consent(folder: StudyFolder, consent: Consent) -> None:
    """Write it down."""
    write_private(folder.path / "consent.json", json.dumps(msgspec.to_builtins(consent), ensure_ascii=False, indent=1).encode())


def read_consent(folder: StudyFolder) -> Consent | None:
    """The consent that was given; None if there is none, or it cannot be read."""
    try:
        return from_json((folder.path / "consent.json").read_bytes(), Consent)
    except (OSError, msgspec.DecodeError):
        return None


class LedgerFile:
    """A ledger from disk, read again when it has changed. Not through the agent's own class, which opens it for writing.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     LedgerFile().read(Path(folder) / "ledger.jsonl")
    []
    """

    def __init__(self) -> None:
        self._key: tuple[str, int, int] = ("", 0, 0)
        self._lines: list[LedgerLine] = []

    def read(self, file: Path) -> list[LedgerLine]:
        """All lines; the last may be torn, and is then not one. Damage elsewhere is an error that names the line."""
        try:
            now = file.stat()
            key = (str(file), now.st_size, now.st_mtime_ns)
            if key != self._key:
                self._lines, self._key = list(read_chain(file.read_bytes(), str(file)).entries), key
        except FileNotFoundError:
            return []
        return list(self._lines)

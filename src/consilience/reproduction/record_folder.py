"""Results on disk: one file per run, written whole or not at all, so that a study can be stopped at any time and goes on where it was."""

from __future__ import annotations

import os
from hashlib import sha256
from pathlib import Path
from typing import Generic, TypeVar

import msgspec

from consilience.reproduction.errors import ForeignResultsError
from consilience.typed import from_json

__all__ = ["RecordFolder", "claim_folder", "code_digest", "sources_of"]

T = TypeVar("T")
MODULES = ("design", "runs", "tabled", "variants")
"""Modules of this room that make results; the others read and show them."""
WITHOUT_EFFECT = ("__init__", "__main__", "cli", "errors", "reproduction", "secagg", "service", "web")
"""What else may change without changing a result: words, pages, networks, and masks, which the study does without. Everything that is not
named here counts, so that a room that is new cannot be forgotten."""
SOURCES = (".lp", ".py", ".toml")


class RecordFolder(Generic[T]):
    """A folder with one JSON file per result of type ``kind``.

    >>> import tempfile
    >>> folder = tempfile.TemporaryDirectory()
    >>> records = RecordFolder(Path(folder.name), int)
    >>> records.write("seven", 7)
    >>> records.read("seven"), records.read("eight")
    (7, None)
    >>> folder.cleanup()
    """

    def __init__(self, folder: Path, kind: type[T]) -> None:
        self.folder, self._kind = folder, kind

    def read(self, key: str) -> T | None:
        """A result, or None if it is not there or cannot be read: it is then computed again."""
        try:
            return from_json(self._path(key).read_bytes(), self._kind)
        except (FileNotFoundError, msgspec.DecodeError):
            return None

    def write(self, key: str, result: T) -> None:
        """Write to a file beside, then rename: a file that has its name is complete, whenever the process is killed."""
        path = self._path(key)
        path.parent.mkdir(parents=True, exist_ok=True)
        beside = path.with_suffix(f".{os.getpid()}.tmp")
        beside.write_bytes(msgspec.json.encode(result))
        beside.replace(path)

    def _path(self, key: str) -> Path:
        return self.folder / f"{key}.json"


def claim_folder(folder: Path, identity: dict[str, object]) -> None:
    """Mark a folder as that of one study; if it is another's already, raise ``ForeignResultsError``."""
    marker = RecordFolder(folder, dict[str, object])
    known = marker.read("study")
    if known is None:
        marker.write("study", identity)
        return
    differing = sorted(name for name in {*known, *identity} if known.get(name) != identity.get(name))
    if differing:
        raise ForeignResultsError(
            f"A folder holds the results of one study; those in {str(folder)!r} were made with another {' and another '.join(differing)}. "
            f"Choose another folder with --out, or delete this one."
        )


def code_digest(root: Path | None = None, *also: str) -> str:
    """A digest of the source that results depend on: results of different code are not mixed.

    ``root`` is the folder of the package, if it is not this one's; ``also`` are further modules of this room.

    >>> len(code_digest())
    12
    """
    folder = Path(__file__).parents[1] if root is None else root
    total = sha256()
    for file in sources_of(folder, *also):
        total.update(str(file.relative_to(folder).as_posix()).encode() + b"\0" + file.read_bytes() + b"\0")
    return total.hexdigest()[:12]


def sources_of(root: Path, *also: str) -> list[Path]:
    """The files that results depend on: code, logic programs and tables alike."""
    rooms = [part for part in root.iterdir() if part.stem not in WITHOUT_EFFECT]
    files = [file for part in rooms for file in (part.rglob("*") if part.is_dir() else [part]) if file.suffix in SOURCES]
    return sorted(files + [root / "reproduction" / f"{module}.py" for module in (*MODULES, *also)])

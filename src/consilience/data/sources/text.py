"""A text file with a line for each row."""

from __future__ import annotations

from pathlib import Path

from consilience.data.reading import load as read_old
from consilience.data.reading import load_bytes
from consilience.data.sources.loaded import Loaded
from consilience.data.sources.options import Reading

__all__ = ["read"]


def read(source: Path | bytes, name: str, owner: str, reading: Reading) -> Loaded:
    """The table of a text file."""
    return Loaded(load_bytes(source, name, owner) if isinstance(source, bytes) else read_old(source, owner))

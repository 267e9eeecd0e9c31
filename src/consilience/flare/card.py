"""What a site gives the owner of a study before there is a contract: the name that it has in the federation, and its public identity."""

from __future__ import annotations

from pathlib import Path

import msgspec

from consilience.data.errors import ReadError
from consilience.secagg.identity import PUBLIC_BYTES
from consilience.service.contract import Member
from consilience.typed import from_json

__all__ = ["read_card", "write_card"]

MOST_BYTES = 4096


class _Card(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    site: str
    identity: str


def write_card(path: Path, member: Member) -> None:
    """Write a card; it holds nothing that is secret."""
    path.write_bytes(msgspec.json.format(msgspec.json.encode(_Card(member.name, member.identity.hex())), indent=2) + b"\n")


def read_card(path: Path) -> Member:
    """A site by its card.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_card(Path(folder) / "muenster.json", Member("muenster", bytes(32)))
    ...     read_card(Path(folder) / "muenster.json").name
    'muenster'

    Raises
    ------
    ReadError
        If the file is none.
    """
    try:
        with path.open("rb") as file:
            card = from_json(file.read(MOST_BYTES), _Card)
        identity = bytes.fromhex(card.identity)
    except (OSError, msgspec.DecodeError, ValueError) as error:
        raise ReadError(f"{str(path)!r} should be a site's card, as `consilience nvflare site` writes it: {error}.") from None
    if len(identity) != PUBLIC_BYTES or not card.site.isprintable() or not card.site.strip():
        raise ReadError(f"{str(path)!r} should have a site's name and an identity of {PUBLIC_BYTES} bytes. Ask the site for it again.")
    return Member(card.site, identity)

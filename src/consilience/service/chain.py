"""A ledger as evidence: every line holds the digest of the line before it, and the site's signature.

A line is one JSON object::

    {"time": …, "study": …, …, "digest": …, "previous": <SHA-256 of the line before>, "signature": <Ed25519, by the site's identity>}

``previous`` is the digest of the bytes of the line before, its signature included and its end left out; in the first line with a
``previous`` it is that of all that stands before it, which is nothing in a new ledger, and the lines of former versions in an old one. So
one signature vouches for everything above it, and a line that was changed, taken out or moved breaks the chain. What no chain shows is that
the last lines are gone: that the server's record does (:mod:`consilience.service.reconcile`).

Every line is signed, and not only some or the last: a process may end at any moment, and nobody would have signed its last lines. It costs
little, since each line waits for the disk anyway, which takes a hundred times as long as the signature. Reading is cheap for the same
reason: the chain and the last signature vouch for all; every signature is looked at on request.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import asdict
from hashlib import sha256
from typing import NamedTuple

import msgspec

from consilience.federation.site.ledger import LedgerLine
from consilience.secagg import Identity
from consilience.secagg.identity import SIGNATURE_BYTES, is_signed_by
from consilience.service.errors import RecordsError
from consilience.typed import from_plain

__all__ = ["Chain", "link", "read_chain"]

LABEL = b"consilience ledger line/1\n"
"""Begins what is signed: a signature under a ledger's line is none under anything else."""
_OPEN, _CLOSE = b', "signature": "', b'"}'
_TAIL = len(_OPEN) + 2 * SIGNATURE_BYTES + len(_CLOSE)


class Chain(NamedTuple):
    """A ledger as it was read: its lines, the number of the first one in the chain (0: none is), and the digest that the next must hold.

    ``whole`` bytes are read; what stands behind them is a line that was not finished. ``signer`` is whose signatures were looked at.
    """

    entries: tuple[LedgerLine, ...]
    first: int
    head: str
    whole: int
    signer: bytes | None

    @property
    def said(self) -> str:
        """How far the chain reaches, in words."""
        lines = len(self.entries)
        if not self.first:
            return f"{lines} lines, none of them chained or signed: former versions wrote them" if lines else "no lines yet"
        until = "" if self.first == 1 else f"; the {self.first - 1} before it are of a former version, and fixed by its digest"
        signed = "each signed by this site" if self.signer is not None else "signatures not looked at"
        return f"{lines} lines, chained from line {self.first} on, {signed}{until}"


def link(entry: LedgerLine, previous: str, identity: Identity) -> bytes:
    r"""A line of the chain, without its end.

    >>> from consilience.federation.site.ledger import Ledger
    >>> (ledger := Ledger()).add("s", "r", 0, "counts", 6, 96, masked_with=2)
    >>> me = Identity.generate()
    >>> first = link(ledger.entries[0], sha256().hexdigest(), me)
    >>> second = link(ledger.entries[0], sha256(first).hexdigest(), me)
    >>> read_chain(first + b"\n" + second + b"\n", "it", me.public_bytes, every=True).said
    '2 lines, chained from line 1 on, each signed by this site'
    """
    body = json.dumps({**asdict(entry), "previous": previous}).encode()
    return body[:-1] + _OPEN + identity.sign(LABEL + body).hex().encode() + _CLOSE


def read_chain(data: bytes, where: str, signer: bytes | None = None, *, every: bool = False) -> Chain:
    """The ledger in ``data``; :class:`RecordsError`, naming the line, if it is damaged anywhere but at its torn end.

    With the public key of a ``signer`` the last signature is looked at, which vouches for all; with ``every``, each one.
    """
    *lines, rest = data.split(b"\n")  # what follows the last line end is torn: each line is on disk before the next is begun
    whole = len(data) - len(rest)
    entries, first, head = list[LedgerLine](), 0, ""
    for number, line, entry, previous in _parsed(lines, where):
        entries.append(entry)
        if previous is None:
            if first:
                raise _damaged(where, f"line {number} is damaged: it is not chained, and line {first} is")
            continue
        if not first:
            first, head = number, sha256(b"".join(one + b"\n" for one in lines[: number - 1])).hexdigest()
        if previous != head:
            before = f"line {number - 1}, so that one of the two was changed or lines between them are gone" if number > 1 else "nothing"
            raise _damaged(where, f"line {number} is damaged: it does not follow {before}")
        if signer is not None and (every or number == len(lines)) and not _signed(line, signer):
            raise _damaged(where, f"line {number} is damaged: it is not signed by this site")
        head = sha256(line).hexdigest()
    return Chain(tuple(entries), first, head or sha256(data[:whole]).hexdigest(), whole, signer)


def _parsed(lines: list[bytes], where: str) -> Iterator[tuple[int, bytes, LedgerLine, str | None]]:
    for number, line in enumerate(lines, start=1):
        try:
            told = json.loads(line)
            entry = from_plain(told, LedgerLine)
        except (ValueError, msgspec.MsgspecError):
            raise _damaged(where, f"line {number} is damaged") from None
        yield number, line, entry, told.get("previous")


def _signed(line: bytes, signer: bytes) -> bool:
    body, tail = line[:-_TAIL] + b"}", line[-_TAIL:]
    if not tail.startswith(_OPEN) or not tail.endswith(_CLOSE):
        return False
    try:
        signature = bytes.fromhex(tail[len(_OPEN) : -len(_CLOSE)].decode("ascii"))
    except ValueError:
        return False
    return is_signed_by(signer, LABEL + body, signature)


def _damaged(where: str, what: str) -> RecordsError:
    return RecordsError(
        f"{where!r} must be whole but for its very end; {what}. Restore the file from a backup, or leave the study: "
        f"without it this site does not know what it has answered."
    )

"""What is signed, derived from and hashed: one unambiguous packing, and the checks of its parts.

Every use of a key starts with a label of its own, so that bytes made for one purpose never serve another. Parts follow each
with its length in front, so that no two lists of parts pack to the same bytes.
"""

from __future__ import annotations

from cryptography.hazmat.primitives import hashes

from consilience.secagg.errors import KeyFormatError, RoundNumberError

__all__ = ["check_length", "check_round_id", "check_run_id", "check_statement", "check_study", "pack", "sha256"]

#: Labels. A change to what a label covers is a new version of it.
RUN_KEY = b"consilience/secagg/2/run-key"
PAIR_SECRET = b"consilience/secagg/2/pair-secret"
MASK_STREAM = b"consilience/secagg/1/mask-stream"
ROSTER = b"consilience/secagg/1/roster"

FINGERPRINT_BYTES = 32
"""A whole SHA-256 digest. A shorter one would be easier to read aloud, and easier to find a second key for."""
SECRET_BYTES = 32
MAX_RUN_ID_BYTES = 255
"""Long enough for any id, and an id from the server cannot be a megabyte in every error and log."""
MAX_ROUND_ID = 2**64 - 1
"""Eight bytes in the derivation of a mask."""
DIGEST_BYTES = 32
MAX_STUDY_BYTES = 255
MAX_STATEMENT_BYTES = 1 << 16
"""A name, and a byte a level, of every variable of a study: some kilobytes as a rule. All statements of a run go to every site."""


def pack(*parts: bytes) -> bytes:
    r"""Each part after its length in four bytes, most significant first.

    >>> pack(b"ab", b"", b"c")
    b'\x00\x00\x00\x02ab\x00\x00\x00\x00\x00\x00\x00\x01c'
    """
    # lengths and not separators: any byte may occur in a key, so no separator is safe
    return b"".join(len(part).to_bytes(4, "big") + part for part in parts)


def sha256(data: bytes) -> bytes:
    """The SHA-256 digest of ``data``.

    >>> sha256(b"abc").hex()[:16]
    'ba7816bf8f01cfea'
    """
    digest = hashes.Hash(hashes.SHA256())
    digest.update(data)
    return digest.finalize()


def check_length(name: str, data: bytes, length: int) -> bytes:
    """Return ``data`` if it is ``length`` bytes, else raise :class:`KeyFormatError`. The bytes are not shown: they may be secret.

    >>> check_length("A fingerprint", bytes(32), 32) == bytes(32)
    True
    """
    if not isinstance(data, bytes):
        raise KeyFormatError(f"{name} must be {length} bytes; got {type(data).__name__}.")
    if len(data) != length:
        raise KeyFormatError(f"{name} must be {length} bytes; got {len(data)}.")
    return data


def check_run_id(run_id: bytes) -> bytes:
    """Return ``run_id`` if it is 1 to 255 bytes, else raise :class:`KeyFormatError`.

    >>> check_run_id(b"run 7")
    b'run 7'
    """
    return _check_id("A run id", run_id, MAX_RUN_ID_BYTES)


def check_study(study: bytes) -> bytes:
    """Return ``study`` if it is 1 to 255 bytes, else raise :class:`KeyFormatError`.

    >>> check_study(b"00112233aabbccdd")
    b'00112233aabbccdd'
    """
    return _check_id("A study's id", study, MAX_STUDY_BYTES)


def _check_id(name: str, data: bytes, most: int) -> bytes:
    if not isinstance(data, bytes) or not 1 <= len(data) <= most:
        raise KeyFormatError(f"{name} must be 1 to {most} bytes; got {data!r}.")
    return data


def check_statement(statement: bytes) -> bytes:
    """Return ``statement`` if it is bytes and not too long, else raise :class:`KeyFormatError`.

    >>> check_statement(b"")
    b''
    """
    if not isinstance(statement, bytes) or len(statement) > MAX_STATEMENT_BYTES:
        got = f"{len(statement)} bytes" if isinstance(statement, bytes) else type(statement).__name__
        raise KeyFormatError(f"A site's statement must be at most {MAX_STATEMENT_BYTES} bytes; got {got}.")
    return statement


def check_round_id(round_id: int) -> int:
    """Return ``round_id`` if it is a whole number from 0 to 2⁶⁴ - 1, else raise :class:`RoundNumberError`.

    >>> check_round_id(0)
    0
    """
    # bool is an int in Python, and True would claim round 1
    if not isinstance(round_id, int) or isinstance(round_id, bool) or not 0 <= round_id <= MAX_ROUND_ID:
        raise RoundNumberError(f"A round id must be a whole number from 0 to {MAX_ROUND_ID}; got {round_id!r}.")
    return round_id

"""Masks: what two sites add and subtract, so that it is gone from the sum.

::

    key    = HKDF-Expand-SHA256(pair secret, info = pack(label, round id in 8 bytes, roster digest[, context]), 32 bytes)
    stream = ChaCha20(key, nonce 0, from block 0), read as 128-bit words, least significant byte first

A key serves one stream, which is why the nonce may be zero. Of a pair, the lower fingerprint adds the stream and the higher
subtracts it; over a whole roster, what is left of the masks is zero, exactly. With a site missing, the sum is uniform noise. So it is
where sites disagree on the ``context``, a digest of what they were asked: a server that asks one site this and the others that gets noise.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

import numpy as np
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.ciphers import Cipher, CipherContext, algorithms
from cryptography.hazmat.primitives.kdf.hkdf import HKDFExpand

from consilience.secagg.context import MASK_STREAM, SECRET_BYTES, check_length, check_round_id, pack
from consilience.secagg.errors import PairSecretsError
from consilience.secagg.identity import fingerprint_text
from consilience.secagg.ring import CHUNK, LIMB, WORD_BYTES, Accumulator, RingVector, Words, chunks
from consilience.secagg.roster import Roster

__all__ = ["mask", "pair_stream", "stream_key"]

_KEY_BYTES: Final = 32
_NONCE: Final = bytes(16)  # block counter and nonce; each key serves one stream, so no nonce can repeat under it
_ZEROS: Final = memoryview(bytes(CHUNK * WORD_BYTES))


def stream_key(secret: bytes, round_id: int, roster: Roster) -> bytes:
    """The ChaCha20 key of a pair for one round with one roster.

    >>> roster = Roster(b"run 7", [bytes([1]) * 32, bytes([2]) * 32])
    >>> stream_key(bytes(32), 0, roster) == stream_key(bytes(32), 1, roster)
    False
    """
    return _expand(secret, _info(round_id, roster))


def pair_stream(secret: bytes, round_id: int, roster: Roster, n: int) -> RingVector:
    """The first ``n`` words of a pair's stream: the plain counterpart of what :func:`mask` does in chunks.

    >>> roster = Roster(b"run 7", [bytes([1]) * 32, bytes([2]) * 32])
    >>> pair_stream(bytes(32), 0, roster, 2).to_bytes() == pair_stream(bytes(32), 0, roster, 3).to_bytes()[:32]
    True
    """
    return RingVector.from_bytes(_keystream(stream_key(secret, round_id, roster)).update(bytes(n * WORD_BYTES)))


def mask(vector: RingVector, own: bytes, secrets: Mapping[bytes, bytes], round_id: int, roster: Roster, context: bytes = b"") -> RingVector:
    """``vector`` under the masks that the site ``own`` shares with every other site of ``roster``.

    The round must have been claimed in the run's :class:`~consilience.secagg.rounds.RoundBook`; this function keeps no memory.

    Parameters
    ----------
    vector : RingVector
        What the site would send in the clear.
    own : bytes
        Its fingerprint.
    secrets : mapping of bytes to bytes
        The pair's secret under each other site's fingerprint, no more and no fewer.
    round_id : int
        From 0 to 2⁶⁴ - 1, never used before in this run.
    roster : Roster
        All sites of the round.
    context : bytes, optional
        A digest of what was asked. Sites that were asked different things derive different masks.

    Returns
    -------
    RingVector
        Uniform noise to whoever lacks one of the secrets.

    Raises
    ------
    PairSecretsError
        If a secret is missing, or one is there too many.
    NotInRosterError
        If ``own`` is not in the roster.

    Examples
    --------
    >>> low, high = bytes([1]) * 32, bytes([2]) * 32
    >>> roster = Roster(b"run 7", [low, high])
    >>> a, b = RingVector.zeros(3), RingVector.zeros(3)
    >>> masked = mask(a, low, {high: bytes(32)}, 0, roster)
    >>> masked == a, masked + mask(b, high, {low: bytes(32)}, 0, roster) == a + b
    (False, True)
    """
    _check_secrets(own, secrets, roster)
    info = _info(round_id, roster, context)
    # the order of fingerprints decides who adds: both sides know it, and it needs no message. It does not matter which way round.
    streams = [(own < other, _keystream(_expand(secret, info))) for other, secret in secrets.items()]
    masked = vector.words.copy()
    buffer = np.empty((min(CHUNK, len(masked)), 2), LIMB)
    for part in chunks(len(masked)):
        _mask_chunk(masked[part], streams, buffer)
    return RingVector(masked)


def _mask_chunk(words: Words, streams: Sequence[tuple[bool, CipherContext]], buffer: Words) -> None:
    """Add or subtract, in place, the next words of every stream."""
    buffer = buffer[: len(words)]
    # a stream cipher is asked for its key stream by encrypting zeros; into one buffer, since a mask for each of many sites would be
    # as many vectors as there are sites
    stream_bytes, zeros = buffer.data.cast("B"), _ZEROS[: buffer.nbytes]
    running = Accumulator(words)
    for adds, stream in streams:
        stream.update_into(zeros, stream_bytes)
        if adds:
            running.add(buffer)
        else:
            running.subtract(buffer)
    running.settle()


def _info(round_id: int, roster: Roster, context: bytes = b"") -> bytes:
    parts = (MASK_STREAM, check_round_id(round_id).to_bytes(8, "big"), roster.digest)
    # no empty part without a context: the known answers of a stream do not depend on whether callers have one
    return pack(*parts, context) if context else pack(*parts)


def _expand(secret: bytes, info: bytes) -> bytes:
    # expand without extract: a pair's secret is HKDF output already, uniform and of full length (RFC 5869, section 3.3)
    return HKDFExpand(hashes.SHA256(), _KEY_BYTES, info).derive(check_length("A pair's secret", secret, SECRET_BYTES))


def _keystream(key: bytes) -> CipherContext:
    return Cipher(algorithms.ChaCha20(key, _NONCE), mode=None).encryptor()


def _check_secrets(own: bytes, secrets: Mapping[bytes, bytes], roster: Roster) -> None:
    roster.require(own)
    others = set(roster) - {own}
    # one too few and the mask of that pair stays in the sum, which is then noise; one too many likewise. Better an error here than there
    missing, excess = others - secrets.keys(), secrets.keys() - others
    if missing:
        raise PairSecretsError(f"Every other site of the roster needs a pair secret; {fingerprint_text(min(missing))} has none.")
    if excess:
        raise PairSecretsError(
            f"Pair secrets must be those of the other sites of the roster; got one of {fingerprint_text(min(excess))} as well. "
            f"Leave out sites that are not in this round."
        )

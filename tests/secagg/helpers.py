"""What several tests of this folder need: sites with fixed fingerprints and secrets, ring numbers as Python integers."""

from __future__ import annotations

import hashlib

from consilience.secagg import RingVector, Roster, mask

MODULUS = 2**128


def fingerprints(n: int) -> list[bytes]:
    return [hashlib.sha256(b"site %d" % i).digest() for i in range(n)]


def secret(a: bytes, b: bytes) -> bytes:
    """Stands in for the key agreement: the same for (a, b) and (b, a)."""
    return hashlib.sha256(min(a, b) + max(a, b)).digest()


def secrets_of(own: bytes, roster: Roster) -> dict[bytes, bytes]:
    return {other: secret(own, other) for other in roster if other != own}


def mask_all(vectors: list[RingVector], sites: list[bytes], round_id: int = 0) -> list[RingVector]:
    """Every site's masked vector, for one roster of all sites."""
    roster = Roster(b"run", sites)
    return [mask(v, own, secrets_of(own, roster), round_id, roster) for v, own in zip(vectors, sites, strict=True)]


def integers_of(vector: RingVector) -> list[int]:
    data = vector.to_bytes()
    return [int.from_bytes(data[i : i + 16], "little") for i in range(0, len(data), 16)]


def vector_of(integers: list[int]) -> RingVector:
    return RingVector.from_bytes(b"".join((i % MODULUS).to_bytes(16, "little") for i in integers))


def signed(integer: int) -> int:
    """The number between -2^127 and 2^127 that a ring number stands for, in units of 2^-64."""
    return integer - MODULUS if integer >= MODULUS // 2 else integer

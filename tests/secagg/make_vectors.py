"""Known answers for tests/secagg, from a second implementation that shares nothing with the package.

    python tests/secagg/make_vectors.py           check that vectors.json is what this script computes
    python tests/secagg/make_vectors.py --write   write it

Everything is spelled out from the RFCs with Python integers: Ed25519 (RFC 8032), X25519 (RFC 7748), HKDF (RFC 5869, over the
standard library's HMAC) and ChaCha20 (RFC 8439). Each is checked against its RFC's own vectors first. It is slow, and not
constant in time: for fixed keys only.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import struct
import sys
from fractions import Fraction
from pathlib import Path
from typing import Any

PATH = Path(__file__).with_name("vectors.json")
P = 2**255 - 19


# HKDF-SHA256, RFC 5869


def hkdf_extract(salt: bytes, ikm: bytes) -> bytes:
    return hmac.new(salt or bytes(32), ikm, hashlib.sha256).digest()


def hkdf_expand(prk: bytes, info: bytes, length: int) -> bytes:
    okm, block, counter = b"", b"", 1
    while len(okm) < length:
        block = hmac.new(prk, block + info + bytes([counter]), hashlib.sha256).digest()
        okm += block
        counter += 1
    return okm[:length]


# ChaCha20, RFC 8439


def _rotate(x: int, n: int) -> int:
    return ((x << n) | (x >> (32 - n))) & 0xFFFFFFFF


def _quarter_round(s: list[int], a: int, b: int, c: int, d: int) -> None:
    s[a] = (s[a] + s[b]) & 0xFFFFFFFF
    s[d] = _rotate(s[d] ^ s[a], 16)
    s[c] = (s[c] + s[d]) & 0xFFFFFFFF
    s[b] = _rotate(s[b] ^ s[c], 12)
    s[a] = (s[a] + s[b]) & 0xFFFFFFFF
    s[d] = _rotate(s[d] ^ s[a], 8)
    s[c] = (s[c] + s[d]) & 0xFFFFFFFF
    s[b] = _rotate(s[b] ^ s[c], 7)


def chacha20_block(key: bytes, counter: int, nonce: bytes) -> bytes:
    start = [0x61707865, 0x3320646E, 0x79622D32, 0x6B206574, *struct.unpack("<8I", key), counter, *struct.unpack("<3I", nonce)]
    s = list(start)
    for _ in range(10):
        _quarter_round(s, 0, 4, 8, 12)
        _quarter_round(s, 1, 5, 9, 13)
        _quarter_round(s, 2, 6, 10, 14)
        _quarter_round(s, 3, 7, 11, 15)
        _quarter_round(s, 0, 5, 10, 15)
        _quarter_round(s, 1, 6, 11, 12)
        _quarter_round(s, 2, 7, 8, 13)
        _quarter_round(s, 3, 4, 9, 14)
    return struct.pack("<16I", *((a + b) & 0xFFFFFFFF for a, b in zip(s, start, strict=True)))


def chacha20_stream(key: bytes, length: int) -> bytes:
    blocks = (chacha20_block(key, i, bytes(12)) for i in range(-(-length // 64)))
    return b"".join(blocks)[:length]


# X25519, RFC 7748


def x25519(scalar: bytes, point: bytes) -> bytes:
    k = int.from_bytes(scalar, "little") & ~7 & ~(1 << 255) | (1 << 254)
    u = int.from_bytes(point, "little") & ((1 << 255) - 1)
    x2, z2, x3, z3, swap = 1, 0, u, 1, 0
    for t in reversed(range(255)):
        bit = (k >> t) & 1
        if swap ^ bit:
            x2, x3, z2, z3 = x3, x2, z3, z2
        swap = bit
        a, b, c, d = x2 + z2, x2 - z2, x3 + z3, x3 - z3
        aa, bb, da, cb = a * a % P, b * b % P, d * a % P, c * b % P
        e = aa - bb
        x3, z3 = (da + cb) ** 2 % P, u * (da - cb) ** 2 % P
        x2, z2 = aa * bb % P, e * (aa + 121665 * e) % P
    if swap:
        x2, z2 = x3, z3
    return (x2 * pow(z2, P - 2, P) % P).to_bytes(32, "little")


def x25519_public(scalar: bytes) -> bytes:
    return x25519(scalar, (9).to_bytes(32, "little"))


# Ed25519, RFC 8032

D = -121665 * pow(121666, P - 2, P) % P
ORDER = 2**252 + 27742317777372353535851937790883648493
Point = tuple[int, int]  # affine: slow, and short


def _ed_add(p: Point, q: Point) -> Point:
    (x1, y1), (x2, y2) = p, q
    k = D * x1 * x2 * y1 * y2
    x = (x1 * y2 + x2 * y1) * pow(1 + k, P - 2, P)
    y = (y1 * y2 + x1 * x2) * pow(1 - k, P - 2, P)
    return x % P, y % P


def _ed_multiply(k: int, p: Point) -> Point:
    result = (0, 1)
    while k:
        if k & 1:
            result = _ed_add(result, p)
        p = _ed_add(p, p)
        k >>= 1
    return result


def _ed_base() -> Point:
    y = 4 * pow(5, P - 2, P) % P
    square = (y * y - 1) * pow(D * y * y + 1, P - 2, P) % P
    x = pow(square, (P + 3) // 8, P)
    if (x * x - square) % P:
        x = x * pow(2, (P - 1) // 4, P) % P
    return (P - x if x & 1 else x), y


def _ed_compress(p: Point) -> bytes:
    return (p[1] | (p[0] & 1) << 255).to_bytes(32, "little")


def _ed_secret(seed: bytes) -> tuple[int, bytes]:
    h = hashlib.sha512(seed).digest()
    return int.from_bytes(h[:32], "little") & ~7 & ~(1 << 255) | (1 << 254), h[32:]


def ed25519_public(seed: bytes) -> bytes:
    return _ed_compress(_ed_multiply(_ed_secret(seed)[0], _ed_base()))


def ed25519_sign(seed: bytes, message: bytes) -> bytes:
    a, prefix = _ed_secret(seed)
    r = int.from_bytes(hashlib.sha512(prefix + message).digest(), "little") % ORDER
    big_r = _ed_compress(_ed_multiply(r, _ed_base()))
    h = int.from_bytes(hashlib.sha512(big_r + ed25519_public(seed) + message).digest(), "little")
    return big_r + ((r + h * a) % ORDER).to_bytes(32, "little")


# The RFCs' own vectors


def _equal(name: str, got: bytes, expected: str) -> None:
    if got != bytes.fromhex(expected):
        raise SystemExit(f"{name}: this script computes {got.hex()}, the RFC says {expected}")


def check_against_rfcs() -> None:
    h = bytes.fromhex
    prk = hkdf_extract(bytes(range(13)), b"\x0b" * 22)
    _equal("RFC 5869 A.1 PRK", prk, "077709362c2e32df0ddc3f0dc47bba6390b6c73bb50f9c3122ec844ad7c2b3e5")
    okm = "3cb25f25faacd57a90434f64d0362f2a2d2d0a90cf1a5a4c5db02d56ecc4c5bf34007208d5b887185865"
    _equal("RFC 5869 A.1 OKM", hkdf_expand(prk, bytes(range(0xF0, 0xFA)), 42), okm)
    okm = "8da4e775a563c18f715f802a063c5a31b8a11f5c5ee1879ec3454e5f3c738d2d9d201395faa4b61a96c8"
    _equal("RFC 5869 A.3 OKM", hkdf_expand(hkdf_extract(b"", b"\x0b" * 22), b"", 42), okm)

    block = (
        "10f1e7e4d13b5915500fdd1fa32071c4c7d1f4c733c068030422aa9ac3d46c4ed2826446079faa0914c2d705d98b02a2b5129cd1de164eb9cbd083e8a2503c4e"
    )
    _equal("RFC 8439 2.3.2", chacha20_block(bytes(range(32)), 1, h("000000090000004a00000000")), block)
    stream = (
        "76b8e0ada0f13d90405d6ae55386bd28bdd219b8a08ded1aa836efcc8b770dc7"
        "da41597c5157488d7724e03fb8d84a376a43b8f41518a11cc387b669b2ee6586"
        "9f07e7be5551387a98ba977c732d080dcb0f29a048e3656912c6533e32ee7aed"
        "29b721769ce64e43d57133b074d839d531ed1f28510afb45ace10a1f4b794d6f"
    )
    _equal("RFC 8439 A.1 #1 and #2", chacha20_stream(bytes(32), 128), stream)

    scalar, point = (
        h("a546e36bf0527c9d3b16154b82465edd62144c0ac1fc5a18506a2244ba449ac4"),
        h("e6db6867583030db3594c1a424b15f7c726624ec26b3353b10a903a6d0ab1c4c"),
    )
    _equal("RFC 7748 5.2 #1", x25519(scalar, point), "c3da55379de9c6908e94ea4df28d084f32eccf03491c71f754b4075577a28552")
    scalar, point = (
        h("4b66e9d4d1b4673c5ad22691957d6af5c11b6421e0ea01d42ca4169e7918ba0d"),
        h("e5210f12786811d3f4b7959d0538ae2c31dbe7106fc03c3efc4cd549c715a493"),
    )
    _equal("RFC 7748 5.2 #2", x25519(scalar, point), "95cbde9476e8907d7aade45cb4b873f88b595a68799fa152e6f8f7647aac7957")
    alice = h("77076d0a7318a57d3c16c17251b26645df4c2f87ebc0992ab177fba51db92c2a")
    bob = h("5dab087e624a8a4b79e17f8b83800ee66f3bb1292618b6fd1c2f8b27ff88e0eb")
    _equal("RFC 7748 6.1 Alice", x25519_public(alice), "8520f0098930a754748b7ddcb43ef75a0dbf3a0d26381af4eba4a98eaa9b4e6a")
    _equal("RFC 7748 6.1 Bob", x25519_public(bob), "de9edb7d7b7dc1b4d35b61c2ece435373f8343c85b78674dadfc7e146f882b4f")
    shared = "4a5d9d5ba4ce2de1728e3bf480350f25e07e21c947d19e3376f09b3c1e161742"
    _equal("RFC 7748 6.1 secret", x25519(alice, x25519_public(bob)), shared)
    nine = (9).to_bytes(32, "little")
    _equal("RFC 7748 5.2 iterated once", x25519(nine, nine), "422c8e7a6227d7bca1350b3e2bb7279f7897b87bb6854b783c60e80311ae3079")

    seed = h("9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60")
    _equal("RFC 8032 7.1 #1 key", ed25519_public(seed), "d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a")
    signature = (
        "e5564300c360ac729086e2cc806e828a84877f1eb8e5d974d873e065224901555fb8821590a33bacc61e39701cf9b46bd25bf5f0595bbe24655141438e7a100b"
    )
    _equal("RFC 8032 7.1 #1 signature", ed25519_sign(seed, b""), signature)
    seed = h("4ccd089b28ff96da9db6c346ec114e0f5b8a319f35aba624da8cf6ed4fb8a6fb")
    _equal("RFC 8032 7.1 #2 key", ed25519_public(seed), "3d4017c3e843895a92b70aa74d1b7ebc9c982ccf2ec4968cc0cd55f12af4660c")
    signature = (
        "92a009a9f0d4cab8720e820b5f642540a2b27b5416503f8fb3762223ebdb69da085ac1e43e15996e458f3613d0f11d8c387b2eaeb4302aeeb00d291612bb0c00"
    )
    _equal("RFC 8032 7.1 #2 signature", ed25519_sign(seed, b"\x72"), signature)


# The protocol, as the package's docstrings describe it

LABEL, BOUND = b"consilience/secagg/1/", b"consilience/secagg/2/"
STUDY, CONTRACT = b"00112233aabbccdd", hashlib.sha256(b"the contract").digest()
RUN_ID = "Überleben 2025/run 7".encode()
NUMBERS = [
    [0.0, 1.5, -2.75, 1e-25, 2.0**60, 0.1],
    [-0.0, 1 / 3, 2.0**-65, -1e-25, -(2.0**60), -0.1],
    [5e-324, -1e9, 3 * 2.0**-65, 123456.789, 2.0**-64, -(2.0**-64)],
    [1.0, 2.0, 3.0, -4.0, -5.0, -6.0],
]
LONG = 8200  # words: more than the package handles at a time


def pack(*parts: bytes) -> bytes:
    return b"".join(struct.pack(">I", len(p)) + p for p in parts)


def encode(x: float) -> int:
    return round(Fraction(x) * 2**64) % 2**128  # to even, as the package does


def words_of(stream: bytes) -> list[int]:
    return [int.from_bytes(stream[i : i + 16], "little") for i in range(0, len(stream), 16)]


def bytes_of(words: list[int]) -> bytes:
    return b"".join(w.to_bytes(16, "little") for w in words)


class Site:
    def __init__(self, number: int) -> None:
        self.identity_private = hashlib.sha256(b"identity %d" % number).digest()
        self.x25519_private = hashlib.sha256(b"x25519 %d" % number).digest()
        self.identity = ed25519_public(self.identity_private)
        self.fingerprint = hashlib.sha256(self.identity).digest()
        self.x25519 = x25519_public(self.x25519_private)
        self.statement = b"statement of site %d" % number if number else b""
        context = pack(BOUND + b"run-key", RUN_ID, self.x25519, STUDY, CONTRACT, self.statement)
        self.signature = ed25519_sign(self.identity_private, context)

    def secret(self, other: Site) -> bytes:
        both = sorted([self.fingerprint, other.fingerprint])
        shared = x25519(self.x25519_private, other.x25519)
        return hkdf_expand(hkdf_extract(b"", shared), pack(BOUND + b"pair-secret", RUN_ID, STUDY, CONTRACT, *both), 32)

    def masked(self, words: list[int], others: list[Site], round_id: int, digest: bytes) -> list[int]:
        for other in others:
            stream = words_of(chacha20_stream(stream_key(self.secret(other), round_id, digest), 16 * len(words)))
            sign = 1 if self.fingerprint < other.fingerprint else -1
            words = [(w + sign * s) % 2**128 for w, s in zip(words, stream, strict=True)]
        return words

    def as_json(self) -> dict[str, str]:
        return {name: value.hex() for name, value in vars(self).items()}


def roster_digest(sites: list[Site]) -> bytes:
    fingerprints = sorted(s.fingerprint for s in sites)
    return hashlib.sha256(pack(LABEL + b"roster", RUN_ID, struct.pack(">I", len(sites)), *fingerprints)).digest()


def stream_key(secret: bytes, round_id: int, digest: bytes) -> bytes:
    return hkdf_expand(secret, pack(LABEL + b"mask-stream", struct.pack(">Q", round_id), digest), 32)


def make_round(sites: list[Site], members: list[int], round_id: int) -> dict[str, Any]:
    digest = roster_digest([sites[i] for i in members])
    key = stream_key(sites[members[0]].secret(sites[members[1]]), round_id, digest)
    masked = {}
    for i in members:
        words = [encode(x) for x in NUMBERS[i]]
        masked[str(i)] = bytes_of(sites[i].masked(words, [sites[j] for j in members if j != i], round_id, digest)).hex()
    return {
        "members": members,
        "round_id": round_id,
        "roster_digest": digest.hex(),
        "first_pair": {"key": key.hex(), "stream": chacha20_stream(key, 80).hex()},
        "masked": masked,
        "sum": bytes_of([sum(encode(x) for x in column) % 2**128 for column in zip(*(NUMBERS[i] for i in members), strict=True)]).hex(),
    }


def make() -> dict[str, Any]:
    sites = [Site(i) for i in range(len(NUMBERS))]
    digest = roster_digest(sites)
    zeros = sites[0].masked([0] * LONG, sites[1:], 1, digest)
    return {
        "run_id": RUN_ID.hex(),
        "study": STUDY.hex(),
        "contract": CONTRACT.hex(),
        "sites": [site.as_json() for site in sites],
        "pair_secrets": {f"{i} {j}": sites[i].secret(sites[j]).hex() for i in range(len(sites)) for j in range(i + 1, len(sites))},
        "numbers": [[x.hex() for x in row] for row in NUMBERS],
        "encoded": [bytes_of([encode(x) for x in row]).hex() for row in NUMBERS],
        "rounds": [make_round(sites, [0, 1, 2, 3], 0), make_round(sites, [0, 2, 3], 1), make_round(sites, [1, 3], 2**64 - 1)],
        "long_zeros": {"site": 0, "round_id": 1, "n": LONG, "sha256": hashlib.sha256(bytes_of(zeros)).hexdigest()},
    }


def main() -> None:
    check_against_rfcs()
    text = json.dumps(make(), indent=1) + "\n"
    if "--write" in sys.argv[1:]:
        PATH.write_text(text)
    elif text != PATH.read_text():
        raise SystemExit(f"{PATH} is not what this script computes. If the protocol was meant to change, write it with --write.")


if __name__ == "__main__":
    main()

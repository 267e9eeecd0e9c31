"""The package against a second implementation that shares no code with it; see make_vectors.py."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

import pytest

from consilience.secagg import Binding, Identity, RingVector, Roster, RunKey, encode, mask, pair_secret, total, verify
from consilience.secagg.masks import pair_stream, stream_key

from . import make_vectors

VECTORS: dict[str, Any] = json.loads(Path(__file__).with_name("vectors.json").read_text())
RUN = bytes.fromhex(VECTORS["run_id"])
SITES = VECTORS["sites"]
IDENTITIES = [Identity.from_private_bytes(bytes.fromhex(s["identity_private"])) for s in SITES]
AGREED = Binding(bytes.fromhex(VECTORS["study"]), bytes.fromhex(VECTORS["contract"]))
KEYS = [
    RunKey.from_private_bytes(i, RUN, bytes.fromhex(s["x25519_private"]), AGREED, bytes.fromhex(s["statement"]))
    for i, s in zip(IDENTITIES, SITES, strict=True)
]
FINGERPRINTS = [i.fingerprint for i in IDENTITIES]


def secrets(site: int, members: list[int]) -> dict[bytes, bytes]:
    return {FINGERPRINTS[j]: pair_secret(KEYS[site], KEYS[j].signed, RUN) for j in members if j != site}


def numbers(site: int) -> RingVector:
    return encode([float.fromhex(x) for x in VECTORS["numbers"][site]])


@pytest.mark.parametrize("i", range(len(SITES)))
def test_keys_fingerprints_and_signatures(i: int) -> None:
    assert IDENTITIES[i].public_bytes.hex() == SITES[i]["identity"]
    assert FINGERPRINTS[i].hex() == SITES[i]["fingerprint"]
    assert KEYS[i].signed.x25519.hex() == SITES[i]["x25519"]
    assert KEYS[i].signed.signature.hex() == SITES[i]["signature"]
    verify(KEYS[i].signed, RUN, AGREED, set(FINGERPRINTS))


@pytest.mark.parametrize("pair", VECTORS["pair_secrets"])
def test_pair_secrets(pair: str) -> None:
    i, j = map(int, pair.split())
    assert pair_secret(KEYS[i], KEYS[j].signed, RUN).hex() == VECTORS["pair_secrets"][pair]
    assert pair_secret(KEYS[j], KEYS[i].signed, RUN).hex() == VECTORS["pair_secrets"][pair]


@pytest.mark.parametrize("i", range(len(SITES)))
def test_encoding(i: int) -> None:
    assert numbers(i).to_bytes().hex() == VECTORS["encoded"][i]


@pytest.mark.parametrize("answer", VECTORS["rounds"], ids=lambda a: f"round {a['round_id']}")
def test_rounds(answer: dict[str, Any]) -> None:
    members, round_id = answer["members"], answer["round_id"]
    roster = Roster(RUN, [FINGERPRINTS[i] for i in members])
    assert roster.digest.hex() == answer["roster_digest"]
    first = pair_secret(KEYS[members[0]], KEYS[members[1]].signed, RUN)
    assert stream_key(first, round_id, roster).hex() == answer["first_pair"]["key"]
    assert pair_stream(first, round_id, roster, 5).to_bytes().hex() == answer["first_pair"]["stream"]
    masked = {i: mask(numbers(i), FINGERPRINTS[i], secrets(i, members), round_id, roster) for i in members}
    assert {str(i): m.to_bytes().hex() for i, m in masked.items()} == answer["masked"]
    assert total(masked.values()).to_bytes().hex() == answer["sum"]


def test_a_stream_longer_than_a_chunk() -> None:
    answer = VECTORS["long_zeros"]
    site, members = answer["site"], list(range(len(SITES)))
    masked = mask(RingVector.zeros(answer["n"]), FINGERPRINTS[site], secrets(site, members), answer["round_id"], Roster(RUN, FINGERPRINTS))
    assert hashlib.sha256(masked.to_bytes()).hexdigest() == answer["sha256"]


@pytest.mark.slow
def test_the_second_implementation_agrees_with_the_rfcs() -> None:
    make_vectors.check_against_rfcs()


@pytest.mark.slow
def test_the_file_is_what_the_script_computes() -> None:
    assert make_vectors.make() == VECTORS

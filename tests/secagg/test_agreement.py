from __future__ import annotations

import dataclasses

import pytest

from consilience.secagg import Binding, Identity, RunKey, SignedKey, fingerprint_of, pair_secret, verify
from consilience.secagg.context import RUN_KEY, pack
from consilience.secagg.errors import (
    BadSignatureError,
    KeyFormatError,
    OwnKeyError,
    UnpinnedIdentityError,
    WeakKeyError,
    WrongContractError,
    WrongRunError,
)

RUN = b"run 7"
AGREED = Binding(b"study", bytes(range(32)))
ALICE, BOB, EVE = (Identity.from_private_bytes(bytes([i]) * 32) for i in (1, 2, 3))
A, B, E = (
    RunKey.from_private_bytes(identity, RUN, bytes([9 + i]) * 32, AGREED, b"statement") for i, identity in enumerate((ALICE, BOB, EVE))
)

# Every encoding of a point of order 1, 2, 4 or 8 that is below 2^255 (https://cr.yp.to/ecdh.html, "contributory behaviour").
P = 2**255 - 19
LOW_ORDER = [
    *(u.to_bytes(32, "little") for u in (0, 1, P - 1, P, P + 1)),
    bytes.fromhex("e0eb7a7c3b41b8ae1656e3faf19fc46ada098deb9c32b1fd866205165f49b800"),
    bytes.fromhex("5f9c95bca3508c24b1d0b1559c83ef5b04445cc4581c8e86d8224eddd09f1157"),
]


def flip(data: bytes, bit: int) -> bytes:
    return (int.from_bytes(data, "little") ^ (1 << bit)).to_bytes(len(data), "little")


def signed_by(identity: Identity, x25519: bytes, run_id: bytes = RUN) -> SignedKey:
    context = pack(RUN_KEY, run_id, x25519, AGREED.study, AGREED.contract, b"")
    return SignedKey(identity.public_bytes, x25519, run_id, identity.sign(context), AGREED, b"")


class TestVerify:
    def test_what_a_site_made_is_accepted(self) -> None:
        verify(A.signed, RUN, AGREED)
        verify(A.signed, RUN, AGREED, pinned={ALICE.fingerprint, BOB.fingerprint})
        assert A.fingerprint == A.signed.fingerprint == ALICE.fingerprint

    @pytest.mark.parametrize("field", ["signature", "x25519", "run_id", "identity", "statement"])
    @pytest.mark.parametrize("bit", [0, 17, 39])
    def test_any_change_breaks_the_signature(self, field: str, bit: int) -> None:
        forged = dataclasses.replace(A.signed, **{field: flip(getattr(A.signed, field), bit)})
        with pytest.raises(BadSignatureError, match="altered"):
            verify(forged, forged.run_id, AGREED)

    def test_key_of_another_run(self) -> None:
        old = RunKey.generate(ALICE, b"run 6", AGREED)
        with pytest.raises(WrongRunError, match=r"must be of the run b'run 7'; got one of b'run 6'"):
            verify(old.signed, RUN, AGREED)
        with pytest.raises(BadSignatureError):  # saying that it is of this run does not help
            verify(dataclasses.replace(old.signed, run_id=RUN), RUN, AGREED)

    def test_swapped_identity(self) -> None:
        with pytest.raises(BadSignatureError):
            verify(dataclasses.replace(A.signed, identity=BOB.public_bytes), RUN, AGREED)

    def test_key_in_the_middle_is_found_by_its_fingerprint(self) -> None:
        """A server that signs with an identity of its own passes every check but the pin."""
        swapped = RunKey.generate(Identity.generate(), RUN, AGREED).signed
        verify(swapped, RUN, AGREED)
        with pytest.raises(UnpinnedIdentityError, match="2 pinned fingerprints"):
            verify(swapped, RUN, AGREED, pinned={ALICE.fingerprint, BOB.fingerprint})
        with pytest.raises(UnpinnedIdentityError):
            verify(A.signed, RUN, AGREED, pinned=set())

    def test_signature_for_another_purpose(self) -> None:
        bare = ALICE.sign(RUN + A.signed.x25519)
        other_label = ALICE.sign(
            pack(b"consilience/secagg/2/other", RUN, A.signed.x25519, AGREED.study, AGREED.contract, A.signed.statement)
        )
        before = ALICE.sign(pack(b"consilience/secagg/1/run-key", RUN, A.signed.x25519))  # as it was when keys were bound to a run alone
        for signature in (bare, other_label, before):
            with pytest.raises(BadSignatureError):
                verify(dataclasses.replace(A.signed, signature=signature), RUN, AGREED)

    @pytest.mark.parametrize(
        ("field", "value"),
        [
            ("identity", bytes(31)),
            ("x25519", bytes(33)),
            ("signature", b""),
            ("run_id", b""),
            ("run_id", bytes(256)),
            ("run_id", "run 7"),
            ("x25519", "k" * 32),
            ("statement", bytes(2**16 + 1)),
            ("statement", "s"),
        ],
    )
    def test_malformed_keys_do_not_come_to_exist(self, field: str, value: bytes) -> None:
        with pytest.raises(KeyFormatError):
            dataclasses.replace(A.signed, **{field: value})


class TestBinding:
    """Run keys are bound to a study and a contract: sites that agreed to different things share no secret, and say so."""

    OTHERS = (Binding(b"another study", AGREED.contract), Binding(AGREED.study, bytes(32)))

    @pytest.mark.parametrize("other", OTHERS)
    def test_another_contract_is_refused_by_name(self, other: Binding) -> None:
        key = RunKey.generate(BOB, RUN, other)
        for check in (lambda: verify(key.signed, RUN, AGREED), lambda: pair_secret(A, key.signed, RUN)):
            with pytest.raises(WrongContractError, match=f"{key.fingerprint.hex(' ', 2)}.*not through the server"):
                check()

    @pytest.mark.parametrize("other", OTHERS)
    def test_saying_that_it_is_for_this_contract_does_not_help(self, other: Binding) -> None:
        key = RunKey.generate(BOB, RUN, other)
        with pytest.raises(BadSignatureError):
            verify(dataclasses.replace(key.signed, binding=AGREED), RUN, AGREED)

    @pytest.mark.parametrize("other", OTHERS)
    def test_secrets_differ_between_contracts_even_with_the_same_keys(self, other: Binding) -> None:
        a, b = (RunKey.from_private_bytes(i, RUN, bytes([9 + k]) * 32, other) for k, i in enumerate((ALICE, BOB)))
        assert a.signed.x25519 == A.signed.x25519
        assert pair_secret(a, b.signed, RUN) != pair_secret(A, B.signed, RUN)

    def test_malformed(self) -> None:
        for study, contract in ((b"", bytes(32)), (bytes(256), bytes(32)), (b"study", bytes(31)), ("study", bytes(32))):
            with pytest.raises(KeyFormatError):
                Binding(study, contract)  # type: ignore[arg-type]


class TestPairSecret:
    def test_is_the_same_on_both_sides_and_differs_between_pairs(self) -> None:
        secrets = {frozenset((x, y)): pair_secret(x, y.signed, RUN) for x in (A, B, E) for y in (A, B, E) if x is not y}
        assert all(pair_secret(x, y.signed, RUN) == secrets[frozenset((x, y))] for x in (A, B, E) for y in (A, B, E) if x is not y)
        assert len(set(secrets.values())) == 3
        assert {len(s) for s in secrets.values()} == {32}

    def test_differs_between_runs_even_with_the_same_keys(self) -> None:
        later = [RunKey.from_private_bytes(i, b"run 8", bytes([9 + k]) * 32, AGREED) for k, i in enumerate((ALICE, BOB))]
        assert later[0].signed.x25519 == A.signed.x25519
        assert pair_secret(later[0], later[1].signed, b"run 8") != pair_secret(A, B.signed, RUN)

    def test_a_copied_x25519_key_gives_another_secret(self) -> None:
        """Eve presents Bob's public key as hers. She learns nothing, and Alice's secret with Bob stays theirs."""
        copied = signed_by(EVE, B.signed.x25519)
        assert pair_secret(A, copied, RUN) != pair_secret(A, B.signed, RUN)

    @pytest.mark.parametrize("point", LOW_ORDER, ids=lambda p: p.hex()[:8])
    def test_low_order_points(self, point: bytes) -> None:
        with pytest.raises(WeakKeyError, match="low order"):
            pair_secret(A, signed_by(EVE, point), RUN)

    def test_verifies_first(self) -> None:
        with pytest.raises(BadSignatureError):
            pair_secret(A, dataclasses.replace(B.signed, x25519=E.signed.x25519), RUN)
        with pytest.raises(WrongRunError):
            pair_secret(A, RunKey.generate(BOB, b"run 6", AGREED).signed, RUN)
        with pytest.raises(UnpinnedIdentityError):
            pair_secret(A, B.signed, RUN, pinned={EVE.fingerprint})

    def test_own_key_of_another_run(self) -> None:
        with pytest.raises(WrongRunError, match="own run key"):
            pair_secret(RunKey.generate(ALICE, b"run 6", AGREED), B.signed, RUN)

    def test_own_key_sent_back(self) -> None:
        with pytest.raises(OwnKeyError):
            pair_secret(A, A.signed, RUN)
        with pytest.raises(OwnKeyError):
            pair_secret(A, RunKey.generate(ALICE, RUN, AGREED).signed, RUN)


def test_run_keys_are_fresh() -> None:
    assert len({RunKey.generate(ALICE, RUN, AGREED).signed.x25519 for _ in range(10)}) == 10


def test_run_ids_are_checked() -> None:
    with pytest.raises(KeyFormatError, match="run id must be 1 to 255 bytes"):
        RunKey.generate(ALICE, b"", AGREED)


def test_representation_hides_the_key() -> None:
    key = RunKey.from_private_bytes(ALICE, RUN, bytes(range(32)), AGREED)
    assert bytes(range(32)).hex()[:16] not in repr(key).replace(" ", "")
    assert repr(key).startswith("RunKey(b'run 7'")
    assert fingerprint_of(key.signed.identity) == key.fingerprint

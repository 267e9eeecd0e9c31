from __future__ import annotations

import hashlib

import pytest
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey
from hypothesis import given, settings
from hypothesis import strategies as st

from consilience.secagg import Identity, fingerprint_of, fingerprint_text, read_fingerprint
from consilience.secagg.errors import IdentityFileError, KeyFormatError
from consilience.secagg.identity import is_signed_by

SITE = Identity.from_private_bytes(bytes(range(32)))


def test_generated_identities_differ() -> None:
    assert len({Identity.generate().fingerprint for _ in range(10)}) == 10


def test_fingerprint_is_the_digest_of_the_public_key() -> None:
    assert SITE.fingerprint == hashlib.sha256(SITE.public_bytes).digest() == fingerprint_of(SITE.public_bytes)


@given(st.binary(min_size=32, max_size=32))
@settings(deadline=None)
def test_fingerprint_text_comes_back(fingerprint: bytes) -> None:
    text = fingerprint_text(fingerprint)
    assert [len(group) for group in text.split(" ")] == [4] * 16
    assert read_fingerprint(text) == read_fingerprint(text.upper().replace(" ", "\n")) == fingerprint


@pytest.mark.parametrize("text", ["", "12", "zz" * 32, "00" * 33, "é" * 64])
def test_other_texts_are_no_fingerprint(text: str) -> None:
    with pytest.raises(KeyFormatError, match="64 hexadecimal digits"):
        read_fingerprint(text)


def test_private_bytes_come_back() -> None:
    assert SITE.to_private_bytes() == bytes(range(32))
    with pytest.raises(KeyFormatError, match="must be 32 bytes; got 31"):
        Identity.from_private_bytes(bytes(31))
    with pytest.raises(KeyFormatError, match="got str"):
        Identity.from_private_bytes("0" * 32)  # type: ignore[arg-type]


@pytest.mark.parametrize("password", [None, b"a long password"])
def test_pem_comes_back(password: bytes | None) -> None:
    pem = SITE.to_pem(password)
    assert (b"ENCRYPTED" in pem) == (password is not None)
    assert Identity.from_pem(pem, password).to_private_bytes() == SITE.to_private_bytes()


@pytest.mark.parametrize(("written", "read"), [(b"right", b"wrong"), (b"right", None), (None, b"superfluous")])
def test_wrong_passwords(written: bytes | None, read: bytes | None) -> None:
    with pytest.raises(IdentityFileError, match="could not be read"):
        Identity.from_pem(SITE.to_pem(written), read)


def test_empty_password() -> None:
    with pytest.raises(IdentityFileError, match="must not be empty"):
        SITE.to_pem(b"")


def test_damaged_pem() -> None:
    for pem in (b"", b"not a key", SITE.to_pem()[:-40]):
        with pytest.raises(IdentityFileError, match="could not be read"):
            Identity.from_pem(pem)


def test_another_kind_of_key() -> None:
    pem = X25519PrivateKey.generate().private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    with pytest.raises(IdentityFileError, match="must be an Ed25519 key; got X25519PrivateKey"):
        Identity.from_pem(pem)


def test_signatures() -> None:
    signature = SITE.sign(b"message")
    assert SITE.verify(b"message", signature)
    assert not SITE.verify(b"massage", signature)
    assert not Identity.generate().verify(b"message", signature)
    assert not SITE.verify(b"message", bytes([signature[0] ^ 1]) + signature[1:])


def test_bytes_that_are_no_point_verify_nothing() -> None:
    assert not is_signed_by(b"\xff" * 32, b"message", SITE.sign(b"message"))


def test_malformed_keys_and_signatures() -> None:
    with pytest.raises(KeyFormatError, match="public key must be 32"):
        is_signed_by(bytes(31), b"", bytes(64))
    with pytest.raises(KeyFormatError, match="signature must be 64"):
        is_signed_by(bytes(32), b"", bytes(65))


def test_representation_hides_the_key() -> None:
    assert repr(SITE) == f"Identity('{SITE.fingerprint_text}')"
    assert SITE.to_private_bytes().hex()[:16] not in repr(SITE).replace(" ", "")

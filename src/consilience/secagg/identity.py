"""Who a site is: a long-term Ed25519 key, and the fingerprint that people compare.

The fingerprint is the SHA-256 digest of the raw public key. It is what sites pin, what orders them in a round, and what is
read aloud on the telephone: the server cannot put a key of its own in between without changing it.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Final

from cryptography.exceptions import InvalidSignature, UnsupportedAlgorithm
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

from consilience.secagg.context import FINGERPRINT_BYTES, check_length, sha256
from consilience.secagg.errors import IdentityFileError, KeyFormatError

__all__ = ["Identity", "fingerprint_of", "fingerprint_text", "is_signed_by", "read_fingerprint"]

# lengths of Ed25519 (RFC 8032)
PUBLIC_BYTES: Final = 32
PRIVATE_BYTES: Final = 32
SIGNATURE_BYTES: Final = 64


def fingerprint_of(public: bytes) -> bytes:
    """The fingerprint of a raw Ed25519 public key.

    Parameters
    ----------
    public : bytes
        32 of them.

    Returns
    -------
    bytes
        The SHA-256 digest, 32 bytes.

    Examples
    --------
    >>> fingerprint_of(bytes(32)).hex()[:8]
    '66687aad'
    """
    return sha256(check_length("An identity's public key", public, PUBLIC_BYTES))


def fingerprint_text(fingerprint: bytes) -> str:
    """A fingerprint for people: sixteen groups of four hexadecimal digits.

    Parameters
    ----------
    fingerprint : bytes
        32 of them.

    Returns
    -------
    str

    Examples
    --------
    >>> fingerprint_text(bytes(range(32)))
    '0001 0203 0405 0607 0809 0a0b 0c0d 0e0f 1011 1213 1415 1617 1819 1a1b 1c1d 1e1f'
    """
    return check_length("A fingerprint", fingerprint, FINGERPRINT_BYTES).hex(" ", 2)


def read_fingerprint(text: str) -> bytes:
    """A fingerprint from its text, whatever its spaces and its case.

    Parameters
    ----------
    text : str
        64 hexadecimal digits, in any grouping.

    Returns
    -------
    bytes
        32 of them.

    Raises
    ------
    KeyFormatError
        If it is something else.

    Examples
    --------
    >>> read_fingerprint(fingerprint_text(bytes(range(32)))) == bytes(range(32))
    True
    """
    try:
        return check_length("A fingerprint", bytes.fromhex("".join(text.split())), FINGERPRINT_BYTES)
    except ValueError:
        raise KeyFormatError(f"A fingerprint is {2 * FINGERPRINT_BYTES} hexadecimal digits, in any grouping; got {text!r}.") from None


@lru_cache(maxsize=1024)  # sites of one process are shown the same keys, each of them to all others
def is_signed_by(public: bytes, message: bytes, signature: bytes) -> bool:
    """True if ``signature`` is the one that the owner of ``public`` made for ``message``.

    >>> me = Identity.generate()
    >>> is_signed_by(me.public_bytes, b"message", me.sign(b"message")), is_signed_by(me.public_bytes, b"other", me.sign(b"message"))
    (True, False)
    """
    check_length("An identity's public key", public, PUBLIC_BYTES)
    check_length("A signature", signature, SIGNATURE_BYTES)
    # False and not an error: what a wrong signature means is for the caller to say
    try:
        Ed25519PublicKey.from_public_bytes(public).verify(signature, message)
    except (InvalidSignature, ValueError):  # ValueError: the bytes are no point of the curve
        return False
    return True


class Identity:
    """A site's long-term key pair. Make one with :meth:`generate`, keep it with :meth:`to_pem`.

    Its representation shows the fingerprint, never the key.

    Parameters
    ----------
    private : Ed25519PrivateKey
        The key of ``cryptography``.

    Attributes
    ----------
    fingerprint : bytes
        What sites pin, and what orders them in a round.
    public_bytes : bytes
        The raw public key.

    Examples
    --------
    >>> site = Identity.from_private_bytes(bytes(32))
    >>> site
    Identity('139e 3940 e64b 5491 7220 88d9 a0d7 4162 8fc8 26e0 9475 d341 a780 acde 3c4b 8070')
    >>> Identity.from_pem(site.to_pem(b"password"), b"password").fingerprint == site.fingerprint
    True
    """

    __slots__ = ("_private", "fingerprint", "public_bytes")

    fingerprint: bytes
    public_bytes: bytes

    def __init__(self, private: Ed25519PrivateKey) -> None:
        self._private = private
        self.public_bytes = private.public_key().public_bytes_raw()
        self.fingerprint = fingerprint_of(self.public_bytes)

    @classmethod
    def generate(cls) -> Identity:
        """A new identity from the operating system's randomness.

        Returns
        -------
        Identity
        """
        return cls(Ed25519PrivateKey.generate())

    @classmethod
    def from_private_bytes(cls, private: bytes) -> Identity:
        """The identity of a raw private key.

        Parameters
        ----------
        private : bytes
            32 of them.

        Returns
        -------
        Identity
        """
        return cls(Ed25519PrivateKey.from_private_bytes(check_length("An identity's private key", private, PRIVATE_BYTES)))

    @classmethod
    def from_pem(cls, pem: bytes, password: bytes | None = None) -> Identity:
        """The identity in a PKCS #8 file.

        Parameters
        ----------
        pem : bytes
            What the file holds.
        password : bytes, optional
            If it is encrypted.

        Returns
        -------
        Identity

        Raises
        ------
        IdentityFileError
            If it cannot be read, or holds another kind of key.
        """
        try:
            private = serialization.load_pem_private_key(pem, password)
        except (ValueError, TypeError, UnsupportedAlgorithm) as error:
            raise IdentityFileError(
                f"An identity must be a PEM file, with its password if it has one; {len(pem)} bytes "
                f"{'without' if password is None else 'with'} a password could not be read ({error})."
            ) from None
        if not isinstance(private, Ed25519PrivateKey):
            raise IdentityFileError(f"An identity must be an Ed25519 key; got {type(private).__name__}. Make one with Identity.generate().")
        return cls(private)

    def to_private_bytes(self) -> bytes:
        """The raw private key. Whoever has it is this site.

        Returns
        -------
        bytes
        """
        return self._private.private_bytes_raw()

    def to_pem(self, password: bytes | None = None) -> bytes:
        """The private key as a PKCS #8 file, encrypted if a password is given.

        The file's key derivation is a fast one; a password should be long, or the file readable by its owner alone.

        Parameters
        ----------
        password : bytes, optional
            Not empty.

        Returns
        -------
        bytes

        Raises
        ------
        IdentityFileError
            If the password is empty.
        """
        if password == b"":  # the library would refuse it as well, less clearly; taking it for "no password" would hide a mistake
            raise IdentityFileError("A password must not be empty; got b''. Leave it out to write an unencrypted file.")
        protection = serialization.NoEncryption() if password is None else serialization.BestAvailableEncryption(password)
        return self._private.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, protection)

    def derive(self, purpose: bytes) -> bytes:
        """A secret that only the holder of this identity can make, the same whenever it is made (HKDF-SHA256 of the private key).

        Parameters
        ----------
        purpose : bytes
            Begins with a label of its own for each use: secrets for two purposes tell nothing of each other, nor of the key.

        Returns
        -------
        bytes
            32 of them.

        Examples
        --------
        >>> site = Identity.from_private_bytes(bytes(32))
        >>> site.derive(b"one") == site.derive(b"one"), site.derive(b"one") == site.derive(b"two"), len(site.derive(b"one"))
        (True, False, 32)
        """
        return HKDF(algorithm=SHA256(), length=PRIVATE_BYTES, salt=None, info=purpose).derive(self.to_private_bytes())

    @property
    def fingerprint_text(self) -> str:
        """The fingerprint in groups, for people to compare."""
        return fingerprint_text(self.fingerprint)

    def sign(self, message: bytes) -> bytes:
        """The Ed25519 signature of ``message``. Only packed contexts are signed, never bytes that a peer chose alone.

        Parameters
        ----------
        message : bytes
            Begins with a label of its own for each use, so that a signature for one purpose never serves another.

        Returns
        -------
        bytes
            64 of them.
        """
        return self._private.sign(message)

    def verify(self, message: bytes, signature: bytes) -> bool:
        """True if this identity made ``signature`` for ``message``.

        Parameters
        ----------
        message : bytes
        signature : bytes

        Returns
        -------
        bool
        """
        return is_signed_by(self.public_bytes, message, signature)

    def __repr__(self) -> str:
        return f"Identity({self.fingerprint_text!r})"

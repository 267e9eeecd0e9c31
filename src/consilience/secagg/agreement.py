"""The secret of a pair: a fresh X25519 key per run, signed by the identity, and HKDF over what two of them agree on.

::

    signature = Ed25519(identity, pack(label, run id, x25519 public key))
    secret    = HKDF-SHA256(X25519(own, other), no salt, info = pack(label, run id, lower fingerprint, higher fingerprint))

Both sides compute the same secret, and it never travels. It belongs to one run: run keys live in memory only, so what a run
sent stays hidden even if an identity is stolen later.
"""

from __future__ import annotations

from collections.abc import Set
from dataclasses import dataclass

from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey, X25519PublicKey
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

from consilience.secagg.context import PAIR_SECRET, RUN_KEY, SECRET_BYTES, check_length, check_run_id, pack
from consilience.secagg.errors import BadSignatureError, OwnKeyError, UnpinnedIdentityError, WeakKeyError, WrongRunError
from consilience.secagg.identity import PUBLIC_BYTES, SIGNATURE_BYTES, Identity, fingerprint_of, fingerprint_text, is_signed_by

__all__ = ["RunKey", "SignedKey", "pair_secret", "verify"]

X25519_BYTES = 32
"""Both public and private keys (RFC 7748)."""


@dataclass(frozen=True, slots=True)
class SignedKey:
    """The public half of a run key, as it travels. Lengths are checked here, the rest by :func:`verify`.

    Attributes
    ----------
    identity : bytes
        The signer's Ed25519 public key, 32 bytes.
    x25519 : bytes
        The run's public key, 32 bytes.
    run_id : bytes
        The run it was made for, 1 to 255 bytes.
    signature : bytes
        Of the identity over label, run id and public key, 64 bytes.

    Raises
    ------
    KeyFormatError
        If a part has another length.

    Examples
    --------
    >>> SignedKey(bytes(32), bytes(32), b"run 7", bytes(63))
    Traceback (most recent call last):
    consilience.secagg.errors.KeyFormatError: A signature must be 64 bytes; got 63.
    """

    identity: bytes
    x25519: bytes
    run_id: bytes
    signature: bytes

    def __post_init__(self) -> None:
        check_length("An identity's public key", self.identity, PUBLIC_BYTES)
        check_length("An X25519 public key", self.x25519, X25519_BYTES)
        check_run_id(self.run_id)
        check_length("A signature", self.signature, SIGNATURE_BYTES)

    @property
    def fingerprint(self) -> bytes:
        """The fingerprint of the identity that is said to have signed."""
        return fingerprint_of(self.identity)


class RunKey:
    """A site's X25519 key pair for one run; :attr:`signed` is the half to send.

    Parameters
    ----------
    identity : Identity
        Who signs.
    run_id : bytes
        The run, 1 to 255 bytes.
    private : X25519PrivateKey
        A key that was made for this run; :meth:`generate` makes one.

    Attributes
    ----------
    run_id : bytes
    signed : SignedKey

    Examples
    --------
    >>> key = RunKey.generate(Identity.generate(), b"run 7")
    >>> verify(key.signed, b"run 7")
    """

    __slots__ = ("_private", "run_id", "signed")

    run_id: bytes
    signed: SignedKey

    def __init__(self, identity: Identity, run_id: bytes, private: X25519PrivateKey) -> None:
        public = private.public_key().public_bytes_raw()
        self._private = private
        self.run_id = check_run_id(run_id)
        self.signed = SignedKey(identity.public_bytes, public, run_id, identity.sign(_signed_context(run_id, public)))

    @classmethod
    def generate(cls, identity: Identity, run_id: bytes) -> RunKey:
        """A new key pair from the operating system's randomness.

        Parameters
        ----------
        identity : Identity
            Who signs.
        run_id : bytes
            The run.

        Returns
        -------
        RunKey
        """
        return cls(identity, run_id, X25519PrivateKey.generate())

    @classmethod
    def from_private_bytes(cls, identity: Identity, run_id: bytes, private: bytes) -> RunKey:
        """The key pair of a raw private key. For known answers; a run should :meth:`generate` its own.

        Parameters
        ----------
        identity : Identity
            Who signs.
        run_id : bytes
            The run.
        private : bytes
            32 bytes.

        Returns
        -------
        RunKey
        """
        return cls(identity, run_id, X25519PrivateKey.from_private_bytes(check_length("An X25519 private key", private, X25519_BYTES)))

    @property
    def fingerprint(self) -> bytes:
        """The fingerprint of the identity that signed this key."""
        return self.signed.fingerprint

    def _exchange(self, public: bytes) -> bytes:
        """The raw X25519 output with a peer's public key. :class:`WeakKeyError` for a low-order point."""
        try:
            return self._private.exchange(X25519PublicKey.from_public_bytes(public))
        except ValueError:  # the library refuses an all-zero output (RFC 7748, section 6.1): anybody could compute such a secret
            raise WeakKeyError(
                f"An X25519 public key must not be of low order; got {public.hex()}. "
                f"No honest site makes one: ask the owner of that identity what happened."
            ) from None

    def __repr__(self) -> str:
        return f"RunKey({self.run_id!r}, {fingerprint_text(self.fingerprint)!r})"


def _signed_context(run_id: bytes, public: bytes) -> bytes:
    return pack(RUN_KEY, run_id, public)


def verify(signed: SignedKey, run_id: bytes, pinned: Set[bytes] | None = None) -> None:
    """Raise unless ``signed`` was signed by its identity, for ``run_id`` and, if ``pinned`` is given, by a fingerprint in it.

    Without ``pinned`` the server that relays the keys could have made the identity itself.

    Parameters
    ----------
    signed : SignedKey
        What came.
    run_id : bytes
        The run that is about to begin.
    pinned : set of bytes, optional
        Fingerprints that were compared and accepted. The empty set accepts nobody; None accepts every identity that signs for itself.

    Raises
    ------
    BadSignatureError
        If the identity did not sign this key for the run it names.
    WrongRunError
        If the key is of another run.
    UnpinnedIdentityError
        If the identity is not pinned.

    Examples
    --------
    >>> key = RunKey.generate(Identity.generate(), b"run 7")
    >>> verify(key.signed, b"run 8")  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    consilience.secagg.errors.WrongRunError: A run key must be of the run b'run 8'; got one of b'run 7' from ...
    """
    # The signature first: before it fits, neither the run nor the identity that the key names is anybody's word. The run next: an old key
    # of a pinned site is a replay and not a stranger, and is called one.
    who = fingerprint_text(signed.fingerprint)
    if not is_signed_by(signed.identity, _signed_context(signed.run_id, signed.x25519), signed.signature):
        raise BadSignatureError(f"A run key must carry its identity's signature; the one of {who} does not fit. It was altered on the way.")
    if signed.run_id != run_id:
        raise WrongRunError(f"A run key must be of the run {run_id!r}; got one of {signed.run_id!r} from {who}. Ask for a fresh one.")
    if pinned is not None and signed.fingerprint not in pinned:
        raise UnpinnedIdentityError(
            f"A peer must have one of the {len(pinned)} pinned fingerprints; got {who}. "
            f"Compare it with its owner, not through the server, and pin it if it is right."
        )


def pair_secret(own: RunKey, other: SignedKey, run_id: bytes, pinned: Set[bytes] | None = None) -> bytes:
    """The 32-byte secret that ``own`` and ``other`` share in ``run_id``, the same on both sides.

    ``other`` is verified first, always.

    Parameters
    ----------
    own : RunKey
        This site's key.
    other : SignedKey
        The other site's, as it came.
    run_id : bytes
        The run, which both keys must be of.
    pinned : set of bytes, optional
        As in :func:`verify`.

    Returns
    -------
    bytes
        32 of them.

    Raises
    ------
    AgreementError
        What :func:`verify` raises; :class:`WrongRunError` if ``own`` is of another run, :class:`OwnKeyError` if ``other`` is the caller,
        and :class:`WeakKeyError` if the two would share no secret.

    Examples
    --------
    >>> a, b = (RunKey.generate(Identity.generate(), b"run 7") for _ in range(2))
    >>> pair_secret(a, b.signed, b"run 7") == pair_secret(b, a.signed, b"run 7")
    True
    """
    # What came from outside before what is one's own, and all checks before the exchange: a private key never meets a point that nobody
    # has signed. With a key of one's own that came back there would be nobody to subtract what is added.
    verify(other, run_id, pinned)
    if own.run_id != run_id:
        raise WrongRunError(f"One's own run key must be of the run {run_id!r}; got one of {own.run_id!r}. Generate one for this run.")
    if other.fingerprint == own.fingerprint:
        raise OwnKeyError(f"A peer must be another site; got a key of this one, {fingerprint_text(own.fingerprint)}.")
    # both fingerprints and the run go into the derivation, in one order: the secret is bound to who the two are, not only to their points
    lower, higher = sorted((own.fingerprint, other.fingerprint))
    info = pack(PAIR_SECRET, run_id, lower, higher)
    # no salt: the input is fresh for every run, and there is nobody who could give both sides the same random salt but the server
    return HKDF(hashes.SHA256(), SECRET_BYTES, salt=None, info=info).derive(own._exchange(other.x25519))

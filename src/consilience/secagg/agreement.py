"""The secret of a pair: a fresh X25519 key per run, signed by the identity, and HKDF over what two of them agree on.

::

    signature = Ed25519(identity, pack(label, run id, x25519 public key, study, contract digest, statement))
    secret    = HKDF-SHA256(X25519(own, other), no salt,
                            info = pack(label, run id, study, contract digest, lower fingerprint, higher fingerprint))

A key is bound to what its owner agreed to: sites that were given different contracts do not enter a run together, and each can name the
other. The statement is what a site says of itself before anything is summed (:mod:`consilience.disclosure`); here it is bytes.

Both sides compute the same secret, and it never travels. It belongs to one run: run keys live in memory only, so what a run
sent stays hidden even if an identity is stolen later.
"""

from __future__ import annotations

from collections.abc import Set
from dataclasses import dataclass

from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey, X25519PublicKey
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

from consilience.secagg.context import (
    DIGEST_BYTES,
    PAIR_SECRET,
    RUN_KEY,
    SECRET_BYTES,
    check_length,
    check_run_id,
    check_statement,
    check_study,
    pack,
)
from consilience.secagg.errors import (
    BadSignatureError,
    OwnKeyError,
    UnpinnedIdentityError,
    WeakKeyError,
    WrongContractError,
    WrongRunError,
)
from consilience.secagg.identity import PUBLIC_BYTES, SIGNATURE_BYTES, Identity, fingerprint_of, fingerprint_text, is_signed_by

__all__ = ["Binding", "RunKey", "SignedKey", "pair_secret", "verify"]

X25519_BYTES = 32
"""Both public and private keys (RFC 7748)."""


@dataclass(frozen=True, slots=True)
class Binding:
    """What a run key is bound to: the study, and the digest of the contract that its owner agreed to.

    Attributes
    ----------
    study : bytes
        The study's id, 1 to 255 bytes.
    contract : bytes
        A SHA-256 digest, 32 bytes.

    Raises
    ------
    KeyFormatError
        If a part has another length.

    Examples
    --------
    >>> Binding(b"00112233aabbccdd", bytes(32)) == Binding(b"00112233aabbccdd", bytes(32))
    True
    """

    study: bytes
    contract: bytes

    def __post_init__(self) -> None:
        check_study(self.study)
        check_length("A contract's digest", self.contract, DIGEST_BYTES)


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
        Of the identity over label, run id, public key, study, contract and statement, 64 bytes.
    binding : Binding
        The study and the contract that the signer knows.
    statement : bytes
        What the site says of itself in this study, 2¹⁶ bytes at most.

    Raises
    ------
    KeyFormatError
        If a part has another length.

    Examples
    --------
    >>> SignedKey(bytes(32), bytes(32), b"run 7", bytes(63), Binding(b"study", bytes(32)), b"")
    Traceback (most recent call last):
    consilience.secagg.errors.KeyFormatError: A signature must be 64 bytes; got 63.
    """

    identity: bytes
    x25519: bytes
    run_id: bytes
    signature: bytes
    binding: Binding
    statement: bytes

    def __post_init__(self) -> None:
        check_length("An identity's public key", self.identity, PUBLIC_BYTES)
        check_length("An X25519 public key", self.x25519, X25519_BYTES)
        check_run_id(self.run_id)
        check_length("A signature", self.signature, SIGNATURE_BYTES)
        check_statement(self.statement)

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
    binding : Binding
        The study and the contract that the site's owner agreed to.
    statement : bytes
        What the site says of itself.

    Attributes
    ----------
    run_id : bytes
    binding : Binding
    signed : SignedKey

    Examples
    --------
    >>> agreed = Binding(b"study", bytes(32))
    >>> key = RunKey.generate(Identity.generate(), b"run 7", agreed)
    >>> verify(key.signed, b"run 7", agreed)
    """

    __slots__ = ("_private", "binding", "run_id", "signed")

    run_id: bytes
    binding: Binding
    signed: SignedKey

    def __init__(self, identity: Identity, run_id: bytes, private: X25519PrivateKey, binding: Binding, statement: bytes = b"") -> None:
        public = private.public_key().public_bytes_raw()
        self._private = private
        self.run_id, self.binding = check_run_id(run_id), binding
        signature = identity.sign(_signed_context(run_id, public, binding, check_statement(statement)))
        self.signed = SignedKey(identity.public_bytes, public, run_id, signature, binding, statement)

    @classmethod
    def generate(cls, identity: Identity, run_id: bytes, binding: Binding, statement: bytes = b"") -> RunKey:
        """A new key pair from the operating system's randomness.

        Parameters
        ----------
        identity : Identity
            Who signs.
        run_id : bytes
            The run.
        binding : Binding
            The study and the contract.
        statement : bytes
            What the site says of itself.

        Returns
        -------
        RunKey
        """
        return cls(identity, run_id, X25519PrivateKey.generate(), binding, statement)

    @classmethod
    def from_private_bytes(cls, identity: Identity, run_id: bytes, private: bytes, binding: Binding, statement: bytes = b"") -> RunKey:
        """The key pair of a raw private key. For known answers; a run should :meth:`generate` its own.

        Parameters
        ----------
        identity : Identity
            Who signs.
        run_id : bytes
            The run.
        private : bytes
            32 bytes.
        binding : Binding
            The study and the contract.
        statement : bytes
            What the site says of itself.

        Returns
        -------
        RunKey
        """
        key = X25519PrivateKey.from_private_bytes(check_length("An X25519 private key", private, X25519_BYTES))
        return cls(identity, run_id, key, binding, statement)

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


def _signed_context(run_id: bytes, public: bytes, binding: Binding, statement: bytes) -> bytes:
    return pack(RUN_KEY, run_id, public, binding.study, binding.contract, statement)


def verify(signed: SignedKey, run_id: bytes, binding: Binding, pinned: Set[bytes] | None = None) -> None:
    """Raise unless ``signed`` was signed by its identity, for ``run_id`` and ``binding``, and by a fingerprint in ``pinned``, if given.

    Without ``pinned`` the server that relays the keys could have made the identity itself.

    Parameters
    ----------
    signed : SignedKey
        What came.
    run_id : bytes
        The run that is about to begin.
    binding : Binding
        The study and the contract as the verifier knows them.
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
    WrongContractError
        If its owner agreed to another contract, or takes part in another study.

    Examples
    --------
    >>> agreed = Binding(b"study", bytes(32))
    >>> key = RunKey.generate(Identity.generate(), b"run 7", agreed)
    >>> verify(key.signed, b"run 8", agreed)  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    consilience.secagg.errors.WrongRunError: A run key must be of the run b'run 8'; got one of b'run 7' from ...
    >>> verify(key.signed, b"run 7", Binding(b"study", bytes(31) + b"1"))  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    consilience.secagg.errors.WrongContractError: A run key must be for the contract 0000000000000000…, as this site's; ...
    """
    # The signature first: before it fits, neither the run nor the identity that the key names is anybody's word. The run next: an old key
    # of a pinned site is a replay and not a stranger, and is called one.
    who = fingerprint_text(signed.fingerprint)
    if not is_signed_by(signed.identity, _signed_context(signed.run_id, signed.x25519, signed.binding, signed.statement), signed.signature):
        raise BadSignatureError(f"A run key must carry its identity's signature; the one of {who} does not fit. It was altered on the way.")
    if signed.run_id != run_id:
        raise WrongRunError(f"A run key must be of the run {run_id!r}; got one of {signed.run_id!r} from {who}. Ask for a fresh one.")
    if pinned is not None and signed.fingerprint not in pinned:
        raise UnpinnedIdentityError(
            f"A peer must have one of the {len(pinned)} pinned fingerprints; got {who}. "
            f"Compare it with its owner, not through the server, and pin it if it is right."
        )
    # after the pin: what a stranger agreed to is nobody's concern
    if signed.binding.study != binding.study:
        raise WrongContractError(
            f"A run key must be for the study {binding.study!r}, as this site's; the one of {who} is for {signed.binding.study!r}. "
            f"Nothing is sent. Ask the owner of that site, not through the server."
        )
    if signed.binding.contract != binding.contract:
        raise WrongContractError(
            f"A run key must be for the contract {binding.contract.hex()[:16]}…, as this site's; the owner of {who} agreed to "
            f"{signed.binding.contract.hex()[:16]}…: the two were given different settings, variables or members. Nothing is sent. "
            f"Compare the contracts with that owner, not through the server."
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
        The run, which both keys must be of. They must also be bound to the same study and contract.
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
    >>> a, b = (RunKey.generate(Identity.generate(), b"run 7", Binding(b"study", bytes(32))) for _ in range(2))
    >>> pair_secret(a, b.signed, b"run 7") == pair_secret(b, a.signed, b"run 7")
    True
    """
    # What came from outside before what is one's own, and all checks before the exchange: a private key never meets a point that nobody
    # has signed. With a key of one's own that came back there would be nobody to subtract what is added.
    verify(other, run_id, own.binding, pinned)
    if own.run_id != run_id:
        raise WrongRunError(f"One's own run key must be of the run {run_id!r}; got one of {own.run_id!r}. Generate one for this run.")
    if other.fingerprint == own.fingerprint:
        raise OwnKeyError(f"A peer must be another site; got a key of this one, {fingerprint_text(own.fingerprint)}.")
    # both fingerprints, the run and what was agreed to go into the derivation, in one order: the secret is bound to who the two are and to
    # what they agreed to, not only to their points
    lower, higher = sorted((own.fingerprint, other.fingerprint))
    info = pack(PAIR_SECRET, run_id, own.binding.study, own.binding.contract, lower, higher)
    # no salt: the input is fresh for every run, and there is nobody who could give both sides the same random salt but the server
    return HKDF(hashes.SHA256(), SECRET_BYTES, salt=None, info=info).derive(own._exchange(other.x25519))

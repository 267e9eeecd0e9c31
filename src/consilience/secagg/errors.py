"""Keys, masks and ring numbers that cannot be used."""

from __future__ import annotations

from consilience.errors import SecureAggregationError

__all__ = [
    "AgreementError",
    "BadSignatureError",
    "IdentityFileError",
    "KeyFormatError",
    "NotInRosterError",
    "OwnKeyError",
    "PairSecretsError",
    "RepeatedRoundError",
    "RepeatedSiteError",
    "RingError",
    "RingRangeError",
    "RingShapeError",
    "RosterError",
    "RoundError",
    "RoundNumberError",
    "SmallRosterError",
    "UnpinnedIdentityError",
    "WeakKeyError",
    "WrongContractError",
    "WrongRunError",
]


class KeyFormatError(SecureAggregationError):
    """Bytes that are not a key, a fingerprint, a signature or a run id."""


class IdentityFileError(SecureAggregationError):
    """A private identity that cannot be read: wrong password, wrong kind of key, damaged."""


class AgreementError(SecureAggregationError):
    """No secret may be shared with this peer."""


class BadSignatureError(AgreementError):
    """A run key that its identity did not sign."""


class WrongRunError(AgreementError):
    """A run key of another run."""


class WrongContractError(AgreementError):
    """A run key of a site whose owner agreed to another contract, or that is in another study."""


class UnpinnedIdentityError(AgreementError):
    """An identity that nobody here has compared and accepted."""


class OwnKeyError(AgreementError):
    """One's own run key came back as a peer's."""


class WeakKeyError(AgreementError):
    """A low-order point: the secret would not be one."""


class RosterError(SecureAggregationError):
    """The set of sites of a round cannot be used."""


class SmallRosterError(RosterError):
    """Fewer than two sites."""


class RepeatedSiteError(RosterError):
    """One fingerprint twice."""


class NotInRosterError(RosterError):
    """A fingerprint outside the roster."""


class PairSecretsError(RosterError):
    """Not exactly one secret for every other site of the roster."""


class RoundError(SecureAggregationError):
    """The number of a round cannot be used."""


class RoundNumberError(RoundError):
    """Not a whole number from 0 to 2⁶⁴ - 1."""


class RepeatedRoundError(RoundError):
    """A round that was answered, or passed over."""


class RingError(SecureAggregationError):
    """Numbers that cannot be summed in the ring."""


class RingRangeError(RingError):
    """NaN, infinite or too large for fixed point."""


class RingShapeError(RingError):
    """Vectors of unequal length, or bytes that are not whole numbers of the ring."""

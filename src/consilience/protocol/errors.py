"""Why a site does not answer, and messages that are none."""

from __future__ import annotations

from consilience.errors import AccessError, ConsilienceError, ProtocolError, RefusalError
from consilience.secagg import errors as secagg

__all__ = [
    "WIRE_CODES",
    "ChallengeError",
    "ChangedStatementError",
    "DisclosureError",
    "FalseCountsError",
    "MessageFormatError",
    "MessageSizeError",
    "OtherVersionError",
    "OutOfTurnError",
    "OutsideSchemaError",
    "RepeatedQuestionError",
    "StudyClosedError",
    "UnfinishedMessageError",
    "WrongRosterError",
    "WrongShapeError",
    "WrongTermsError",
    "code_of",
    "refusal_of",
]


class WrongRosterError(RefusalError):
    """Not the sites that were agreed on."""


class WrongTermsError(RefusalError):
    """Not the settings that were agreed on."""


class OutsideSchemaError(RefusalError):
    """A model or a variable that the study did not declare."""


class WrongShapeError(RefusalError):
    """Parameters that do not fit the model they are for."""


class RepeatedQuestionError(RefusalError):
    """A sum that was answered before, asked for again with fewer sites; or a model at more points than any fit has."""


class DisclosureError(RefusalError):
    """A sum over too few sites or rows."""


class FalseCountsError(DisclosureError):
    """Announced counts that cannot be true."""


class ChangedStatementError(RefusalError):
    """A site states something else about itself than it did before in the same study."""


class StudyClosedError(RefusalError):
    """The site answers nothing more in this study."""


class OutOfTurnError(RefusalError):
    """A message that has no place in the state in which the site is."""


class ChallengeError(AccessError):
    """A signature that does not answer the challenge."""


class MessageFormatError(ProtocolError):
    """Bytes that are not a message of a known type and version."""


class MessageSizeError(ProtocolError):
    """A message longer than what was asked for."""


class OtherVersionError(ProtocolError):
    """The other side is of another version of the protocol."""


class UnfinishedMessageError(ProtocolError):
    """A message that was begun, and did not go on in time."""


WIRE_CODES: dict[str, type[ConsilienceError]] = {
    "RefusalError": RefusalError,
    "WrongRosterError": WrongRosterError,
    "WrongTermsError": WrongTermsError,
    "OutsideSchemaError": OutsideSchemaError,
    "WrongShapeError": WrongShapeError,
    "RepeatedQuestionError": RepeatedQuestionError,
    "DisclosureError": DisclosureError,
    "FalseCountsError": FalseCountsError,
    "StudyClosedError": StudyClosedError,
    "ChangedStatementError": ChangedStatementError,
    "OutOfTurnError": OutOfTurnError,
    "AgreementError": secagg.AgreementError,
    "BadSignatureError": secagg.BadSignatureError,
    "KeyFormatError": secagg.KeyFormatError,
    "NotInRosterError": secagg.NotInRosterError,
    "OwnKeyError": secagg.OwnKeyError,
    "PairSecretsError": secagg.PairSecretsError,
    "RepeatedRoundError": secagg.RepeatedRoundError,
    "RepeatedSiteError": secagg.RepeatedSiteError,
    "RingRangeError": secagg.RingRangeError,
    "RingShapeError": secagg.RingShapeError,
    "RoundNumberError": secagg.RoundNumberError,
    "SmallRosterError": secagg.SmallRosterError,
    "UnpinnedIdentityError": secagg.UnpinnedIdentityError,
    "WeakKeyError": secagg.WeakKeyError,
    "WrongContractError": secagg.WrongContractError,
    "WrongRunError": secagg.WrongRunError,
}
"""What a site may give as the cause of a refusal, as it travels. The codes are part of the protocol: a class that is renamed keeps its
code, and a code is never used again for something else. One that the other side does not know is a plain refusal to it: so
``OutOfTurnError``, which came later than version 1, needs no new version. (What it stands for travelled as ``StudyError`` and
``DeclinedError`` before, which were not in the list of what a server takes for a refusal's name, and read as plain refusals as well.)"""

_CODES = {kind: code for code, kind in WIRE_CODES.items()}


def code_of(error: ConsilienceError) -> str:
    """The code under which an error travels: its own, or that of the nearest cause that has one.

    >>> code_of(FalseCountsError("...")), code_of(ConsilienceError("..."))
    ('FalseCountsError', 'RefusalError')
    """
    return next((_CODES[kind] for kind in type(error).__mro__ if kind in _CODES), "RefusalError")


def refusal_of(code: str) -> type[ConsilienceError]:
    """The exception of a code; a plain :class:`RefusalError` where this version does not know it.

    >>> refusal_of("DisclosureError").__name__, refusal_of("os.system").__name__
    ('DisclosureError', 'RefusalError')
    """
    return WIRE_CODES.get(code, RefusalError)

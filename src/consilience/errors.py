"""Every exception consilience raises on purpose, in one tree.

::

    ConsilienceError
    ├── OptionError                  an option has a value that does not exist
    ├── DataError                    what one site holds cannot be used
    │   ├── ReadError                a file cannot be read as a table
    │   ├── EmptyDataError           a table without rows or without columns
    │   ├── NullColumnError          a column without a single value
    │   ├── InfiniteValueError       an infinite number in a continuous column
    │   ├── KindError                a column cannot be of the kind that was asked for
    │   └── RareLevelError           a level with so few rows that its owner does not want it counted
    ├── SchemaError                  what several sites hold does not fit together
    │   ├── KindConflictError        two sites disagree on a variable's kind
    │   ├── LevelConflictError       two sites disagree on a variable's levels
    │   └── UnknownLevelError        a value outside the levels the study declared
    ├── StudyError                   the set of sites cannot be studied
    │   ├── NoClientsError           no site at all
    │   ├── DuplicateClientError     two sites with one name
    │   ├── TooFewClientsError       fewer sites (left) than masks or the study's limits need
    │   ├── ClientGoneError          a site that does not answer any more
    │   ├── JournalError             what was written down of a run is not what the run asks for
    │   ├── LifeCycleError           a study is not in the state that this needs
    │   ├── DeclinedError            a site's owner does not consent
    │   ├── RunCancelledError        the study's owner has cancelled the run
    │   └── RunInterruptedError      the server stops; the run goes on when it is back
    ├── RefusalError                 a site does not answer a request, to protect its data
    │   ├── WrongRosterError         not the sites that were agreed on
    │   ├── WrongTermsError          not the settings that were agreed on
    │   ├── OutsideSchemaError       a model or a variable that the study did not declare
    │   ├── WrongShapeError          parameters that do not fit the model they are for
    │   ├── RepeatedQuestionError    a sum that was answered before, asked for again with fewer sites
    │   ├── DisclosureError          a sum over too few sites or rows
    │   │   └── FalseCountsError     announced counts that cannot be true
    │   └── StudyClosedError         the site answers nothing more in this study
    ├── SecureAggregationError           keys, masks or ring numbers that cannot be used
    │   ├── KeyFormatError               bytes that are not a key, a fingerprint, a signature or a run id
    │   ├── IdentityFileError            a private identity that cannot be read: wrong password, wrong kind of key, damaged
    │   ├── AgreementError               no secret may be shared with this peer
    │   │   ├── BadSignatureError        a run key that its identity did not sign
    │   │   ├── WrongRunError            a run key of another run
    │   │   ├── UnpinnedIdentityError    an identity that nobody here has compared and accepted
    │   │   ├── OwnKeyError              one's own run key came back as a peer's
    │   │   └── WeakKeyError             a low-order point: the secret would not be one
    │   ├── RosterError                  the set of sites of a round cannot be used
    │   │   ├── SmallRosterError         fewer than two sites
    │   │   ├── RepeatedSiteError        one fingerprint twice
    │   │   ├── NotInRosterError         a fingerprint outside the roster
    │   │   └── PairSecretsError         not exactly one secret for every other site of the roster
    │   ├── RoundError                   the number of a round cannot be used
    │   │   ├── RoundNumberError         not a whole number from 0 to 2⁶⁴ - 1
    │   │   └── RepeatedRoundError       a round that was answered, or passed over
    │   └── RingError                    numbers that cannot be summed in the ring
    │       ├── RingRangeError           NaN, infinite or too large for fixed point
    │       └── RingShapeError           vectors of unequal length, or bytes that are not whole numbers of the ring
    ├── ProtocolError                what came over a connection is not in order
    │   ├── MessageFormatError       bytes that are not a message of a known type and version
    │   └── MessageSizeError         a message longer than what was asked for
    ├── AccessError                  who asks may not have it
    │   ├── LoginError               not an account's name and password
    │   ├── TokenError               no token, or one that is not valid (any more)
    │   ├── InvitationError          an invitation that is not valid, or not any more
    │   ├── ChallengeError           a signature that does not answer the challenge
    │   ├── ChangedIdentityError     a server or a site is not who it was
    │   └── RateLimitError           too many attempts
    ├── ServiceError                 the study server or the site agent cannot work
    │   ├── ConfigurationError       a setting that cannot be used
    │   ├── StoreError               the server's database cannot be used
    │   ├── RecordsError             a site's ledger or memory cannot be read or written
    │   └── UnreachableError         the server cannot be reached, or does not answer as one
    ├── MissingPackageError          an optional package is needed for this and is not installed
    ├── ForeignResultsError          a folder holds the results of another study, or of other code
    ├── GraphError                   a graph that cannot be used
    │   ├── LabelError               labels that are not distinct, non-empty text, one for every node
    │   ├── UnknownNodeError         a label that the graph does not have
    │   ├── DifferentNodesError      two graphs over different variables, where one set is needed
    │   ├── MarkError                a matrix that does not hold marks
    │   │   ├── HalfEdgeError        a mark at one end of an edge and none at the other
    │   │   └── SelfLoopError        an edge from a node to itself
    │   ├── GraphTextError           text that cannot be read as a graph, or a label that a text format cannot hold
    │   ├── CircleMarkError          a circle, where only arrowheads and tails have a meaning
    │   ├── NotDirectedError         a DAG with an edge other than a --> b
    │   ├── DirectedCycleError       a DAG with a directed cycle
    │   ├── NotAncestralError        a MAG in which a mark contradicts an ancestral relation
    │   ├── NotMaximalError          a MAG with two non-adjacent nodes that no set separates
    │   ├── UndirectedEdgeError      an undirected edge (selection bias), where only latent variables are allowed for
    │   └── InvalidPAGError          a PAG that stands for no Markov equivalence class
    ├── KnowledgeError               background knowledge that cannot be read, contradicts itself or names strange variables
    ├── PValueError                  a CI test answered with something that is no p-value
    └── QuestionError                a conditional-independence question that has no meaning
        ├── UnknownVariableError     a variable that no site measures and no schema declares
        ├── SameVariableError        X and Y are one variable
        └── ConditioningError        X or Y is in its own conditioning set, or a variable is there twice

Names say the cause. A message gives the rule, the value that was received and the way out.
"""

from __future__ import annotations

__all__ = [
    "AccessError",
    "AgreementError",
    "BadSignatureError",
    "ChallengeError",
    "ChangedIdentityError",
    "CircleMarkError",
    "ClientGoneError",
    "ConditioningError",
    "ConfigurationError",
    "ConsilienceError",
    "DataError",
    "DeclinedError",
    "DifferentNodesError",
    "DirectedCycleError",
    "DisclosureError",
    "DuplicateClientError",
    "EmptyDataError",
    "FalseCountsError",
    "ForeignResultsError",
    "GraphError",
    "GraphTextError",
    "HalfEdgeError",
    "IdentityFileError",
    "InfiniteValueError",
    "InvalidPAGError",
    "InvitationError",
    "JournalError",
    "KeyFormatError",
    "KindConflictError",
    "KindError",
    "KnowledgeError",
    "LabelError",
    "LevelConflictError",
    "LifeCycleError",
    "LoginError",
    "MarkError",
    "MessageFormatError",
    "MessageSizeError",
    "MissingPackageError",
    "NoClientsError",
    "NotAncestralError",
    "NotDirectedError",
    "NotInRosterError",
    "NotMaximalError",
    "NullColumnError",
    "OptionError",
    "OutsideSchemaError",
    "OwnKeyError",
    "PValueError",
    "PairSecretsError",
    "ProtocolError",
    "QuestionError",
    "RareLevelError",
    "RateLimitError",
    "ReadError",
    "RecordsError",
    "RefusalError",
    "RepeatedQuestionError",
    "RepeatedRoundError",
    "RepeatedSiteError",
    "RingError",
    "RingRangeError",
    "RingShapeError",
    "RosterError",
    "RoundError",
    "RoundNumberError",
    "RunCancelledError",
    "RunInterruptedError",
    "SameVariableError",
    "SchemaError",
    "SecureAggregationError",
    "SelfLoopError",
    "ServiceError",
    "SmallRosterError",
    "StoreError",
    "StudyClosedError",
    "StudyError",
    "TokenError",
    "TooFewClientsError",
    "UndirectedEdgeError",
    "UnknownLevelError",
    "UnknownNodeError",
    "UnknownVariableError",
    "UnpinnedIdentityError",
    "UnreachableError",
    "WeakKeyError",
    "WrongRosterError",
    "WrongRunError",
    "WrongShapeError",
    "WrongTermsError",
]


class ConsilienceError(Exception):
    """Root of every exception raised on purpose by this package."""


class OptionError(ConsilienceError, ValueError):
    """An option has a value that does not exist."""


class DataError(ConsilienceError, ValueError):
    """What one site holds cannot be used."""


class ReadError(DataError):
    """A file cannot be read as a table."""


class EmptyDataError(DataError):
    """A table without rows or without columns."""


class NullColumnError(DataError):
    """A column without a single value."""


class InfiniteValueError(DataError):
    """An infinite number in a continuous column."""


class KindError(DataError):
    """A column cannot be of the kind that was asked for."""


class RareLevelError(DataError):
    """A level with so few rows that its owner does not want it counted."""


class SchemaError(ConsilienceError, ValueError):
    """What several sites hold does not fit together."""


class KindConflictError(SchemaError):
    """Two sites disagree on a variable's kind."""


class LevelConflictError(SchemaError):
    """Two sites disagree on a variable's levels."""


class UnknownLevelError(SchemaError):
    """A value outside the levels the study declared."""


class StudyError(ConsilienceError, ValueError):
    """The set of sites cannot be studied."""


class NoClientsError(StudyError):
    """No site at all."""


class DuplicateClientError(StudyError):
    """Two sites with one name."""


class TooFewClientsError(StudyError):
    """Fewer sites (left) than masks or the study's limits need."""


class ClientGoneError(StudyError):
    """A site that does not answer any more; ``client`` is its name."""

    def __init__(self, client: str) -> None:
        super().__init__(f"{client!r} does not answer any more.")
        self.client = client


class JournalError(StudyError):
    """What was written down of a run is not what the run asks for."""


class LifeCycleError(StudyError):
    """A study is not in the state that this needs."""


class DeclinedError(StudyError):
    """A site's owner does not consent."""


class RunCancelledError(StudyError):
    """The study's owner has cancelled the run."""


class RunInterruptedError(StudyError):
    """The server stops; the run goes on when it is back."""


class RefusalError(ConsilienceError):
    """A site does not answer a request, to protect its data."""


class WrongRosterError(RefusalError):
    """Not the sites that were agreed on."""


class WrongTermsError(RefusalError):
    """Not the settings that were agreed on."""


class OutsideSchemaError(RefusalError):
    """A model or a variable that the study did not declare."""


class WrongShapeError(RefusalError):
    """Parameters that do not fit the model they are for."""


class RepeatedQuestionError(RefusalError):
    """A sum that was answered before, asked for again with fewer sites."""


class DisclosureError(RefusalError):
    """A sum over too few sites or rows."""


class FalseCountsError(DisclosureError):
    """Announced counts that cannot be true."""


class StudyClosedError(RefusalError):
    """The site answers nothing more in this study."""


class QuestionError(ConsilienceError, ValueError):
    """A conditional-independence question that has no meaning."""


class UnknownVariableError(QuestionError):
    """A variable that no site measures and no schema declares."""


class SameVariableError(QuestionError):
    """X and Y are one variable."""


class ConditioningError(QuestionError):
    """X or Y is in its own conditioning set, or a variable is there twice."""


class SecureAggregationError(ConsilienceError, ValueError):
    """Keys, masks or ring numbers that cannot be used."""


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


class ProtocolError(ConsilienceError):
    """What came over a connection is not in order."""


class MessageFormatError(ProtocolError):
    """Bytes that are not a message of a known type and version."""


class MessageSizeError(ProtocolError):
    """A message longer than what was asked for."""


class AccessError(ConsilienceError):
    """Who asks may not have it."""


class LoginError(AccessError):
    """Not an account's name and password."""


class TokenError(AccessError):
    """No token, or one that is not valid (any more)."""


class InvitationError(AccessError):
    """An invitation that is not valid, or not any more."""


class ChallengeError(AccessError):
    """A signature that does not answer the challenge."""


class ChangedIdentityError(AccessError):
    """A server or a site is not who it was."""


class RateLimitError(AccessError):
    """Too many attempts; ``wait`` are the seconds until the next may be made."""

    def __init__(self, message: str, wait: float) -> None:
        super().__init__(message)
        self.wait = wait


class ServiceError(ConsilienceError):
    """The study server or the site agent cannot work."""


class ConfigurationError(ServiceError, ValueError):
    """A setting that cannot be used."""


class StoreError(ServiceError):
    """The server's database cannot be used."""


class RecordsError(ServiceError):
    """A site's ledger or memory cannot be read or written."""


class UnreachableError(ServiceError):
    """The server cannot be reached, or does not answer as one."""


class MissingPackageError(ConsilienceError, ImportError):
    """An optional package is needed for this and is not installed."""


class ForeignResultsError(ConsilienceError, ValueError):
    """A folder holds the results of another study, or of other code."""


class GraphError(ConsilienceError, ValueError):
    """A graph that cannot be used."""


class LabelError(GraphError):
    """Labels that are not distinct, non-empty text, one for every node."""


class UnknownNodeError(GraphError):
    """A label that the graph does not have."""


class DifferentNodesError(GraphError):
    """Two graphs over different variables, where one set is needed."""


class MarkError(GraphError):
    """A matrix that does not hold marks."""


class HalfEdgeError(MarkError):
    """A mark at one end of an edge and none at the other."""


class SelfLoopError(MarkError):
    """An edge from a node to itself."""


class GraphTextError(GraphError):
    """Text that cannot be read as a graph, or a label that a text format cannot hold."""


class CircleMarkError(GraphError):
    """A circle, where only arrowheads and tails have a meaning."""


class NotDirectedError(GraphError):
    """A DAG with an edge other than ``a --> b``."""


class DirectedCycleError(GraphError):
    """A DAG with a directed cycle."""


class NotAncestralError(GraphError):
    """A MAG in which a mark contradicts an ancestral relation."""


class NotMaximalError(GraphError):
    """A MAG with two non-adjacent nodes that no set separates."""


class UndirectedEdgeError(GraphError):
    """An undirected edge (selection bias), where only latent variables are allowed for."""


class InvalidPAGError(GraphError):
    """A PAG that stands for no Markov equivalence class."""


class PValueError(ConsilienceError):
    """A CI test answered with something that is no p-value."""


class KnowledgeError(ConsilienceError, ValueError):
    """Background knowledge that cannot be read, contradicts itself or names strange variables."""


def check_option(name: str, value: str, allowed: tuple[str, ...]) -> str:
    """Return ``value`` if it is one of ``allowed``, else raise :class:`OptionError` with the list.

    >>> check_option("method", "fedci", ("fedci", "fisher"))
    'fedci'
    """
    if value not in allowed:
        raise OptionError(f"{name} must be one of {', '.join(allowed)}; got {value!r}.")
    return value


def check_whole(name: str, value: object, least: int) -> int:
    """Return ``value`` if it is a whole number of at least ``least``, else raise :class:`OptionError`.

    >>> check_whole("limit", 10, least=1)
    10
    """
    if isinstance(value, int) and not isinstance(value, bool) and value >= least:
        return value
    raise OptionError(f"{name} must be a whole number of at least {least}; got {value!r}.")


def check_number(name: str, value: object, least: float) -> float:
    """Return ``value`` if it is a finite number of at least ``least``, else raise :class:`OptionError`.

    >>> check_number("ridge", 0.1, least=0.0)
    0.1
    """
    if isinstance(value, int | float) and not isinstance(value, bool) and least <= value < float("inf"):
        return value
    raise OptionError(f"{name} must be a number of at least {least:g}; got {value!r}.")


def refusal_named(name: str) -> type[ConsilienceError]:
    """The exception that a site gave as the name of its refusal; a plain :class:`RefusalError` if there is none of that name.

    >>> refusal_named("DisclosureError").__name__, refusal_named("os.system").__name__
    ('DisclosureError', 'RefusalError')
    """
    found = globals().get(name)
    allowed = (RefusalError, SecureAggregationError, DataError, SchemaError)
    return found if isinstance(found, type) and issubclass(found, allowed) else RefusalError

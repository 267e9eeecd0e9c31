"""What keeps a study server or a site agent from its work, and who may not have what."""

from __future__ import annotations

from consilience.errors import AccessError, ServiceError, StudyError

__all__ = [
    "ArchiveError",
    "ChangedIdentityError",
    "ConfigurationError",
    "DeclinedError",
    "InvitationError",
    "LifeCycleError",
    "LinkError",
    "LoginError",
    "OpenIdError",
    "RateLimitError",
    "RecordsError",
    "ResultError",
    "RunCancelledError",
    "RunInterruptedError",
    "SearchError",
    "StoreError",
    "TestsMissingError",
    "TokenError",
    "UnreachableError",
    "WithdrawnError",
]


class LifeCycleError(StudyError):
    """A study is not in the state that this needs."""


class DeclinedError(StudyError):
    """A site's owner does not consent."""


class RunCancelledError(StudyError):
    """The study's owner has cancelled the run."""


class RunInterruptedError(StudyError):
    """The server stops; the run goes on when it is back."""


class SearchError(StudyError):
    """A search for graphs was ended because it took too much, or its process ended by itself. The tests are kept."""


class TestsMissingError(StudyError):
    """Tests that a decision needs, and that nobody has made."""

    __test__ = False  # not for pytest


class WithdrawnError(StudyError):
    """A site has withdrawn from the study."""


class LoginError(AccessError):
    """Not an account's name and password."""


class OpenIdError(LoginError):
    """A login by OpenID Connect that does not hold. People read that it is so; ``reason`` is for the log."""

    def __init__(self, reason: str) -> None:
        super().__init__("The login was not confirmed. Begin again. If it stays so: the reason is in the log of this server.")
        self.reason = reason


class TokenError(AccessError):
    """No token, or one that is not valid (any more)."""


class InvitationError(AccessError):
    """An invitation that is not valid, or not any more."""


class LinkError(AccessError):
    """A one-time link that is not valid, or not any more."""


class ChangedIdentityError(AccessError):
    """A server or a site is not who it was."""


class RateLimitError(AccessError):
    """Too many attempts; ``wait`` are the seconds until the next may be made."""

    def __init__(self, message: str, wait: float) -> None:
        super().__init__(message)
        self.wait = wait


class ArchiveError(ServiceError):
    """A file is no archive of a study."""


class ConfigurationError(ServiceError, ValueError):
    """A setting that cannot be used."""


class StoreError(ServiceError):
    """The server's database cannot be used."""


class RecordsError(ServiceError):
    """A site's ledger or history cannot be read or written."""


class ResultError(ServiceError):
    """What a server gives out as a study's result is none."""


class UnreachableError(ServiceError):
    """The server cannot be reached, or does not answer as one."""

"""Sets of sites that cannot be studied, or not any more."""

from __future__ import annotations

from consilience.errors import StudyError

__all__ = ["ClientGoneError", "DuplicateClientError", "JournalError", "NoClientsError", "TooFewClientsError"]


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

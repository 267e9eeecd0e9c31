"""What can be wrong with one site's data, and with how several sites' fit together."""

from __future__ import annotations

from consilience.data.finding import Finding
from consilience.errors import DataError, QuestionError, SchemaError

__all__ = [
    "ClusterError",
    "EmptyDataError",
    "InfiniteValueError",
    "KindConflictError",
    "KindError",
    "LevelConflictError",
    "NullColumnError",
    "RareLevelError",
    "ReadError",
    "UnknownLevelError",
    "UnknownVariableError",
]


class ReadError(DataError):
    """A file cannot be read as a table.

    ``finding`` is what was seen with the ways out, where there are some to choose from, so that the message can be said in the words of
    whoever asked; else None.
    """

    def __init__(self, said: str | Finding) -> None:
        self.finding = said if isinstance(said, Finding) else None
        super().__init__(said.said() if isinstance(said, Finding) else said)


class EmptyDataError(DataError):
    """A table without rows or without columns."""


class NullColumnError(DataError):
    """A column without a single value."""


class InfiniteValueError(DataError):
    """An infinite number in a column of numbers."""


class ClusterError(DataError):
    """The column that marks clusters is not there, or is a variable as well."""


class KindError(DataError):
    """A column cannot be of the kind that was asked for."""


class RareLevelError(DataError):
    """A level with so few rows that its owner does not want it counted."""


class KindConflictError(SchemaError):
    """Two sites disagree on a variable's kind."""


class LevelConflictError(SchemaError):
    """Two sites disagree on a variable's levels."""


class UnknownLevelError(SchemaError):
    """A value outside the levels the study declared."""


class UnknownVariableError(QuestionError):
    """A variable that no site measures and no schema declares."""

"""What can be wrong with one site's data, and with how several sites' fit together."""

from __future__ import annotations

from consilience.errors import DataError, QuestionError, SchemaError

__all__ = [
    "ClusterError",
    "EmptyDataError",
    "ExpressionError",
    "HarmoniseError",
    "InfiniteValueError",
    "KindConflictError",
    "KindError",
    "LevelConflictError",
    "NullColumnError",
    "OutOfRangeError",
    "RareLevelError",
    "ReadError",
    "UnknownLevelError",
    "UnknownVariableError",
]


class ReadError(DataError):
    """A file cannot be read as a table."""


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


class HarmoniseError(DataError):
    """A plan to harmonise a site's table does not say what can be done, or does not fit the table."""


class ExpressionError(HarmoniseError):
    """The text of a derived variable cannot be read, or does not fit the columns it names."""


class KindConflictError(SchemaError):
    """Two sites disagree on a variable's kind."""


class LevelConflictError(SchemaError):
    """Two sites disagree on a variable's levels."""


class OutOfRangeError(SchemaError):
    """Values outside the range that the study declared."""


class UnknownLevelError(SchemaError):
    """A value outside the levels the study declared."""


class UnknownVariableError(QuestionError):
    """A variable that no site measures and no schema declares."""

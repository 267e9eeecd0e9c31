"""Every exception consilience raises on purpose, in one tree.

::

    ConsilienceError
    ├── OptionError                  an option has a value that does not exist
    ├── DataError                    what one site holds cannot be used
    │   ├── ReadError                a file cannot be read as a table
    │   ├── EmptyDataError           a table without rows or without columns
    │   ├── NullColumnError          a column without a single value
    │   ├── InfiniteValueError       an infinite number in a continuous column
    │   └── KindError                a column cannot be of the kind that was asked for
    ├── SchemaError                  what several sites hold does not fit together
    │   ├── KindConflictError        two sites disagree on a variable's kind
    │   ├── LevelConflictError       two sites disagree on a variable's levels
    │   └── UnknownLevelError        a value outside the levels the study declared
    ├── StudyError                   the set of sites cannot be studied
    │   ├── NoClientsError           no site at all
    │   └── DuplicateClientError     two sites with one name
    └── QuestionError                a conditional-independence question that has no meaning
        ├── UnknownVariableError     a variable that no site measures and no schema declares
        ├── SameVariableError        X and Y are one variable
        └── ConditioningError        X or Y is in its own conditioning set, or a variable is there twice

Names say the cause. A message gives the rule, the value that was received and the way out.
"""

from __future__ import annotations

__all__ = [
    "ConditioningError",
    "ConsilienceError",
    "DataError",
    "DuplicateClientError",
    "EmptyDataError",
    "InfiniteValueError",
    "KindConflictError",
    "KindError",
    "LevelConflictError",
    "NoClientsError",
    "NullColumnError",
    "OptionError",
    "QuestionError",
    "ReadError",
    "SameVariableError",
    "SchemaError",
    "StudyError",
    "UnknownLevelError",
    "UnknownVariableError",
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


class QuestionError(ConsilienceError, ValueError):
    """A conditional-independence question that has no meaning."""


class UnknownVariableError(QuestionError):
    """A variable that no site measures and no schema declares."""


class SameVariableError(QuestionError):
    """X and Y are one variable."""


class ConditioningError(QuestionError):
    """X or Y is in its own conditioning set, or a variable is there twice."""


def check_option(name: str, value: str, allowed: tuple[str, ...]) -> str:
    """Return ``value`` if it is one of ``allowed``, else raise :class:`OptionError` with the list.

    >>> check_option("method", "fedci", ("fedci", "fisher"))
    'fedci'
    """
    if value not in allowed:
        raise OptionError(f"{name} must be one of {', '.join(allowed)}; got {value!r}.")
    return value
